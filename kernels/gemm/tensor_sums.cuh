// SPDX-License-Identifier: MIT
// How the rung tensor ends a unit: what adds parts of k up, and from sums to C.
#pragma once

#include <cstddef>
#include <cstdint>

#include "parts.cuh"
#include "tensor_tile.cuh"
#include "tensor_work.cuh"

namespace tinyblas {

/// The parts of a cut tile: which worker has which, and their places in memory.
class TensorPieces {
  public:
    unsigned first, count;  // workers

    __device__ __forceinline__ TensorPieces(const GemmTensorWork& work, unsigned tile)
        : lines_{work}, begin_((tile - work.plan.whole) * work.plan.chunks) {
        first = lines_.worker_of(begin_);
        count = lines_.worker_of(begin_ + work.plan.chunks - 1) - first + 1;
    }
    /// Of what a worker has, only the beginning and the end can be parts of tiles.
    __device__ __forceinline__ unsigned place(unsigned part) const {
        const unsigned worker = first + part;
        return 2 * worker + (lines_.first(worker) < begin_ ? 1 : 0);
    }

  private:
    TensorLines lines_;
    unsigned begin_;  // the tile's first chunk
};

/// What a warp has of them.
template <int entry>
class TensorParts : public TensorPieces {
    static constexpr GemmTensorTile t = gemm_tensor_table[entry];

  public:
    __device__ __forceinline__ TensorParts(const GemmTensorWork& work, unsigned tile)
        : TensorPieces(work, tile), work_(work) {}

    /// Of the warp's sums in that part, the first pair of lane 0.
    __device__ __forceinline__ double* sums(unsigned part, int warp) const {
        return work_.parts + std::size_t{place(part)} * (t.block_m * t.block_n) +
               warp * (t.warp_m * t.warp_n);
    }
    __device__ __forceinline__ unsigned* counter(unsigned part, int warp) const {
        return work_.counters +
               (place(part) * static_cast<unsigned>(t.warps()) + static_cast<unsigned>(warp));
    }

  private:
    const GemmTensorWork& work_;
};

template <class Tile>
__device__ __forceinline__ void leave_sums(Tile& tile, double* to) {
    tile.for_each_pair([&](double one, double other, int number) {
        const double pair[2] = {one, other};
        device::store_global(to + number * 64, pair);
    });
}

/// Leaves the unit's sums for gemm_tensor_sums to add up.
template <int entry, class Tile>
__device__ __forceinline__ void leave_part(Tile& tile, const GemmTensorWork& work,
                                           const TensorUnit& unit, int warp, int lane) {
    const TensorParts<entry> parts(work, unit.tile);
    leave_sums(tile, parts.sums(blockIdx.x - parts.first, warp) + lane * 2);
}

/// Parts meet in pairs, pairs of pairs ...: each time the warp that comes last adds the other one's
/// sums, and goes on. No one waits, and the tree is the same each time, with the same bits.
///
///   part   0 --+-- 0 --+-- 0
///   part   1 --+       |
///   part   2 ----- 2 --+           Returns true to the warp that has the sums of all.
template <int entry, class Tile>
__device__ __forceinline__ bool add_parts(Tile& tile, const GemmTensorWork& work,
                                          const TensorUnit& unit, int warp, int lane) {
    const TensorParts<entry> parts(work, unit.tile);
    const unsigned own = blockIdx.x - parts.first;
    // Who has a tile's first piece had another one before. If the other one's sums are there, its
    // own need not lie in memory.
    const bool mostly_last = own == 0 && work.plan.straddles();
#pragma unroll 1
    for (unsigned apart = 1; apart < parts.count; apart *= 2) {
        const unsigned left = own / (2 * apart) * (2 * apart), right = left + apart;
        if (right >= parts.count) continue;
        const bool is_right = own >= right;
        unsigned* const counter = parts.counter(right, warp);
        if (mostly_last && __all_sync(~0u, device::load_acquire(counter) == 1)) {
            if (lane == 0) *counter = 0;
        } else {
            // Never. With this way out, ptxas (13.0) writes YIELD into the loop that multiplies.
            if (Tile::yields && work.plan.workers == 0) return false;
            leave_sums(tile, parts.sums(is_right ? right : left, warp) + lane * 2);
            __threadfence();
            __syncwarp();
            unsigned turn = 0;
            if (lane == 0) turn = device::take_turn(counter, 1);
            if (__shfl_sync(~0u, turn, 0) == 0) return false;
            __threadfence();
        }
        const double* const from = parts.sums(is_right ? left : right, warp) + lane * 2;
        tile.for_each_pair([&](double& one, double& other, int number) {
            double pair[2];
            device::load_fresh(pair, from + number * 64);
            one += pair[0];
            other += pair[1];
        });
    }
    return true;
}

/// As store() of parts.cuh, without a branch for each element, from `row` on, where `m` rows and
/// `n` columns are left. A strip at a time, for which sums move to the first one's place: registers
/// have no index, and the code would be long.
template <class Tile, class Shared>
__device__ __forceinline__ void store_elements(Tile& tile, const MatrixView<double>& c, double* row,
                                               int m, int n, double alpha, double beta, bool reads,
                                               int strip_pair, int strip_column,
                                               TensorRing<Shared>& ring) {
#pragma unroll 1
    for (int strip = 0; strip < Tile::strips; ++strip, m -= 8, row += 6 * c.row_stride) {
        if (reads) ring.wait_until_full();
#pragma unroll
        for (int e = 0; e < 2; ++e, row += c.row_stride) {
            double* to = row;
#pragma unroll
            for (int s = 0; s < Tile::slabs; ++s, to += 14 * c.column_stride) {
                double old[2] = {};
                if (reads) device::load_vector(old, ring.old(strip_pair, e, strip_column) + 16 * s);
#pragma unroll
                for (int h = 0; h < 2; ++h, to += c.column_stride) {
                    double value = alpha * tile.sums[s][0][2 * h + e], sum = value;
                    device::multiply_add(sum, beta, old[h]);
                    if (e < m && 16 * s + h < n) *to = reads ? sum : value;
                }
            }
        }
        if (reads) ring.leave();
        tile.to_next_strip();
    }
}

/// Neighbours of rows go together, two from a multiple of 16 bytes on, where there(row, column)
/// says that C has them: of the lane's first ones, so many further.
template <bool reads, class Tile, class Shared, class There>
__device__ __forceinline__ void store_pairs(const Tile& tile, double* row, std::int64_t row_stride,
                                            double alpha, double beta, int strip_pair,
                                            int strip_column, TensorRing<Shared>& ring,
                                            There&& there) {
#pragma unroll
    for (int strip = 0; strip < Tile::strips; ++strip, row += 6 * row_stride) {
        if (reads) ring.wait_until_full();
#pragma unroll
        for (int e = 0; e < 2; ++e, row += row_stride)
#pragma unroll
            for (int s = 0; s < Tile::slabs; ++s) {
                double pair[2], old[2];
                if (reads) device::load_vector(old, ring.old(strip_pair, e, strip_column) + 16 * s);
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    pair[h] = alpha * tile.sums[s][strip][2 * h + e];
                    if (reads) device::multiply_add(pair[h], beta, old[h]);
                }
                if (there(8 * strip + e, 16 * s)) device::store_global(row + s * 16, pair);
            }
        if (reads) ring.leave();
    }
}

/// C = alpha sums + beta C for the warp's tile, which begins at that corner. C's old elements come
/// through the ring, if beta asks for them.
template <int entry, class Tile, class Shared>
__device__ __forceinline__ void store_tile(Tile& tile, const GemmTensorWork& work,
                                           const TensorCorner& corner, TensorRing<Shared>& ring,
                                           int warp, int lane) {
    constexpr GemmTensorTile t = gemm_tensor_table[entry];
    const MatrixView<double> c = matrix_of<entry>(work.c, corner.product);
    const std::int64_t i = corner.i + lane % 4 * 2, j = corner.j + lane / 4 * 2;
    const double alpha = work.alpha, beta = work.beta;
    // How many rows and columns are left from the lane's first ones on.
    auto m = static_cast<int>(c.rows - i < t.warp_m ? c.rows - i : t.warp_m);
    const auto n = static_cast<int>(c.columns - j < t.warp_n ? c.columns - j : t.warp_n);
    const bool in_pairs =
        takes_pairs(c) && (c.columns % 2 == 0 || corner.j + t.warp_n <= c.columns);
    const bool reads = work.reads_c;
    // Of the lane's first elements in a strip: the pair of rows, and the column.
    const int strip_pair = warp / t.warps_n() * 4 + lane % 4;
    const int strip_column = warp % t.warps_n() * t.warp_n + lane / 4 * 2;
    double* row = &c(i, j);
    const auto there = [&](int below, int along) { return below < m && along < n; };
    if (in_pairs && !reads)
        return store_pairs<false>(tile, row, c.row_stride, alpha, beta, strip_pair, strip_column,
                                  ring, there);
    if (in_pairs)
        return store_pairs<true>(tile, row, c.row_stride, alpha, beta, strip_pair, strip_column,
                                 ring, there);
    store_elements(tile, c, row, m, n, alpha, beta, reads, strip_pair, strip_column, ring);
}

/// The same for the tile of large products: those that end beyond C are few, and stored by
/// elements. With store_tile() and load_old() as others have them, 4095 squares take 7 % longer
/// (H200); why is not known, for the loop that multiplies differs in registers alone.
template <int entry, class Tile, class Shared>
__device__ __forceinline__ void store_large_tile(Tile& tile, const GemmTensorWork& work,
                                                 const TensorCorner& corner,
                                                 TensorRing<Shared>& ring, int warp, int lane) {
    constexpr GemmTensorTile t = gemm_tensor_table[entry];
    const MatrixView<double> c = matrix_of<entry>(work.c, corner.product);
    const std::int64_t i = corner.i + lane % 4 * 2, j = corner.j + lane / 4 * 2;
    const double alpha = work.alpha, beta = work.beta;
    const bool inside = corner.i + t.warp_m <= c.rows && corner.j + t.warp_n <= c.columns;
    const bool reads = work.reads_c;
    // Of the lane's first elements in a strip: the pair of rows, and the column.
    const int strip_pair = warp / t.warps_n() * 4 + lane % 4;
    const int strip_column = warp % t.warps_n() * t.warp_n + lane / 4 * 2;
    double* row = &c(i, j);
    const auto there = [](int, int) { return true; };
    if (inside && takes_pairs(c) && !reads)
        return store_pairs<false>(tile, row, c.row_stride, alpha, beta, strip_pair, strip_column,
                                  ring, there);
    if (inside && takes_pairs(c))
        return store_pairs<true>(tile, row, c.row_stride, alpha, beta, strip_pair, strip_column,
                                 ring, there);
    const auto m = static_cast<int>(c.rows - i < t.warp_m ? c.rows - i : t.warp_m);
    const auto n = static_cast<int>(c.columns - j < t.warp_n ? c.columns - j : t.warp_n);
    store_elements(tile, c, row, m, n, alpha, beta, reads, strip_pair, strip_column, ring);
}

}  // namespace tinyblas
