// SPDX-License-Identifier: MIT
// gemm, rung 1. A thread owns one element of C and walks k.
//
//                 b (k, n)           A warp owns 32 neighbours of a row of C. For each k it reads
//                 |  |  |            one element of a, for all of them, and 32 neighbours of b.
//                 v  v  v
//   a (m, k)  --> c  c  c  8 rows    Each element of a and b crosses from the caches once for
//             --> c  c  c  of 32     every element of C that needs it.
//
// Limit: two loads for one multiply-add.
#pragma once

#include "parts.cuh"

namespace tinyblas {

inline constexpr int gemm_naive_m = 8;
inline constexpr int gemm_naive_n = 32;
using GemmNaiveRaster = GemmRaster<gemm_naive_m, gemm_naive_n, 1>;

template <class T>
__global__ void __launch_bounds__(gemm_naive_m* gemm_naive_n)
    gemm_naive(T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta, MatrixView<T> c) {
    const auto corner = GemmNaiveRaster(c.rows, c.columns).corner(blockIdx.x);
    const std::int64_t i = corner.i + threadIdx.y;
    const std::int64_t j = corner.j + threadIdx.x;
    if (i >= c.rows || j >= c.columns) return;

    T acc = 0;
    for (std::int64_t p = 0; p < a.columns; ++p) device::multiply_add(acc, a(i, p), b(p, j));
    store(c(i, j), alpha, acc, beta);
}

template <class T>
void launch_gemm_naive(device::Stream stream, T alpha, MatrixView<const T> a, MatrixView<const T> b,
                       T beta, MatrixView<T> c) {
    const std::int64_t blocks = GemmNaiveRaster(c.rows, c.columns).blocks();
    device::launch("gemm", gemm_naive<T>, device::grid(blocks, "gemm"),
                   dim3(gemm_naive_n, gemm_naive_m), stream, alpha, a, b, beta, c);
}

}  // namespace tinyblas
