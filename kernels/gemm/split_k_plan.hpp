// SPDX-License-Identifier: MIT
// Split-k by elements: which tiles, and how many parts of k. Figures: NVIDIA H200.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "batched_table.hpp"
#include "pipelined_plan.hpp"

namespace tinyblas {

// clang-format off
/// Tiles, with as many blocks of a multiprocessor as leave registers for sums that are set aside.
inline constexpr GemmElementsEntry split_k_table[] = {
    //  block m,n,k    warp m,n  thread m,n  stages  blocks  start, load, block, uneven, few
    {{ 64,  64,  8,  32, 32,   8, 4,  3,  4},                1.48, 0.0273, 0.80, 0.087, 0.132},
    {{ 96,  32,  8,  48, 32,  12, 4,  3,  6},                1.94, 0.0398, 1.13, 0.099, 0.118},
};
// clang-format on
inline constexpr int split_k_entries = std::size(split_k_table);

/// Parts of a k: whole steps each, but for the last one, which has what others leave; in chains of
/// so many steps or fewer.
struct GemmSplitKPlan {
    int entry = -1;  // of split_k_table
    int parts = 0;
    int k = 0;         // of a part
    int of_chain = 0;  // steps
    double microseconds = 0;
};

/// Elements from one part's sums to the next one's, which begin at whole vectors.
constexpr std::int64_t split_k_apart(std::int64_t m, std::int64_t n) { return (m * n + 3) / 4 * 4; }

/// As exact as cuBLAS, which cuts a k into parts of 75 or more.
inline constexpr int split_k_longest_chain = 8;  // steps

/// The plan of `parts` parts; none if some of them would have no k.
constexpr GemmSplitKPlan split_k_into(int entry, int parts, std::int64_t k) {
    const int step = split_k_table[entry].tile.block_k;
    const auto steps = static_cast<int>((k + step - 1) / step);
    const int of_part = (steps + parts - 1) / parts;
    if (std::int64_t{parts - 1} * of_part * step >= k) return {};
    const int chains = (of_part + split_k_longest_chain - 1) / split_k_longest_chain;
    return {entry, parts, of_part * step, (of_part + chains - 1) / chains};
}

/// The fastest plan that takes at most `memory` bytes; none where C is large, or k short.
constexpr GemmSplitKPlan plan_gemm_split_k(std::int64_t m, std::int64_t n, std::int64_t k,
                                           std::size_t memory) {
    constexpr int shortest = 48, longest = 640, most_parts = 64;
    constexpr std::int64_t most_elements = 8 << 20;  // of all parts
    // Of adding up, microseconds: fitted to 516 products (the root mean square is 4 % in all).
    constexpr double start = 1.49, part = 0.006, bytes = 5.83e6;
    GemmSplitKPlan fastest;
    const auto room = static_cast<std::int64_t>(memory / sizeof(float));
    if (k > most_parts * longest || m > most_elements / n) return fastest;
    const std::int64_t of_part = split_k_apart(m, n);
    const std::int64_t most =
        std::min({std::int64_t{most_parts}, std::min(most_elements, room) / of_part, k / shortest});
    for (int parts = 2; parts <= most; ++parts) {
        const double sums =
            start + parts * (part + static_cast<double>(of_part) * sizeof(float) / bytes);
        for (int e = 0; e < split_k_entries; ++e) {
            GemmSplitKPlan plan = split_k_into(e, parts, k);
            if (plan.parts == 0 || plan.k > longest) continue;
            const GemmElementsEntry& entry = split_k_table[e];
            const std::int64_t tiles =
                pipelined_pieces(m, entry.tile.block_m) * pipelined_pieces(n, entry.tile.block_n);
            plan.microseconds = entry.microseconds(tiles * parts, plan.k) + sums;
            if (fastest.parts == 0 || plan.microseconds < fastest.microseconds) fastest = plan;
        }
    }
    return fastest;
}

}  // namespace tinyblas
