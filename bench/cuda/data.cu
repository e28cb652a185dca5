// SPDX-License-Identifier: MIT
// Operands made on the GPU, and a transpose compared with what was made.
#include <bit>
#include <type_traits>

#include "../data.hpp"
#include "../samples.hpp"
#include "check.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {
namespace {

constexpr int threads = 256;

int blocks(const Context& context) { return context.multiprocessors() * (2048 / threads); }

__device__ double normal(std::uint64_t seed, std::int64_t i) {
    const double radius = sqrt(-2 * log(random_unit(seed, 2 * i)));
    return radius * cospi(2 * random_unit(seed, 2 * i + 1));
}

/// Element `i` of fill_random's sequence `seed`.
template <class T>
__device__ T random_element(std::uint64_t seed, std::int64_t i) {
    if constexpr (std::is_same_v<T, Bits128>) {
        return {random_bits(seed, 2 * i), random_bits(seed, 2 * i + 1)};
    } else if constexpr (std::is_integral_v<T>) {
        return T(random_bits(seed, i));
    } else {
        return T(normal(seed, i));
    }
}

template <class T>
__global__ void random(T* data, std::int64_t count, std::uint64_t seed) {
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < count; i += stride)
        data[i] = random_element<T>(seed, i);
}

template <class T>
__global__ void uniform(T* data, std::int64_t count, std::uint64_t seed) {
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < count; i += stride)
        data[i] = T(2 * random_unit(seed, i) - 1);
}

template <class T>
__global__ void operand(MatrixView<T> rows, Side side, Data data, std::uint64_t seed) {
    const std::int64_t stride = std::int64_t(gridDim.x) * threads, k = rows.columns;
    const std::int64_t count = rows.rows * k;
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < count;
         i += stride) {
        const bool along_k = rows.column_stride == 1;
        const std::int64_t row = along_k ? i / k : i % rows.rows;
        const std::int64_t p = along_k ? i % k : i / rows.rows;
        const std::int64_t at = row * rows.row_stride + p * rows.column_stride;
        const double number = data_number(data, normal(seed, at), seed, at);
        rows.data[at] = T(number * exp2(data_power(data, side, row, p, k, seed, at)));
    }
}

template <class T>
__device__ bool same_bits(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        return std::bit_cast<Word>(a) == std::bit_cast<Word>(b);
    } else {
        return a == b;
    }
}

template <class T>
__global__ void compare(MatrixView<const T> b, Place a, std::uint64_t seed,
                        unsigned long long* wrong) {
    const std::int64_t stride = std::int64_t(gridDim.x) * threads, count = b.rows * b.columns;
    unsigned long long found = 0;
    for (std::int64_t at = std::int64_t(blockIdx.x) * threads + threadIdx.x; at < count;
         at += stride) {
        const std::int64_t j = at / b.columns, i = at % b.columns;
        found += !same_bits(
            b(j, i), random_element<T>(seed, a.shift + i * a.row_stride + j * a.column_stride));
    }
    if (found > 0) atomicAdd(wrong, found);
}

}  // namespace

template <class T>
void fill_random(Context& context, T* data, std::int64_t count, std::uint64_t seed) {
    random<<<blocks(context), threads, 0, context.stream()>>>(data, count, seed);
    check(cudaGetLastError(), "fill_random");
}

template <class T>
void fill_uniform(Context& context, T* data, std::int64_t count, std::uint64_t seed) {
    uniform<<<blocks(context), threads, 0, context.stream()>>>(data, count, seed);
    check(cudaGetLastError(), "fill_uniform");
}

template <class T>
void fill_operand(Context& context, MatrixView<T> rows, Side side, Data data, std::uint64_t seed) {
    operand<<<blocks(context), threads, 0, context.stream()>>>(rows, side, data, seed);
    check(cudaGetLastError(), "fill_operand");
}

void poison(Context& context, void* data, std::int64_t bytes) {
    check(cudaMemsetAsync(data, 0xFF, static_cast<std::size_t>(bytes), context.stream()), "poison");
}

template <class T>
std::int64_t wrong_elements(Context& context, MatrixView<const T> b, const Place& a,
                            std::uint64_t seed) {
    Matrix<unsigned long long> wrong(1, 1);
    const auto count = wrong.view().data;
    check(cudaMemsetAsync(count, 0, sizeof *count, context.stream()), "wrong_elements");
    compare<<<blocks(context), threads, 0, context.stream()>>>(b, a, seed, count);
    check(cudaGetLastError(), "wrong_elements");
    unsigned long long host = 0;
    copy(context, wrong, MatrixView<unsigned long long>::row_major(&host, 1, 1));
    context.synchronize();
    return static_cast<std::int64_t>(host);
}

template void fill_random(Context&, float*, std::int64_t, std::uint64_t);
template void fill_random(Context&, double*, std::int64_t, std::uint64_t);
template void fill_random(Context&, std::uint16_t*, std::int64_t, std::uint64_t);
template void fill_random(Context&, Bits128*, std::int64_t, std::uint64_t);
template void fill_uniform(Context&, float*, std::int64_t, std::uint64_t);
template void fill_uniform(Context&, double*, std::int64_t, std::uint64_t);
template void fill_operand(Context&, MatrixView<float>, Side, Data, std::uint64_t);
template void fill_operand(Context&, MatrixView<double>, Side, Data, std::uint64_t);
template std::int64_t wrong_elements(Context&, MatrixView<const float>, const Place&,
                                     std::uint64_t);
template std::int64_t wrong_elements(Context&, MatrixView<const double>, const Place&,
                                     std::uint64_t);
template std::int64_t wrong_elements(Context&, MatrixView<const std::uint16_t>, const Place&,
                                     std::uint64_t);
template std::int64_t wrong_elements(Context&, MatrixView<const Bits128>, const Place&,
                                     std::uint64_t);

}  // namespace tinyblas::bench
