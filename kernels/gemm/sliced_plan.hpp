// SPDX-License-Identifier: MIT
// Which entry of the rung sliced multiplies, and how k is cut: what is estimated to take least
// time. All but the memory for sums follows from the extents and how operands lie, of squares from
// the extents alone, so that the bits do too; and C transposed gets the same bits as C. The form of
// dots.cuh, in place of these tiles, is planned in src/gemm_sliced.cu.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sliced_table.hpp"
#include "sliced_work.hpp"

namespace tinyblas {

struct GemmSlicedPlan {
    int entry = -1;
    unsigned products = 1;
    bool exchange = false;  // transposed(C) is computed
    SlicedCut cut;
    std::size_t scratch_bytes = 0;  // for sums that go through memory
    double seconds = 0;             // estimated, on an H200
    bool fits = false;              // whether this rung can run the call at all
    bool dots = false;              // by dots.cuh, without an entry

    /// Seconds to compare plans by.
    constexpr double weighed() const {
        if (!fits) return 0;
        return dots ? seconds
                    : gemm_chain_weight(sliced_table[entry].tile.chain(cut.depth)) * seconds;
    }
};

/// The multiprocessors that blocks are dealt to: those of an H200. Another number is only slower.
inline constexpr std::int64_t sliced_multiprocessors = 132;
/// Counters of a call, at most: what a workspace has.
inline constexpr std::int64_t sliced_most_counters = 8192;

/// C in an entry's tiles.
struct SlicedTiles {
    bool exchange;
    std::int64_t along_m, along_n;

    /// The longer side of a tile lies along the longer side of C.
    constexpr SlicedTiles(const GemmTile& t, std::int64_t m, std::int64_t n)
        : exchange(m > n ? t.block_m < t.block_n : m < n && t.block_m > t.block_n),
          along_m(((exchange ? n : m) + t.block_m - 1) / t.block_m),
          along_n(((exchange ? m : n) + t.block_n - 1) / t.block_n) {}
    constexpr std::int64_t count() const { return along_m * along_n; }
};

/// k cut for 2^ranks_log2 ranks and at most so many parts, whole tiles of operands each.
constexpr SlicedCut sliced_cut(const SlicedTile& tile, std::int64_t k, unsigned ranks_log2,
                               std::int64_t parts) {
    const GemmTile& t = tile.tile;
    const std::int64_t units = parts << ranks_log2;
    const std::int64_t steps = ((k + units - 1) / units + t.block_k - 1) / t.block_k;
    SlicedCut cut;
    cut.depth = static_cast<int>(steps * t.block_k);
    cut.chain = tile.chain_steps(static_cast<int>(steps));
    cut.ranks_log2 = ranks_log2;
    const std::int64_t of_part = std::int64_t{cut.depth} << ranks_log2;
    cut.parts = static_cast<unsigned>((k + of_part - 1) / of_part);
    // Few are added up at once; many, in groups of about as many as there are groups.
    cut.fan = cut.parts;
    if (cut.parts > 8)
        for (cut.fan = 3; cut.fan * cut.fan < cut.parts;) ++cut.fan;
    return cut;
}

/// Estimated microseconds, `layout` being that of the tiles' product. Where there are more blocks
/// than multiprocessors, those count that one of these gets.
constexpr double sliced_microseconds(const SlicedEntry& entry, std::int64_t tiles,
                                     const SlicedCut& cut, const SlicedLayout& layout) {
    const SlicedTimes& t = entry.times;
    const std::int64_t blocks = tiles * cut.units();
    const std::int64_t rounds = (blocks + sliced_multiprocessors - 1) / sliced_multiprocessors;
    const int steps = cut.depth / entry.tile.tile.block_k;
    constexpr double aside = 0.3;  // a time that a block's slices set their sums aside in part
    const int times = entry.tile.aside_in_shared() > 0 ? (steps - 1) / cut.chain : 0;
    // A block's sums of its part, or of its share of a cluster's part, go through memory.
    const double vectors = entry.tile.vectors();
    const double left = cut.parts == 1        ? 0
                        : cut.ranks_log2 == 0 ? 2.35 + (12.3 + 3.3 * cut.parts) * 1e-4 * vectors
                                              : 1.55 + 1.2 * cut.parts * 1e-4 * vectors;
    return t.launch +
           static_cast<double>(rounds) *
               (t.block + steps * t.step_of(layout) + times * aside + left) +
           (cut.ranks_log2 > 0 ? t.cluster * (0.75 + 0.25 * cut.ranks_log2) : 0);
}

/// The plan that says so, for that many products alike, but for `seconds`. Extents are at least 1.
constexpr GemmSlicedPlan gemm_sliced_plan(int entry, std::int64_t m, std::int64_t n, std::int64_t k,
                                          unsigned ranks_log2, std::int64_t parts,
                                          std::int64_t products = 1) {
    const SlicedTile& tile = sliced_table[entry].tile;
    const SlicedTiles tiles(tile.tile, m, n);
    GemmSlicedPlan plan = {entry, static_cast<unsigned>(products), tiles.exchange,
                           sliced_cut(tile, k, ranks_log2, parts)};
    const std::int64_t all = tiles.count() * products;
    if (plan.cut.units() > 1)
        plan.scratch_bytes =
            static_cast<std::size_t>(all * plan.cut.units()) * tile.vectors() * 4 * sizeof(float);
    plan.fits = plan.cut.units() == 1 || all * plan.cut.counters() <= sliced_most_counters;
    return plan;
}

/// Of all entries and cuts, the fastest that needs at most `most_scratch` bytes, for that many
/// products alike, of which squares' layout is not asked for. Extents are at least 1.
constexpr GemmSlicedPlan plan_gemm_sliced(std::int64_t m, std::int64_t n, std::int64_t k,
                                          std::size_t most_scratch = static_cast<std::size_t>(-1),
                                          std::int64_t products = 1, SlicedLayout layout = {}) {
    if (m == n) layout.known = false;
    constexpr std::int64_t most_along = 65535;  // of a grid's y and z
    constexpr std::int64_t most_depth = std::int64_t{1} << 30;
    GemmSlicedPlan best;
    if (k > most_depth) return best;
    // What does not stay in the L2 cache comes and goes at the speed of memory, of which tiles get
    // more whose lines are long.
    const double bytes = 4.0 * static_cast<double>(products);
    const double read = bytes * static_cast<double>(k) * static_cast<double>(m + n);
    const double written = bytes * static_cast<double>(m) * static_cast<double>(n);
    const auto memory_of = [&](const GemmTile& t) {
        const bool long_lines = products == 1 && t.block_n >= 128;
        return (long_lines ? 3.5 + read / 3.9e6 : 1.5 + read / 3.0e6) + written / 1.8e6;
    };
    // And takes blocks that follow others longer, measured for one product: from 10 % where it is
    // 30 MB.
    const double longer = products == 1 ? 0.14e-6 * (read + 1.4 * written) - 2.8 : 0;
    for (int e = 0; e < sliced_entries; ++e) {
        if (products > 1 && !sliced_batches(e)) continue;
        const SlicedEntry& entry = sliced_table[e];
        const GemmTile& t = entry.tile.tile;
        const SlicedTiles tiles(t, m, n);
        if (tiles.along_m > most_along || tiles.along_n > most_along) continue;
        const std::int64_t all = tiles.count() * products;
        const double memory = read + written > 40e6 ? memory_of(t) : 0;
        const auto consider = [&](unsigned ranks_log2, std::int64_t parts) {
            GemmSlicedPlan plan = gemm_sliced_plan(e, m, n, k, ranks_log2, parts, products);
            const bool follow = all * plan.cut.units() > sliced_multiprocessors;
            const double time =
                sliced_microseconds(entry, all, plan.cut, layout.exchanged(tiles.exchange)) +
                (follow && plan.cut.parts == 1 && longer > 0 ? longer : 0);
            const double least = follow ? 1.06 * memory : memory;
            // Where memory limits, blocks that have less to do are ahead still.
            plan.seconds = 1e-6 * (time > least ? time : 0.9 * least + 0.1 * time);
            if ((!best.fits || plan.weighed() < best.weighed()) && plan.fits &&
                plan.scratch_bytes <= most_scratch)
                best = plan;
        };
        consider(0, 1);
        // As many parts as fill the multiprocessors once, or up to four times, one after the other.
        std::int64_t least_parts = 2;
        for (int turns = 1; turns <= 4 && products == 1; ++turns) {
            constexpr std::int64_t most_parts = 12;
            const std::int64_t parts =
                std::min({turns * sliced_multiprocessors / all, k / t.block_k, most_parts});
            if (parts < least_parts) continue;
            consider(0, parts);
            least_parts = parts + 1;
        }
        for (unsigned ranks_log2 = 1; ranks_log2 <= 3; ++ranks_log2) {
            // Larger clusters leave multiprocessors without a block: they are for few.
            const std::int64_t most_blocks = sliced_multiprocessors / (ranks_log2 > 1 ? 2 : 1);
            const std::int64_t parts = most_blocks / (all << ranks_log2);
            if (parts == 0 || k <= std::int64_t{t.block_k} << (ranks_log2 - 1)) break;
            consider(ranks_log2, 1);
            if (ranks_log2 == 1 && parts > 1 && products == 1) consider(ranks_log2, parts);
        }
    }
    return best;
}

}  // namespace tinyblas
