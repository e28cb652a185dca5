// SPDX-License-Identifier: MIT
// Who adds up what of a product of matrix and vector, on the host. It depends on the extents alone,
// not on the GPU, and so do the order of the additions and the bits of y. The numbers are what was
// fastest on an H200 (for A higher than wide, and slabs of rows that are no lines: on an H100).
#pragma once

#include <cstdint>

namespace tinyblas {

/// The kernels see rows whose elements are neighbours, and either add up along them (A x) or, each
/// column for itself, down them (transposed(A) x).
///   short_rows: along rows; a few lanes share a row
///   long_rows:  along rows; a warp or a block shares rows, or pieces of them
///   columns:    down columns; a block owns a slab of columns, or a piece of it
enum class GemvForm { short_rows, long_rows, columns };

struct GemvPlan {
    GemvForm form;
    int threads;             // of a block
    int lanes = 0;           // short_rows: of a row; columns: side by side in a slab, 1, 4, 8, 32,
                             // or gemv_lone_lanes
    int team_warps = 1;      // long_rows: that share rows,
    bool many_rows = false;  // a group's number of them; else one
    std::int64_t piece = 0;  // of a sum: its products that one block adds up
    unsigned pieces = 1;     // that a sum is cut into
};

/// Lanes, and threads, of a block each of whose threads has columns of its own.
inline constexpr int gemv_lone_lanes = 128;

/// Threads that an H200 runs at once of a kernel with 64 registers each, and blocks of the form
/// long_rows.
inline constexpr std::int64_t gemv_threads_at_once = 132 * 1024;
inline constexpr std::int64_t gemv_long_blocks_at_once = 2 * 132;

constexpr std::int64_t gemv_parts(std::int64_t whole, std::int64_t part) {
    return whole / part + (whole % part != 0);
}

/// Cuts sums of `terms` terms into at most `pieces` pieces of a multiple of `unit` terms.
constexpr void cut(GemvPlan& plan, std::int64_t terms, std::int64_t pieces, std::int64_t unit) {
    const std::int64_t units = gemv_parts(terms, unit);
    pieces = pieces < 1 ? 1 : pieces < units ? pieces : units;
    plan.piece = gemv_parts(units, pieces) * unit;
    plan.pieces = static_cast<unsigned>(gemv_parts(terms, plan.piece));
}

/// A x, A m x n; `size`: elements of a group of 16 bytes.
constexpr GemvPlan plan_gemv_along(std::int64_t m, std::int64_t n, int size) {
    const std::int64_t groups = gemv_parts(n, size);
    if (groups <= 8 || (groups <= (size == 4 ? 32 : 64) && m > 1024)) {
        int lanes = 1;
        while (lanes < groups && lanes < 32) lanes *= 2;
        return {.form = GemvForm::short_rows, .threads = 128, .lanes = lanes, .piece = n};
    }
    GemvPlan plan = {.form = GemvForm::long_rows, .threads = 128, .piece = n};
    const std::int64_t few = size == 4 ? 200 : 400;
    const std::int64_t turn = std::int64_t{32} * size * 8;  // what a warp has of one row in flight
    if (m <= 64 && n >= 32768) {
        plan.threads = 256;
        plan.team_warps = 8;
        plan.many_rows = m > 2;
        // All blocks at once: each streams a piece, the longer the better.
        const std::int64_t teams = plan.many_rows ? gemv_parts(m, size) : m;
        const std::int64_t most = gemv_long_blocks_at_once / teams, worth = n / (8 * turn / 2);
        cut(plan, n, worth < most ? worth : most, 32 * size);
    } else if (m <= 512) {
        plan.team_warps = groups > 256 ? 4 : 1;
        if (n >= std::int64_t{1} << 17) {
            plan.threads = 256;
            plan.team_warps = 8;
            plan.many_rows = true;
            cut(plan, n, 2048 / m, 32 * size);
        }
    } else if (groups > 768 && n % (4 * turn) == 0) {
        plan.team_warps = 4;
    } else if (groups >= few && n % turn != 0) {
        plan.team_warps = 4;
        plan.many_rows = true;
    } else if (groups > 768) {
        plan.team_warps = 4;
        plan.many_rows = true;
    } else {
        plan.many_rows = m >= 2048 && groups < few;
    }
    return plan;
}

/// How A higher than wide is cut: few slabs, so that each has many pieces. No blocks: it is none of
/// these, for its slabs are many, or its rows lines of 128 bytes, which whole slabs read as fast.
struct GemvTall {
    int lanes = 8, threads = 256;
    std::int64_t blocks = 0, most = 16;  // that are wanted; pieces of a slab

    constexpr GemvTall(std::int64_t m, std::int64_t n, int size) {
        const std::int64_t groups = gemv_parts(n, size);
        const bool lines = n % (8 * size) == 0, whole = n % size == 0;
        if (groups < 8 || groups > (lines ? 400 : 1056)) return;
        if (groups > 256) {
            if (m < (lines ? 8000 : 5000)) return;
            lanes = 32;
            threads = m * groups < 3'500'000 ? 512 : 1024;  // more in flight from memory
            blocks = most = 132;
            return;
        }
        const std::int64_t least = groups > 120 ? 25 * groups : 3000;
        if (m < (whole ? least : 2000) || (m >= 10000 && groups > 32 && groups <= 64)) return;
        if (groups > 128) {
            blocks = 400;
        } else if (groups > 32) {
            if (m >= 10000) threads = 512, most = 24;
            blocks = 240;
        } else {
            lanes = 4;
            if (m >= 8000) most = 48;
            blocks = 132;
        }
    }
};

/// transposed(A) x, A m x n.
constexpr GemvPlan plan_gemv_down(std::int64_t m, std::int64_t n, int size) {
    const std::int64_t groups = gemv_parts(n, size);
    GemvPlan plan = {.form = GemvForm::columns, .threads = 512, .piece = m};
    if (m <= 8 || (m <= 256 && groups >= 16384)) {
        plan.threads = plan.lanes = gemv_lone_lanes;
        return plan;
    }
    std::int64_t slabs;
    if (m >= 32768 && groups < 100 * 32) {  // a few slabs, each of many pieces
        // No cache holds so much: slabs are lines of 128 bytes, or, where rows do not consist of
        // these, whole rows.
        const bool from_memory = m * groups >= std::int64_t{1} << 21;
        if (groups >= 64)
            plan.lanes = 32;
        else if (from_memory)
            plan.lanes = groups <= 4 ? 4 : groups <= 16 || groups % 8 == 0 ? 8 : 32;
        else
            plan.lanes = groups <= 20 ? 4 : 8;
        if (groups == 1) plan.lanes = 1;
        if (from_memory || plan.lanes == 32) plan.threads = 1024;
        slabs = gemv_parts(groups, plan.lanes);
    } else if (const GemvTall tall(m, n, size); tall.blocks > 0) {
        plan.lanes = tall.lanes;
        plan.threads = tall.threads;
        const std::int64_t pieces = tall.blocks / gemv_parts(groups, tall.lanes);
        cut(plan, m, pieces < tall.most ? pieces : tall.most, tall.threads / tall.lanes);
        return plan;
    } else {
        const bool low = m < 192 || (m >= 4096 && m < 8192 && groups <= 16);
        // Of rows that are no lines of 128 bytes, from memory, narrow slabs would read many twice.
        const bool cuts_lines = groups > 1056 && n % (8 * size) != 0 && m * groups >= 3'500'000;
        const bool wide = groups > 2048 && (m > 768 || (groups > 4096 && m > 512));
        plan.lanes = wide || cuts_lines ? 32 : groups > 384 || low ? 8 : 4;
        slabs = gemv_parts(groups, plan.lanes);
        if (slabs <= 132 && (plan.lanes == 32 || (slabs >= 100 && m >= 2048))) plan.threads = 1024;
        const bool many = slabs >= 384 || (slabs > 132 && m <= 1024 && plan.lanes == 8);
        if (many || m * plan.lanes < 3072) plan.threads = 256;
    }
    const std::int64_t rows = m / (plan.threads / plan.lanes);  // of a thread, uncut
    const std::int64_t pieces = gemv_threads_at_once / (plan.threads * slabs);
    if (rows >= 64) cut(plan, m, pieces < rows / 4 ? pieces : rows / 4, plan.threads / plan.lanes);
    return plan;
}

constexpr GemvPlan plan_gemv(int element_size, bool down, std::int64_t m, std::int64_t n) {
    const int size = 16 / element_size;
    return down ? plan_gemv_down(m, n, size) : plan_gemv_along(m, n, size);
}

}  // namespace tinyblas
