// SPDX-License-Identifier: MIT
// transpose, rung 1. A thread owns one element, whatever the strides.
//
//   a (m, n)            b (n, m)
//   . . 0 . .           . . . . . . . .
//   . . 1 . .           . . . . . . . .     A warp writes 32 neighbours of a row of B (0, 1, 2 ...)
//   . . 2 . .    -->    0 1 2 3 4 5 6 7     and reads them from a column of A.
//   . . 3 . .           . . . . . . . .
//
// In place, the thread of an element above the diagonal exchanges it with its mirror image.
//
// Limit: the reads. Each lane of a warp reads another row of A, and of the 32 bytes that come with
// it only one element is used, unless the others are still in the cache when their turn comes.
// Where A and B lie in the same order, there is nothing to transpose, and this rung is as good as
// any.
#pragma once

#include <cstdlib>
#include <utility>

#include "parts.cuh"

namespace tinyblas {

inline constexpr int transpose_naive_threads = 256;

/// Strides in units; an element is `units` neighbouring units. `across`: blocks along a row of B.
template <class Unit>
__global__ void __launch_bounds__(transpose_naive_threads)
    transpose_naive(MatrixView<const Unit> a, MatrixView<Unit> b, int units, unsigned across) {
    const unsigned row = blockIdx.x / across, column = blockIdx.x - row * across;
    const std::int64_t j = std::int64_t{row} * blockDim.y + threadIdx.y;
    const std::int64_t i = std::int64_t{column} * blockDim.x + threadIdx.x;
    if (i >= a.rows || j >= a.columns) return;
    for (int unit = 0; unit < units; ++unit) (&b(j, i))[unit] = (&a(i, j))[unit];
}

template <class Unit>
__global__ void __launch_bounds__(transpose_naive_threads)
    transpose_naive_in_place(MatrixView<Unit> a, int units, unsigned across) {
    const unsigned row = blockIdx.x / across, column = blockIdx.x - row * across;
    const std::int64_t i = std::int64_t{row} * blockDim.y + threadIdx.y;
    const std::int64_t j = std::int64_t{column} * blockDim.x + threadIdx.x;
    if (i >= j || j >= a.columns) return;
    for (int unit = 0; unit < units; ++unit) {
        Unit& above = (&a(i, j))[unit];
        Unit& below = (&a(j, i))[unit];
        const Unit kept = above;
        above = below;
        below = kept;
    }
}

/// Neighbouring threads write along the shorter stride of B.
template <class Unit>
void launch_transpose_naive(device::Stream stream, MatrixView<const Unit> a, MatrixView<Unit> b,
                            int units = 1) {
    if (std::abs(b.row_stride) < std::abs(b.column_stride)) {
        a = a.transposed();
        b = b.transposed();
    }
    const int height = b.rows == 1 ? 1 : 8;
    const int width = transpose_naive_threads / height;
    const std::int64_t across = (b.columns + width - 1) / width;
    const unsigned blocks = device::grid(across * ((b.rows + height - 1) / height), "transpose");
    device::launch("transpose", transpose_naive<Unit>, blocks, dim3(width, height), stream, a, b,
                   units, static_cast<unsigned>(across));
}

template <class Unit>
void launch_transpose_naive_in_place(device::Stream stream, MatrixView<Unit> a, int units = 1) {
    if (std::abs(a.row_stride) < std::abs(a.column_stride)) a = a.transposed();
    constexpr int height = 8, width = transpose_naive_threads / height;
    const std::int64_t across = (a.columns + width - 1) / width;
    const unsigned blocks = device::grid(across * ((a.rows + height - 1) / height), "transpose");
    device::launch("transpose", transpose_naive_in_place<Unit>, blocks, dim3(width, height), stream,
                   a, units, static_cast<unsigned>(across));
}

}  // namespace tinyblas
