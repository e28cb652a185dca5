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

/// What the blocks leave for the last one. `turn` is zero between calls. The totals begin at a
/// sector (32 bytes), and so does the memory that this lies in.
template <class Total>
struct ReduceWorkspace {
    unsigned turn;
    alignas(32) Total totals[reduce_naive_blocks];
};

/// How the blocks come to one result: there is one alone; they are a cluster; the last one does it;
/// or a kernel finds out which of these it is. Knowing makes a kernel short, and short vectors take
/// as long as their instructions take to arrive.
enum class ReduceFinish { alone, cluster, last, any };

/// What the blocks add up, and where they come to one result.
template <class Sum>
struct ReduceEnd {
    ReduceResult<typename Sum::Element> result;
    ReduceWorkspace<typename Sum::Total>* workspace;
    bool cluster;  // the blocks were launched as a cluster
    Sum sum;
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

/// The sum of the values of the warp's first `lanes` lanes, valid in lane 0: in pairs 16, 8, 4, 2,
/// 1 lanes apart.
template <unsigned lanes = warp_lanes, class Value>
__device__ __forceinline__ Value warp_sum(Value value) {
#pragma unroll
    for (unsigned step = lanes / 2; step > 0; step /= 2)
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
    total = warp_sum < most < warp_lanes ? most : warp_lanes > (total);
    if (threadIdx.x == 0) deliver(end.result, Sum::result(total));
}

/// The blocks of a cluster put their totals into the first one's shared memory.
template <class Sum>
__device__ __forceinline__ void finish_cluster(typename Sum::Total total,
                                               const ReduceEnd<Sum>& end) {
    constexpr unsigned most = 8;
    auto& totals = device::shared<struct TotalsOfCluster, typename Sum::Total[most]>();
    device::cluster_wait();  // every block has started, see begin_blocks
    if (threadIdx.x == 0) *device::of_block(&totals[blockIdx.x], 0) = total;
    device::cluster_arrive();
    device::cluster_wait();
    if (blockIdx.x == 0) finish_totals<most>(totals, end);
}

/// The block that comes last adds up what all have left in global memory.
template <unsigned most, class Sum>
__device__ __forceinline__ void finish_last(typename Sum::Total total, const ReduceEnd<Sum>& end) {
    auto& last = device::shared<struct LastBlock, bool>();
    if (threadIdx.x == 0) {
        end.workspace->totals[blockIdx.x] = total;
        last = device::take_turn(&end.workspace->turn, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) finish_totals<most>(end.workspace->totals, end);
}

/// Called by all threads; `partial` counts in thread 0. The order of the additions is the same for
/// a cluster and for the last block.
template <ReduceFinish finish, unsigned most_blocks, class Sum>
__device__ __forceinline__ void finish_blocks(typename Sum::Partial partial,
                                              const ReduceEnd<Sum>& end) {
    const typename Sum::Total total(partial);
    if (finish == ReduceFinish::alone || (finish == ReduceFinish::any && gridDim.x == 1)) {
        if (threadIdx.x == 0) deliver(end.result, Sum::result(total));
        return;
    }
    if constexpr (device::has_clusters &&
                  (finish == ReduceFinish::cluster || finish == ReduceFinish::any)) {
        if (finish == ReduceFinish::cluster || end.cluster) return finish_cluster(total, end);
    }
    if constexpr (finish != ReduceFinish::alone &&
                  !(device::has_clusters && finish == ReduceFinish::cluster))
        finish_last<most_blocks>(total, end);
}

/// Called first by all threads: shared memory of a cluster's other block may be written once that
/// block has started.
template <ReduceFinish finish, class Sum>
__device__ __forceinline__ void begin_blocks(const ReduceEnd<Sum>& end) {
    if constexpr (device::has_clusters &&
                  (finish == ReduceFinish::cluster || finish == ReduceFinish::any)) {
        if (finish == ReduceFinish::cluster || end.cluster) device::cluster_arrive_relaxed();
    }
}

}  // namespace tinyblas
