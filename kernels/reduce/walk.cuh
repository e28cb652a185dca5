// SPDX-License-Identifier: MIT
// How the rungs `texture` and `tuned` walk over a vector, in groups of 16 bytes. With two groups a
// thread in flight (u = 0, 1) and four warps in the grid:
//
//            warp 0      warp 1      warp 2      warp 3      warp 0
//   groups   [32 ][32 ]  [32 ][32 ]  [32 ][32 ]  [32 ][32 ]  [32 ][32 ]  ...
//            u=0  u=1    u=0  u=1    u=0  u=1    u=0  u=1    u=0  u=1
//            |----------------- first step ---------------|  |- second step
//
// Neighbouring lanes load neighbouring groups. Each place of a group has a sum of its own, so that
// additions need not wait for each other. What does not fill a group goes to block 0.
#pragma once

#include "operands.cuh"
#include "parts.cuh"

namespace tinyblas {

template <class Value>
__device__ __forceinline__ Value sum_of_places(const Value (&sums)[2]) {
    return sums[0] + sums[1];
}
template <class Value>
__device__ __forceinline__ Value sum_of_places(const Value (&sums)[4]) {
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// The calling thread's share of the sum.
template <class Sum, class Operand>
__device__ __forceinline__ typename Sum::Partial thread_sum(const Operand& x, const Operand& y,
                                                            std::int64_t n) {
    using T = typename Sum::Element;
    constexpr bool two = Sum::operands == 2;
    constexpr int size = group_size<T>;
    constexpr int unroll = reduce_unroll(Sum::operands);
    constexpr int together = unroll < Operand::most_together ? unroll : Operand::most_together;
    constexpr int lanes = 32;
    const std::int64_t groups = n / size;
    const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x * unroll;
    const unsigned warp = threadIdx.x / lanes;
    const unsigned lane = threadIdx.x % lanes;

    typename Sum::Partial sums[size] = {};
    std::int64_t group = (std::int64_t{blockIdx.x} * blockDim.x + warp * lanes) * unroll + lane;
#pragma unroll 1
    for (; group + (unroll - 1) * lanes < groups; group += step) {
#pragma unroll 1
        for (int part = 0; part < unroll; part += together) {
            const std::int64_t first = group + part * lanes;
            T xs[together][size], ys[together][size] = {};
#pragma unroll
            for (int u = 0; u < together; ++u) {
                x.load(xs[u], first + u * lanes);
                if constexpr (two) y.load(ys[u], first + u * lanes);
            }
#pragma unroll
            for (int u = 0; u < together; ++u)
#pragma unroll
                for (int e = 0; e < size; ++e) Sum::add(sums[e], xs[u][e], ys[u][e]);
        }
    }
#pragma unroll 1
    for (; group < groups; group += lanes) {  // the ragged step, at most unroll - 1 times
        T xs[size], ys[size] = {};
        x.load(xs, group);
        if constexpr (two) y.load(ys, group);
#pragma unroll
        for (int e = 0; e < size; ++e) Sum::add(sums[e], xs[e], ys[e]);
    }
    const std::int64_t i = groups * size + threadIdx.x;
    if (blockIdx.x == 0 && i < n) Sum::add(sums[0], x.element(i), two ? y.element(i) : T(0));
    return sum_of_places(sums);
}

/// The whole of a kernel of either rung.
template <class Sum, class Operand>
__device__ __forceinline__ void reduce_groups(const Operand& x, const Operand& y, std::int64_t n,
                                              const ReduceEnd<Sum>& end) {
    begin_blocks(end);
    finish_blocks(block_sum(thread_sum<Sum>(x, y, n)), end);
}

/// Launches `kernel` as reduce_table says for n elements.
template <class Sum, class Operand>
void launch_reduce_groups(const char* operation,
                          void (*kernel)(Operand, Operand, std::int64_t, ReduceEnd<Sum>),
                          device::Stream stream, const Operand& x, const Operand& y, std::int64_t n,
                          ReduceEnd<Sum> end) {
    const ReduceEntry& entry = reduce_entry(n);
    const auto threads = static_cast<unsigned>(entry.threads);
    end.cluster = end.cluster && entry.cluster;
    if (end.cluster)
        return device::launch_cluster(operation, kernel, static_cast<unsigned>(entry.most_blocks),
                                      threads, stream, x, y, n, end);
    const std::int64_t of_block = std::int64_t{group_size<typename Sum::Element>} *
                                  reduce_unroll(Sum::operands) * entry.threads;
    const std::int64_t wanted = n / of_block + (n % of_block != 0);
    const auto blocks = entry.cluster || wanted > entry.most_blocks ? entry.most_blocks
                        : wanted < 1                                ? 1
                                                                    : wanted;
    device::launch(operation, kernel, static_cast<unsigned>(blocks), threads, stream, x, y, n, end);
}

}  // namespace tinyblas
