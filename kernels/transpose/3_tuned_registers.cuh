// SPDX-License-Identifier: MIT
// transpose, rung 3, form registers: as vectors, without shared memory. A thread turns one square
// of 16-byte chunks in its registers and writes it where it belongs.
//
//   a warp's squares in A            the same squares in B
//    0  1  2  3                      0  4  8 12 16 20 24 28
//    4  5  6  7             -->      1  5  9 13 17 21 25 29
//    ...                             2  6 10 14 18 22 26 30
//   28 29 30 31                      3  7 11 15 19 23 27 31
//
// so that a warp reads pieces of 64 bytes, two sectors, and writes pieces of 128.
//
// Limit: those short pieces, once memory is the bottleneck. A small matrix lives in the L2 cache,
// and what counts is the one barrier less.
#pragma once

#include "3_tuned_vectors.cuh"

namespace tinyblas {

/// One square, of which m x n elements lie inside A (`whole`: all of them).
template <bool whole, class Unit>
__device__ __forceinline__ void turn_square(const Unit* from, std::int64_t from_stride, Unit* to,
                                            std::int64_t to_stride, int m, int n) {
    constexpr int vector = 16 / sizeof(Unit);
    Unit square[vector][vector];
#pragma unroll
    for (int row = 0; row < vector; ++row)
        load_chunk<true>(square[row], from + row * from_stride, whole ? vector : row < m ? n : 0);
#pragma unroll
    for (int row = 0; row < vector; ++row) {
        Unit line[vector];
#pragma unroll
        for (int e = 0; e < vector; ++e) line[e] = square[e][row];
        store_chunk(to + row * to_stride, line, whole ? vector : row < n ? m : 0);
    }
}

template <class Unit, int entry>
__global__ void __launch_bounds__(transpose_table[entry].tile.threads,
                                  transpose_table[entry].tile.min_blocks)
    transpose_registers(MatrixView<const Unit> a, MatrixView<Unit> b,
                        TransposeTunedRaster<entry> raster) {
    constexpr TransposeTile t = transpose_table[entry].tile;
    constexpr int vector = 16 / sizeof(Unit);
    constexpr int lanes_m = 8, lanes_n = 4;  // squares of a warp
    constexpr int warps_m = t.rows / (lanes_m * vector);
    const auto corner = raster.corner(blockIdx.x);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t i = corner.i + (warp % warps_m * lanes_m + lane / lanes_n) * vector;
    const std::int64_t j = corner.j + (warp / warps_m * lanes_n + lane % lanes_n) * vector;
    const Unit* from = a.data + i * a.row_stride + j;
    Unit* to = b.data + j * b.row_stride + i;

    const int m = inside<vector>(a.rows - i), n = inside<vector>(a.columns - j);
    if (m == vector && n == vector)
        turn_square<true>(from, a.row_stride, to, b.row_stride, m, n);
    else
        turn_square<false>(from, a.row_stride, to, b.row_stride, m, n);
}

template <class Unit, int entry>
void launch_transpose_registers(device::Stream stream, MatrixView<const Unit> a,
                                MatrixView<Unit> b) {
    const TransposeTunedRaster<entry> raster(a.rows, a.columns);
    device::launch("transpose", transpose_registers<Unit, entry>,
                   device::grid(raster.blocks(), "transpose"), transpose_table[entry].tile.threads,
                   stream, a, b, raster);
}

}  // namespace tinyblas
