// SPDX-License-Identifier: MIT
// gemm, rung 7. New over rung 2: products of 16-bit parts give fp32's accuracy. Here in plain fp32,
// so that every GPU and a CPU can do it; rung 8 gives the same products to the tensor cores.
//
//   x = 2^(e - 14) (p0 + 2^-11 p1)           p0: 11 bits, p1: the next 11; e: of a row and group
//
//        a = | p0 | p1 |                      p0 p0   kept for 32 k at a time:  t, then m += t
//        b = | p0 | p1 |      a b =  p1 p0 + p0 p1    2^-11 as large, kept for a group:  x
//                                    p1 p1            2^-22 as large: left out
//
//   k:  |  chunk of 64  |  chunk  | ... |  chunk  | next group: m comes to its scale
//          m += t          m += t          m += t
//                                          m += 2^-11 x
//
// bf16x3 likewise: parts of 8 bits, x = p1 p0 + p0 p1 + p1 p1 + p2 p0 + p0 p2. Tensor cores
// multiply parts exactly, but add with truncation: an error that grows with the sum's length and
// always points to zero. Hence the short t and an m that is added to in proper fp32.
//
// Sources: Ootomo and Yokota, IJHPCA 36(4), 2022: splitting, scaled low parts, adding up outside
// of the tensor cores. Fasi, Higham, Mikaitis and Pranesh, PeerJ Computer Science 7:e330, 2021: how
// tensor cores add.
//
// Limit: shared memory, and three multiply-adds (bf16x3: six) where rung 2 has one.
#pragma once

#include "parts.cuh"
#include "planes.hpp"
#include "verdict.cuh"

namespace tinyblas {

inline constexpr int gemm_split_edge = 32;  // of tiles of C, and elements of k at a time
inline constexpr int gemm_split_threads = 256;
inline constexpr int gemm_split_rows = gemm_split_threads / gemm_split_edge;  // at once
using GemmSplitRaster = GemmRaster<gemm_split_edge, gemm_split_edge, 8>;
/// Of each part of A's rows or B's columns; the pad keeps a column's elements in distinct banks.
template <GemmParts kind>
using GemmSplitTile = float[gemm_parts(kind)][gemm_split_edge][gemm_split_edge + 1];

/// tile = the first `parts` parts of 32 rows from `row` on and 32 k from `k` on.
template <GemmParts kind>
__device__ __forceinline__ void fill_split(GemmSplitTile<kind>& tile, const GemmPlanes& planes,
                                           std::int64_t row, std::int64_t k, int parts) {
    constexpr int piece = 8, row_pieces = gemm_split_edge / piece;
    constexpr int tile_pieces = gemm_split_edge * row_pieces;
    for (int p = static_cast<int>(threadIdx.x); p < parts * tile_pieces; p += gemm_split_threads) {
        const int part = p / tile_pieces;
        const int down = p % tile_pieces / row_pieces, along = p % row_pieces * piece;
        const std::uint16_t* const brick =
            planes.brick(row / gemm_brick, k / gemm_brick, part, gemm_parts(kind));
        std::uint16_t narrow[piece];
        device::load_vector(narrow,
                            brick + gemm_brick_place(static_cast<int>(row % gemm_brick) + down,
                                                     static_cast<int>(k % gemm_brick) + along));
#pragma unroll
        for (int e = 0; e < piece; ++e)
            tile[part][down][along + e] = kind == GemmParts::fp16x2 ? device::from_fp16(narrow[e])
                                                                    : device::from_bf16(narrow[e]);
    }
}

/// A row's exponent in a group.
__device__ __forceinline__ int split_exponent(const GemmPlanes& planes, std::int64_t row,
                                              std::int64_t group) {
    return planes.exponents_of(row / gemm_brick, group)[row % gemm_brick];
}

template <GemmParts kind>
__global__ void __launch_bounds__(gemm_split_threads, 3) gemm_split(GemmPlanesProduct product) {
    if constexpr (!device::reallocates_registers) return device::trap();  // as gemm_planes
    constexpr int thread_m = gemm_split_edge / gemm_split_rows;
    constexpr int group_chunks = gemm_group / gemm_brick;
    const GemmPlanes &a = product.a, &b = product.b;
    device::let_dependents_start();
    device::wait_for_launcher();
    const unsigned verdict = gemm_verdict(a, b);
    if (blockIdx.x == 0 && threadIdx.x == 0 && product.verdict) *product.verdict = verdict;
    if (!gemm_is_meant(kind, verdict)) return;
    const bool cross = kind == GemmParts::bf16x3 || (verdict & gemm_has_low) != 0;
    const int parts = cross ? gemm_parts(kind) : 1;

    auto& a_tile = device::shared<struct PartsOfA, GemmSplitTile<kind>>();
    auto& b_tile = device::shared<struct PartsOfB, GemmSplitTile<kind>>();
    const auto corner = GemmSplitRaster(product.c.rows, product.c.columns).corner(blockIdx.x);
    const int row = static_cast<int>(threadIdx.x) / gemm_split_edge;
    const int column = static_cast<int>(threadIdx.x) % gemm_split_edge;
    const std::int64_t i = corner.i + row, j = corner.j + column;

    float m[thread_m] = {}, x[thread_m] = {};
    const std::int64_t chunks = a.chunks();
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
        const std::int64_t group = chunk / group_chunks;
        if (chunk % group_chunks == 0 && group > 0) {
            const float scale_b =
                gemm_power(split_exponent(b, j, group - 1) - split_exponent(b, j, group));
#pragma unroll
            for (int r = 0; r < thread_m; ++r) {
                const std::int64_t i_r = i + r * gemm_split_rows;
                m[r] *=
                    gemm_power(split_exponent(a, i_r, group - 1) - split_exponent(a, i_r, group)) *
                    scale_b;
            }
        }

        for (int step = 0; step < gemm_brick; step += gemm_split_edge) {
            float t[thread_m] = {};
            fill_split<kind>(a_tile, a, corner.i, chunk * gemm_brick + step, parts);
            fill_split<kind>(b_tile, b, corner.j, chunk * gemm_brick + step, parts);
            __syncthreads();
#pragma unroll 4
            for (int p = 0; p < gemm_split_edge; ++p)
#pragma unroll
                for (int r = 0; r < thread_m; ++r) {
                    const auto a_part = [&](int part) {
                        return a_tile[part][row + r * gemm_split_rows][p];
                    };
                    const auto b_part = [&](int part) { return b_tile[part][column][p]; };
                    device::multiply_add(t[r], a_part(0), b_part(0));
                    if (!cross) continue;
                    if constexpr (kind == GemmParts::bf16x3) {
                        device::multiply_add(x[r], a_part(2), b_part(0));
                        device::multiply_add(x[r], a_part(0), b_part(2));
                        device::multiply_add(x[r], a_part(1), b_part(1));
                    }
                    device::multiply_add(x[r], a_part(1), b_part(0));
                    device::multiply_add(x[r], a_part(0), b_part(1));
                }
#pragma unroll
            for (int r = 0; r < thread_m; ++r) m[r] += t[r];
            __syncthreads();
        }
        const bool group_ends = chunk % group_chunks == group_chunks - 1 || chunk == chunks - 1;
#pragma unroll
        for (int r = 0; r < thread_m; ++r) {
            if (!group_ends) continue;
            device::multiply_add(m[r], x[r], kind == GemmParts::fp16x2 ? 0x1p-11f : 1.0f);
            x[r] = 0;
        }
    }

    const std::int64_t last = a.groups() - 1;
    if (j >= product.c.columns) return;
#pragma unroll
    for (int r = 0; r < thread_m; ++r) {
        const std::int64_t i_r = i + r * gemm_split_rows;
        if (i_r >= product.c.rows) continue;
        const int exponent = split_exponent(a, i_r, last) + split_exponent(b, j, last);
        store(product.c(i_r, j), product.alpha, gemm_scaled(m[r], exponent - 2 * gemm_offset(kind)),
              product.beta);
    }
}

template <GemmParts kind>
void launch_gemm_split(device::Stream stream, const GemmPlanesProduct& product) {
    const std::int64_t blocks = GemmSplitRaster(product.c.rows, product.c.columns).blocks();
    device::launch_dependent("gemm", gemm_split<kind>, device::grid(blocks, "gemm"),
                             gemm_split_threads, stream, product);
}

}  // namespace tinyblas
