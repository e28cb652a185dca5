// SPDX-License-Identifier: MIT
// The tiles in which batches of products are made. Figures: NVIDIA H200.
#pragma once

#include <cstdint>
#include <iterator>

#include "tensor_plan.hpp"
#include "tiles.hpp"

namespace tinyblas {

/// Microseconds on an H200: of a launch; of a k while few blocks share a multiprocessor, and each
/// block's share of it while many do; of a block besides; by how much longer a k takes for each
/// operand that is turned. Of tiles of floats, fitted to 1,100 batches (the root mean square is 4
/// to 6 %), also for each operand that comes by elements, and as of GemmElementsEntry; others, to
/// batches of 2 to 10,000 products with extents from 40 to 2048 and k from 32 to 2048.
struct GemmBatchTimes {
    double start, latency, load, block, turning = 0, elements = 0, uneven = 0, few = 0;
};

/// A block owns an edge x edge tile of one C, or all of `matrices` C that are no larger.
struct GemmBatchTile {
    Scalar type;
    int edge, depth;       // of a stage: elements of k
    int share_m, share_n;  // of the tile: a thread's (float), a warp's (double)
    int matrices;          // a block
    int min_blocks;        // launch bounds
    bool turns;            // panels lie as those of a row-major product; else as the operands do
    GemmBatchTimes times = {};  // of those that are estimated

    constexpr int threads_each() const {  // of a matrix
        const int shares = edge / share_m * (edge / share_n);
        return type == Scalar::float32 ? shares : shares * 32;
    }
    constexpr int threads() const { return matrices * threads_each(); }
};

// clang-format off
inline constexpr GemmBatchTile gemm_batch_table[] = {
    // type           edge depth share m,n matrices blocks turns  start, latency, load, block, turning
    {Scalar::float32,  16,  16,   2,  4,    4,        7,  true},  // n = 16: 3,780 GB/s
    {Scalar::float32,  32,  32,   4,  4,    1,       12,  true, {1.69, 0.0224, 0.0091, 0.125, 0.115, 0.077, 0.101, 0.079}},  // n = 32: 3,840 GB/s
    {Scalar::float32,  32,  64,   2,  4,    1,        8,  true, {1.52, 0.0133, 0.0127, 0.086, 0.097, 0.062, 0, 0.041}},  // few products: n = 64, 16 of them: 2.9 us
    {Scalar::float32,  48,  48,   6,  4,    1,        6,  true, {1.66, 0.0226, 0.02, 0.212, 0.086, 0.048, 0.289, 0.094}},  // n = 48: 3,100 GB/s
    {Scalar::float32,  64,  32,   8,  4,    1,        5,  true, {1.62, 0.0229, 0.028, 0.496, 0.068, 0.035, 0.142, 0.106}},  // n = 64: 3,060 GB/s
    {Scalar::float32,  96,  32,   6,  4,    1,        2,  true, {0.95, 0.0455, 0.0653, 1.25, 0.048, 0.03, 0.099, 0.171}},  // n = 96: 1,960 GB/s
    {Scalar::float64,  16,  16,  16, 16,    4,        6,  true},  // n = 16: 4,300 GB/s
    {Scalar::float64,  32,  32,  16, 16,    1,        6,  true, {1.64, 0.00759, 0.00685, 0.232, 0.447}},  // n = 32: 4,280 GB/s
    {Scalar::float64,  48,  48,  16, 48,    1,        4,  false},
};
// clang-format on
inline constexpr int gemm_batch_entries = std::size(gemm_batch_table);

/// The entries that other GPUs than those of compute capability 9.0 have, too: what is measured on
/// these alone is not worth its size there.
constexpr bool gemm_batch_portable(int entry) { return entry == 0 || entry == 4; }

/// Lines of gemm_table that also make batches.
inline constexpr int gemm_batch_tuned[] = {0, 1, 5};

/// What a multiprocessor's blocks count that has so many, `at_once` at a time: in its last turn of
/// several, and in an only one, those that are not there take a share of theirs (`uneven`, `few`).
constexpr double gemm_blocks_sharing(std::int64_t each, int at_once, double uneven, double few) {
    const std::int64_t last = each % at_once;
    const auto absent = static_cast<double>(last > 0 ? at_once - last : 0);
    return static_cast<double>(each) + (each > at_once ? uneven : few) * absent;
}

/// Where copies go: with every so manieth line of a stage, before so manieth of its multiply-adds.
struct ElementCopies {
    int apart, before;
};

/// A tile of batched_elements.cuh. Microseconds on an H200, fitted to 715 batches of 1 to 2,000
/// products (root mean square 3 to 4 % of those that the tile is good for): of a launch; of each k
/// and of a block besides, as a share of the blocks that a multiprocessor has at once; in its last
/// turn of several, and in an only one, what blocks that are not there take of theirs: those that
/// are do not come to all multiprocessors alike.
struct GemmElementsEntry {
    GemmTile tile;
    ElementCopies copies;
    double start, load, block, uneven, few;

    /// Blocks of two warps share a multiprocessor by halves, of two schedulers each.
    constexpr int of_multiprocessor() const { return 128 / tile.threads(); }
    constexpr int at_once() const { return tile.min_blocks / of_multiprocessor(); }
    constexpr double microseconds(std::int64_t tiles, std::int64_t k) const {
        const std::int64_t places = gemm_multiprocessors * of_multiprocessor();
        const double blocks =
            gemm_blocks_sharing((tiles + places - 1) / places, at_once(), uneven, few);
        const auto steps = static_cast<double>((k + tile.block_k - 1) / tile.block_k);
        return start + (steps * tile.block_k * load + block) * blocks;
    }
};
// clang-format off
inline constexpr GemmElementsEntry gemm_elements_table[] = {
    //  block m,n,k    warp m,n  thread m,n  stages  blocks  loaders, registers, loads  copies  start, load, block, uneven, few
    {{128, 128,  8,  64, 64,  16, 8,  3,  2,  0, 0, 8, 20},  {2,  0}, 1.30, 0.0838, 3.08, 0.979, 0.177},
    {{ 64, 128,  8,  32, 64,   8, 8,  3,  3,  0, 0, 4, 12},  {2, 32}, 1.90, 0.0452, 1.30, 0.095, 0.065},
    {{ 64,  64,  8,  32, 32,   8, 4,  3,  5},                {2, 24}, 1.60, 0.0250, 0.68, 0.021, 0.065},
    {{128,  32,  8,  32, 32,   8, 4,  3,  5},                {4,  0}, 1.58, 0.0264, 0.65, 0.051, 0.085},
    {{ 32, 128,  8,  32, 32,   8, 4,  3,  5},                {4,  0}, 1.72, 0.0264, 0.63, 0.073, 0.079},
    {{ 64,  32,  8,  32, 32,   8, 4,  3, 10},                {2, 24}, 1.70, 0.0279, 0.67, 0.046, 0.039},
    {{ 96,  64,  8,  48, 32,  12, 4,  3,  4},                {2, 24}, 1.55, 0.0350, 0.99, 0.093, 0.103},
    {{160,  64,  8,  80, 32,  20, 4,  3,  3},                {2, 40}, 1.55, 0.0555, 1.74, 0.123, 0.127},
};
// clang-format on
inline constexpr int gemm_elements_entries = std::size(gemm_elements_table);

/// Of the lines of gemm_tensor_table.
inline constexpr GemmBatchTimes gemm_batch_tensor_times[] = {
    {2.5, 0.0522, 0.0657, 2.28},     {2.35, 0.0297, 0.034, 1.39}, {1.4, 0.0233, 0.017, 0.649},
    {1.94, 0.00635, 0.00915, 0.473}, {1.75, 0.0058, 0.0072, 0.3}, {1.97, 0.00511, 0.00535, 0.219},
    {1.89, 0.00154, 0.00396, 0.183}};
static_assert(std::size(gemm_batch_tensor_times) == gemm_tensor_entries);

/// Of the rung pipelined with 1, 2 and 4 products a tile; then where A's neighbours lie along k.
inline constexpr GemmBatchTimes gemm_batch_pipelined_times[2][3] = {
    {{4.5, 0, 0.154, 3.0}, {4.5, 0, 0.156, 1.9}, {2.5, 0, 0.17, 3.3}},
    {{4.2, 0, 0.152, 4.4}, {4.5, 0, 0.166, 1.5}, {2.5, 0, 0.168, 3.3}}};

}  // namespace tinyblas
