// SPDX-License-Identifier: MIT
// Batches of products of at most `edge` rows, columns and inner extent: a lane owns 16 bytes of a
// row of A, of B and of C. All that it needs of the others' it gets by warp exchange.
//
//   edge 4, float: 8 matrices a warp        edge 8, float: 2 matrices a warp
//   +-----------+                           +-----------------------+
//   | lane 0    |  row 0                    | lane 0    | lane 1    |  row 0
//   | lane 1    |  row 1                    | lane 2    | lane 3    |  row 1
//   | ...       |                           | ...                   |
//
// Limit: memory. The loads of a warp are its only wait.
#pragma once

#include "batched_operands.hpp"
#include "parts.cuh"

namespace tinyblas {

inline constexpr int gemm_rows_threads = 128;

/// The `count` elements of row i from column j on, those that exist. Nothing writes them.
template <class T, int count>
__device__ __forceinline__ void load_row(T (&to)[count], const MatrixView<const T>& from, int i,
                                         int j) {
    if (i >= from.rows || j >= from.columns) return;
    const T* const start = &from(i, j);
    const bool whole = j + count <= from.columns && from.column_stride == 1 &&
                       reinterpret_cast<std::uintptr_t>(start) % 16 == 0;
    if (whole) return device::load_read_only(to, start);
#pragma unroll
    for (int e = 0; e < count; ++e)
        if (j + e < from.columns) to[e] = __ldg(&from(i, j + e));
}

template <class T, int edge>
struct GemmRowsLane {
    static constexpr int vector = 16 / sizeof(T);
    static constexpr int chunks = edge / vector;  // of a row
    static constexpr int lanes = edge * chunks;   // of a matrix
    static_assert(lanes <= 32 && 32 % lanes == 0);
    static constexpr int matrices = gemm_rows_threads / lanes;  // a block
    using Vector = T[vector];

    int row, chunk;

    __device__ __forceinline__ GemmRowsLane()
        : row(static_cast<int>(threadIdx.x) % lanes / chunks),
          chunk(static_cast<int>(threadIdx.x) % chunks) {}

    /// acc += this lane's part of a product, of which every lane has brought its parts of A and B.
    __device__ __forceinline__ void multiply(const Vector& a, const Vector& b, Vector& acc) const {
#pragma unroll
        for (int p = 0; p < edge; ++p) {
            T a_value = a[p % vector];
            if (chunks > 1) a_value = __shfl_sync(~0u, a_value, row * chunks + p / vector, lanes);
#pragma unroll
            for (int q = 0; q < vector; ++q)
                device::multiply_add(acc[q], a_value,
                                     __shfl_sync(~0u, b[q], p * chunks + chunk, lanes));
        }
    }
};

/// Any extents up to `edge`, any strides.
template <class T, int edge>
__global__ void __launch_bounds__(gemm_rows_threads)
    gemm_batched_rows(GemmBatch<T> x, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    using Lane = GemmRowsLane<T, edge>;
    const Lane lane;
    const int column = lane.chunk * Lane::vector;
    const std::int64_t e =
        std::int64_t{blockIdx.x} * Lane::matrices + static_cast<int>(threadIdx.x) / Lane::lanes;
    T a[Lane::vector] = {}, b[Lane::vector] = {}, acc[Lane::vector] = {};
    if (e < x.count) {
        load_row(a, x.a.at(e), lane.row, column);
        load_row(b, x.b.at(e), lane.row, column);
    }
    lane.multiply(a, b, acc);
    if (e < x.count) store_row(x.c.at(e), lane.row, column, x.alpha, acc, x.beta);
}

/// Matrices of edge x edge that lie one behind the other, without gaps: `vectors` vectors each.
template <class T, int edge>
__global__ void __launch_bounds__(gemm_rows_threads)
    gemm_batched_packed_rows(T alpha, const T* a_data, const T* b_data, T beta, T* c_data,
                             std::int64_t vectors, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    using Lane = GemmRowsLane<T, edge>;
    const std::int64_t own = std::int64_t{blockIdx.x} * gemm_rows_threads + threadIdx.x;
    T a[Lane::vector] = {}, b[Lane::vector] = {}, c[Lane::vector] = {}, acc[Lane::vector] = {};
    if (own < vectors) {
        device::load_read_only(a, a_data + own * Lane::vector);
        device::load_read_only(b, b_data + own * Lane::vector);
        if (beta != T(0)) device::load_vector(c, c_data + own * Lane::vector);
    }
    Lane().multiply(a, b, acc);
#pragma unroll
    for (int q = 0; q < Lane::vector; ++q) store(c[q], alpha, acc[q], beta);
    if (own < vectors) device::store_vector(c_data + own * Lane::vector, c);
}

template <class T, int edge>
void launch_gemm_batched_rows(device::Stream stream, const GemmBatch<T>& x) {
    using Lane = GemmRowsLane<T, edge>;
    const unsigned blocks = device::grid((x.count + Lane::matrices - 1) / Lane::matrices, "gemm");
    if (is_packed(x.a, edge) && is_packed(x.b, edge) && is_packed(x.c, edge))
        device::launch_evenly("gemm", gemm_batched_packed_rows<T, edge>, blocks, gemm_rows_threads,
                              0, stream, x.alpha, x.a.first.data, x.b.first.data, x.beta,
                              x.c.first.data, x.count * Lane::lanes, leaves_places(blocks));
    else
        device::launch_evenly("gemm", gemm_batched_rows<T, edge>, blocks, gemm_rows_threads, 0,
                              stream, x, leaves_places(blocks));
}

}  // namespace tinyblas
