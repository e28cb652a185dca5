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

/// The calling thread's part of one step from group `start` on, `offset` behind it; `whole`: all
/// of the step's groups exist. Groups that do not exist count as zeros.
template <bool whole, class Sum, class Operand>
__device__ __forceinline__ void add_step(
    const Sum& sum, typename Sum::Partial (&sums)[group_size<typename Sum::Element>],
    const Operand& x, const Operand& y, std::int64_t start, int offset, std::int64_t groups) {
    using T = typename Sum::Element;
    constexpr bool two = Sum::operands == 2;
    constexpr int size = group_size<T>;
    constexpr int together = Operand::most_together;
    static_assert(reduce_unroll % together == 0);
#pragma unroll 1
    for (int part = 0; part < reduce_unroll; part += together) {
        const int first = offset + part * static_cast<int>(warp_lanes);
        const auto x_cursor = x.at(start, first);
        const auto y_cursor = two ? y.at(start, first) : x_cursor;
        T xs[together][size] = {}, ys[together][size] = {};
#pragma unroll
        for (int u = 0; u < together; ++u) {
            const int after = u * static_cast<int>(warp_lanes);
            if (!whole && start + first + after >= groups) continue;
            x_cursor.load(xs[u], after);
            if constexpr (two) y_cursor.load(ys[u], after);
        }
#pragma unroll
        for (int u = 0; u < together; ++u)
#pragma unroll
            for (int e = 0; e < size; ++e) sum.add(sums[e], xs[u][e], ys[u][e]);
    }
}

/// The calling thread's share of the sum.
template <class Sum, class Operand>
__device__ __forceinline__ typename Sum::Partial thread_sum(const Sum& sum, const Operand& x,
                                                            const Operand& y, std::int64_t n) {
    using T = typename Sum::Element;
    constexpr int size = group_size<T>;
    const std::int64_t groups = n / size;
    const std::int64_t of_block = std::int64_t{blockDim.x} * reduce_unroll;
    const unsigned warp = threadIdx.x / warp_lanes, lane = threadIdx.x % warp_lanes;
    const int offset = static_cast<int>(warp * warp_lanes * reduce_unroll + lane);

    typename Sum::Partial sums[size] = {};
    std::int64_t start = blockIdx.x * of_block;
#pragma unroll 1
    for (; start + of_block <= groups; start += gridDim.x * of_block)
        add_step<true>(sum, sums, x, y, start, offset, groups);
    if (start < groups) add_step<false>(sum, sums, x, y, start, offset, groups);
    const std::int64_t i = groups * size + threadIdx.x;
    if (blockIdx.x == 0 && i < n)
        sum.add(sums[0], x.element(i), Sum::operands == 2 ? y.element(i) : T(0));
    return sum_of_places(sums);
}

/// The whole of a kernel of either rung.
template <ReduceFinish finish, class Sum, class Operand>
__device__ __forceinline__ void reduce_groups(const Operand& x, const Operand& y, std::int64_t n,
                                              const ReduceEnd<Sum>& end) {
    begin_blocks<finish>(end);
    finish_blocks<finish, reduce_most_blocks>(block_sum(thread_sum(end.sum, x, y, n)), end);
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
        return device::launch_even_clusters(
            operation, kernel, static_cast<unsigned>(entry.most_blocks),
            static_cast<unsigned>(entry.most_blocks), threads, 0, stream, x, y, n, end);
    const std::int64_t of_block =
        std::int64_t{group_size<typename Sum::Element>} * reduce_unroll * entry.threads;
    const std::int64_t wanted = n / of_block + (n % of_block != 0);
    const auto blocks = entry.cluster || wanted > entry.most_blocks ? entry.most_blocks
                        : wanted < 1                                ? 1
                                                                    : wanted;
    device::launch_evenly(operation, kernel, static_cast<unsigned>(blocks), threads, 0, stream, x,
                          y, n, end);
}

}  // namespace tinyblas
