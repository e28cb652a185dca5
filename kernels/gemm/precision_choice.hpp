// SPDX-License-Identifier: MIT
// Where Precision::fp32 pays: a model of what a product takes from parts on tensor cores and what
// on the strict kernel. It knows extents alone, so that the same extents take the same path, and
// give the same bits, wherever that path runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pipelined_plan.hpp"
#include "planes.hpp"
#include "sliced_plan.hpp"
#include "tiles.hpp"

namespace tinyblas {

/// What the model counts with. Figures: NVIDIA H200.
struct GemmCosts {
    int multiprocessors = 132;
    std::int64_t least_k = 256;  // shorter sums err no less than the strict chain, and gain little

    // From parts: launches, the pre-pass, chunks of a tile.
    double start = 6e-6, end = 3e-6;  // seconds: before the tensor cores work, and after
    double split_bytes = 8;           // the pre-pass moves for each element of A and B
    double split_rate = 3.9e12;       // bytes a second
    int tile = 128;                   // rows and columns of C that a multiprocessor works on
    double chunk = 1536 / 1.3e9;      // seconds that 64 k of a tile take: cycles by clock
    std::int64_t least_chunks = 6;    // of a tile: blocks that share fewer take as long
};
inline constexpr GemmCosts gemm_costs;

/// Seconds from parts.
constexpr double gemm_fp32_seconds(std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr const GemmCosts& cost = gemm_costs;
    const auto tiles = [](std::int64_t extent) {
        return static_cast<double>((extent + cost.tile - 1) / cost.tile);
    };
    const auto chunks = static_cast<double>((k + gemm_brick - 1) / gemm_brick);
    const double of_one = chunks < cost.least_chunks ? chunks : cost.least_chunks;
    const double shared = tiles(m) * tiles(n) * chunks / cost.multiprocessors;
    const double elements =
        (static_cast<double>(m) + static_cast<double>(n)) * static_cast<double>(k);
    return cost.start + cost.split_bytes * elements / cost.split_rate +
           (shared > of_one ? shared : of_one) * cost.chunk + cost.end;
}

/// Seconds on the fastest strict rung.
constexpr double gemm_strict_seconds(std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr const GemmCosts& cost = gemm_costs;
    constexpr auto any_scratch = static_cast<std::size_t>(-1);
    const int entry = choose_gemm_entry(Scalar::float32, 90, cost.multiprocessors, m, n);
    double least = gemm_tuned_seconds(gemm_table[entry], cost.multiprocessors, m, n, k);
    const auto consider = [&](const auto& plan) {
        if (plan.fits && plan.seconds < least) least = plan.seconds;
    };
    consider(plan_gemm_sliced(m, n, k));
    consider(plan_gemm_pipelined(m, n, k, PipelinedLayout::along_k, PipelinedLayout::mapped,
                                 any_scratch));
    return least;
}

/// Whether Precision::fp32 takes parts for C of m x n, no extent 0.
constexpr bool gemm_fp32_pays(std::int64_t m, std::int64_t n, std::int64_t k) {
    return k >= gemm_costs.least_k && k <= gemm_tuned_longest_k &&
           gemm_fp32_seconds(m, n, k) < gemm_strict_seconds(m, n, k);
}

}  // namespace tinyblas
