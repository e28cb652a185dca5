// SPDX-License-Identifier: MIT
// Stream-k by elements: blocks share the steps of all tiles alike, as batched_elements.cuh makes
// them, whatever the number of tiles.
//
//   steps    [tile 0     |tile 1     |tile 2     ]
//   blocks   [0      ][1      ][2      ][3       ]    a block's part of a tile is a piece
//
//   gemm_stream_k        makes pieces, in chains; one that is a whole tile becomes C, others leave
//                        their sums in tiles of their own
//   gemm_stream_k_sums   a block  8 warps; each 1, 2, 4 or 8 of them are a group, with the same 128
//                                neighbours of all pieces of a tile
//                       a warp   adds up every so manieth piece, four on their way at once
//                       all      by way of shared memory: the warps' sums become C
//
// Always in the same order. Limits: issue slots; of the sums, the latency of a few loads in a row.
// Source: M. Osama et al., Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix
// Multiplication on the GPU, PPoPP 2023.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "batched_elements.cuh"
#include "parts.cuh"
#include "stream_k_plan.hpp"

namespace tinyblas {

template <int entry>
using StreamKElements = GemmElements<stream_k_table[entry].tile, stream_k_table[entry].copies>;

/// Tile `number` of all.
struct StreamKTile {
    unsigned number, product;
    __device__ __forceinline__ StreamKTile(const StreamK& work, unsigned of_all)
        : number(of_all), product(work.by_tiles.quotient(of_all)) {
        number -= product * work.tiles;
    }
    __device__ __forceinline__ std::int64_t tile() const { return number; }
    __device__ __forceinline__ std::int64_t e() const { return product; }
};

/// Piece number p leaves its sums at `sums` + p block_m block_n, row by row.
template <int entry>
__global__ void __launch_bounds__(stream_k_table[entry].tile.threads(),
                                  stream_k_table[entry].tile.min_blocks)
    gemm_stream_k(GemmBatch<float> x, StreamK work, float* sums) {
    using Elements = StreamKElements<entry>;
    constexpr GemmTile t = Elements::t;
    device::wait_for_launcher();
#pragma unroll 1
    for (unsigned turn = 0;; ++turn) {
        const auto piece = work.piece(blockIdx.x, turn);
        if (!piece.exists()) break;
        const StreamKTile of(work, piece.tile);
        const int first = work.k_of(piece.first);
        multiply_elements<Elements, true>(
            x, {of.tile(), of.e(), work.k_of(piece.end) - first, first},
            [&](auto& tile, auto& shared) {
                const unsigned block = device::opaque(blockIdx.x);
                const auto own = work.piece(block, turn);
                if (work.is_whole(own))
                    return leave_by_rows<Elements>(tile, x, StreamKTile(work, own.tile), shared);
                const int thread = static_cast<int>(device::opaque(threadIdx.x));
                float* const to = sums + std::int64_t{block + own.tile} * (t.block_m * t.block_n);
                // In other registers: those of a 16-byte store follow each other, whatever banks
                // the main loop wants.
                const float one = device::opaque(1.0f);
                tile.visit_vectors(thread, [&](int i, int j, const float(&four)[4]) {
                    float copy[4];
#pragma unroll
                    for (int e = 0; e < 4; ++e) copy[e] = device::opaque(one * four[e]);
                    device::store_global(to + i * t.block_n + j, copy);
                });
            },
            stream_k_chain);
        __syncthreads();
    }
}

inline constexpr int stream_k_sums_warps = 8, stream_k_sums_at_once = 4;  // of a block; pieces

/// The tiles of a product.
struct StreamKTiles {
    int rows, columns;          // of a tile
    std::int64_t down, across;  // so many
    Divisor by_columns{static_cast<unsigned>(columns)};
};

/// C = alpha times the sum of each tile's pieces + beta C, where it has several; by groups of
/// 2^group_log2 warps.
__global__ void __launch_bounds__(32 * stream_k_sums_warps)
    gemm_stream_k_sums(GemmBatch<float> x, StreamK work, StreamKTiles tiles, const float* sums,
                       int group_log2) {
    constexpr int at_once = stream_k_sums_at_once, of_group = 128, own = of_group / 32;
    const std::int64_t size = tiles.rows * tiles.columns;
    using Sums = float[stream_k_sums_warps][of_group];
    auto& shared = device::shared<struct StreamKSums, Sums>();
    device::let_dependents_start();
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    const int warps = 1 << group_log2, of_block = stream_k_sums_warps * of_group >> group_log2;
    const unsigned number = blockIdx.y, first_block = work.first_block(number);
    const int pieces = static_cast<int>(work.last_block(number) - first_block) + 1;
    const StreamKTile tile(work, number);
    const auto [down, across] = GemmRaster<1, 1, elements_group>(tiles.down, tiles.across)
                                    .corner_in_32_bits(static_cast<unsigned>(tile.tile()));
    const ElementsPlace place(x, down * tiles.rows, across * tiles.columns, tiles.rows,
                              tiles.columns);
    const int first =
        static_cast<int>(blockIdx.x) * of_block + (warp >> group_log2) * of_group + lane;
    const int part = warp & (warps - 1);
    const float* from = sums + (first_block + number + static_cast<unsigned>(part)) * size + first;
    device::wait_for_launcher();
    if (pieces == 1) return;
    float sum[own] = {};
#pragma unroll 1
    for (int left = pieces - part; left > 0; left -= at_once << group_log2) {
        float more[at_once][own] = {};
#pragma unroll
        for (int u = 0; u < at_once; ++u, from += size << group_log2)
            if (u << group_log2 < left)
#pragma unroll
                for (int q = 0; q < own; ++q) more[u][q] = device::load_fresh(from + 32 * q);
#pragma unroll
        for (int u = 0; u < at_once; ++u)
            if (u << group_log2 < left)
#pragma unroll
                for (int q = 0; q < own; ++q) sum[q] += more[u][q];
    }
    if (warps > 1) {
#pragma unroll
        for (int q = 0; q < own; ++q) shared[warp][lane + 32 * q] = sum[q];
        __syncthreads();
        if (part > 0) return;
#pragma unroll 1
        for (int w = 1; w < warps; ++w)
#pragma unroll
            for (int q = 0; q < own; ++q) sum[q] += shared[warp + w][lane + 32 * q];
    }
    const MatrixView<float> c = x.c.at(tile.e());
#pragma unroll
    for (int q = 0; q < own; ++q) {
        const auto at = static_cast<unsigned>(first + 32 * q);
        const unsigned i = tiles.by_columns.quotient(at);
        const std::int64_t row = place.first_i + i;
        const std::int64_t column = place.first_j + (at - i * static_cast<unsigned>(tiles.columns));
        if (row >= place.i && row < c.rows && column >= place.j && column < c.columns)
            store(c(row, column), x.alpha, sum[q], x.beta);
    }
}

template <int entry>
void launch_gemm_stream_k(device::Stream stream, const GemmBatch<float>& x, const StreamK& work,
                          float* sums) {
    using Elements = StreamKElements<entry>;
    constexpr GemmTile t = Elements::t;
    device::launch_evenly("gemm", gemm_stream_k<entry>, dim3(work.blocks()), t.threads(),
                          Elements::shared_bytes(x.beta), stream, x, work, sums);
    if (!work.cuts()) return;
    constexpr unsigned of_block = 128 * stream_k_sums_warps, size = t.block_m * t.block_n;
    const unsigned tiles = work.tiles_of_all(), most = (work.steps - 2) / work.each + 2;  // pieces
    int group_log2 = 0;
    const auto blocks = [&] { return (size << group_log2) / of_block; };  // of a tile
    // As many as have all of their pieces on the way at once, and more where blocks are few.
    while (1 << group_log2 < stream_k_sums_warps && 1u << group_log2 < most &&
           (most > unsigned{stream_k_sums_at_once} << group_log2 ||
            blocks() * tiles < 2 * gemm_multiprocessors))
        ++group_log2;
    const typename Elements::Raster raster(x.m(), x.n());
    device::launch_dependent("gemm", gemm_stream_k_sums, dim3(blocks(), tiles),
                             32 * stream_k_sums_warps, stream, x, work,
                             StreamKTiles{t.block_m, t.block_n, raster.tiles_m, raster.tiles_n},
                             static_cast<const float*>(sums), group_log2);
}

}  // namespace tinyblas
