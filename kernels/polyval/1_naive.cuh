// SPDX-License-Identifier: MIT
// polyval, rung 1. A thread owns one element and fetches every coefficient from global memory.
//
//   coefficients  [ a0 a1 a2 ... an ]     all threads read the same one at a time, an first:
//                   ^  ^  ^ ... ^         one transaction serves a warp, if it comes from the
//        x  -->     acc = acc x + ak      L1 cache
//        y  <--     acc
//
// The host's array goes into device memory by kernels that carry it as parameters: nothing reads it
// once the call has returned, captured in a graph or not.
//
// Limit: a load for every multiply-add, and each one waits for the one before.
#pragma once

#include "parts.cuh"

namespace tinyblas {

inline constexpr int polyval_naive_threads = 256;

/// The coefficients to[0 ... count - 1] from the parameters.
template <class T, int slots>
__global__ void __launch_bounds__(polyval_naive_threads)
    polyval_upload(T* to, int count, const __grid_constant__ PolyvalParameters<T, slots> p) {
    for (int k = static_cast<int>(threadIdx.x); k < count; k += polyval_naive_threads) to[k] = p[k];
}

/// `count` coefficients into device memory.
template <class T>
void launch_polyval_upload(device::Stream stream, const T* coefficients, std::int64_t count,
                           T* to) {
    constexpr int slots = polyval_medium_slots<T>;
    for (std::int64_t done = 0; done < count; done += slots) {
        const int next = static_cast<int>(count - done < slots ? count - done : slots);
        PolyvalParameters<T, slots> p = {};
        for (int k = 0; k < next; ++k) p.set(k, coefficients[done + k]);
        device::launch("polyval", polyval_upload<T, slots>, 1, polyval_naive_threads, stream,
                       to + done, next, p);
    }
}

template <class T>
__global__ void __launch_bounds__(polyval_naive_threads)
    polyval_naive(PolyvalOperands<T> v, const T* coefficients, std::int64_t degree) {
    const std::int64_t i = std::int64_t{blockIdx.x} * polyval_naive_threads + threadIdx.x;
    if (i >= v.size) return;

    const T x = v.x(i);
    T acc = coefficients[degree];
    for (std::int64_t k = degree - 1; k >= 0; --k)
        acc = device::fused_multiply_add(acc, x, coefficients[k]);
    v.y(i) = acc;
}

/// `coefficients` is device memory.
template <class T>
void launch_polyval_naive(device::Stream stream, const PolyvalOperands<T>& v, const T* coefficients,
                          std::int64_t degree) {
    device::launch("polyval", polyval_naive<T>, polyval_grid(v.size, polyval_naive_threads),
                   polyval_naive_threads, stream, v, coefficients, degree);
}

}  // namespace tinyblas
