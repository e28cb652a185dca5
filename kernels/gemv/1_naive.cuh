// SPDX-License-Identifier: MIT
// gemv, rung 1. A thread owns an element of y and walks its row of A; any strides.
//
//                 x (n)             Neighbouring lanes read neighbouring rows of the same column:
//                 |                 coalesced if A's columns are contiguous, a sector an element
//                 v                 if its rows are.
//   a (m, n)  --> y   lane 0
//             --> y   lane 1
//
// Limit: a load of 4 or 8 bytes a thread in flight, and few threads where m is small.
#pragma once

#include "parts.cuh"

namespace tinyblas {

inline constexpr int gemv_naive_threads = 128;

template <class T>
__global__ void __launch_bounds__(gemv_naive_threads) gemv_naive(GemvCall<T> call) {
    const std::int64_t i = std::int64_t{blockIdx.x} * gemv_naive_threads + threadIdx.x;
    if (i >= call.a.rows) return;
    T acc = 0;
    for (std::int64_t j = 0; j < call.a.columns; ++j)
        device::multiply_add(acc, call.a(i, j), call.x(j));
    store(call.y(i), call.alpha, acc, call.beta);
}

template <class T>
void launch_gemv_naive(const char* operation, device::Stream stream, const GemvCall<T>& call) {
    const std::int64_t blocks = (call.a.rows - 1) / gemv_naive_threads + 1;
    device::launch(operation, gemv_naive<T>, device::grid(blocks, operation), gemv_naive_threads,
                   stream, call);
}

}  // namespace tinyblas
