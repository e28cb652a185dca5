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
// The pieces of one block then span up to a sector more than a tile's rows of A. All of these rows
// are read; the neighbouring block reads them too, from the L2 cache. Where A and B stay in that
// cache, the halves of a sector meet there, and pieces are not shifted: a sector of one element.
//
// Limit: reads of rows that do not start at a sector, and the rows read twice.
#pragma once

#include "3_tuned_vectors.cuh"

namespace tinyblas {

template <class Unit, int entry>
class SkewedTile {
    static constexpr TransposeTile t = transpose_table[entry].tile;
    static constexpr int sector =
        transpose_table[entry].stays_in_cache() ? 1 : transpose_sector(sizeof(Unit));
    static constexpr int height = t.rows + sector - 1;
    static constexpr int rows_at_once = t.threads / t.columns;
    static constexpr int reads = (height + rows_at_once - 1) / rows_at_once;  // of a thread
    static constexpr int writes_at_once = t.threads / t.rows;                 // rows of B
    static constexpr int writes = t.columns / writes_at_once;

  public:
    static constexpr int shift = sector - 1;  // of a piece, at most
    using Rows = Unit[height][t.columns + transpose_pad(sizeof(Unit))];

    /// What of a block's rows lies inside: from `first` to before `last`, counted from `shift` rows
    /// above the block's row i of A; and how many columns.
    struct Inside {
        int first, last, columns;

        __device__ Inside(const MatrixView<const Unit>& a, std::int64_t i, std::int64_t j)
            : first(i < shift ? shift - static_cast<int>(i) : 0),
              last(inside<height>(a.rows - i + shift)),
              columns(inside<t.columns>(a.columns - j)) {}
        __device__ bool all() const { return first == 0 && last == height && columns == t.columns; }
    };

    /// `from`: A's element (i, j).
    template <bool all>
    static __device__ __forceinline__ void read(Rows& rows, const Unit* from, std::int64_t stride,
                                                const Inside& is, device::CachePolicy policy) {
        const int column = static_cast<int>(threadIdx.x) % t.columns;
        const int first = static_cast<int>(threadIdx.x) / t.columns;
        from += (first - shift) * stride + column;
        const std::int64_t step = rows_at_once * stride;
        Unit values[reads];
#pragma unroll
        for (int s = 0; s < reads; ++s) {
            const int row = first + s * rows_at_once;
            const bool valid = all || (row >= is.first && row < is.last && column < is.columns);
            values[s] = valid && exists(first, s) ? device::load_read_only(from + s * step, policy)
                                                  : Unit{};
        }
#pragma unroll
        for (int s = 0; s < reads; ++s)
            if (exists(first, s)) rows[first + s * rows_at_once][column] = values[s];
    }

    /// `to`: row j of B; `i`: the block's row of A.
    template <bool all>
    static __device__ __forceinline__ void write(const Rows& rows, Unit* to, std::int64_t stride,
                                                 std::int64_t i, const Inside& is) {
        const int place = static_cast<int>(threadIdx.x) % t.rows;  // in the piece of a row of B
        const int first = static_cast<int>(threadIdx.x) / t.rows;
        to += first * stride;
        const std::int64_t step = writes_at_once * stride;
#pragma unroll
        for (int s = 0; s < writes; ++s, to += step) {
            const int column = first + s * writes_at_once;
            if (!all && column >= is.columns) break;
            // What of the row's first sector comes before the row.
            const int skew =
                static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(Unit) % sector);
            const int row = place - skew + shift;
            if (all || (row >= is.first && row < is.last)) to[i + place - skew] = rows[row][column];
        }
    }

  private:
    static constexpr bool exists(int first, int s) {
        return (s + 1) * rows_at_once <= height || first + s * rows_at_once < height;
    }
};

template <class Unit, int entry>
__global__ void __launch_bounds__(transpose_table[entry].tile.threads,
                                  device::resident_blocks(transpose_table[entry].tile.min_blocks,
                                                          transpose_table[entry].tile.threads))
    transpose_skewed(MatrixView<const Unit> a, MatrixView<Unit> b,
                     TransposeTunedRaster<entry> raster) {
    using Tile = SkewedTile<Unit, entry>;
    auto& rows = device::shared<struct SkewedRows, typename Tile::Rows>();
    const auto corner = raster.corner(blockIdx.x);
    const Unit* from = a.data + corner.i * a.row_stride + corner.j;
    Unit* to = b.data + corner.j * b.row_stride;
    const typename Tile::Inside is(a, corner.i, corner.j);
    const device::CachePolicy policy = transpose_policy(a);
    if (is.all()) {
        Tile::template read<true>(rows, from, a.row_stride, is, policy);
        __syncthreads();
        Tile::template write<true>(rows, to, b.row_stride, corner.i, is);
    } else {
        Tile::template read<false>(rows, from, a.row_stride, is, policy);
        __syncthreads();
        Tile::template write<false>(rows, to, b.row_stride, corner.i, is);
    }
    release(policy, from + (is.first - Tile::shift) * a.row_stride, a.row_stride,
            is.last - is.first, is.columns);
}

template <class Unit, int entry>
void launch_transpose_skewed(device::Stream stream, MatrixView<const Unit> a, MatrixView<Unit> b) {
    // Shifted back by up to a sector less one element, the pieces must still reach the end.
    const TransposeTunedRaster<entry> raster(a.rows + SkewedTile<Unit, entry>::shift, a.columns);
    device::launch("transpose", transpose_skewed<Unit, entry>,
                   device::grid(raster.blocks(), "transpose"), transpose_table[entry].tile.threads,
                   stream, a, b, raster);
}

}  // namespace tinyblas
