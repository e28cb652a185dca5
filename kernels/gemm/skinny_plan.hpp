// SPDX-License-Identifier: MIT
// The tuning data of the rung skinny, and its plan: which products it takes, by which entry, and
// how long it takes. Figures: NVIDIA H200.
#pragma once

#include <cstdint>
#include <iterator>

namespace tinyblas {

/// What a warp makes at a time, rows x columns, and how k is walked.
struct GemmSkinnyTile {
    int rows, columns, depth;  // depth: of a piece, elements of k
    int warps, stages;         // of a block; of a warp
    int min_blocks;            // launch bounds
    double tflops, alone;      // at best; microseconds of a k of a tile by a warp alone

    constexpr int threads() const { return 32 * warps; }
};

// clang-format off
inline constexpr GemmSkinnyTile gemm_skinny_table[] = {
    // rows, columns, depth  warps, stages  blocks  TFLOP/s, alone
    {64, 16, 16,              8, 2,         2,      30, 0.030},
    {32, 32, 32,              8, 2,         2,      33, 0.045},
    {32, 64, 32,             12, 3,         1,      37, 0.070},
};
// clang-format on
inline constexpr int gemm_skinny_entries = std::size(gemm_skinny_table);
inline constexpr std::int64_t gemm_skinny_longest_k = 128;

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
    if (plan.entry == gemm_skinny_entries || k > gemm_skinny_longest_k || rows > most_rows)
        return {};
    plan.fits = true;

    const GemmSkinnyTile t = gemm_skinny_table[plan.entry];
    const auto lines = static_cast<double>((k + 3) / 4 * 4);
    const double bytes = 4.0 * static_cast<double>(rows) * static_cast<double>(k + columns);
    constexpr double cached = 40e6;  // bytes that the L2 cache holds
    const double streams = bytes / (bytes < cached ? 5.5e6 : 3.4e6);
    const double multiplies =
        2.0 * static_cast<double>(rows) * t.columns * lines / (t.tflops * 1e6);
    const double first = t.alone * lines;
    const double all = (streams > multiplies ? streams : multiplies) + first / 4;
    const double tiles = all > first ? all : first;
    plan.seconds = 1e-6 * (vectors ? 1.5 + tiles : 1.8 + 1.4 * tiles);
    return plan;
}

}  // namespace tinyblas
