// SPDX-License-Identifier: MIT
// Batches of products, in small tiles: a block owns a tile of one C, or several C that are smaller.
//
//   matrix e:   b_panel (depth, edge)       While one stage of k is multiplied, the next one
//               [ . . . . . . . . ]         arrives. Operands are as they come: any strides, any
//   a_panel     [ . . . . . . . . ]         alignment. C leaves 16 bytes at a time or, where its
//   [ . . ]       +---------+               rows do not allow that, by way of shared memory, so
//   [ . . ]  -->  | c       |               that neighbours of a row meet in a sector.
//   [ . . ]       +---------+
//
// float: multiply-adds; double: the fp64 tensor cores. Either way a sum is one chain in the order
// of k.
//
// Limit: memory, as long as edges stay below 48 (float) or 64 (double); then multiply-adds.
#pragma once

#include <cstddef>
#include <type_traits>

#include "batched_operands.hpp"
#include "batched_panels.cuh"
#include "batched_sums.cuh"
#include "parts.cuh"

namespace tinyblas {

/// `a_along_k`, `b_along_k`: whether lines of the panels lie along k.
template <class T, int entry, bool a_along_k, bool b_along_k>
struct GemmBatchShared {
    static constexpr GemmBatchTile t = gemm_batch_table[entry];
    template <bool along_k>
    using Loader = PanelLoader<T, along_k ? t.edge : t.depth, along_k ? t.depth : t.edge,
                               t.threads_each(), t.turns>;
    struct Stage {
        typename Loader<a_along_k>::Panel a;
        typename Loader<b_along_k>::Panel b;
    };
    /// C, where it leaves by way of shared memory.
    using Sums = T[t.edge][t.edge + 16 / sizeof(T)];
    static_assert(sizeof(Sums) <= 2 * sizeof(Stage));

    template <int stages>
    struct Stages {
        Stage all[t.matrices][stages];
    };
    static constexpr bool one_is_enough = sizeof(Sums) <= sizeof(Stage);
    /// The stages of the block's matrix g.
    static __device__ __forceinline__ Stage* of(int g, int stages) {
        return stages == 1 ? device::large_shared<Stages<1>>().all[g]
                           : device::large_shared<Stages<2>>().all[g];
    }
};

template <class T, int entry, bool a_along_k, bool b_along_k>
using GemmBatchSums = std::conditional_t<std::is_same_v<T, float>, GemmBatchThreadTile<entry>,
                                         GemmBatchWarpTile<entry, a_along_k, b_along_k>>;

/// C leaves 16 bytes at a time. `inside`: whether the thread has a C at all.
template <class Sums, class T>
__device__ __forceinline__ void store_vectors(const Sums& sums, const MatrixView<T>& c, bool inside,
                                              T alpha, T beta) {
    constexpr int vector = 16 / sizeof(T);
    const auto there = [&](int i, int j) { return inside && i < c.rows && j < c.columns; };
    T values[Sums::vectors][vector] = {};
    if (beta != T(0)) {  // all of C is asked for before any of it is written
        // Of many vectors, in place of those that are not there the thread's first one: each load
        // under a condition would wait for the one before, whose registers it is given.
        constexpr bool many = Sums::vectors > 8;
        const T* first = nullptr;
        if constexpr (many)
            sums.visit([&](int number, int i, int j, const auto&) {
                if (number == 0 && there(i, j)) first = &c(i, j);
            });
        if (!many || first)
            sums.visit([&](int number, int i, int j, const auto&) {
                if (many || there(i, j))
                    device::load_fresh(values[number], there(i, j) ? &c(i, j) : first);
            });
    }
    sums.visit([&](int number, int i, int j, const auto& acc) {
#pragma unroll
        for (int q = 0; q < vector; ++q) store(values[number][q], alpha, acc[q], beta);
        if (there(i, j)) device::store_global(&c(i, j), values[number]);
    });
}

/// C leaves along its rows, by way of `tile`, which nothing else uses any more.
template <int threads, class Sums, class T, int edge, int pitch>
__device__ __forceinline__ void store_rows(const Sums& sums, const MatrixView<T>& c, bool inside,
                                           T alpha, T beta, T (&tile)[edge][pitch], int thread) {
    static_assert(threads % edge == 0);
    __syncthreads();
    sums.visit([&](int, int i, int j, const auto& acc) { device::store_vector(&tile[i][j], acc); });
    __syncthreads();
    const int j = thread % edge;
    if (!inside || j >= c.columns) return;
    constexpr int apart = threads / edge, at_once = 8;  // rows
    static_assert(edge % (apart * at_once) == 0);
    const std::int64_t next = apart * c.row_stride;
    T* row = &c(thread / edge, j);
#pragma unroll 1
    for (int i = thread / edge; i < c.rows; i += at_once * apart) {
        T old[at_once] = {};
        if (beta != T(0)) {  // as many are asked for before one is written; the last one again
            const T* from = row;
#pragma unroll
            for (int r = 0; r < at_once; ++r) {
                old[r] = device::load_fresh(from);
                if (i + (r + 1) * apart < c.rows) from = device::opaque(from + next);
            }
        }
#pragma unroll
        for (int r = 0; r < at_once; ++r, row = device::opaque(row + next)) {
            store(old[r], alpha, tile[i + r * apart][j], beta);
            if (i + r * apart < c.rows) *row = old[r];
        }
    }
}

/// The table's, or where the assembler needs more registers, one less.
constexpr int gemm_batch_blocks(const GemmBatchTile& t) {
    const int blocks = device::reallocates_registers ? t.min_blocks : t.min_blocks - 1;
    return device::resident_blocks(blocks, t.threads());
}

template <class T, int entry, bool a_along_k, bool b_along_k>
__global__ void __launch_bounds__(gemm_batch_table[entry].threads(),
                                  gemm_batch_blocks(gemm_batch_table[entry]))
    gemm_batched_tile(GemmBatch<T> x, int stages, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    constexpr GemmBatchTile t = gemm_batch_table[entry];
    using Shared = GemmBatchShared<T, entry, a_along_k, b_along_k>;
    // Machine code for other GPUs holds portable entries alone, and is never asked for others.
    if constexpr (!gemm_batch_portable(entry) && !device::reallocates_registers) {
        device::trap();
    } else {
        constexpr int each = t.threads_each();
        const int g = static_cast<int>(threadIdx.x) / each;
        const int thread = static_cast<int>(threadIdx.x) % each;
        const bool alone = t.matrices == 1;
        std::int64_t e = alone ? blockIdx.z : std::int64_t{blockIdx.x} * t.matrices + g;
        const std::int64_t i0 = alone ? std::int64_t{blockIdx.y} * t.edge : 0;
        const std::int64_t j0 = alone ? std::int64_t{blockIdx.x} * t.edge : 0;
        const bool inside = alone || e < x.count;
        if (!inside) e = 0;  // the thread goes along for the barriers
        const auto most = [](std::int64_t left, int edge) {
            return static_cast<int>(left < edge ? left : edge);
        };
        const int rows = most(x.m() - i0, t.edge), columns = most(x.n() - j0, t.edge);

        MatrixView<const T> a = x.a.first, b = x.b.first;
        a.data = x.a.data(e) + i0 * a.row_stride;
        b.data = x.b.data(e) + j0 * b.column_stride;
        auto* const stage = Shared::of(g, stages);
        typename Shared::template Loader<a_along_k> load_a(a_along_k ? a : a.transposed(), thread);
        typename Shared::template Loader<b_along_k> load_b(b_along_k ? b.transposed() : b, thread);
        std::int64_t left = x.k();
        int next = 0;
        const auto request = [&] {
            const int depth = most(left, t.depth);
            load_a.load(stage[next].a, a_along_k ? rows : depth, a_along_k ? depth : rows);
            load_b.load(stage[next].b, b_along_k ? columns : depth, b_along_k ? depth : columns);
            device::close_copy_group();
            load_a.move(t.depth * a.column_stride);
            load_b.move(t.depth * b.row_stride);
            left -= t.depth;
            next = 1 - next;
        };
        GemmBatchSums<T, entry, a_along_k, b_along_k> sums(thread);
        // The first turn only requests: the code that does is long, and should be there but once.
        int now = 0;
#pragma unroll 1
        for (std::int64_t p = x.k() + t.depth; p > 0; p -= t.depth) {
            const bool requests = left > 0;
            if (requests) request();
            if (p > x.k()) continue;
            if (requests)
                device::wait_for_copies<1>();
            else
                device::wait_for_copies<0>();
            __syncthreads();
            sums.multiply(stage[now].a, stage[now].b, most(p, t.depth));
            if (p > t.depth) __syncthreads();
            now = 1 - now;
        }

        const MatrixView<T>& all_c = x.c.first;
        const MatrixView<T> c = {x.c.data(e) + i0 * all_c.row_stride + j0 * all_c.column_stride,
                                 rows, columns, all_c.row_stride, all_c.column_stride};
        constexpr int vector = 16 / sizeof(T);
        bool vectors = c.column_stride == 1 && c.row_stride % vector == 0 &&
                       columns % vector == 0 && reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0;
        if (!alone) vectors = __syncthreads_or(!vectors) == 0;
        if (vectors)
            store_vectors(sums, c, inside, x.alpha, x.beta);
        else
            store_rows<each>(sums, c, inside, x.alpha, x.beta,
                             *reinterpret_cast<typename Shared::Sums*>(stage), thread);
    }
}

/// One of them, and what it has of shared memory.
template <class T>
struct GemmBatchTileKernel {
    void (*kernel)(GemmBatch<T>, int, bool);
    std::size_t stage;   // bytes, of all the block's matrices
    bool one_is_enough;  // stage, if k fits it: C fits it, too
};
template <class T, int entry, bool a_along_k, bool b_along_k>
constexpr GemmBatchTileKernel<T> make_gemm_batch_tile_kernel() {
    using Shared = GemmBatchShared<T, entry, a_along_k, b_along_k>;
    return {gemm_batched_tile<T, entry, a_along_k, b_along_k>,
            sizeof(typename Shared::template Stages<1>), Shared::one_is_enough};
}

/// At most gemm_batch_most (batched_plan.hpp) matrices, if a block has but one. `kernel`: the
/// entry's, for operands that lie so.
template <class T>
void launch_gemm_batched_tile(device::Stream stream, const GemmBatchTileKernel<T>& kernel,
                              int entry, const GemmBatch<T>& x) {
    const GemmBatchTile& t = gemm_batch_table[entry];
    const auto blocks = [](std::int64_t extent, int each) {
        return device::grid((extent + each - 1) / each, "gemm");
    };
    const int stages = kernel.one_is_enough && x.k() <= t.depth ? 1 : 2;
    const unsigned count = blocks(x.count, t.matrices);
    const dim3 grid =
        t.matrices == 1 ? dim3(blocks(x.n(), t.edge), blocks(x.m(), t.edge), count) : dim3(count);
    device::launch_evenly("gemm", kernel.kernel, grid, t.threads(),
                          static_cast<std::size_t>(stages) * kernel.stage, stream, x, stages,
                          leaves_places(grid));
}

}  // namespace tinyblas
