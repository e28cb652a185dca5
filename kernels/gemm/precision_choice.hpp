// SPDX-License-Identifier: MIT
// Where Precision::fp32 pays: a model of what a product takes from parts on tensor cores and what
// on the strict kernel. It knows extents alone, so that the same extents take the same path, and
// give the same bits, wherever that path runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hopper_plan.hpp"
#include "pipelined_plan.hpp"
#include "planes.hpp"
#include "sliced_plan.hpp"
#include "tiles.hpp"

namespace tinyblas {

/// What the model counts with. Figures: NVIDIA H200.
struct GemmCosts {
    int multiprocessors = 132;
    std::int64_t least_k = 256;  // shorter sums err no less than the strict chain, and gain little

    // From parts: launches, the pre-pass, what the rung hopper plans for.
    double start = 5e-6;         // seconds, without work
    double split_bytes = 8;      // the pre-pass moves for each element of A and B
    double split_rate = 3.5e12;  // bytes a second
    double chunk = 1.05e-6;      // seconds that 64 k of a block's tile take
};
inline constexpr GemmCosts gemm_costs;

/// Seconds from parts.
constexpr double gemm_fp32_seconds(std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr const GemmCosts& cost = gemm_costs;
    // Vast products take as many times longer as they are larger.
    double times = 1;
    const auto planned = [&times](std::int64_t extent) {
        constexpr std::int64_t most = 1 << 15;
        if (extent <= most) return extent;
        times *= static_cast<double>(extent) / static_cast<double>(most);
        return most;
    };
    const HopperPlan plan(planned(m), planned(n), planned(k));
    const double elements =
        (static_cast<double>(m) + static_cast<double>(n)) * static_cast<double>(k);
    return cost.start + cost.split_bytes * elements / cost.split_rate +
           times * plan.cost * cost.chunk;
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
    consider(plan_gemm_pipelined(m, n, k, PipelinedLayout::by_rows, PipelinedLayout::mapped,
                                 any_scratch));
    return least;
}

/// Whether Precision::fp32 takes parts for C of m x n, no extent 0.
constexpr bool gemm_fp32_pays(std::int64_t m, std::int64_t n, std::int64_t k) {
    return k >= gemm_costs.least_k && k <= gemm_tuned_longest_k &&
           gemm_fp32_seconds(m, n, k) < gemm_strict_seconds(m, n, k);
}

}  // namespace tinyblas
