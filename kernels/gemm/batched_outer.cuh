// SPDX-License-Identifier: MIT
// Batches of products whose k is short: each C is the sum of few outer products. What takes time is
// C, which is written once and, if beta is not 0, read.
//
//                    B (k, block n)            a thread:  8 rows x 4 columns (double: 2), which
//                    [ . . . . . . . . ]                  lie as far apart as its neighbours are
//   A (k, block m)   +-----------------+                  many, so that these write neighbours
//   [ . . ]          | 0 1 2 3 0 1 2 3 |                  of C; rows by vectors of 16 bytes
//   [ . . ]          | 0 1 2 3 0 1 2 3 |       a block:   128 threads, 4 to 128 of them side by
//   [ . . ]          | 4 5 6 7 4 5 6 7 |                  side, as fits C
//
// A block brings up to 16 k of both by copies of single elements, wherever these lie, and C's old
// elements meanwhile. Blocks of a multiprocessor overlap: nothing else hides what one waits for. A
// sum is one chain in the order of k; of one product of floats that cuBLAS cuts, a chain for each
// four k (gemm_ring_in_fours).
//
// Limit: memory, to a k of some ten; then what is no multiply-add.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <device.hpp>

#include "batched_operands.hpp"
#include "batched_outer_plan.hpp"
#include "divisor.hpp"
#include "parts.cuh"

namespace tinyblas {

/// Starts the copies of a panel of an operand, seen as (extent, k), from `from` on, of which
/// `lines` x `left` elements are there; others become zero. A thread goes down the extent or, where
/// neighbours lie along that, down k. In shared memory neighbours of the extent are neighbours.
template <class T>
__device__ __forceinline__ void load_outer(device::SharedPointer<T> to, int pitch, const T* from,
                                           std::int64_t line_stride, std::int64_t k_stride,
                                           int block_log2, int depth_log2, int lines, int left) {
    constexpr int threads_log2 = std::countr_zero(unsigned{outer_batch_threads});
    const bool along_k = k_stride == 1;
    const int across_log2 = block_log2 < threads_log2 ? block_log2 : threads_log2;
    const int inner_log2 = along_k ? depth_log2 : across_log2;  // threads that lie along neighbours
    const auto thread = static_cast<int>(threadIdx.x);
    const int inner = thread & ((1 << inner_log2) - 1), outer = thread >> inner_log2;
    const int step = outer_batch_threads >> inner_log2;
    const int end = 1 << (along_k ? block_log2 : depth_log2);
    const std::int64_t outer_stride = along_k ? line_stride : k_stride;
    from += inner * (along_k ? k_stride : line_stride) + outer * outer_stride;
    to = to + (along_k ? inner * pitch + outer : inner + outer * pitch);
    const std::int64_t from_step = step * outer_stride;
    const int to_step = along_k ? step : step * pitch;
    int there = along_k ? inner < left ? lines : 0 : left;
#pragma unroll 1
    for (int other = along_k ? 0 : inner;;) {
        if (!along_k) there = other < lines ? left : 0;
        const T* at = from;
        device::SharedPointer<T> place = to;
#pragma unroll 2
        for (int number = outer; number < end; number += step) {
            device::copy_async<1>(place, at, number < there ? 1 : 0);
            at = device::opaque(at + from_step);
            place = place + to_step;
        }
        other += outer_batch_threads;
        if (along_k || other >> block_log2 != 0) break;
        from += outer_batch_threads * line_stride;
        to = to + outer_batch_threads;
    }
}

template <class T>
struct GemmBatchedOuter {
    static constexpr int columns = outer_batch_times<T>.columns;
    static constexpr int pad = 16 / sizeof(T);  // lines begin at 16 bytes, and at any bank
    GemmBatch<T> x;
    OuterBatchPlan plan;
    bool in_fours;            // a chain for each four k, of floats
    unsigned tiles_n, tiles;  // of a C
    Divisor by_tiles_n, by_tiles;

    explicit GemmBatchedOuter(const GemmBatch<T>& x, bool in_fours)
        : x(x),
          plan(plan_outer_batch(outer_batch_times<T>, x.m(), x.n(), x.k())),
          in_fours(in_fours),
          tiles_n(static_cast<unsigned>(plan.tiles_n(x.n(), columns))),
          tiles(static_cast<unsigned>(plan.tiles_m(x.m()) * tiles_n)),
          by_tiles_n(tiles_n),
          by_tiles(tiles) {}

    unsigned blocks() const { return static_cast<unsigned>(tiles * x.count); }
    /// Elements of shared memory, and of a line of each panel.
    __host__ __device__ int shared_elements() const {
        return (a_pitch() + b_pitch()) << plan.depth_log2;
    }
    __host__ __device__ int a_pitch() const { return (1 << plan.block_m_log2()) + pad; }
    __host__ __device__ int b_pitch() const { return (1 << plan.block_n_log2(columns)) + pad; }
};

template <class T>
__global__ void __launch_bounds__(outer_batch_threads, outer_batch_times<T>.at_once)
    gemm_batched_outer(const GemmBatchedOuter<T> work, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    if constexpr (!device::reallocates_registers) return device::trap();
    constexpr int rows = outer_batch_rows, columns = outer_batch_times<T>.columns;
    constexpr int vector = 16 / sizeof(T);
    const GemmBatch<T>& x = work.x;
    const OuterBatchPlan& plan = work.plan;
    const unsigned product = work.by_tiles.quotient(blockIdx.x);
    const unsigned tile = blockIdx.x - product * work.tiles;
    const unsigned tile_i = work.by_tiles_n.quotient(tile);
    const auto tile_j = static_cast<int>(tile - tile_i * work.tiles_n);
    const int i0 = static_cast<int>(tile_i) << plan.block_m_log2();
    const int j0 = tile_j << plan.block_n_log2(columns);
    const int m = static_cast<int>(x.m()) - i0, n = static_cast<int>(x.n()) - j0;  // what is left

    const device::SharedPointer<T> a_panel(device::large_shared_array<T>(work.shared_elements()));
    const device::SharedPointer<T> b_panel = a_panel + (work.a_pitch() << plan.depth_log2);
    const T* a_from = x.a.data(product) + i0 * x.a.first.row_stride;
    const T* b_from = x.b.data(product) + j0 * x.b.first.column_stride;
    const int lanes = 1 << plan.lanes_log2;
    const int depth = 1 << plan.depth_log2;
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    // A thread's first row: those of a vector are neighbours, the next ones lie behind other
    // threads'.
    const int row = (static_cast<int>(threadIdx.x) >> plan.lanes_log2) * vector;
    const int to_rows = (outer_batch_threads >> plan.lanes_log2) * vector;

    const MatrixView<T>& c = x.c.first;
    T* const first =
        x.c.data(product) + ((i0 + row) * c.row_stride + (j0 + lane) * c.column_stride);
    const std::int64_t to_column = lanes * c.column_stride;
    const std::int64_t to_next_rows = (to_rows - vector + 1) * c.row_stride;
    const int rows_left = m - row, columns_left = n - lane;
    const auto for_each = [&](auto&& visit) {
        T* line = first;
#pragma unroll
        for (int i = 0; i < rows; ++i) {
            T* at = line;
            const bool is_row = i % vector + i / vector * to_rows < rows_left;
#pragma unroll
            for (int j = 0; j < columns; ++j) {
                if (is_row && j * lanes < columns_left) visit(i, j, at);
                at = device::opaque(at + to_column);
            }
            line = device::opaque(line + (i % vector == vector - 1 ? to_next_rows : c.row_stride));
        }
    };
    // As store(), without a branch for each element: where C is not read, -0 is added, which
    // changes nothing.
    const bool reads = x.beta != T(0);
    const T beta = device::opaque(reads ? x.beta : T(-0.0));
    T old[rows][columns] = {}, sums[rows][columns] = {}, of_fours[rows][columns];
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j) of_fours[i][j] = T(-0.0);

#pragma unroll 1
    for (int left = static_cast<int>(x.k()); left > 0; left -= depth) {
#pragma unroll 1
        for (int operand = 0; operand < 2; ++operand) {  // one copy of the code
            const bool of_a = operand == 0;
            load_outer(of_a ? a_panel : b_panel, of_a ? work.a_pitch() : work.b_pitch(),
                       of_a ? a_from : b_from,
                       of_a ? x.a.first.row_stride : x.b.first.column_stride,
                       of_a ? x.a.first.column_stride : x.b.first.row_stride,
                       of_a ? plan.block_m_log2() : plan.block_n_log2(columns), plan.depth_log2,
                       of_a ? m : n, left);
        }
        device::close_copy_group();
        if (reads && left == x.k()) for_each([&](int i, int j, const T* at) { old[i][j] = *at; });
        device::wait_for_copies<0>();
        __syncthreads();
        device::SharedPointer<T> a_line = a_panel + row, b_line = b_panel + lane;
        const int end = left < depth ? left : depth;
#pragma unroll 1
        for (int p = 0; p < end;) {
            if constexpr (std::is_same_v<T, float>)
                if (work.in_fours)
#pragma unroll
                    for (int i = 0; i < rows; ++i)
#pragma unroll
                        for (int j = 0; j < columns; ++j) {
                            of_fours[i][j] += sums[i][j];
                            sums[i][j] = 0;
                        }
            const int stop = work.in_fours && p + 4 < end ? p + 4 : end;
#pragma unroll 1
            for (; p < stop; ++p) {
                T a_values[rows / vector][vector], b_values[columns];
#pragma unroll
                for (int q = 0; q < rows / vector; ++q)
                    device::load_vector(a_values[q], a_line + q * to_rows);
#pragma unroll
                for (int j = 0; j < columns; ++j)
                    device::load_element(b_values[j], b_line + j * lanes);
#pragma unroll
                for (int i = 0; i < rows; ++i)
#pragma unroll
                    for (int j = 0; j < columns; ++j)
                        device::multiply_add(sums[i][j], a_values[i / vector][i % vector],
                                             b_values[j]);
                a_line = a_line + work.a_pitch();
                b_line = b_line + work.b_pitch();
            }
        }
        a_from += x.a.first.column_stride << plan.depth_log2;
        b_from += x.b.first.row_stride << plan.depth_log2;
        if (left > depth) __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j) {
            if constexpr (std::is_same_v<T, float>) sums[i][j] += of_fours[i][j];
            sums[i][j] *= x.alpha;
            device::multiply_add(sums[i][j], beta, old[i][j]);
        }
    for_each([&](int i, int j, T* at) { device::store_global(at, sums[i][j]); });
}

template <class T, bool in_fours = false>
void launch_gemm_batched_outer(device::Stream stream, const GemmBatch<T>& x) {
    const GemmBatchedOuter<T> work(x, in_fours);
    device::launch_evenly("gemm", gemm_batched_outer<T>, work.blocks(), outer_batch_threads,
                          work.shared_elements() * sizeof(T), stream, work,
                          leaves_places(work.blocks()));
}

}  // namespace tinyblas
