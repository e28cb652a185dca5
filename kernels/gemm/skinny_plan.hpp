// SPDX-License-Identifier: MIT
// The tuning data of the rung skinny, and its plan: which products it takes, by which entry, and
// how long it takes. Figures: NVIDIA H200.
#pragma once

#include <algorithm>
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
    double tflops, alone;      // fitted; microseconds of a k of a tile by a warp alone

    constexpr int threads() const { return 32 * warps; }
};

// clang-format off
inline constexpr GemmSkinnyTile gemm_skinny_table[] = {
    // rows, columns, depth  warps, stages  blocks  k    TFLOP/s, alone
    {64, 16, 16,              8, 2,         2,      512, 26, 0.031},
    {32, 32, 32,              8, 2,         2,      512, 40, 0.023},
    {32, 64, 32,             12, 3,         1,      128, 49, 0.042},
};
// clang-format on
inline constexpr int gemm_skinny_entries = std::size(gemm_skinny_table);

struct GemmSkinnyPlan {
    bool turned = false;  // C's transposed is made, for n is longer than m
    int entry = 0;
    double seconds = 0;  // estimated
    bool fits = false;
};

/// Whether lines of the longer operand lie along k, can be read 16 bytes at a time; and C stored
/// so.
struct GemmSkinnyLayout {
    bool along_k, vectors, c_vectors = true;
};

constexpr GemmSkinnyPlan plan_gemm_skinny(std::int64_t m, std::int64_t n, std::int64_t k,
                                          GemmSkinnyLayout layout) {
    GemmSkinnyPlan plan = {n > m};
    const std::int64_t rows = plan.turned ? n : m, columns = plan.turned ? m : n;
    constexpr std::int64_t most_rows = std::int64_t{1} << 35;
    while (plan.entry < gemm_skinny_entries && gemm_skinny_table[plan.entry].columns < columns)
        ++plan.entry;
    if (plan.entry == gemm_skinny_entries || rows > most_rows) return {};
    const GemmSkinnyTile& t = gemm_skinny_table[plan.entry];
    if (k > t.longest_k) return {};
    plan.fits = true;

    // Fitted to 560 products: 11 % off in root mean square.
    const auto lines = static_cast<double>((k + 3) / 4 * 4), all_rows = static_cast<double>(rows);
    const double of_c = all_rows * static_cast<double>(columns);
    const double all_k = all_rows * static_cast<double>(k), bytes = 4 * (all_k + of_c);
    constexpr double cached = 40e6;  // bytes that the L2 cache holds
    const double streams = bytes / (bytes < cached ? 4.2e6 : 3.7e6);
    const double multiplies = 2 * all_rows * t.columns * lines / (t.tflops * 1e6);
    const double elements = layout.along_k && !layout.vectors ? 1.36e-6 * all_k : 0;
    const double stores = layout.c_vectors ? 0 : 0.69e-6 * of_c;
    // A warp's tiles, one after the other; before them, B.
    const std::int64_t turn = std::int64_t{gemm_multiprocessors} * t.warps * t.min_blocks * t.rows;
    const auto turns = static_cast<double>((rows + turn - 1) / turn);
    const double alone =
        lines * t.alone +
        (layout.vectors ? 0 : 0.21 * static_cast<double>((k + t.depth - 1) / t.depth)) +
        (layout.c_vectors ? 0
         : plan.turned    ? 0.28
                          : 1.52);
    const double b = 0.16 * lines * t.columns / t.threads();
    plan.seconds =
        1e-6 * (1.4 + b + turns * alone + std::max({streams, multiplies, elements}) + stores);
    return plan;
}

}  // namespace tinyblas
