// SPDX-License-Identifier: MIT
// How the rung tensor ends a unit: what adds parts of k up, and from sums to C.
#pragma once

#include <cstddef>
#include <cstdint>

#include "parts.cuh"
#include "tensor_tile.cuh"
#include "tensor_work.cuh"

namespace tinyblas {

/// The parts of a cut tile: which worker has which, and where its sums may lie.
template <int entry>
class TensorParts {
    static constexpr GemmTensorTile t = gemm_tensor_table[entry];

  public:
    unsigned first, count;  // workers

    __device__ __forceinline__ TensorParts(const GemmTensorWork& work, unsigned tile)
        : work_(work), line_(work.plan), begin_((tile - work.plan.whole) * work.plan.chunks) {
        first = line_.worker_of(begin_);
        count = line_.worker_of(begin_ + work.plan.chunks - 1) - first + 1;
    }
    /// Of a warp's sums in that part, the first pair of lane 0.
    __device__ __forceinline__ double* sums(unsigned part, int warp) const {
        return work_.parts + std::size_t{number(part)} * (t.block_m * t.block_n) +
               warp * (t.warp_m * t.warp_n);
    }
    __device__ __forceinline__ unsigned* counter(unsigned part, int warp) const {
        return work_.counters +
               (number(part) * static_cast<unsigned>(t.warps()) + static_cast<unsigned>(warp));
    }

  private:
    /// A worker's piece touches at most two tiles.
    __device__ __forceinline__ unsigned number(unsigned part) const {
        const unsigned worker = first + part;
        return 2 * worker + (line_.first(worker) < begin_ ? 1 : 0);
    }

    const GemmTensorWork& work_;
    TensorLine line_;
    unsigned begin_;  // of the tile, in the line
};

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
#pragma unroll 1
    for (unsigned apart = 1; apart < parts.count; apart *= 2) {
        const unsigned left = own / (2 * apart) * (2 * apart), right = left + apart;
        if (right >= parts.count) continue;
        const bool is_right = own >= right;
        double* const to = parts.sums(is_right ? right : left, warp) + lane * 2;
        tile.for_each_pair([&](double one, double other, int number) {
            const double pair[2] = {one, other};
            device::store_global(to + number * 64, pair);
        });
        __threadfence();
        __syncwarp();
        unsigned turn = 0;
        if (lane == 0) turn = device::take_turn(parts.counter(right, warp), 1);
        if (__shfl_sync(~0u, turn, 0) == 0) return false;
        __threadfence();
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

/// C = alpha sums + beta C for the warp's tile, which begins at that corner.
template <int entry, class Tile>
__device__ __forceinline__ void store_tile(Tile& tile, const GemmTensorWork& work,
                                           const TensorCorner& corner, int lane) {
    const MatrixView<double> c = matrix_of<entry>(work.c, corner.product);
    std::int64_t i = corner.i, j = corner.j;
    const double alpha = work.alpha, beta = work.beta;
    constexpr int rows = 8 * Tile::strips, columns = 16 * Tile::slabs;
    const bool inside = i + rows <= c.rows && j + columns <= c.columns;
    const bool vectors = c.column_stride == 1 && c.row_stride % 2 == 0 &&
                         reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0;
    i += lane % 4 * 2;
    j += lane / 4 * 2;
    double* row = &c(i, j);
    if (inside && vectors && beta == 0) {
#pragma unroll
        for (int r = 0; r < Tile::strips; ++r, row += 6 * c.row_stride)
#pragma unroll
            for (int e = 0; e < 2; ++e, row += c.row_stride)
#pragma unroll
                for (int s = 0; s < Tile::slabs; ++s) {
                    const double pair[2] = {alpha * tile.sums[s][r][e],
                                            alpha * tile.sums[s][r][2 + e]};
                    device::store_global(row + s * 16, pair);
                }
        return;
    }
    // As store() of parts.cuh, without a branch for each element. A strip at a time, for which sums
    // move to the first one's place: registers have no index, and the code would be long.
    const bool reads = device::opaque(beta != 0 ? 1u : 0u) != 0;
    auto m = static_cast<int>(c.rows - i < rows ? c.rows - i : rows);
    const auto n = static_cast<int>(c.columns - j < columns ? c.columns - j : columns);
#pragma unroll 1
    for (int strip = 0; strip < Tile::strips; ++strip, m -= 8, row += 6 * c.row_stride) {
#pragma unroll
        for (int e = 0; e < 2; ++e, row += c.row_stride) {
            double* to = row;
#pragma unroll
            for (int s = 0; s < Tile::slabs; ++s, to += 14 * c.column_stride)
#pragma unroll
                for (int h = 0; h < 2; ++h, to += c.column_stride) {
                    const bool in = e < m && 16 * s + h < n;
                    double value = alpha * tile.sums[s][0][2 * h + e], sum = value;
                    double old = 0;
                    if (in && reads) old = *to;
                    device::multiply_add(sum, beta, old);
                    if (in) *to = reads ? sum : value;
                }
        }
        tile.to_next_strip();
    }
}

}  // namespace tinyblas
