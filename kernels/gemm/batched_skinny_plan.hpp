// SPDX-License-Identifier: MIT
// How threads share the sums of a batch of products whose C are skinny.
#pragma once

#include <cstdint>
#include <iterator>

#include "batched_pieces_plan.hpp"
#include "batched_table.hpp"

namespace tinyblas {

/// How many columns of a C are a thread's, and blocks a multiprocessor's; whether a thread asks for
/// A ahead (few threads do not keep memory busy; where three blocks do, it costs more). Estimated
/// microseconds on an H200: of a launch; of a vector of k while few blocks share a multiprocessor,
/// and each block's share of it while many do; besides, for each operand that comes by elements,
/// and for sixteen columns of a B that is turned where A is not: neighbours' vectors lie in one
/// bank; of a block, and of each sharer; what blocks that are not there take of theirs, as of
/// gemm_blocks_sharing; of what it takes to copy the operands. Fitted to 800 batches, to 11 % in
/// root mean square of 800 others.
struct SkinnyBatchEntry {
    int columns, at_once;
    bool announces;
    float start, latency, load, elements, turned, block, sharer, uneven, few, copy;
};
inline constexpr SkinnyBatchEntry skinny_batch_table[] = {
    {4, 3, false, 0.38F, 0.465F, 0.179F, 0.047F, 0.075F, 0.58F, 0.0126F, 0.59F, 0.6F, 0.6F},
    {8, 2, true, 0, 0.52F, 0.299F, 0.07F, 0.2F, 1.2F, 0.0116F, 0.885F, 0.753F, 0.65F}};
inline constexpr int skinny_batch_entries = std::size(skinny_batch_table);

inline constexpr int skinny_batch_threads = 256;  // a block
/// A thread's rows of a C, and elements of a vector.
inline constexpr int skinny_batch_edge = 4;
inline constexpr int skinny_batch_widest = 16;  // columns of a C
/// Of all products, the groups of rows that a launch can make.
inline constexpr std::int64_t skinny_batch_most = (std::int64_t{1} << 31) - skinny_batch_threads;

constexpr std::int64_t skinny_batch_groups(std::int64_t extent) {
    return (extent + skinny_batch_edge - 1) / skinny_batch_edge;
}

/// Sharers of a sum, groups of columns, and what is left: groups of rows.
struct SkinnyBatchPlan {
    unsigned near_log2 = 0;     // sharers that are neighbours
    unsigned far_log2 = 0;      // times others
    unsigned columns_log2 = 0;  // groups of a block

    constexpr unsigned sharers_log2() const { return near_log2 + far_log2; }
    constexpr unsigned rows_log2() const { return 8 - sharers_log2() - columns_log2; }
    /// Of a thread's number, the first bit that says whose columns are its own, and that says which
    /// of the far sharers it is.
    constexpr unsigned column_bit() const { return far_bit() - columns_log2; }
    constexpr unsigned far_bit() const { return 8 - far_log2; }
};
static_assert(1 << SkinnyBatchPlan().rows_log2() == skinny_batch_threads);

/// For C of m x n, n at most 16. Where A's neighbours lie along k, sharers are neighbours, for as
/// many as have three vectors each; fewer, if those of B do not. Far ones share what is long; and
/// where threads do not fill an H200, both what there is. Within 4 % of the fastest of all ways in
/// the mean (490 batches).
constexpr SkinnyBatchPlan plan_skinny_batch(const SkinnyBatchEntry& entry, std::int64_t m,
                                            std::int64_t n, std::int64_t k, std::int64_t count,
                                            bool a_along_k, bool b_along_k) {
    SkinnyBatchPlan plan;
    while ((entry.columns << plan.columns_log2) < n) ++plan.columns_log2;
    const std::int64_t vectors = (k + skinny_batch_edge - 1) / skinny_batch_edge;
    const std::int64_t groups = (skinny_batch_groups(m) << plan.columns_log2) * count;
    const std::int64_t threads = skinny_batch_threads / 2 * entry.at_once;
    const unsigned most_near = b_along_k ? 3 : 2;
    while (a_along_k && plan.near_log2 < most_near && (3 << plan.near_log2) < vectors)
        ++plan.near_log2;
    const auto are_few = [&] {
        const unsigned shared = plan.sharers_log2();
        return (plan.far_log2 < 2 && (24 << shared) < vectors) ||
               ((groups << shared) < gemm_multiprocessors * threads && (1 << shared) < vectors);
    };
    while (plan.sharers_log2() < 5 && are_few()) {
        if (plan.far_log2 < 3)
            ++plan.far_log2;
        else if (plan.near_log2 < 2)
            ++plan.near_log2;
        else
            break;
    }
    return plan;
}

/// Whether a thread can count its elements in 31 bits, of an operand seen as (extent, k).
constexpr bool skinny_batch_reaches(const MatrixView<const float>& x) {
    constexpr std::int64_t end = std::int64_t{1} << 30;
    const auto fits = [](std::int64_t stride, std::int64_t many) {
        return stride <= end / many && stride >= -end / many;
    };
    return x.rows <= end && x.columns <= end && fits(x.row_stride, x.rows) &&
           fits(x.column_stride, skinny_batch_edge);
}

/// `by_elements`: of A and B, how many come so.
constexpr double skinny_batch_microseconds(const SkinnyBatchEntry& entry,
                                           const SkinnyBatchPlan& plan, std::int64_t m,
                                           std::int64_t n, std::int64_t k, std::int64_t count,
                                           bool a_along_k, bool b_along_k, int by_elements) {
    const auto shared = [](std::int64_t all, unsigned log2) {
        return (all + (std::int64_t{1} << log2) - 1) >> log2;
    };
    const std::int64_t blocks = shared(skinny_batch_groups(m) * count, plan.rows_log2());
    const double sharing =
        gemm_blocks_sharing((blocks + gemm_multiprocessors - 1) / gemm_multiprocessors,
                            entry.at_once, entry.uneven, entry.few);
    const double turned = a_along_k && !b_along_k ? static_cast<double>(n) / 16 : 0;
    const double load =
        (entry.load + entry.elements * by_elements + entry.turned * turned) * sharing;
    const auto vectors = static_cast<double>(shared(skinny_batch_groups(k), plan.sharers_log2()));
    const auto sharers = static_cast<float>(1 << plan.sharers_log2());
    return entry.start + vectors * (load > entry.latency ? load : entry.latency) +
           (entry.block + entry.sharer * sharers) * sharing +
           entry.copy * gemm_batch_copy(Scalar::float32, count, k * (m + n) + m * n);
}

}  // namespace tinyblas
