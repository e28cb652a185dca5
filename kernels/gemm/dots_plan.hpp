// SPDX-License-Identifier: MIT
// The tuning data of the rung sliced's form for a C of few columns (or rows) whose operands lie
// along k (dots.cuh), and how long it takes. Figures: NVIDIA H200.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "tiles.hpp"

namespace tinyblas {

inline constexpr int gemm_dots_rows = 4;  // of a block
inline constexpr int gemm_dots_threads = 128;

/// What a kernel for so many columns takes, where lines cannot be read 16 bytes at a time, and
/// where they can: bytes a microsecond from memory and from the L2 cache; microseconds of a
/// multiprocessor's block besides, and of a step of all threads in a block by itself.
struct GemmDotsTimes {
    double memory, cached, block, step;
};
struct GemmDotsEntry {
    int columns;
    GemmDotsTimes elements, vectors;
};

// clang-format off
inline constexpr GemmDotsEntry gemm_dots_table[] = {
    {4, {3.5e6, 4.3e6, 0.27, 0.07}, {4.35e6, 7.0e6, 0.27, 0.20}},
    {8, {2.5e6, 2.4e6, 0.30, 0.10}, {3.60e6, 4.8e6, 0.30, 0.40}},
};
// clang-format on
inline constexpr int gemm_dots_entries = std::size(gemm_dots_table);
inline constexpr int gemm_dots_most_columns = gemm_dots_table[gemm_dots_entries - 1].columns;

/// The first entry with enough columns, of which there are at most gemm_dots_most_columns.
constexpr int gemm_dots_entry(std::int64_t columns) {
    int entry = 0;
    while (gemm_dots_table[entry].columns < columns) ++entry;
    return entry;
}

/// Estimated microseconds for rows x columns x k, fitted to 130 products. `vectors`: lines can be
/// read 16 bytes at a time.
constexpr double gemm_dots_microseconds(std::int64_t rows, std::int64_t columns, std::int64_t k,
                                        bool vectors) {
    const GemmDotsEntry& entry = gemm_dots_table[gemm_dots_entry(columns)];
    const GemmDotsTimes& t = vectors ? entry.vectors : entry.elements;
    const double bytes = 4.0 * static_cast<double>(rows) * static_cast<double>(k);
    const std::int64_t blocks = (rows + gemm_dots_rows - 1) / gemm_dots_rows;
    const std::int64_t of_step = gemm_dots_threads * (vectors ? 4 : 1);
    constexpr double cache = 40e6;  // bytes
    return 1.5 + std::max({bytes / (bytes < cache ? t.cached : t.memory),
                           t.block * static_cast<double>(blocks) / gemm_multiprocessors,
                           t.step * static_cast<double>((k + of_step - 1) / of_step)});
}

}  // namespace tinyblas
