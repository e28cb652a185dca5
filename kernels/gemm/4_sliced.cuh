// SPDX-License-Identifier: MIT
// gemm, rung 4, for C with few tiles. New over rung 3: k is shared, too. Slices of a block hold the
// whole block tile each, and multiply lines of k in turn; ranks, the blocks of a cluster, and parts
// of k have a block of their own for the same tile.
//
//   k:  | part 0                        | part 1                        |   C: one tile
//       | rank 0        | rank 1        | rank 0        | rank 1        |   +-----+
//       | 0123 0123 ... | 0123 0123 ... | 0123 0123 ... | 0123 0123 ... |   |     | <- sum of all
//         ^ slices, a line of k each                                        +-----+
//
// So a C of one tile keeps all of a GPU busy, and a small C ends sooner. Operands are as they come:
// any strides, any alignment. How k is cut depends on the extents alone (and of a batch, on how
// many products there are), and so do the bits. Of a long k, a slice sets its sums aside again and
// again, in registers and shared memory (sliced_room.cuh), where tiles are not too large for it:
// some short chains of multiply-adds err less than a long one.
//
// Larger tiles have warps of their own that load, so that the others' multiply-adds need not make
// way for addresses. Threads that load leave before sums are added up.
//
// Limit: for small C, the launch and the way of the first tile from memory. Else a step of block_k
// takes 1.4 to 1.5 times as long as its multiply-adds (an H200): issue slots are 79 % busy, a tenth
// of them with loads; for the rest, the two warps that a scheduler has to choose from wait at once,
// for operands from the same bank of registers or, between two stages, for each other.
#pragma once

#include <cstddef>

#include "sliced_loader.cuh"
#include "sliced_room.cuh"
#include "sliced_sums.cuh"
#include "thread_tile.cuh"

namespace tinyblas {

/// Machine code for other compute capabilities than 9.0 would hold what has been measured there
/// alone, and is left out; the choice of rungs never asks for it.
inline constexpr bool sliced_compiled = device::reallocates_registers;

/// Waits until all threads of the block agree that the next tiles are there and the last ones are
/// no longer needed.
template <int entry>
__device__ __forceinline__ void exchange() {
    meet<entry, true>();
}

/// The tiles of A and B on their way into shared memory.
template <int entry>
class SlicedStream {
    static constexpr SlicedTile s = sliced_tile(entry, device::reallocates_registers);
    static constexpr GemmTile t = s.tile;

  public:
    /// Columns p to p + depth - 1, of `steps` tiles.
    __device__ __forceinline__ SlicedStream(const SlicedWork& work, const SlicedPlace& at,
                                            std::int64_t p, int depth, int steps,
                                            SlicedShared<entry>& shared)
        : a_(work.a, work.a_walk, at.i, p, shared.tiles.a, loader()),
          b_(work.b.transposed(), work.b_walk, at.j, p, shared.tiles.b, loader()),
          unrequested_(steps) {
        // The first tile takes what is not whole, so that all others are.
        request<true>(depth - (steps - 1) * t.block_k);
#pragma unroll 1
        for (int stage = 1; stage < t.stages - 1; ++stage) request<false>(t.block_k);
    }

    /// Waits for the tiles to multiply next, then requests others in place of those multiplied
    /// last.
    __device__ __forceinline__ void advance() {
        device::wait_for_copies<t.stages - 2>();
        exchange<entry>();
        request<false>(t.block_k);
    }

  private:
    template <bool ragged>
    __device__ __forceinline__ void request(int columns) {
        if (unrequested_ > 0) {
            if (among<s.loaders(t.block_m)>()) a_.template load<ragged>(stage_, columns);
            if (among<s.loaders(t.block_n)>()) b_.template load<ragged>(stage_, columns);
            --unrequested_;
        }
        device::close_copy_group();
        stage_ = stage_ + 1 == t.stages ? 0 : stage_ + 1;
    }

    /// The calling thread's place among those that load.
    static __device__ __forceinline__ int loader() {
        return static_cast<int>(threadIdx.x) - (t.loaders > 0 ? s.multipliers() : 0);
    }
    /// Whether it is one of the first `count`.
    template <int count>
    static __device__ __forceinline__ bool among() {
        return count == (t.loaders > 0 ? t.loaders : s.multipliers()) || loader() < count;
    }

    typename SlicedShared<entry>::LoaderA a_;
    typename SlicedShared<entry>::LoaderB b_;
    int unrequested_;
    int stage_ = 0;  // where the next tiles go
};

/// Where C's old elements are, if it is read.
template <int entry>
__device__ __forceinline__ float* old_room(const SlicedWork& work) {
    if (work.beta == 0) return nullptr;
    return work.cluster
               ? device::large_shared<SlicedAndOld<entry, SlicedClusterShared<entry>>>().old
               : device::large_shared<SlicedAndOld<entry, SlicedShared<entry>>>().old;
}

template <int entry>
__device__ __forceinline__ void finish_tile(const SlicedWork& work, const SlicedPlace& at,
                                            SlicedShared<entry>& shared) {
    constexpr SlicedTile s = sliced_tile(entry, device::reallocates_registers);
    const bool by_column = work.c.row_stride == 1 && work.c.column_stride != 1;
    const auto block_sum = [&](float(&sum)[4], int number) {
        const SlicedVector<entry> v(number, by_column);
        sum_in_pairs<SlicedShared<entry>::kept()>(sum, [&](float(&own)[4], int slice) {
            device::load_vector(own, sums_at<entry>(shared.sums[slice], v.row, v.column));
        });
    };
    if constexpr (device::has_clusters) {
        if (work.cluster) {
            auto& received = device::large_shared<SlicedClusterShared<entry>>().received;
            const int segment = s.vectors() >> work.cut.ranks_log2;
            const int first = static_cast<int>(at.rank) * segment;
            device::cluster_wait();  // every block has started
#pragma unroll 1
            for (int number = static_cast<int>(threadIdx.x); number < s.vectors();
                 number += s.multipliers()) {
                float sum[4];
                block_sum(sum, number);
                const unsigned owner = static_cast<unsigned>(number / segment);
                const int slot = number - static_cast<int>(owner) * segment + first;
                device::store_vector(&device::of_block(&received, owner)[0][slot][0], sum);
            }
            device::cluster_arrive();
            device::cluster_wait();
        }
    }
    const int segment = work.cluster ? s.vectors() >> work.cut.ranks_log2 : s.vectors();
    const int first = work.cluster ? static_cast<int>(at.rank) * segment : 0;
    finish_parts<entry>(
        work, at, first, first + segment, old_room<entry>(work), [&](float(&sum)[4], int number) {
            if constexpr (device::has_clusters) {
                if (work.cluster) {
                    auto& received = device::large_shared<SlicedClusterShared<entry>>().received;
                    device::load_vector(sum, received[number - first]);
#pragma unroll 1
                    for (unsigned rank = 1; rank < work.cut.ranks(); ++rank) {
                        float more[4];
                        device::load_vector(more, received[rank * segment + number - first]);
                        add_to(sum, more);
                    }
                    return;
                }
            }
            block_sum(sum, number);
        });
}

/// A block's part of the work: its tile in unit `unit()`, with `before()` tiles of other products
/// before the work's. Both are asked for where they are needed, rather than kept in registers.
template <int entry, class Unit, class Before>
__device__ __forceinline__ void multiply_unit(const SlicedWork& work, Unit unit, Before before) {
    constexpr SlicedTile s = sliced_tile(entry, device::reallocates_registers);
    constexpr GemmTile t = s.tile;
    const SlicedCut& cut = work.cut;
    if constexpr (device::has_clusters)
        if (work.cluster) device::cluster_arrive_relaxed();
    auto& shared = work.beta == 0
                       ? device::large_shared<SlicedShared<entry>>()
                       : device::large_shared<SlicedAndOld<entry, SlicedShared<entry>>>().own;
    const auto place = [&] {
        const unsigned own = device::opaque(unit());
        return SlicedPlace{std::int64_t{device::opaque(blockIdx.y)} * t.block_m,
                           std::int64_t{device::opaque(blockIdx.z)} * t.block_n,
                           blockIdx.z * gridDim.y + blockIdx.y + before(), own & (cut.ranks() - 1),
                           own >> cut.ranks_log2};
    };
    const std::int64_t p = std::int64_t{unit()} * cut.depth;
    const std::int64_t left = work.a.columns - p;
    const int depth = left < 0 ? 0 : left < cut.depth ? static_cast<int>(left) : cut.depth;
    const int steps = (depth + t.block_k - 1) / t.block_k;

    const auto bring_all_old = [&] {
        const SlicedPlace at = place();
        bring_old<t.block_m, t.block_n, s.multipliers()>(work.c, at.i, at.j, old_room<entry>(work),
                                                         static_cast<int>(threadIdx.x));
        device::close_copy_group();
    };
    constexpr bool sets_aside = s.sets_aside();
    const auto multiply_all = [&](auto&& advance) {
        const int thread = static_cast<int>(threadIdx.x), slice = thread / s.slice_threads();
        ThreadTile<float, t, 4, s.slices> tile(
            thread % s.slice_threads(), &shared.tiles.a[0][slice][0], &shared.tiles.b[0][slice][0]);
        constexpr int lines = s.lines();
        int line = 0;  // of the slice's, through all stages
        advance();
        if (steps > 0) tile.start(0);
        const auto multiply = [&](int left_steps) {
#pragma unroll
            for (int q = 0; q < lines - 1; ++q) tile.multiply(q, line, q + 1);
            line += lines;
            advance();
            // After the last line nothing comes next: load again what is there.
            if (line == t.stages * lines || left_steps == 1) line = 0;
            tile.multiply(lines - 1, line, 0);
        };
        if constexpr (sets_aside) {
            // A short k meets none of the instructions for it.
            SlicedAside<entry, decltype(tile)> aside(shared);
            bool first = true;
            if (steps > 0)
                for (int left_steps = steps;; first = false) {
                    const int later = left_steps > cut.chain ? left_steps - cut.chain : 0;
                    do multiply(left_steps);
                    while (--left_steps > later);
                    if (left_steps == 0) break;
                    aside.take(tile, first);
                }
            if (!first) aside.give_back(tile);
        } else {
            for (int left_steps = steps; left_steps > 0; --left_steps) multiply(left_steps);
        }
        if (work.beta != 0) device::wait_for_copies<0>();
        leave_in_place(tile, shared, work.one);
    };
    if constexpr (t.loaders > 0) {
        if (static_cast<int>(threadIdx.x) >= s.multipliers()) {
            if constexpr (t.loader_registers > 0) device::give_up_registers<t.loader_registers>();
            SlicedStream<entry> stream(work, place(), p, depth, steps, shared);
            for (int step = 0; step <= steps; ++step) stream.advance();
            if constexpr (device::has_clusters)
                if (work.cluster) device::cluster_wait();
            return;
        }
        if constexpr (t.loader_registers > 0) device::claim_registers<s.multiplier_registers()>();
        if (work.beta != 0) bring_all_old();
        multiply_all(exchange<entry>);
    } else {
        SlicedStream<entry> stream(work, place(), p, depth, steps, shared);
        if (work.beta != 0) bring_all_old();
        multiply_all([&] { stream.advance(); });
    }
    finish_tile<entry>(work, place(), shared);
}

/// One product's.
template <int entry>
__global__ void __launch_bounds__(
    sliced_tile(entry, device::reallocates_registers).threads(),
    device::resident_blocks(sliced_table[entry].tile.tile.min_blocks,
                            sliced_tile(entry, device::reallocates_registers).threads()))
    gemm_sliced(const SlicedWork work, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    if constexpr (!sliced_compiled) return device::trap();
    multiply_unit<entry>(
        work, [] { return blockIdx.x; }, [] { return 0u; });
}

/// A batch's: products lie along the grid's x where one product's parts do. A kernel of its own,
/// for the few instructions more would make small products 0.1 us slower (of 2).
template <int entry>
__global__ void __launch_bounds__(
    sliced_tile(entry, device::reallocates_registers).threads(),
    device::resident_blocks(sliced_table[entry].tile.tile.min_blocks,
                            sliced_tile(entry, device::reallocates_registers).threads()))
    gemm_sliced_batched(const SlicedWork first, const SlicedBatch batch, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    if constexpr (!sliced_compiled) return device::trap();
    const SlicedCut& cut = first.cut;
    const unsigned product = blockIdx.x >> cut.ranks_log2;
    SlicedWork work = first;
    work.a.data = batch.a.data(product);
    work.b.data = batch.b.data(product);
    work.c.data = batch.c.data(product);
    const auto begins_anywhere = [](SlicedWalk& walk, const float* data) {
        if (walk == SlicedWalk::vectors && reinterpret_cast<std::uintptr_t>(data) % 16 != 0)
            walk = SlicedWalk::along_i;
    };
    begins_anywhere(work.a_walk, work.a.data);
    begins_anywhere(work.b_walk, work.b.data);
    multiply_unit<entry>(
        work, [&] { return blockIdx.x & (cut.ranks() - 1); },
        [&] { return (blockIdx.x >> cut.ranks_log2) * (gridDim.y * gridDim.z); });
}

/// One of them, and what each block of it has.
struct SlicedKernel {
    void (*alone)(SlicedWork, bool);
    void (*batched)(SlicedWork, SlicedBatch, bool);  // null: not compiled
    std::size_t shared, shared_of_cluster;           // bytes
};
template <int entry>
constexpr SlicedKernel make_sliced_kernel() {
    SlicedKernel kernel = {gemm_sliced<entry>, nullptr, sizeof(SlicedShared<entry>),
                           sizeof(SlicedClusterShared<entry>)};
    if constexpr (sliced_batches(entry)) kernel.batched = gemm_sliced_batched<entry>;
    return kernel;
}

/// `kernel`: the entry's. `reallocates`: the GPU runs machine code that can pass registers on.
/// `batch`: null for one product.
inline void launch_gemm_sliced(device::Stream stream, const SlicedKernel& kernel, int entry,
                               const SlicedWork& work, const SlicedBatch* batch, bool reallocates) {
    const SlicedTile s = sliced_tile(entry, reallocates);
    const auto tiles = [](std::int64_t extent, int block) {
        return static_cast<unsigned>((extent + block - 1) / block);
    };
    const dim3 grid(work.cut.units() * (batch ? batch->count : 1),
                    tiles(work.c.rows, s.tile.block_m), tiles(work.c.columns, s.tile.block_n));
    const unsigned ranks = work.cluster ? work.cut.ranks() : 1;
    const std::size_t own = work.cluster ? kernel.shared_of_cluster : kernel.shared;
    const std::size_t old = work.beta != 0 ? s.vectors() * sizeof(float[4]) : 0;
    const auto launch = [&](auto of_entry, const auto&... given) {
        device::launch_even_clusters("gemm", of_entry, grid, ranks, s.threads(), own + old, stream,
                                     work, given..., leaves_places(grid));
    };
    if (batch)
        launch(kernel.batched, *batch);
    else
        launch(kernel.alone);
}

}  // namespace tinyblas
