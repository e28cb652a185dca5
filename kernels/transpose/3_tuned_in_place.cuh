// SPDX-License-Identifier: MIT
// transpose, rung 3, form in_place: a square whose rows are contiguous and 16-byte aligned becomes
// its own transpose. A block owns a tile above the diagonal and its mirror image, and has read both
// before it writes either.
//
//   +----+----+----+
//   | 0  | 1  | 3  |     1 above the diagonal goes, turned, to 1 below it, and the other way round.
//   +----+----+----+     On the diagonal both are the same tile, which is written once.
//   | 1  | 2  | 4  |
//   +----+----+----+
//   | 3  | 4  | 5  |
//   +----+----+----+
//
// Limit: DRAM, as for vectors; two tiles a block leave fewer blocks to overlap reads and writes.
#pragma once

#include <cmath>

#include "3_tuned_vectors.cuh"

namespace tinyblas {

/// The tile of block `block` of the upper triangle, numbered column by column: row <= column.
struct TrianglePlace {
    unsigned row, column;
};
__device__ __forceinline__ TrianglePlace triangle_place(unsigned block) {
    const auto before = [](unsigned column) {  // tiles in the columns before it
        return column % 2 == 0 ? column / 2 * (column + 1) : (column + 1) / 2 * column;
    };
    // The root of before(column) = block, off by one at most.
    auto column = static_cast<unsigned>((sqrtf(8.0f * static_cast<float>(block) + 1) - 1) / 2);
    while (before(column) > block) --column;
    while (before(column + 1) <= block) ++column;
    return {block - before(column), column};
}

template <class Unit, int entry>
using InPlaceTile =
    VectorTile<Unit, transpose_table[entry].tile.rows, transpose_table[entry].tile.columns,
               transpose_table[entry].tile.threads>;
template <class Unit, int entry>
struct InPlacePair {
    typename InPlaceTile<Unit, entry>::Turned upper, lower;
};

/// The upper tile has m x n elements inside A, the lower one n x m.
template <bool whole, class Unit, int entry>
__device__ __forceinline__ void exchange(InPlacePair<Unit, entry>& turned, Unit* upper, Unit* lower,
                                         std::int64_t stride, int m, int n,
                                         device::CachePolicy policy) {
    using Tile = InPlaceTile<Unit, entry>;
    Tile upper_tile, lower_tile;
    upper_tile.template read<whole, false>(upper, stride, m, n, policy);
    // At an edge one after the other: with the guards, both would take too many registers.
    if (!whole) upper_tile.turn(turned.upper);
    lower_tile.template read<whole, false>(lower, stride, n, m, policy);
    if (whole) upper_tile.turn(turned.upper);
    lower_tile.turn(turned.lower);
    __syncthreads();
    Tile::template write<whole>(turned.upper, lower, stride, m, n);
    if (upper != lower) Tile::template write<whole>(turned.lower, upper, stride, n, m);
}

template <class Unit, int entry>
__global__ void __launch_bounds__(transpose_table[entry].tile.threads,
                                  transpose_table[entry].tile.min_blocks)
    transpose_in_place(MatrixView<Unit> a) {
    constexpr int edge = transpose_table[entry].tile.rows;
    auto& turned = device::large_shared<InPlacePair<Unit, entry>>();
    const TrianglePlace place = triangle_place(blockIdx.x);
    const std::int64_t i = std::int64_t{place.row} * edge, j = std::int64_t{place.column} * edge;
    Unit* upper = a.data + i * a.row_stride + j;
    Unit* lower = a.data + j * a.row_stride + i;
    const int m = inside<edge>(a.rows - i), n = inside<edge>(a.rows - j);
    const device::CachePolicy policy = transpose_policy(a);
    if (n == edge)  // and so m
        exchange<true>(turned, upper, lower, a.row_stride, edge, edge, policy);
    else
        exchange<false>(turned, upper, lower, a.row_stride, m, n, policy);
#pragma unroll 1
    for (int side = 0; side < 2; ++side)
        release<Unit>(policy, side == 0 ? upper : lower, a.row_stride, side == 0 ? m : n,
                      side == 0 ? n : m);
}

/// A and B are the same view.
template <class Unit, int entry>
void launch_transpose_in_place(device::Stream stream, MatrixView<const Unit>, MatrixView<Unit> b) {
    constexpr int edge = transpose_table[entry].tile.rows;
    const std::int64_t tiles = (b.rows + edge - 1) / edge;
    device::launch_large("transpose", transpose_in_place<Unit, entry>,
                         device::grid(tiles * (tiles + 1) / 2, "transpose"),
                         transpose_table[entry].tile.threads, sizeof(InPlacePair<Unit, entry>),
                         stream, b);
}

}  // namespace tinyblas
