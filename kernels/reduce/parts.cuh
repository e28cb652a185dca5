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

/// The sum of the block's values, valid in thread 0: lanes, then warps, in pairs that depend on the
/// number of threads alone.
template <class Value>
__device__ __forceinline__ Value block_sum(Value value) {
    constexpr unsigned lanes = 32;
    auto& warps = device::shared<struct SumsOfWarps, Value[lanes]>();
    const unsigned lane = threadIdx.x % lanes;
    const unsigned warp = threadIdx.x / lanes;
#pragma unroll
    for (unsigned step = lanes / 2; step > 0; step /= 2)
        value = value + from_lane_after(value, step);
    if (lane == 0) warps[warp] = value;
    __syncthreads();
    if (warp > 0) return value;
    value = lane < blockDim.x / lanes ? warps[lane] : Value{};
#pragma unroll
    for (unsigned step = lanes / 2; step > 0; step /= 2)
        value = value + from_lane_after(value, step);
    return value;
}

/// The blocks' totals, one in each thread at most for a cluster, become the result.
template <class Sum>
__device__ __forceinline__ void finish_totals(const typename Sum::Total* totals, unsigned count,
                                              const ReduceEnd<Sum>& end) {
    using Total = typename Sum::Total;
    Total total{};
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) total = total + totals[i];
    total = block_sum(total);
    if (threadIdx.x == 0) deliver(end.result, Sum::result(total));
}

/// Called by all threads; `partial` counts in thread 0. The order of the additions is the same for
/// a cluster and for the last block.
template <class Sum>
__device__ __forceinline__ void finish_blocks(typename Sum::Partial partial,
                                              const ReduceEnd<Sum>& end) {
    using Total = typename Sum::Total;
    const bool first = threadIdx.x == 0;
    if (gridDim.x == 1) {
        if (first) deliver(end.result, Sum::result(Total(partial)));
        return;
    }
    if constexpr (device::has_clusters) {
        if (end.cluster) {
            auto& totals = device::shared<struct TotalsOfCluster, Total[8]>();
            device::cluster_wait();  // every block has started, see begin_blocks
            if (first) *device::of_block(&totals[blockIdx.x], 0) = Total(partial);
            device::cluster_arrive();
            device::cluster_wait();
            if (blockIdx.x == 0) finish_totals(totals, gridDim.x, end);
            return;
        }
    }
    auto& last = device::shared<struct LastBlock, bool>();
    if (first) {
        end.workspace->totals[blockIdx.x] = Total(partial);
        last = device::take_turn(&end.workspace->turn, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) finish_totals(end.workspace->totals, gridDim.x, end);
}

/// Called first by all threads: shared memory of a cluster's other block may be written once that
/// block has started.
template <class Sum>
__device__ __forceinline__ void begin_blocks(const ReduceEnd<Sum>& end) {
    if constexpr (device::has_clusters)
        if (end.cluster) device::cluster_arrive();
}

}  // namespace tinyblas
