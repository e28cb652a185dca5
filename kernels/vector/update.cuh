// SPDX-License-Identifier: MIT
// axpy and scal: every element on its own. A block owns a run of elements; its lanes take
// neighbouring groups of 16 bytes, several each, all of them loaded before the first is stored.
// Limit: memory bandwidth.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "tinyblas/view.hpp"

namespace tinyblas {

inline constexpr int vector_update_threads = 128;
inline constexpr int vector_update_unroll = 4;  // groups a thread

/// y + alpha x, rounded once.
template <class T>
struct Axpy {
    T alpha;
    static constexpr bool reads_x = true;
    __device__ __forceinline__ T operator()(T x, T y) const {
        device::multiply_add(y, alpha, x);
        return y;
    }
};
/// alpha y
template <class T>
struct Scal {
    T alpha;
    static constexpr bool reads_x = false;
    __device__ __forceinline__ T operator()(T, T y) const { return alpha * y; }
};

/// y_i = update(x_i, y_i), both side by side from multiples of 16 bytes on.
template <class T, class Update>
__global__ void __launch_bounds__(vector_update_threads)
    update_aligned(Update update, const T* x, T* y, std::int64_t n) {
    constexpr int size = 16 / static_cast<int>(sizeof(T));
    constexpr int unroll = vector_update_unroll;
    const std::int64_t groups = n / size;
    const std::int64_t first =
        std::int64_t{blockIdx.x} * unroll * vector_update_threads + threadIdx.x;
    T xs[unroll][size] = {}, ys[unroll][size];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
        const std::int64_t group = first + u * vector_update_threads;
        if (group >= groups) continue;
        if constexpr (Update::reads_x) device::load_vector(xs[u], x + group * size);
        device::load_vector(ys[u], y + group * size);
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
        const std::int64_t group = first + u * vector_update_threads;
        if (group >= groups) continue;
#pragma unroll
        for (int e = 0; e < size; ++e) ys[u][e] = update(xs[u][e], ys[u][e]);
        device::store_vector(y + group * size, ys[u]);
    }
    const std::int64_t i = groups * size + threadIdx.x;  // what does not fill a group
    if (blockIdx.x == 0 && i < n) y[i] = update(Update::reads_x ? x[i] : T(0), y[i]);
}

/// The same, elements anywhere; x and y are views of n elements.
template <class T, class Update>
__global__ void __launch_bounds__(vector_update_threads)
    update_strided(Update update, VectorView<const T> x, VectorView<T> y) {
    const std::int64_t i = std::int64_t{blockIdx.x} * vector_update_threads + threadIdx.x;
    if (i < y.size) y(i) = update(Update::reads_x ? x(i) : T(0), y(i));
}

template <class T, class Update>
void launch_update(const char* operation, device::Stream stream, Update update,
                   VectorView<const T> x, VectorView<T> y) {
    const auto is_aligned = [](const auto& view) {
        return (view.increment == 1 || view.size == 1) &&
               reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
    };
    const bool aligned = is_aligned(y) && (!Update::reads_x || is_aligned(x));
    const std::int64_t of_block =
        std::int64_t{vector_update_threads} * (aligned ? vector_update_unroll * 16 / sizeof(T) : 1);
    const unsigned blocks = device::grid((y.size + of_block - 1) / of_block, operation);
    if (aligned)
        device::launch(operation, update_aligned<T, Update>, blocks, vector_update_threads, stream,
                       update, x.data, y.data, y.size);
    else
        device::launch(operation, update_strided<T, Update>, blocks, vector_update_threads, stream,
                       update, x, y);
}

}  // namespace tinyblas
