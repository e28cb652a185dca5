// SPDX-License-Identifier: MIT
// What the rungs of the reductions share: the sum of a block, and how blocks come to one result.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include <device.hpp>

#include "entries.hpp"
#include "sums.cuh"

namespace tinyblas {

/// Where the result goes: an element of device memory, or words that the host looks at. A word's
/// upper half is the number of the call, its lower half 32 bits of the result, so that each word
/// tells by itself whether it has come.
template <class T>
struct ReduceResult {
    T* element;
    std::uint64_t* host_words;
    std::uint32_t call;
};

/// What the blocks leave for the last one. `turn` is zero between calls.
template <class Total>
struct ReduceWorkspace {
    unsigned turn;
    Total totals[reduce_most_blocks];
};

/// How the blocks come to one result.
template <class Sum>
struct ReduceEnd {
    ReduceResult<typename Sum::Element> result;
    ReduceWorkspace<typename Sum::Total>* workspace;
    bool cluster;  // the blocks were launched as a cluster
};

template <class T>
__device__ __forceinline__ void deliver(const ReduceResult<T>& to, T value) {
    if (!to.host_words) {
        *to.element = value;
        return;
    }
    constexpr int words = sizeof(T) / sizeof(std::uint32_t);
    std::uint32_t halves[words];
    std::memcpy(halves, &value, sizeof value);
#pragma unroll
    for (int w = 0; w < words; ++w)
        device::store_for_host(to.host_words + w, std::uint64_t{to.call} << 32 | halves[w]);
}

inline constexpr unsigned warp_lanes = 32;

/// The sum of the warp's values, valid in lane 0: in pairs 16, 8, 4, 2, 1 lanes apart.
template <class Value>
__device__ __forceinline__ Value warp_sum(Value value) {
#pragma unroll
    for (unsigned step = warp_lanes / 2; step > 0; step /= 2)
        value = value + from_lane_after(value, step);
    return value;
}

/// The sum of the block's values, valid in thread 0: lanes, then warps.
template <class Value>
__device__ __forceinline__ Value block_sum(Value value) {
    auto& warps = device::shared<struct SumsOfWarps, Value[warp_lanes]>();
    const unsigned lane = threadIdx.x % warp_lanes;
    const unsigned warp = threadIdx.x / warp_lanes;
    value = warp_sum(value);
    if (lane == 0) warps[warp] = value;
    __syncthreads();
    if (warp > 0) return value;
    return warp_sum(lane < blockDim.x / warp_lanes ? warps[lane] : Value{});
}

/// The blocks' totals, `most` at most, become the result. One warp does it, which needs no barrier.
template <unsigned most, class Sum>
__device__ __forceinline__ void finish_totals(const typename Sum::Total* totals,
                                              const ReduceEnd<Sum>& end) {
    if (threadIdx.x >= warp_lanes) return;
    using Total = typename Sum::Total;
    Total total{};
#pragma unroll  // all loads are under way before the first is needed
    for (unsigned step = 0; step < most; step += warp_lanes) {
        const unsigned i = step + threadIdx.x;
        total = total + (i < gridDim.x ? totals[i] : Total{});
    }
    total = warp_sum(total);
    if (threadIdx.x == 0) deliver(end.result, Sum::result(total));
}

/// Called by all threads; `partial` counts in thread 0. The order of the additions is the same for
/// a cluster and for the last block.
template <class Sum>
__device__ __forceinline__ void finish_blocks(typename Sum::Partial partial,
                                              const ReduceEnd<Sum>& end) {
    using Total = typename Sum::Total;
    const bool first = threadIdx.x == 0;
    if (gridDim.x == 1) [[likely]] {  // the one case whose time is that of the instructions
        if (first) deliver(end.result, Sum::result(Total(partial)));
        return;
    }
    if constexpr (device::has_clusters) {
        if (end.cluster) {
            constexpr unsigned most_of_cluster = 8;
            auto& totals = device::shared<struct TotalsOfCluster, Total[most_of_cluster]>();
            device::cluster_wait();  // every block has started, see begin_blocks
            if (first) *device::of_block(&totals[blockIdx.x], 0) = Total(partial);
            device::cluster_arrive();
            device::cluster_wait();
            if (blockIdx.x == 0) finish_totals<most_of_cluster>(totals, end);
            return;
        }
    }
    auto& last = device::shared<struct LastBlock, bool>();
    if (first) {
        end.workspace->totals[blockIdx.x] = Total(partial);
        last = device::take_turn(&end.workspace->turn, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) finish_totals<reduce_most_blocks>(end.workspace->totals, end);
}

/// Called first by all threads: shared memory of a cluster's other block may be written once that
/// block has started.
template <class Sum>
__device__ __forceinline__ void begin_blocks(const ReduceEnd<Sum>& end) {
    if constexpr (device::has_clusters)
        if (end.cluster) device::cluster_arrive_relaxed();
}

}  // namespace tinyblas
