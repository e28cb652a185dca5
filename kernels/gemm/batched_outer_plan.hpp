// SPDX-License-Identifier: MIT
// How threads share a C that is the sum of few outer products.
#pragma once

#include <cstdint>

#include "batched_extents.hpp"
#include "batched_pieces_plan.hpp"
#include "batched_table.hpp"

namespace tinyblas {

/// How many columns of a C are a thread's, and blocks a multiprocessor's. Estimated microseconds on
/// an H200: of a launch; of a multiprocessor's blocks each, of each of their k, of each 1,024
/// elements that they copy, of these for each operand whose neighbours lie along k, of each time
/// that they wait for copies, and for each halving of a tile's width below 32 threads; of what it
/// takes to copy what is read, and written, and where rows do not consist of 32 bytes, of that if
/// the L2 cache holds it, and if not; what blocks that are not there take of theirs, as of
/// gemm_blocks_sharing. Fitted to 840 batches and 550 products of each type, of a k to 48: to 7 %
/// in root mean square. By what times are multiplied to be compared with others, of batches and of
/// one product: what is estimated worse is chosen too readily.
struct OuterBatchTimes {
    Scalar type;
    int columns, at_once;
    double start, block, of_k, copy, along_k, wait, narrow, read, write, parts, parts_beyond,
        uneven, few, readily, alone;
};
template <class T>
inline constexpr OuterBatchTimes outer_batch_times = {
    Scalar::float32, 4,     4,     1.13,  0.068, 0.0222, 0.0813, 0.0049, 0.151,
    0.051,           0.353, 0.606, 0.169, 0.066, 0.204,  0.342,  0.92,   0.93};
template <>
inline constexpr OuterBatchTimes outer_batch_times<double> = {
    Scalar::float64, 2,     4,     1.23, 0.009, 0.0226, 0.0615, 0.0115, 0.143,
    0.023,           0.375, 0.688, 0.12, 0.076, 0.248,  0.343,  0.95,   1};

inline constexpr int outer_batch_threads = 128;  // a block
inline constexpr int outer_batch_rows = 8;       // of a C, that are a thread's
/// The k that a product may have, and rows or columns; blocks of a launch.
inline constexpr std::int64_t outer_batch_longest_k = 48;
inline constexpr std::int64_t outer_batch_most = std::int64_t{1} << 30;

/// A block's tile of C, of powers of two.
struct OuterBatchPlan {
    int lanes_log2 = 5;  // threads side by side
    int depth_log2 = 4;  // k at once

    constexpr int block_m_log2() const { return 10 - lanes_log2; }
    constexpr int block_n_log2(int columns) const { return lanes_log2 + (columns == 4 ? 2 : 1); }
    constexpr std::int64_t tiles_m(std::int64_t m) const { return ((m - 1) >> block_m_log2()) + 1; }
    constexpr std::int64_t tiles_n(std::int64_t n, int columns) const {
        return ((n - 1) >> block_n_log2(columns)) + 1;
    }
    constexpr std::int64_t tiles(std::int64_t m, std::int64_t n, int columns) const {
        return tiles_m(m) * tiles_n(n, columns);
    }
    /// Elements of A and B for each k.
    constexpr int edges(int columns) const {
        return (1 << block_m_log2()) + (1 << block_n_log2(columns));
    }
};
static_assert((1 << OuterBatchPlan().block_m_log2()) * (1 << OuterBatchPlan().lanes_log2) ==
              outer_batch_rows * outer_batch_threads);

/// Of all tiles whose threads write 32 bytes side by side, the one of which the fewest cover C, and
/// of these the one that reads least.
constexpr OuterBatchPlan plan_outer_batch(const OuterBatchTimes& times, std::int64_t m,
                                          std::int64_t n, std::int64_t k) {
    OuterBatchPlan best;
    double least = 0;
    for (int lanes_log2 = times.columns == 4 ? 3 : 2; lanes_log2 <= 7; ++lanes_log2) {
        const OuterBatchPlan plan = {lanes_log2};
        const auto tiles = static_cast<double>(plan.tiles(m, n, times.columns));
        const double cost = tiles * (1024 * times.columns + 8 * plan.edges(times.columns));
        if (least != 0 && cost >= least) continue;
        best = plan;
        least = cost;
    }
    while (best.depth_log2 > 2 && k <= 1 << (best.depth_log2 - 1)) --best.depth_log2;
    return best;
}

constexpr double outer_batch_microseconds(const OuterBatchTimes& t, const GemmBatchExtents& x) {
    const OuterBatchPlan plan = plan_outer_batch(t, x.m, x.n, x.k);
    const std::int64_t blocks = plan.tiles(x.m, x.n, t.columns) * x.count;
    const double sharing = gemm_blocks_sharing(
        (blocks + gemm_multiprocessors - 1) / gemm_multiprocessors, t.at_once, t.uneven, t.few);
    const auto waits = static_cast<double>(((x.k - 1) >> plan.depth_log2) + 1);
    const double copies = waits * (plan.edges(t.columns) << plan.depth_log2) / 1024;
    const int along_k = (x.a_along_k ? 1 : 0) + (x.b_along_k ? 1 : 0);
    const int narrow = plan.lanes_log2 < 5 ? 5 - plan.lanes_log2 : 0;
    const double block = t.block + t.of_k * static_cast<double>(x.k) +
                         copies * (t.copy + t.along_k * along_k) + t.wait * waits +
                         t.narrow * narrow;
    const double read = gemm_batch_copy(t.type, x.count, x.k * (x.m + x.n));
    const double written = gemm_batch_copy(t.type, x.count, x.m * x.n);
    constexpr double held = 45e6 / 4.3e6;  // by the L2 cache
    const bool in_parts = x.n * size_of(t.type) % 32 != 0;
    const double parts = in_parts ? read + written > held ? t.parts_beyond : t.parts : 0;
    return t.start + sharing * block + t.read * read + (t.write + parts) * written;
}

/// What other kernels' times leave out: that they wait longer for C's old elements.
constexpr double outer_batch_gains_on_old(const OuterBatchTimes& t, const GemmBatchExtents& x) {
    return x.reads_c ? 0.5 * gemm_batch_copy(t.type, x.count, x.m * x.n) : 0;
}

}  // namespace tinyblas
