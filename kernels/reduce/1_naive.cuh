// SPDX-License-Identifier: MIT
// Reductions, rung 1: every thread adds up elements that lie a grid apart, a block adds up its
// threads' sums in shared memory, half of them each time, and the last block adds up the blocks'.
//
//   x     0 1 2 3 4 5 6 7 | 0 1 2 ...    thread t: t, t + threads of the grid, ...
//
//   sums  0 1 2 3 4 5 6 7                  thread t < 4 adds what thread t + 4 has,
//         0 1 2 3                          thread t < 2 what thread t + 2 has,
//         0 1                              thread 0 what thread 1 has:
//         0                                8 such steps, a barrier behind each, for 256 threads
//
// Limit: one load of 4 or 8 bytes a thread in flight, far too few to keep memory busy.
#pragma once

#include "operands.cuh"
#include "parts.cuh"

namespace tinyblas {

inline constexpr int reduce_naive_threads = 256;

template <class Sum, class Operand>
__global__ void __launch_bounds__(reduce_naive_threads)
    reduce_naive(Operand x, Operand y, std::int64_t n, ReduceEnd<Sum> end) {
    using Partial = typename Sum::Partial;
    auto& sums = device::shared<struct SumsOfThreads, Partial[reduce_naive_threads]>();
    const unsigned t = threadIdx.x;
    const std::int64_t step = std::int64_t{gridDim.x} * reduce_naive_threads;

    Partial sum{};
    for (std::int64_t i = std::int64_t{blockIdx.x} * reduce_naive_threads + t; i < n; i += step)
        end.sum.add(sum, x.element(i), Sum::operands == 2 ? y.element(i) : 0);

    sums[t] = sum;
    __syncthreads();
    for (unsigned half = reduce_naive_threads / 2; half > 0; half /= 2) {
        if (t < half) sums[t] = sums[t] + sums[t + half];
        __syncthreads();
    }
    finish_blocks<ReduceFinish::last, reduce_naive_blocks>(sums[0], end);
}

template <class Sum>
void launch_reduce_naive(const char* operation, device::Stream stream,
                         StridedOperand<typename Sum::Element> x,
                         StridedOperand<typename Sum::Element> y, std::int64_t n,
                         ReduceEnd<Sum> end) {
    constexpr std::int64_t elements_per_thread = 16;
    const std::int64_t wanted = n / (reduce_naive_threads * elements_per_thread);
    const auto blocks = wanted < 1                     ? 1u
                        : wanted < reduce_naive_blocks ? static_cast<unsigned>(wanted)
                                                       : unsigned{reduce_naive_blocks};
    end.cluster = false;
    device::launch(operation, reduce_naive<Sum, StridedOperand<typename Sum::Element>>, blocks,
                   reduce_naive_threads, stream, x, y, n, end);
}

}  // namespace tinyblas
