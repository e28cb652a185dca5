// SPDX-License-Identifier: MIT
// transpose, rung 3, form skewed: rows of A and B contiguous, but where they begin is anyone's
// guess (a pitch of 4097 floats, say). Single elements, as in rung 2. New over it: a block's piece
// of each row of B is shifted to where a sector (32 bytes) begins, for a sector written in two
// halves by two blocks costs memory a read and two writes.
//
//   sectors of memory   |       |       |       |       |
//   row j of B            . . . .|0 0 0 0 0 0 0 0|1 1 1 1 ...     0, 1: block that writes it
//   row j + 1             . .|0 0 0 0 0 0 0 0|1 1 1 1 1 1 ...
//   row j + 2             |0 0 0 0 0 0 0 0|1 1 1 1 1 1 1 1 ...
//
// The pieces of one block then span one sector more than a tile's rows of A. All of these rows are
// read; the neighbouring block reads them too, from the L2 cache.
//
// Limit: reads of rows that do not start at a sector, and the rows read twice.
#pragma once

#include "3_tuned_vectors.cuh"

namespace tinyblas {

template <class Unit, int entry>
class SkewedTile {
    static constexpr TransposeTile t = transpose_table[entry].tile;
    static constexpr int height = t.rows + transpose_sector(sizeof(Unit));
    static constexpr int rows_at_once = t.threads / t.columns;
    static constexpr int reads = (height + rows_at_once - 1) / rows_at_once;  // of a thread
    static constexpr int writes_at_once = t.threads / t.rows;                 // rows of B
    static constexpr int writes = t.columns / writes_at_once;

  public:
    using Rows = Unit[height][t.columns + transpose_pad(sizeof(Unit))];
    static constexpr int sector = transpose_sector(sizeof(Unit));

    /// The first row that a block at row i of A reads lies a sector's elements above it.
    static constexpr bool whole(const MatrixView<const Unit>& a, std::int64_t i, std::int64_t j) {
        return i >= sector && i + t.rows <= a.rows && j + t.columns <= a.columns;
    }

    template <bool all_inside>
    static __device__ __forceinline__ void read(Rows& rows, const MatrixView<const Unit>& a,
                                                std::int64_t i, std::int64_t j) {
        const int column = static_cast<int>(threadIdx.x) % t.columns;
        const int first = static_cast<int>(threadIdx.x) / t.columns;
        const std::int64_t above = i - sector + first;
        const Unit* from = a.data + above * a.row_stride + j + column;
        Unit values[reads];
        const std::int64_t step = rows_at_once * a.row_stride;
#pragma unroll
        for (int s = 0; s < reads; ++s) {
            const std::int64_t row = above + s * rows_at_once;
            const bool valid = all_inside || (row >= 0 && row < a.rows && j + column < a.columns);
            values[s] = valid && exists(first, s) ? __ldg(from + s * step) : Unit{};
        }
#pragma unroll
        for (int s = 0; s < reads; ++s)
            if (exists(first, s)) rows[first + s * rows_at_once][column] = values[s];
    }

    template <bool all_inside>
    static __device__ __forceinline__ void write(const Rows& rows, const MatrixView<Unit>& b,
                                                 std::int64_t i, std::int64_t j) {
        const int place = static_cast<int>(threadIdx.x) % t.rows;  // in the piece of a row of B
        const int first = static_cast<int>(threadIdx.x) / t.rows;
        Unit* row = b.data + (j + first) * b.row_stride;
        const std::int64_t step = writes_at_once * b.row_stride;
#pragma unroll
        for (int s = 0; s < writes; ++s, row += step) {
            const int column = first + s * writes_at_once;
            if (!all_inside && j + column >= b.rows) break;
            // What follows the row's last sector boundary before it begins.
            const int skew =
                static_cast<int>(reinterpret_cast<std::uintptr_t>(row) / sizeof(Unit) % sector);
            const std::int64_t to = i + place - skew;
            if (all_inside || (to >= 0 && to < b.columns))
                row[to] = rows[place - skew + sector][column];
        }
    }

  private:
    static constexpr bool exists(int first, int s) {
        return (s + 1) * rows_at_once <= height || first + s * rows_at_once < height;
    }
};

template <class Unit, int entry>
__global__ void __launch_bounds__(transpose_table[entry].tile.threads,
                                  transpose_table[entry].tile.min_blocks)
    transpose_skewed(MatrixView<const Unit> a, MatrixView<Unit> b,
                     TransposeTunedRaster<entry> raster) {
    using Tile = SkewedTile<Unit, entry>;
    auto& rows = device::shared<struct SkewedRows, typename Tile::Rows>();
    const auto corner = raster.corner(blockIdx.x);
    if (Tile::whole(a, corner.i, corner.j)) {
        Tile::template read<true>(rows, a, corner.i, corner.j);
        __syncthreads();
        Tile::template write<true>(rows, b, corner.i, corner.j);
    } else {
        Tile::template read<false>(rows, a, corner.i, corner.j);
        __syncthreads();
        Tile::template write<false>(rows, b, corner.i, corner.j);
    }
}

template <class Unit, int entry>
void launch_transpose_skewed(device::Stream stream, MatrixView<const Unit> a, MatrixView<Unit> b) {
    // Shifted back by up to a sector less one element, the pieces must still reach the end.
    const TransposeTunedRaster<entry> raster(a.rows + SkewedTile<Unit, entry>::sector - 1,
                                             a.columns);
    device::launch("transpose", transpose_skewed<Unit, entry>,
                   device::grid(raster.blocks(), "transpose"), transpose_table[entry].tile.threads,
                   stream, a, b, raster);
}

}  // namespace tinyblas
