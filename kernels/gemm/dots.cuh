// SPDX-License-Identifier: MIT
// The rung sliced's form for a C of few columns, of operands that both lie along k: an element is a
// dot product, which a block's threads share.
//
//   a       [ warp 0 ][ warp 1 ] ... [ warp 0 ][ warp 1 ] ...     4 rows, each read once, from
//           [   ..   ][   ..   ]     [   ..   ][   ..   ]         memory into registers
//   b       [ warp 0 ][ warp 1 ] ... [ warp 0 ][ warp 1 ] ...     of each column, for all 4 rows
//
// A thread has a chain of multiply-adds for each element, in the order of its k. Then lanes add up
// by halves, each keeping half of the elements as long as there are several, and warps in pairs.
//
// Limit: memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include <device.hpp>

#include "dots_plan.hpp"
#include "parts.cuh"

namespace tinyblas {

/// C = alpha A B + beta C, with B given as its transposed: rows of `a` and `b` lie along k.
struct GemmDots {
    float alpha, beta;
    MatrixView<const float> a, b;
    MatrixView<float> c;
};

/// Neighbours in k; `once`: that the block reads once.
template <bool once, int count>
__device__ __forceinline__ void load_neighbours(float (&to)[count], const float* from) {
    if constexpr (count == 1)
        to[0] = __ldg(from);
    else if constexpr (once)
        device::load_once(to, from);
    else
        device::load_read_only(to, from);
}

/// Adds up `count` values, at most 32, over a warp's lanes, by halves: while there are several,
/// each lane keeps one half of them. The sum that is left is number `first`, in 32 / count lanes.
template <int count, int across = 16, int size>
__device__ __forceinline__ void fold_lanes(float (&values)[size], int lane, int& first) {
    if constexpr (across > 0 && count > 1) {
        constexpr int half = count / 2;
        const bool upper = (lane & across) != 0;
#pragma unroll
        for (int i = 0; i < half; ++i) {
            const float own = upper ? values[i + half] : values[i];
            const float given = upper ? values[i] : values[i + half];
            values[i] = own + __shfl_xor_sync(~0u, given, across);
        }
        if (upper) first += half;
        fold_lanes<half, across / 2>(values, lane, first);
    } else if constexpr (across > 0) {
        values[0] = values[0] + __shfl_xor_sync(~0u, values[0], across);
        fold_lanes<1, across / 2>(values, lane, first);
    }
}

/// `vectors`: lines of a and b can be read 16 bytes at a time. b has at most the entry's rows.
template <int entry, bool vectors>
__global__ void __launch_bounds__(gemm_dots_threads, 4) gemm_dots(const GemmDots x, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    if constexpr (!device::reallocates_registers) return device::trap();
    constexpr int rows = gemm_dots_rows, columns = gemm_dots_table[entry].columns;
    constexpr int count = rows * columns, warps = gemm_dots_threads / 32;
    constexpr int width = vectors ? 4 : 1, step = gemm_dots_threads * width;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const std::int64_t k = x.a.columns, i0 = std::int64_t{blockIdx.x} * rows;
    const int n = static_cast<int>(x.b.rows);

    const float* of_rows[rows];  // those past the last are that one again
#pragma unroll
    for (int r = 0; r < rows; ++r)
        of_rows[r] = x.a.data + (i0 + r < x.a.rows ? i0 + r : x.a.rows - 1) * x.a.row_stride;
    float sums[count] = {};
    const auto add = [&]<int neighbours>(std::integral_constant<int, neighbours>, std::int64_t p) {
        float a[rows][neighbours];
#pragma unroll
        for (int r = 0; r < rows; ++r) load_neighbours<true>(a[r], of_rows[r] + p);
#pragma unroll
        for (int c = 0; c < columns; ++c) {
            float b[neighbours];
            load_neighbours<false>(b, x.b.data + (c < n ? c : n - 1) * x.b.row_stride + p);
#pragma unroll
            for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int e = 0; e < neighbours; ++e)
                    device::multiply_add(sums[r * columns + c], a[r][e], b[e]);
        }
    };
    const std::int64_t whole = k / width * width;
#pragma unroll 2
    for (std::int64_t p = thread * width; p < whole; p += step)
        add(std::integral_constant<int, width>(), p);
    if (vectors && whole + thread < k) add(std::integral_constant<int, 1>(), whole + thread);

    auto& of_warps = device::shared<struct GemmDotsOfWarps, float[warps][count]>();
    int first = 0;
    fold_lanes<count>(sums, lane, first);
    static_assert(count <= 32);  // so that one sum is left
    if (lane % (32 / count) == 0) of_warps[warp][first] = sums[0];
    __syncthreads();
    const int r = thread / columns, c = thread % columns;
    if (thread >= count || c >= n || i0 + r >= x.a.rows) return;
    const float sum =
        (of_warps[0][thread] + of_warps[1][thread]) + (of_warps[2][thread] + of_warps[3][thread]);
    store(x.c(i0 + r, c), x.alpha, sum, x.beta);
}

template <int entry, bool vectors>
void launch_gemm_dots(device::Stream stream, const GemmDots& x) {
    const unsigned blocks = device::grid((x.a.rows + gemm_dots_rows - 1) / gemm_dots_rows, "gemm");
    device::launch_evenly("gemm", gemm_dots<entry, vectors>, blocks, gemm_dots_threads, 0, stream,
                          x, leaves_places(blocks));
}

}  // namespace tinyblas
