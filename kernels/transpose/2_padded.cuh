// SPDX-License-Identifier: MIT
// transpose, rung 2. New over rung 1: a block owns a tile and brings it into shared memory, so that
// a warp reads 32 neighbours of A and writes 32 neighbours of B.
//
//   a (m, n)              tile (32, 32 + pad)            b (n, m)
//   . . . . . .           0 1 2 3 ... 31 pad             . . . . .
//   . 0 1 2 . .    -->    0 1 2 3 ... 31 pad     -->     . 0 . . .     A warp fills a row of the
//   . . . . . .           0 1 2 3 ... 31 pad             . 0 . . .     tile and empties a column.
//
// Without the pad the elements of a column of the tile share one of the 32 banks of shared memory,
// which hands them out one by one. The pad of one column moves each row by one bank.
//
// In place, a block owns a tile above the diagonal and its mirror image, and has read both before
// it writes either.
//
// Limit: bytes in flight. A thread has four small loads under way, and the instructions around them
// are as many as for four large ones.
#pragma once

#include <cstdlib>

#include "parts.cuh"

namespace tinyblas {

inline constexpr int transpose_padded_edge = 32;
inline constexpr int transpose_padded_rows = 8;  // of threads
inline constexpr int transpose_padded_steps = transpose_padded_edge / transpose_padded_rows;
using TransposePaddedRaster = TransposeRaster<transpose_padded_edge, transpose_padded_edge, 0>;
template <class Unit, int pad>
using TransposePaddedTile = Unit[transpose_padded_edge][transpose_padded_edge + pad];

/// A tile's place in a view, of which m x n elements lie inside.
template <class Unit>
struct TransposePaddedPlace {
    MatrixView<Unit> view;
    std::int64_t i, j;

    /// The thread's element of a step. Neighbouring threads follow the shorter stride.
    struct Element {
        int row, column;
        bool valid;
    };
    __device__ __forceinline__ Element element(int step) const {
        const bool down = magnitude(view.row_stride) < magnitude(view.column_stride);
        const int fast = static_cast<int>(threadIdx.x);
        const int slow = static_cast<int>(threadIdx.y) + step * transpose_padded_rows;
        const int row = down ? fast : slow, column = down ? slow : fast;
        return {row, column, i + row < view.rows && j + column < view.columns};
    }
    __device__ __forceinline__ Unit& at(const Element& e) const {
        return view(i + e.row, j + e.column);
    }
    static __device__ std::int64_t magnitude(std::int64_t x) { return x < 0 ? -x : x; }
};

/// The thread's four elements: all are under way before the first is put down.
template <class Unit>
struct TransposePaddedShare {
    Unit values[transpose_padded_steps];

    __device__ __forceinline__ void read(const TransposePaddedPlace<const Unit>& from) {
#pragma unroll
        for (int step = 0; step < transpose_padded_steps; ++step) {
            const auto e = from.element(step);
            values[step] = e.valid ? from.at(e) : Unit{};
        }
    }
    template <class Tile>
    __device__ __forceinline__ void put(Tile& tile,
                                        const TransposePaddedPlace<const Unit>& from) const {
#pragma unroll
        for (int step = 0; step < transpose_padded_steps; ++step) {
            const auto e = from.element(step);
            tile[e.row][e.column] = values[step];
        }
    }
};

/// Element (row, column) of `to` is (column, row) of the tile.
template <class Unit, class Tile>
__device__ __forceinline__ void write_transposed(const Tile& tile,
                                                 const TransposePaddedPlace<Unit>& to) {
#pragma unroll
    for (int step = 0; step < transpose_padded_steps; ++step) {
        const auto e = to.element(step);
        if (e.valid) to.at(e) = tile[e.column][e.row];
    }
}

template <class Unit, int pad>
__global__ void __launch_bounds__(transpose_padded_edge* transpose_padded_rows)
    transpose_padded(MatrixView<const Unit> a, MatrixView<Unit> b, TransposePaddedRaster raster) {
    auto& tile = device::shared<struct PaddedTile, TransposePaddedTile<Unit, pad>>();
    const auto corner = raster.corner(blockIdx.x);
    const TransposePaddedPlace<const Unit> from = {a, corner.i, corner.j};

    TransposePaddedShare<Unit> share;
    share.read(from);
    share.put(tile, from);
    __syncthreads();
    write_transposed<Unit>(tile, {b, corner.j, corner.i});
}

/// Blocks below the diagonal have nothing to do: their mirror image does it.
template <class Unit, int pad>
__global__ void __launch_bounds__(transpose_padded_edge* transpose_padded_rows)
    transpose_padded_in_place(MatrixView<Unit> a, TransposePaddedRaster raster) {
    auto& above = device::shared<struct PaddedAbove, TransposePaddedTile<Unit, pad>>();
    auto& below = device::shared<struct PaddedBelow, TransposePaddedTile<Unit, pad>>();
    const auto corner = raster.corner(blockIdx.x);
    if (corner.i > corner.j) return;
    const TransposePaddedPlace<const Unit> upper = {a, corner.i, corner.j};
    const TransposePaddedPlace<const Unit> lower = {a, corner.j, corner.i};

    TransposePaddedShare<Unit> upper_share, lower_share;
    upper_share.read(upper);
    lower_share.read(lower);
    upper_share.put(above, upper);
    lower_share.put(below, lower);
    __syncthreads();
    write_transposed<Unit>(above, {a, corner.j, corner.i});
    if (corner.i < corner.j) write_transposed<Unit>(below, {a, corner.i, corner.j});
}

/// pad 1 is the rung; pad 0 shows what the pad is worth.
template <class Unit, int pad>
void launch_transpose_padded(device::Stream stream, MatrixView<const Unit> a, MatrixView<Unit> b) {
    const TransposePaddedRaster raster(a.rows, a.columns);
    device::launch("transpose", transpose_padded<Unit, pad>,
                   device::grid(raster.blocks(), "transpose"),
                   dim3(transpose_padded_edge, transpose_padded_rows), stream, a, b, raster);
}

template <class Unit, int pad>
void launch_transpose_padded_in_place(device::Stream stream, MatrixView<Unit> a) {
    const TransposePaddedRaster raster(a.rows, a.columns);
    device::launch("transpose", transpose_padded_in_place<Unit, pad>,
                   device::grid(raster.blocks(), "transpose"),
                   dim3(transpose_padded_edge, transpose_padded_rows), stream, a, raster);
}

}  // namespace tinyblas
