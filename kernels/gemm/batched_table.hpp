// SPDX-License-Identifier: MIT
// The tiles in which batches of products are made. Figures: NVIDIA H200.
#pragma once

#include <cstdint>
#include <iterator>

#include "tensor_plan.hpp"
#include "tiles.hpp"

namespace tinyblas {

/// Microseconds on an H200: of a launch; of a k while few blocks share a multiprocessor, and each
/// block's share of it while many do; of a block besides; what blocks that are not there take of
/// theirs, as of gemm_blocks_sharing; by how much longer a k takes for each operand that is turned,
/// or comes by elements. Of tiles of floats, fitted to 1,100 batches, to 4 to 6 % in root mean
/// square; of the rung pipelined, to batches of 2 to 10,000 products with extents from 40 to 2048
/// and k from 32 to 2048.
struct GemmBatchTimes {
    float start, latency, load, block, uneven = 0, few = 0, turning = 0, elements = 0;
};

/// A block owns an edge x edge tile of one C, or all of `matrices` C that are no larger.
struct GemmBatchTile {
    Scalar type;
    int edge, depth;       // of a stage: elements of k
    int share_m, share_n;  // of the tile: a thread's (float), a warp's (double)
    int matrices;          // a block
    int min_blocks;        // launch bounds
    bool turns;            // panels lie as those of a row-major product; else as the operands do
    GemmBatchTimes times = {};  // of floats that are estimated so

    constexpr int threads_each() const {  // of a matrix
        const int shares = edge / share_m * (edge / share_n);
        return type == Scalar::float32 ? shares : shares * 32;
    }
    constexpr int threads() const { return matrices * threads_each(); }
};

// clang-format off
inline constexpr GemmBatchTile gemm_batch_table[] = {
    // type           edge depth share m,n matrices blocks turns  start, latency, load, block, uneven, few, turning, elements
    {Scalar::float32,  16,  16,   2,  4,    4,        7,  true},  // n = 16: 3,780 GB/s
    {Scalar::float32,  32,  32,   4,  4,    1,       12,  true, {1.47, 0.0233, 0.0090, 0.132, 0.115, 0.093, 0.100, 0.079}},  // n = 32: 3,840 GB/s
    {Scalar::float32,  32,  64,   2,  4,    1,        8,  true, {1.42, 0.0089, 0.0125, 0.072, 0, 0.044, 0.092, 0.080}},  // few products: n = 64, 16 of them: 2.9 us
    {Scalar::float32,  48,  48,   6,  4,    1,        6,  true, {1.56, 0.0284, 0.0197, 0.212, 0.273, 0.093, 0.081, 0.061}},  // n = 48: 3,100 GB/s
    {Scalar::float32,  64,  32,   8,  4,    1,        5,  true, {1.35, 0.0100, 0.0280, 0.488, 0.146, 0.118, 0.059, 0.039}},  // n = 64: 3,060 GB/s
    {Scalar::float32,  96,  32,   6,  4,    1,        2,  true, {0.89, 0.0750, 0.0648, 1.275, 0.107, 0.169, 0.052, 0.041}},  // n = 96: 1,960 GB/s
    {Scalar::float64,  16,  16,  16, 16,    4,        6,  true},  // n = 16: 4,300 GB/s
    {Scalar::float64,  32,  32,  16, 16,    1,        6,  true},  // n = 32: 4,280 GB/s
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
/// `ahead`: as device::copy_async.
struct ElementCopies {
    int apart, before;
    bool ahead = true;
};

/// A tile of batched_elements.cuh. Microseconds on an H200, fitted to 2,100 batches (root mean
/// square 2 to 6 % of those that the tile is good for): of a launch; of each k and of a block
/// besides, as a share of the blocks that a multiprocessor has at once; in its last turn of
/// several, what blocks that are not there take of theirs, for those that are do not come to all
/// multiprocessors alike; by how much longer a block takes that is alone.
struct GemmElementsEntry {
    GemmTile tile;
    ElementCopies copies;
    double start, load, block, uneven, alone;

    /// Blocks of two warps share a multiprocessor by halves, of two schedulers each.
    constexpr int of_multiprocessor() const { return 128 / tile.threads(); }
    constexpr int at_once() const { return tile.min_blocks / of_multiprocessor(); }
    constexpr double microseconds(std::int64_t tiles, std::int64_t k) const {
        const std::int64_t places = gemm_multiprocessors * of_multiprocessor();
        const std::int64_t each = (tiles + places - 1) / places;
        const double blocks =
            each == 1 ? 1 + alone : gemm_blocks_sharing(each, at_once(), uneven, 0);
        const auto steps = static_cast<double>((k + tile.block_k - 1) / tile.block_k);
        return start + (steps * tile.block_k * load + block) * blocks;
    }
};
// clang-format off
inline constexpr GemmElementsEntry gemm_elements_table[] = {
    //  block m,n,k    warp m,n  thread m,n  stages  blocks  loaders, registers, loads  copies  start, load, block, uneven, alone
    {{128, 128,  8,  64, 64,  16, 8,  3,  2,  0, 0, 8, 20},  {2,  0, false},  0.97, 0.0830, 3.35, 1.034, 0.138},
    {{ 64, 128,  8,  32, 64,   8, 8,  3,  3,  0, 0, 4, 12},  {2, 32, false},  1.58, 0.0455, 1.43, 0.074, 0.155},
    {{ 64,  64,  8,  32, 32,   8, 4,  3,  5},                {2, 24},         1.73, 0.0256, 0.64, 0.016, 0.177},
    {{128,  32,  8,  32, 32,   8, 4,  3,  5},                {4,  0},         1.76, 0.0269, 0.58, 0,     0.299},
    {{ 32, 128,  8,  32, 32,   8, 4,  3,  5},                {4,  0},         1.87, 0.0269, 0.58, 0,     0.296},
    {{ 64,  32,  8,  32, 32,   8, 4,  3, 10},                {2, 24},         1.71, 0.0282, 0.66, 0.024, 0.170},
    {{ 96,  64,  8,  48, 32,  12, 4,  3,  4},                {2, 24},         1.94, 0.0357, 0.95, 0.020, 0.153},
    {{160,  64,  8,  80, 32,  20, 4,  3,  3},                {2, 40},         1.74, 0.0562, 1.73, 0.104, 0.131},
    {{ 32,  32,  8,  16, 32,   4, 4,  3, 14},                {8,  8},         1.50, 0.0166, 0.36, 0,     0.333},
    {{ 96,  32,  8,  48, 32,  12, 4,  3,  8},                {2, 24},         1.95, 0.0384, 1.01, 0.043, 0.152},
    {{ 64,  96,  8,  16, 96,   4, 12, 3,  4},                {2, 24},         1.73, 0.0369, 0.84, 0.029, 0.149},
};
// clang-format on
inline constexpr int gemm_elements_entries = std::size(gemm_elements_table);

/// Of the lines of gemm_tensor_table: fitted to 1,300 batches of doubles with extents to 600, and
/// those of bench_gemm, so that what is chosen takes least time.
inline constexpr GemmBatchTimes gemm_batch_tensor_times[] = {
    {3.19, 0.0433, 0.0656, 2.31, 0.3},     {2.26, 0.034, 0.034, 1.24, 0.3},
    {1.79, 0.0206, 0.0168, 0.657, 0.55},   {1.79, 0.0102, 0.00952, 0.466, 0.55},
    {1.72, 0.00945, 0.00733, 0.384, 0.45}, {1.78, 0.00356, 0.00491, 0.308, 0.65},
    {1.75, 0.00178, 0.00402, 0.213, 0.15}};
static_assert(std::size(gemm_batch_tensor_times) == gemm_tensor_entries);

/// Of the rung pipelined with 1, 2 and 4 products a tile; then where A's neighbours lie along k.
inline constexpr GemmBatchTimes gemm_batch_pipelined_times[2][3] = {
    {{4.5, 0, 0.154, 3.0}, {4.5, 0, 0.156, 1.9}, {2.5, 0, 0.17, 3.3}},
    {{4.2, 0, 0.152, 4.4}, {4.5, 0, 0.166, 1.5}, {2.5, 0, 0.168, 3.3}}};

}  // namespace tinyblas
