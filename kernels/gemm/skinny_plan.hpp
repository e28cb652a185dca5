// SPDX-License-Identifier: MIT
// The tuning data of the rung skinny, and its plan: which products it takes, by which entry, and
// how long it takes. Figures: NVIDIA H200.
#pragma once

#include <cstdint>
#include <iterator>

#include "tiles.hpp"

namespace tinyblas {

/// What a warp makes at a time, rows x columns, and how k is walked.
struct GemmSkinnyTile {
    int rows, columns, depth;  // depth: of a piece, elements of k
    int warps, stages;         // of a block; of a warp
    int min_blocks;            // launch bounds
    int longest_k;             // that shared memory has room for
    double tflops, alone;      // at best; microseconds of a k of a tile by a warp alone

    constexpr int threads() const { return 32 * warps; }
};

// clang-format off
inline constexpr GemmSkinnyTile gemm_skinny_table[] = {
    // rows, columns, depth  warps, stages  blocks  k    TFLOP/s, alone
    {64, 16, 16,              8, 2,         2,      512, 30, 0.030},
    {32, 32, 32,              8, 2,         2,      512, 33, 0.045},
    {32, 64, 32,             12, 3,         1,      128, 37, 0.070},
};
// clang-format on
inline constexpr int gemm_skinny_entries = std::size(gemm_skinny_table);
/// To which the table's last column holds.
inline constexpr std::int64_t gemm_skinny_short_k = 128;

struct GemmSkinnyPlan {
    bool turned = false;  // C's transposed is made, for n is longer than m
    int entry = 0;
    double seconds = 0;  // estimated
    bool fits = false;
};

/// `vectors`: whether the longer operand can be read 16 bytes at a time.
constexpr GemmSkinnyPlan plan_gemm_skinny(std::int64_t m, std::int64_t n, std::int64_t k,
                                          bool vectors) {
    GemmSkinnyPlan plan = {n > m};
    const std::int64_t rows = plan.turned ? n : m, columns = plan.turned ? m : n;
    constexpr std::int64_t most_rows = std::int64_t{1} << 35;
    while (plan.entry < gemm_skinny_entries && gemm_skinny_table[plan.entry].columns < columns)
        ++plan.entry;
    if (plan.entry == gemm_skinny_entries || rows > most_rows) return {};
    const GemmSkinnyTile& t = gemm_skinny_table[plan.entry];
    if (k > t.longest_k) return {};
    plan.fits = true;

    const auto lines = static_cast<double>((k + 3) / 4 * 4);
    const double bytes = 4.0 * static_cast<double>(rows) * static_cast<double>(k + columns);
    constexpr double cached = 40e6;  // bytes that the L2 cache holds
    // A long k is walked piece by piece, each a trip to memory; of short ones, half a line of 128
    // bytes a time.
    const bool long_k = k > gemm_skinny_short_k, half_lines = long_k && t.depth < 32;
    const double streams = bytes / (bytes < cached ? 5.5e6 : half_lines ? 2.4e6 : 3.4e6);
    const double multiplies =
        2.0 * static_cast<double>(rows) * t.columns * lines / (t.tflops * 1e6);
    const std::int64_t turn = std::int64_t{gemm_multiprocessors} * t.warps * t.min_blocks;
    const std::int64_t turns = (rows + t.rows * turn - 1) / (t.rows * turn);
    const double first = lines * (long_k ? 0.075 * static_cast<double>(turns) : t.alone);
    const double all = (streams > multiplies ? streams : multiplies) + (long_k ? 0 : first / 4);
    const double tiles = all > first ? all : first;
    plan.seconds = 1e-6 * (vectors ? 1.5 + tiles : 1.8 + 1.4 * tiles);
    return plan;
}

}  // namespace tinyblas
