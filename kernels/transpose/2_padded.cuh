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

/// The thread's four elements of the tile whose corner is (i, j), along the longer stride;
/// neighbouring threads follow the shorter one.
template <class Unit>
struct TransposePaddedShare {
    Unit* first;
    std::int64_t stride;
    int valid;                                   // this many lie inside the view
    int row, column, rows_apart, columns_apart;  // in the tile

    __device__ __forceinline__ TransposePaddedShare(const MatrixView<Unit>& view, std::int64_t i,
                                                    std::int64_t j) {
        const bool down = magnitude(view.row_stride) < magnitude(view.column_stride);
        const int fast = static_cast<int>(threadIdx.x), slow = static_cast<int>(threadIdx.y);
        row = down ? fast : slow;
        column = down ? slow : fast;
        rows_apart = down ? 0 : transpose_padded_rows;
        columns_apart = down ? transpose_padded_rows : 0;
        first = view.data + (i + row) * view.row_stride + (j + column) * view.column_stride;
        stride = rows_apart * view.row_stride + columns_apart * view.column_stride;
        const int rows = inside<transpose_padded_edge>(view.rows - i) - row;
        const int columns = inside<transpose_padded_edge>(view.columns - j) - column;
        const int left = (down ? columns : rows) + transpose_padded_rows - 1;
        valid = rows > 0 && columns > 0 ? left / transpose_padded_rows : 0;
    }

    /// All are under way before the first is put down.
    template <class Value>
    __device__ __forceinline__ void read(Value (&values)[transpose_padded_steps]) const {
#pragma unroll
        for (int step = 0; step < transpose_padded_steps; ++step)
            values[step] = step < valid ? first[step * stride] : Value{};
    }
    template <class Value, class Tile>
    __device__ __forceinline__ void put(const Value (&values)[transpose_padded_steps],
                                        Tile& tile) const {
#pragma unroll
        for (int step = 0; step < transpose_padded_steps; ++step)
            tile[row + step * rows_apart][column + step * columns_apart] = values[step];
    }
    template <class Tile>
    __device__ __forceinline__ void write_transposed(const Tile& tile) const {
#pragma unroll
        for (int step = 0; step < transpose_padded_steps; ++step)
            if (step < valid)
                first[step * stride] = tile[column + step * columns_apart][row + step * rows_apart];
    }

  private:
    static __device__ std::int64_t magnitude(std::int64_t x) { return x < 0 ? -x : x; }
};

template <class Unit, int pad>
__global__ void __launch_bounds__(transpose_padded_edge* transpose_padded_rows)
    transpose_padded(MatrixView<const Unit> a, MatrixView<Unit> b, TransposePaddedRaster raster) {
    auto& tile = device::shared<struct PaddedTile, TransposePaddedTile<Unit, pad>>();
    const auto corner = raster.corner(blockIdx.x);
    const TransposePaddedShare<const Unit> from(a, corner.i, corner.j);

    Unit values[transpose_padded_steps];
    from.read(values);
    from.put(values, tile);
    __syncthreads();
    TransposePaddedShare<Unit>(b, corner.j, corner.i).write_transposed(tile);
}

/// Blocks below the diagonal have nothing to do: their mirror image does it.
template <class Unit, int pad>
__global__ void __launch_bounds__(transpose_padded_edge* transpose_padded_rows)
    transpose_padded_in_place(MatrixView<Unit> a, TransposePaddedRaster raster) {
    auto& above = device::shared<struct PaddedAbove, TransposePaddedTile<Unit, pad>>();
    auto& below = device::shared<struct PaddedBelow, TransposePaddedTile<Unit, pad>>();
    const auto corner = raster.corner(blockIdx.x);
    if (corner.i > corner.j) return;
    const TransposePaddedShare<Unit> upper(a, corner.i, corner.j);
    const TransposePaddedShare<Unit> lower(a, corner.j, corner.i);

    Unit upper_values[transpose_padded_steps], lower_values[transpose_padded_steps];
    upper.read(upper_values);
    lower.read(lower_values);
    upper.put(upper_values, above);
    lower.put(lower_values, below);
    __syncthreads();
    lower.write_transposed(above);
    if (corner.i < corner.j) upper.write_transposed(below);
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
