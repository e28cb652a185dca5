// SPDX-License-Identifier: MIT
// Operands made and results checked on the GPU.
#include <cmath>
#include <limits>

#include "../machine.hpp"
#include "../samples.hpp"
#include "check.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {
namespace {

constexpr int threads = 256;

template <class T>
__global__ void normal(T* data, std::int64_t count, std::uint64_t seed) {
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < count;
         i += stride) {
        const double radius = sqrt(-2 * log(random_unit(seed, 2 * i)));
        data[i] = T(radius * cospi(2 * random_unit(seed, 2 * i + 1)));
    }
}

template <class T>
__global__ void constant(T* data, std::int64_t count, T value) {
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < count; i += stride)
        data[i] = value;
}

/// A sum held as high + low, twice the precision of double. Source: Ogita, Rump, Oishi, Accurate
/// sum and dot product, SIAM J. Sci. Comput. 26(6), 2005.
struct TwoSum {
    double high = 0, low = 0;
    __device__ void add(double x) {
        const double sum = __dadd_rn(high, x), part = __dsub_rn(sum, high);
        low += __dadd_rn(__dsub_rn(high, __dsub_rn(sum, part)), __dsub_rn(x, part));
        high = sum;
    }
    __device__ void add_product(double x, double y) {
        const double product = __dmul_rn(x, y);
        low += fma(x, y, -product);
        add(product);
    }
};

/// A warp computes the error of one sampled entry.
template <class T>
__global__ void errors(MatrixView<const T> a, MatrixView<const T> b, MatrixView<const T> c,
                       double* error) {
    const auto [i, j] = sample(int(blockIdx.x), c.rows, c.columns);
    TwoSum sum;
    double magnitude = 0;
    for (std::int64_t p = threadIdx.x; p < a.columns; p += 32) {
        const double x = a(i, p), y = b(p, j);
        sum.add_product(x, y);
        magnitude += fabs(x * y);
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const double high = __shfl_xor_sync(~0u, sum.high, lanes);
        const double low = __shfl_xor_sync(~0u, sum.low, lanes);
        sum.add(high);
        sum.low += low;
        magnitude += __shfl_xor_sync(~0u, magnitude, lanes);
    }
    if (threadIdx.x == 0)
        error[blockIdx.x] = fabs((double(c(i, j)) - sum.high) - sum.low) / magnitude;
}

int blocks(const Context& context) { return context.multiprocessors() * (2048 / threads); }

}  // namespace

template <class T>
void fill_normal(Context& context, T* data, std::int64_t count, std::uint64_t seed) {
    normal<<<blocks(context), threads, 0, context.stream()>>>(data, count, seed);
    check(cudaGetLastError(), "fill_normal");
}

template <class T>
void fill_nan(Context& context, T* data, std::int64_t count) {
    constant<<<blocks(context), threads, 0, context.stream()>>>(data, count, T(NAN));
    check(cudaGetLastError(), "fill_nan");
}

template <class T>
double worst_error(Context& context, MatrixView<const T> a, MatrixView<const T> b,
                   MatrixView<const T> c) {
    Matrix<double> error(1, samples, Memory::mapped);
    errors<<<samples, 32, 0, context.stream()>>>(a, b, c, error.view().data);
    check(cudaGetLastError(), "worst_error");
    context.synchronize();
    double worst = 0;
    for (int s = 0; s < samples; ++s)
        if (!(error(0, s) <= worst))
            worst = std::isnan(error(0, s)) ? std::numeric_limits<double>::infinity() : error(0, s);
    return worst / (std::numeric_limits<T>::epsilon() / 2);
}

template void fill_normal(Context&, float*, std::int64_t, std::uint64_t);
template void fill_normal(Context&, double*, std::int64_t, std::uint64_t);
template void fill_nan(Context&, float*, std::int64_t);
template void fill_nan(Context&, double*, std::int64_t);
template double worst_error(Context&, MatrixView<const float>, MatrixView<const float>,
                            MatrixView<const float>);
template double worst_error(Context&, MatrixView<const double>, MatrixView<const double>,
                            MatrixView<const double>);

}  // namespace tinyblas::bench
