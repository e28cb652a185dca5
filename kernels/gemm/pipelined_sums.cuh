// SPDX-License-Identifier: MIT
// How the rung pipelined ends a piece: what adds pieces of k up, and from a thread's sums to C.
#pragma once

#include "parts.cuh"
#include "pipelined_ring.cuh"
#include "thread_tile.cuh"

namespace tinyblas {

/// Counters of a tile that is cut.
inline constexpr unsigned pipelined_counters = pipelined_tile.multipliers() / 32;

/// Who has the pieces of a tile that is cut: blocks `first` to `last`. One has a tile's first piece
/// beside the last one of another.
struct PipelinedPieces {
    unsigned first, last;
    __device__ __forceinline__ PipelinedPieces(const PipelinedWorkload& load, unsigned tile)
        : first(load.block_of(tile * load.steps)),
          last(load.block_of(tile * load.steps + load.steps - 1)) {}
    /// Of the two places of a block, that of its piece.
    __device__ __forceinline__ unsigned place(unsigned block) const {
        return 2 * block + (block == first ? 1 : 0);
    }
    /// Where a thread's first sum of that piece is left; the next ones lie as many further on as
    /// there are threads.
    __device__ __forceinline__ float* left_by(const PipelinedWork& work, unsigned block,
                                              unsigned thread) const {
        constexpr GemmTile t = pipelined_tile;
        return work.partials + std::size_t{place(block)} * (t.block_m * t.block_n) + thread;
    }
};

/// Whether the calling warp is the last one with its part of the tile: then what the others have
/// left can be read.
__device__ __forceinline__ bool comes_last(const PipelinedWork& work, unsigned tile,
                                           const PipelinedPieces& pieces, unsigned part) {
    __threadfence();
    __syncwarp();
    const unsigned others = pieces.last - pieces.first;
    bool last = false;
    if (threadIdx.x % 32 == 0)
        last =
            device::take_turn(work.counters + tile * pipelined_counters + part, others) == others;
    if (!__any_sync(0xFFFFFFFF, last)) return false;
    __threadfence();
    return true;
}

/// A thread's sums times alpha, in registers of their own: what reached 16-byte stores would have
/// to lie in aligned fours, and the main loop's accumulators could not keep to the banks where they
/// meet no operand.
template <int products>
class PipelinedSums {
  public:
    static constexpr GemmTile t = pipelined_tile_of(products);
    using Tile = ThreadTile<float, t, 0>;

    /// Of the tile's products, the calling thread's, and its place among that one's threads.
    static __device__ __forceinline__ int product() {
        return products == 1 ? 0 : static_cast<int>(threadIdx.x) / t.multipliers();
    }
    static __device__ __forceinline__ int thread() {
        return static_cast<int>(threadIdx.x) % t.multipliers();
    }

    __device__ __forceinline__ PipelinedSums(Tile& tile, float alpha) {
        tile.visit([&](int s, float sum) { sums_[s] = device::opaque(alpha * sum); });
    }

    /// Leaves a piece's sums for the warp of the tile that comes last; that one gets all pieces'
    /// sums, added up in the order of k. For the others, returns false.
    __device__ __forceinline__ bool add_up(const PipelinedWork& work, const PipelinedPiece& piece) {
        constexpr int stride = t.multipliers();
        const PipelinedPieces pieces(work.load, piece.tile);
        float* const own = pieces.left_by(work, blockIdx.x, threadIdx.x);
#pragma unroll
        for (int s = 0; s < count; ++s) own[s * stride] = sums_[s];
        if (!work.counters || !comes_last(work, piece.tile, pieces, threadIdx.x / 32)) return false;
#pragma unroll
        for (int s = 0; s < count; ++s) sums_[s] = 0;
#pragma unroll 1
        for (unsigned block = pieces.first; block <= pieces.last; ++block) {
            const float* const from = pieces.left_by(work, block, threadIdx.x);
            constexpr int at_once = 32;
#pragma unroll
            for (int s = 0; s < count; s += at_once) {
                float parts[at_once];
#pragma unroll
                for (int part = 0; part < at_once; ++part)
                    parts[part] = device::load_fresh(from + (s + part) * stride);
#pragma unroll
                for (int part = 0; part < at_once; ++part) sums_[s + part] += parts[part];
            }
        }
        return true;
    }

    /// C = sums + beta C for the tile. Few branches: with many, ptxas keeps the main loop's
    /// accumulators less well.
    __device__ __forceinline__ void store(const PipelinedWork& work, unsigned tile) {
        const auto place = work.load.place(tile);
        MatrixView<float> c = work.c;
        const unsigned own = place.product * products + static_cast<unsigned>(product());
        if (products > 1 && own >= work.products) return;
        c.data += own * work.c_apart;
        const std::int64_t i = std::int64_t{place.i} * t.block_m + Tile::row(thread());
        const std::int64_t j = std::int64_t{place.j} * t.block_n + Tile::column(thread());
        const bool vectors = c.column_stride == 1 && c.row_stride % 4 == 0 &&
                             reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0 &&
                             (std::int64_t{place.i} + 1) * t.block_m <= c.rows &&
                             (std::int64_t{place.j} + 1) * t.block_n <= c.columns;
        if (vectors) {
            if (work.beta != 0)
                for_each_row(&c(i, j), c.row_stride, [&](int row, const float* from) {
#pragma unroll
                    for (int v = 0; v < t.thread_n; v += 4) {
                        float old[4];
                        device::load_vector(old, from + v * t.lanes_n());
#pragma unroll
                        for (int e = 0; e < 4; ++e)
                            device::multiply_add(sum(row, v + e), work.beta, old[e]);
                    }
                });
            for_each_row(&c(i, j), c.row_stride, [&](int row, float* to) {
#pragma unroll
                for (int v = 0; v < t.thread_n; v += 4) {
                    const float values[4] = {sum(row, v), sum(row, v + 1), sum(row, v + 2),
                                             sum(row, v + 3)};
                    device::store_global(to + v * t.lanes_n(), values);
                }
            });
        } else {
            const auto rows = static_cast<int>(c.rows - i < t.block_m ? c.rows - i : t.block_m);
            const auto columns =
                static_cast<int>(c.columns - j < t.block_n ? c.columns - j : t.block_n);
            const auto for_each = [&](auto&& body) {
                for_each_row(&c(i, j), c.row_stride, [&](int row, float* to) {
#pragma unroll
                    for (int v = 0; v < t.thread_n; ++v) {
                        const int along = v / 4 * 4 * t.lanes_n() + v % 4;
                        if (down(row) < rows && along < columns)
                            body(sum(row, v), to + along * c.column_stride);
                    }
                });
            };
            if (work.beta != 0)
                for_each([&](float& sum, const float* from) {
                    device::multiply_add(sum, work.beta, *from);
                });
            for_each([&](float sum, float* to) { *to = sum; });
        }
    }

  private:
    static constexpr int count = t.thread_m * t.thread_n;

    /// Of the thread's rows, `row`-th: how far below the first one.
    static constexpr int down(int row) { return row / 4 * 4 * t.lanes_m() + row % 4; }
    __device__ __forceinline__ float& sum(int row, int v) { return sums_[row * t.thread_n + v]; }

    /// Calls body(row, first element of the row), as `at` is of the first one.
    template <class Body>
    static __device__ __forceinline__ void for_each_row(float* at, std::int64_t stride,
                                                        Body&& body) {
#pragma unroll
        for (int row = 0; row < count / t.thread_n; ++row) {
            body(row, at);
            at = device::opaque(at + (down(row + 1) - down(row)) * stride);
        }
    }

    float sums_[count];
};

/// Where many pieces make a tile: adds them up as PipelinedSums::add_up does, all tiles at once. A
/// thread has one sum of a tile. Limit: the latency of a few loads in a row.
__global__ void __launch_bounds__(pipelined_tile.multipliers())
    gemm_pipelined_sums(const __grid_constant__ PipelinedWork work) {
    constexpr GemmTile t = pipelined_tile;
    using Tile = PipelinedSums<1>::Tile;
    if constexpr (!device::reallocates_registers) return device::trap();  // as the rung's
    device::let_dependents_start();
    device::wait_for_launcher();
    const unsigned tile = blockIdx.y, number = blockIdx.x, thread = threadIdx.x;
    const PipelinedPieces pieces(work.load, tile);
    if (pieces.first == pieces.last) return;  // the tile is whole after all
    float sum = 0;
    constexpr unsigned at_once = 22;
#pragma unroll 1
    for (unsigned block = pieces.first; block <= pieces.last; block += at_once) {
        float parts[at_once];
#pragma unroll
        for (unsigned part = 0; part < at_once; ++part) {
            parts[part] = 0;
            if (block + part <= pieces.last)
                parts[part] = device::load_fresh(pieces.left_by(work, block + part, thread) +
                                                 number * t.multipliers());
        }
#pragma unroll
        for (unsigned part = 0; part < at_once; ++part) sum += parts[part];
    }
    const int row = static_cast<int>(number) / t.thread_n,
              v = static_cast<int>(number) % t.thread_n;
    const auto place = work.load.place(tile);
    const std::int64_t i = std::int64_t{place.i} * t.block_m + Tile::row(static_cast<int>(thread)) +
                           row / 4 * 4 * t.lanes_m() + row % 4;
    const std::int64_t j = std::int64_t{place.j} * t.block_n +
                           Tile::column(static_cast<int>(thread)) + v / 4 * 4 * t.lanes_n() + v % 4;
    if (i >= work.c.rows || j >= work.c.columns) return;
    float& c = work.c(i, j);
    if (work.beta != 0) device::multiply_add(sum, work.beta, c);
    c = sum;
}

}  // namespace tinyblas
