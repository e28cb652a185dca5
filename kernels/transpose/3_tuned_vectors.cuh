// SPDX-License-Identifier: MIT
// transpose, rung 3, form vectors: rows of A and B contiguous and 16-byte aligned. New over rung 2:
// 16 bytes at a time both ways (vector_tile.cuh), so that eight of them are under way for each
// thread; no pad, but chunks exchanged; tiles and launch bounds come from the table.
//
//   a (m, n)               b (n, m)
//   +----+----+----+       +----+----+----+
//   | 0  | 3  | 6  |       | 0  | 1  | 2  |     Blocks that run at once write along the same rows
//   +----+----+----+       +----+----+----+     of B: memory prefers long writes to long reads.
//   | 1  | 4  | 7  |  -->  | 3  | 4  | 5  |
//   +----+----+----+       +----+----+----+
//   | 2  | 5  | 8  |       | 6  | 7  | 8  |
//   +----+----+----+       +----+----+----+
//
// Limit: the order in which DRAM sees reads and writes; a plain copy is 1 to 4 % faster.
#pragma once

#include "tiles.hpp"
#include "vector_tile.cuh"

namespace tinyblas {

/// The raster of a table's line. No alias: kernels' names would hold what it stands for, 1.5 KB.
template <int entry>
struct TransposeTunedRaster
    : TransposeRaster<transpose_table[entry].tile.rows, transpose_table[entry].tile.columns,
                      transpose_table[entry].tile.strip> {
    using TransposeTunedRaster::TransposeRaster::TransposeRaster;
};

template <class Unit, int entry>
__global__ void __launch_bounds__(transpose_table[entry].tile.threads,
                                  transpose_table[entry].tile.min_blocks)
    transpose_vectors(MatrixView<const Unit> a, MatrixView<Unit> b,
                      TransposeTunedRaster<entry> raster) {
    constexpr TransposeTile t = transpose_table[entry].tile;
    using Tile = VectorTile<Unit, t.rows, t.columns, t.threads>;
    auto& turned = device::shared<struct TurnedTile, typename Tile::Turned>();
    const auto corner = raster.corner(blockIdx.x);
    const Unit* from = a.data + corner.i * a.row_stride + corner.j;
    Unit* to = b.data + corner.j * b.row_stride + corner.i;
    const int m = inside<t.rows>(a.rows - corner.i);
    const int n = inside<t.columns>(a.columns - corner.j);

    const device::CachePolicy policy = transpose_policy(a);
    Tile tile;
    if (m == t.rows && n == t.columns) {
        tile.template read<true, true>(from, a.row_stride, m, n, policy);
        tile.turn(turned);
        __syncthreads();
        Tile::template write<true>(turned, to, b.row_stride, m, n);
    } else {
        tile.template read<false, true>(from, a.row_stride, m, n, policy);
        tile.turn(turned);
        __syncthreads();
        Tile::template write<false>(turned, to, b.row_stride, m, n);
    }
    release(policy, from, a.row_stride, m, n);
}

template <class Unit, int entry>
void launch_transpose_vectors(device::Stream stream, MatrixView<const Unit> a, MatrixView<Unit> b) {
    const TransposeTunedRaster<entry> raster(a.rows, a.columns);
    device::launch("transpose", transpose_vectors<Unit, entry>,
                   device::grid(raster.blocks(), "transpose"), transpose_table[entry].tile.threads,
                   stream, a, b, raster);
}

}  // namespace tinyblas
