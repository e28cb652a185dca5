// SPDX-License-Identifier: MIT
// gemm, rung 2. New over rung 1: a block owns a tile of C and brings the tiles of A and B that it
// needs into shared memory, so that an element crosses from the caches once for 32 elements of C.
//
//                       b_tile (32, 32)     256 threads, 32 x 8. A thread owns 4 elements of a
//                       [ . . . . . ]       column of C, 8 rows apart; a warp owns 4 rows of 32.
//                       [ . . . . . ]
//   a_tile (32, 32)         v   v           The pad of one column moves every row by one bank: a
//   [ . . . . . ]  --> c  [ c . . . ]       tile may be filled along its rows or its columns
//   [ . . . . . ]  --> c  [ c . . . ]       without bank conflicts.
//
// Limit: five loads from shared memory for four multiply-adds.
#pragma once

#include "parts.cuh"

namespace tinyblas {

inline constexpr int gemm_tiled_edge = 32;  // of all three tiles
inline constexpr int gemm_tiled_rows = 8;   // of threads
using GemmTiledRaster = GemmRaster<gemm_tiled_edge, gemm_tiled_edge, 8>;
template <class T>
using GemmTiledTile = T[gemm_tiled_edge][gemm_tiled_edge + 1];

/// tile = the 32 x 32 elements of `from` at (i, j), zero outside. Neighbouring threads read along
/// the direction that is contiguous.
template <class T>
__device__ __forceinline__ void fill(GemmTiledTile<T>& tile, const MatrixView<const T>& from,
                                     std::int64_t i, std::int64_t j) {
    const bool down = from.row_stride == 1;
    for (int step = 0; step < gemm_tiled_edge; step += gemm_tiled_rows) {
        const int across = static_cast<int>(threadIdx.x);
        const int slow = static_cast<int>(threadIdx.y) + step;
        const int row = down ? across : slow;
        const int column = down ? slow : across;
        const bool inside = i + row < from.rows && j + column < from.columns;
        tile[row][column] = inside ? from(i + row, j + column) : T(0);
    }
}

template <class T>
__global__ void __launch_bounds__(gemm_tiled_edge* gemm_tiled_rows)
    gemm_tiled(T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta, MatrixView<T> c) {
    constexpr int thread_m = gemm_tiled_edge / gemm_tiled_rows;
    auto& a_tile = device::shared<struct TileOfA, GemmTiledTile<T>>();
    auto& b_tile = device::shared<struct TileOfB, GemmTiledTile<T>>();
    const auto corner = GemmTiledRaster(c.rows, c.columns).corner(blockIdx.x);
    const int row = static_cast<int>(threadIdx.y);
    const int column = static_cast<int>(threadIdx.x);

    T acc[thread_m] = {};
    for (std::int64_t p0 = 0; p0 < a.columns; p0 += gemm_tiled_edge) {
        fill(a_tile, a, corner.i, p0);
        fill(b_tile, b, p0, corner.j);
        __syncthreads();
#pragma unroll
        for (int p = 0; p < gemm_tiled_edge; ++p) {
            const T b_value = b_tile[p][column];
#pragma unroll
            for (int r = 0; r < thread_m; ++r)
                device::multiply_add(acc[r], a_tile[row + r * gemm_tiled_rows][p], b_value);
        }
        __syncthreads();
    }

    const std::int64_t j = corner.j + column;
#pragma unroll
    for (int r = 0; r < thread_m; ++r) {
        const std::int64_t i = corner.i + row + r * gemm_tiled_rows;
        if (i < c.rows && j < c.columns) store(c(i, j), alpha, acc[r], beta);
    }
}

template <class T>
void launch_gemm_tiled(device::Stream stream, T alpha, MatrixView<const T> a, MatrixView<const T> b,
                       T beta, MatrixView<T> c) {
    const std::int64_t blocks = GemmTiledRaster(c.rows, c.columns).blocks();
    device::launch("gemm", gemm_tiled<T>, device::grid(blocks, "gemm"),
                   dim3(gemm_tiled_edge, gemm_tiled_rows), stream, alpha, a, b, beta, c);
}

}  // namespace tinyblas
