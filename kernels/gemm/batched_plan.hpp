// SPDX-License-Identifier: MIT
// How a batch of products is made: by which kernel, from its extents and the number of products.
// An element is one chain of multiply-adds, so the choice does not show in the results, unless C is
// a row or a column (batched_gemv.cuh) or skinny (batched_skinny.cuh), or tiles are so few that k
// is cut: all alike, so that a product's place does not show either. Bounds and times are measured
// on an NVIDIA H200.
#pragma once

#include <cstdint>

#include "batched_extents.hpp"
#include "batched_gemv_plan.hpp"
#include "batched_outer_plan.hpp"
#include "batched_skinny_plan.hpp"
#include "batched_small_times.hpp"
#include "batched_table.hpp"
#include "pipelined_plan.hpp"
#include "sliced_plan.hpp"
#include "stream_k_plan.hpp"

namespace tinyblas {

/// The end of a grid's z, and y.
inline constexpr std::int64_t gemm_batch_most = 65535;
/// Rows that tiles can have: a grid's y ends, too.
inline constexpr std::int64_t gemm_batch_longest = gemm_batch_most * 16;

constexpr GemmBatchPlan gemm_batch_tile(int entry) {
    const bool alone = gemm_batch_table[entry].matrices == 1;
    return {GemmBatchRoute::tile, entry, alone ? gemm_batch_most : std::int64_t{1} << 32};
}
constexpr GemmBatchPlan gemm_batch_tuned_entry(int entry) {
    return {GemmBatchRoute::tuned, entry, gemm_batch_most};
}

/// Estimated microseconds of a batch, but for its launch, whose blocks share a multiprocessor with
/// so many others, at most, one after the other or at once; stages have `depth` k, of which a
/// block's share takes so much longer.
constexpr double gemm_batch_microseconds(const GemmBatchTimes& t, const GemmBatchExtents& x,
                                         double blocks, int depth, double longer = 1) {
    const auto k = static_cast<double>((x.k + depth - 1) / depth * depth);
    const double shared = t.load * longer * blocks;
    return k * (shared > t.latency ? shared : t.latency) + t.block * blocks;
}

/// Of a tile of floats. Of a k that does not fill its last stage, what is not there takes a
/// quarter.
constexpr double gemm_batch_tile_microseconds(const GemmBatchTile& tile,
                                              const GemmBatchExtents& x) {
    const GemmBatchTimes& t = tile.times;
    const std::int64_t each = pipelined_pieces(x.tiles(tile.edge), pipelined_multiprocessors);
    const double blocks = gemm_blocks_sharing(each, tile.min_blocks, t.uneven, t.few);
    const std::int64_t stages = (x.k + tile.depth - 1) / tile.depth * tile.depth;
    const double k = 0.75 * static_cast<double>(x.k) + 0.25 * static_cast<double>(stages);
    const double of_k = t.load * blocks > t.latency ? t.load * blocks : t.latency;
    const double longer = 1 + double{t.turning} * x.turned() + double{t.elements} * x.by_elements;
    return t.start + k * of_k * longer + t.block * blocks;
}

/// Of all ways to make a batch, the one that is estimated to take least time.
struct GemmBatchFastest {
    GemmBatchPlan plan = {};

    /// What times that know no pointers are multiplied by, so that those that do are preferred.
    static constexpr double by_pointers(const GemmBatchExtents& x) { return x.pointers ? 1.06 : 1; }

    constexpr void consider(const GemmBatchPlan& other, double time) {
        if (plan.microseconds != 0 && time >= plan.microseconds) return;
        plan = other;
        plan.microseconds = time;
    }
    /// The tiles of floats that have times, which know no pointers.
    constexpr void consider_tiles(const GemmBatchExtents& x) {
        for (int e = 0; e < gemm_batch_entries; ++e) {
            const GemmBatchTile& tile = gemm_batch_table[e];
            if (tile.times.start != 0)
                consider(gemm_batch_tile(e),
                         by_pointers(x) * gemm_batch_tile_microseconds(tile, x));
        }
    }
    /// Those of doubles that a C of any size may have, for a k that their times were measured for:
    /// those of small products, which are 6 % low for others.
    constexpr void consider_tiles_of_doubles(const GemmBatchExtents& x) {
        constexpr std::int64_t longest = 112;
        for (const GemmSmallTimes& t : gemm_small_times)
            if (t.type == Scalar::float64 && t.route == GemmBatchRoute::tile && t.matrices == 1 &&
                x.k <= longest)
                consider(gemm_batch_tile(t.entry), 1.06 * gemm_small_microseconds(t, x));
    }
    /// The tiles of batched_elements.cuh, for a k that their times were measured for and the kernel
    /// can count; they know no pointers.
    constexpr void consider_elements(const GemmBatchExtents& x) {
        if (!x.in_reach || x.k <= 16 || x.k >= std::int64_t{1} << 30) return;
        for (int e = 0; e < gemm_elements_entries; ++e) {
            const GemmElementsEntry& entry = gemm_elements_table[e];
            consider({GemmBatchRoute::elements, e, gemm_batch_most},
                     by_pointers(x) *
                         entry.microseconds(x.tiles(entry.tile.block_m, entry.tile.block_n), x.k));
        }
    }
    /// The tiles of stream_k.cuh, where they are few; whose times are those of one product, 4 %
    /// more than a batch takes.
    constexpr void consider_stream_k(const GemmBatchExtents& x) {
        if (!x.in_reach || x.k < gemm_batch_shortest_cut) return;
        const GemmStreamKPlan plan = plan_gemm_stream_k(x.m, x.n, x.k, x.scratch, x.count, true);
        if (plan.fits())
            consider(
                {GemmBatchRoute::stream_k, plan.entry, x.count, plan.cut.apart / plan.cut.each},
                (x.pointers ? 1 : 0.96) * plan.microseconds);
    }
    /// A gemm each, which takes so long.
    constexpr void consider_one_by_one(const GemmBatchExtents& x, double each) {
        consider({GemmBatchRoute::one_by_one, -1, 1}, static_cast<double>(x.count) * each);
    }
    /// By batched_skinny.cuh, if that takes 5 % less: of many estimates the least is too low. Its
    /// times know no pointers; and where those lead, vectors along rows and columns come by
    /// elements. Of these, a k beyond what times were measured for takes up to 1.6 times as long.
    constexpr void consider_skinny(const GemmBatchExtents& x) {
        if (x.smallest() == 1 || x.smallest() > skinny_batch_widest || x.k == 0 ||
            x.largest() > skinny_batch_most || !x.in_skinny_reach)
            return;
        const bool upright = x.n <= x.m;
        const bool a_along_k = upright ? x.a_along_k : x.b_along_k;
        const bool b_along_k = upright ? x.b_along_k : x.a_along_k;
        const int turned = (a_along_k ? 0 : 1) + (b_along_k ? 0 : 1);
        const int by_elements = x.pointers && turned > x.by_elements ? turned : x.by_elements;
        if (by_elements > 0 && x.k > 2048) return;
        const std::int64_t most = skinny_batch_most / skinny_batch_groups(x.largest());
        for (int e = 0; e < skinny_batch_entries; ++e) {
            const SkinnyBatchEntry& entry = skinny_batch_table[e];
            const SkinnyBatchPlan plan = plan_skinny_batch(entry, x.largest(), x.smallest(), x.k,
                                                           x.count, a_along_k, b_along_k);
            const double time =
                skinny_batch_microseconds(entry, plan, x.largest(), x.smallest(), x.k, x.count,
                                          a_along_k, b_along_k, by_elements);
            consider({GemmBatchRoute::skinny, e, most, 1U << plan.sharers_log2()},
                     1.05 * by_pointers(x) * time);
        }
    }
    /// By batched_outer.cuh.
    constexpr void consider_outer(Scalar type, const GemmBatchExtents& x) {
        if (x.k == 0 || x.k > outer_batch_longest_k || x.largest() > outer_batch_most) return;
        const OuterBatchTimes& t =
            type == Scalar::float32 ? outer_batch_times<float> : outer_batch_times<double>;
        const std::int64_t tiles = plan_outer_batch(t, x.m, x.n, x.k).tiles(x.m, x.n, t.columns);
        if (tiles > outer_batch_most) return;
        consider(
            {GemmBatchRoute::outer, 0, outer_batch_most / tiles},
            (x.count == 1 ? t.alone : t.readily) * by_pointers(x) * outer_batch_microseconds(t, x) -
                outer_batch_gains_on_old(t, x));
    }
    /// The rung sliced, by the times of one product (150 batches, the root mean square is 4 %).
    constexpr void consider_sliced(const GemmBatchExtents& x) {
        if (x.k < gemm_batch_shortest_cut || x.count == 1 || x.count > gemm_batch_most) return;
        const GemmSlicedPlan sliced = plan_gemm_sliced(x.m, x.n, x.k, x.scratch, x.count);
        if (!sliced.fits) return;
        consider({GemmBatchRoute::sliced, sliced.entry, x.count, sliced.cut.ranks()},
                 1e6 * sliced.seconds * (0.965 + 0.035 * x.by_elements));
    }
    /// The rung tensor, with tiles cut into so many parts, by the times of one product.
    constexpr void consider_tensor(int entry, unsigned parts, std::int64_t most,
                                   const GemmBatchExtents& x) {
        const GemmTensorPlan plan = gemm_tensor_plan_alike(entry, x.m, x.n, x.k, parts, x.count);
        if (plan.scratch_bytes > x.scratch) return;
        consider({GemmBatchRoute::tensor, entry, most, parts},
                 1e6 * gemm_tensor_seconds(plan, x.m, x.n, x.k, x.a_pitch, x.b_pitch));
    }
    /// The same, with tiles that do not fill the GPU.
    constexpr void consider_cut_tensor(int entry, std::int64_t most, const GemmBatchExtents& x) {
        const GemmTensorTile& t = gemm_tensor_table[entry];
        const std::int64_t tiles = x.tiles(t.block_m, t.block_n);
        if (x.k < gemm_batch_shortest_cut || tiles > t.at_once() ||
            x.k / t.block_k >= (std::int64_t{1} << 31) / tiles)
            return;
        const auto whole = gemm_tensor_plan_alike(entry, x.m, x.n, x.k, 1, x.count);
        for_numbers_of_parts(whole, whole.tiles(),
                             [&](unsigned parts) { consider_tensor(entry, parts, most, x); });
    }
    /// The rung pipelined, in as many launches alike as `most` products each ask for.
    constexpr void consider_pipelined(const GemmBatchExtents& x, std::int64_t most) {
        const std::int64_t launches = pipelined_pieces(x.count, most);
        const std::int64_t each = pipelined_pieces(x.count, launches);
        for (int e = 0; e < (x.in_place ? 1 : 3); ++e) {
            const int products = 1 << e;
            const GemmTile t = pipelined_tile_of(products);
            const PipelinedWorkload load = plan_pipelined_batch(x.m, x.n, x.k, each, products);
            // A product alone takes 0.55 of the time of two.
            const std::int64_t lone = products == 2 ? std::int64_t{2} * load.products - each : 0;
            const std::int64_t whole = load.products - lone;
            const auto full = static_cast<double>(pipelined_pieces(
                pipelined_tiles(x.m, x.n, products) * whole, pipelined_multiprocessors));
            const GemmBatchTimes& times = gemm_batch_pipelined_times[x.a_along_k ? 1 : 0][e];
            double time =
                times.start +
                gemm_batch_microseconds(
                    times, x, full + 0.55 * (static_cast<double>(load.turns()) - full), t.block_k);
            if (x.b_along_k)  // which is packed
                time += 2 + 2 * sizeof(float) * static_cast<double>(x.k) *
                                static_cast<double>(x.n) *
                                static_cast<double>(x.b_shared ? 1 : each) /
                                pipelined_costs.packed_bytes;
            if (x.in_place) time = 2 + time * (1 + 0.03 * x.by_elements);  // maps first
            consider({GemmBatchRoute::pipelined, x.in_place ? 0 : products, each},
                     static_cast<double>(launches) * time);
        }
    }
};

/// `pipelined`: the products that that rung takes in a launch.
constexpr GemmBatchPlan fastest_gemm_batch_float(const GemmBatchExtents& x,
                                                 std::int64_t pipelined) {
    GemmBatchFastest fastest;
    fastest.consider(
        gemm_batch_tuned_entry(0),
        gemm_ring_microseconds(x.m, x.n, x.k, x.count, x.loads, x.a_along_k, x.b_along_k));
    fastest.consider_elements(x);
    if (x.m <= gemm_batch_longest) fastest.consider_tiles(x);
    if (pipelined > 0 && x.m > pipelined_tile.block_m / 2 && x.k >= 32)
        fastest.consider_pipelined(x, pipelined);
    fastest.consider_sliced(x);
    fastest.consider_stream_k(x);
    return fastest.plan;
}

/// The rung tensor where tiles are so few that the times of one product tell more, `others` being
/// the best besides.
constexpr GemmBatchPlan fastest_gemm_batch_of_few(const GemmBatchExtents& x,
                                                  GemmBatchFastest others) {
    GemmBatchFastest fastest;
    if (others.plan.route != GemmBatchRoute::tensor) fastest = others;
    for (int e = 0; e < gemm_tensor_entries; ++e) {
        const std::int64_t most = gemm_tensor_most(e, x.m, x.n, x.k);
        if (most == 0) continue;
        if (others.plan.route == GemmBatchRoute::tensor) fastest.consider_tensor(e, 1, most, x);
        fastest.consider_cut_tensor(e, most, x);
    }
    const GemmTensorPlan one = plan_gemm_tensor(x.m, x.n, x.k, x.a_pitch, x.b_pitch, x.scratch);
    if (!x.pointers && x.k >= 512) fastest.consider_one_by_one(x, 1.05e6 * one.seconds);
    return fastest.plan;
}

constexpr GemmBatchPlan fastest_gemm_batch_double(const GemmBatchExtents& x) {
    GemmBatchFastest fastest;
    if (x.m <= gemm_batch_longest) fastest.consider_tiles_of_doubles(x);
    for (int e = 0; e < gemm_tensor_entries; ++e) {
        const GemmTensorTile& t = gemm_tensor_table[e];
        const std::int64_t most = gemm_tensor_most(e, x.m, x.n, x.k);
        const bool too_high = t.block_m >= 128 && x.m <= 96;  // rows that are not there take time
        if (most == 0 || too_high) continue;
        const GemmBatchTimes& times = gemm_batch_tensor_times[e];
        const double longer =
            1 + t.longer[static_cast<int>(x.a_pitch)] + t.longer[static_cast<int>(x.b_pitch)];
        const std::int64_t each =
            pipelined_pieces(x.tiles(t.block_m, t.block_n), gemm_tensor_multiprocessors);
        const double work = gemm_batch_microseconds(
            times, x, gemm_blocks_sharing(each, t.min_blocks, times.uneven, 0), t.block_k, longer);
        double time = times.start + gemm_tensor_with_traffic(work, x.bytes_of_doubles());
        // Twice the rows of A for each B: where that is narrow, 4 % less on an H200, up to 3 on an
        // H100.
        const bool narrow = x.n <= t.block_n && gemm_tensor_reads_ahead(x.k, x.bytes_of_doubles());
        if (e == 1 && narrow) time *= 0.97;
        fastest.consider({GemmBatchRoute::tensor, e, most}, time);
    }
    if (x.may_be_cut()) return fastest_gemm_batch_of_few(x, fastest);
    // No such C fits a GPU: the launch of these says that a grid ends.
    return fastest.plan.microseconds > 0 ? fastest.plan : gemm_batch_tuned_entry(5);
}

constexpr GemmBatchPlan plan_gemm_batch_float(int compute_capability, const GemmBatchExtents& x,
                                              std::int64_t pipelined) {
    if (compute_capability == 90) return fastest_gemm_batch_float(x, pipelined);
    if (x.largest() <= 16) return gemm_batch_tile(0);
    const bool thin = x.smallest() <= 32 && x.m <= gemm_batch_longest;
    return x.largest() <= 64 || thin ? gemm_batch_tile(4) : gemm_batch_tuned_entry(1);
}

constexpr GemmBatchPlan plan_gemm_batch_double(int compute_capability, const GemmBatchExtents& x) {
    if (compute_capability != 90) return gemm_batch_tuned_entry(5);
    // Thin ones of a short k take less in these tiles than estimated (15 % of 60), in others more.
    const bool thin = (x.smallest() <= 16 && x.k < 16) || x.k == 0;
    return thin && x.m <= gemm_batch_longest ? gemm_batch_tile(7) : fastest_gemm_batch_double(x);
}

/// Whether a gemm for each product is faster than one launch for all: it keeps the GPU busy for
/// long, or its sums are so long that they want to be cut, and gemm has more to choose from.
constexpr bool gemm_batch_one_by_one(Scalar type, int compute_capability,
                                     const GemmBatchExtents& x) {
    if (x.k < 512) return false;
    const bool double_90 = type == Scalar::float64 && compute_capability == 90;
    const bool estimated = double_90 && x.may_be_cut();
    if ((x.k / 512 >= x.count && !estimated) || x.k > gemm_tuned_longest_k) return true;
    constexpr std::int64_t mebi = 1 << 20;
    const auto at_least = [](std::int64_t elements, std::int64_t rows, std::int64_t columns) {
        return rows >= (elements + columns - 1) / columns;
    };
    if (type == Scalar::float32 && x.smallest() >= 64)
        return at_least(4 * mebi, x.m, x.n) || at_least(64 * mebi, x.m + x.n, x.k);
    if (double_90 && (estimated || x.smallest() > 16)) return false;
    return (x.m >= 1024 && x.n >= 1024) || at_least(4 * mebi, x.m + x.n, x.k);
}

/// Products that kernels without a tile of C in their grid take at once: no more blocks.
inline constexpr std::int64_t gemm_batch_flat = std::int64_t{1} << 30;

/// However the operands lie. By pointers it must be one launch.
constexpr GemmBatchPlan plan_gemm_batch_anywhere(Scalar type, int compute_capability,
                                                 const GemmBatchExtents& x,
                                                 std::int64_t pipelined) {
    if (x.largest() <= 8 && x.k <= 8)
        return {GemmBatchRoute::rows, x.largest() <= 4 && x.k <= 4 ? 4 : 8, gemm_batch_flat};
    if (!x.pointers && gemm_batch_one_by_one(type, compute_capability, x)) {
        GemmBatchFastest fastest;
        fastest.consider_one_by_one(x, x.alone);
        if (type == Scalar::float32 && compute_capability == 90 && x.alone > 0) {
            fastest.consider_sliced(x);
            fastest.consider_stream_k(x);
        }
        return fastest.plan;
    }
    return type == Scalar::float32 ? plan_gemm_batch_float(compute_capability, x, pipelined)
                                   : plan_gemm_batch_double(compute_capability, x);
}

/// The products that a kernel for small ones takes in a launch; 0: it cannot make them.
constexpr std::int64_t gemm_small_most(const GemmSmallTimes& t, const GemmBatchExtents& x) {
    const bool fits = x.largest() <= t.block_m;
    switch (t.route) {
        case GemmBatchRoute::rows: return fits && x.k <= t.depth ? gemm_batch_flat : 0;
        case GemmBatchRoute::tile:
            return t.matrices == 1 || fits ? gemm_batch_tile(t.entry).most : 0;
        case GemmBatchRoute::tensor: return gemm_tensor_most(t.entry, x.m, x.n, x.k);
        default: return gemm_batch_tuned_entry(t.entry).most;
    }
}

/// Small products, which have kernels of their own.
constexpr bool gemm_batch_is_small(const GemmBatchExtents& x) {
    return x.k > 0 && (x.largest() <= 112 || (x.smallest() <= 24 && x.largest() <= 400));
}
/// `other`: by the kernels that make larger ones, too. Of doubles their times are known anew.
constexpr GemmBatchPlan fastest_small_gemm_batch(Scalar type, const GemmBatchExtents& x,
                                                 const GemmBatchPlan& other) {
    GemmBatchFastest fastest;
    if (type == Scalar::float32 && other.microseconds > 0)
        fastest.consider(other, other.microseconds);
    for (const GemmSmallTimes& t : gemm_small_times) {
        const std::int64_t most = t.type == type ? gemm_small_most(t, x) : 0;
        if (most > 0) fastest.consider({t.route, t.entry, most}, gemm_small_microseconds(t, x));
    }
    for (int e = 0; e < gemm_pieces_entries && x.pieces != GemmPieces::none; ++e) {
        const double time = gemm_pieces_table[e].type == type ? gemm_pieces_microseconds(e, x) : 0;
        if (time > 0) fastest.consider({GemmBatchRoute::pieces, e, gemm_batch_flat}, time);
    }
    for (int e = 0; e < gemm_tensor_entries && type == Scalar::float64; ++e)
        fastest.consider_cut_tensor(e, gemm_tensor_most(e, x.m, x.n, x.k), x);
    return fastest.plan;
}

/// Whether C are rows or columns that batched_gemv.cuh makes: not large matrices, which gemv reads
/// as fast, one by one, and not a long k of a few elements, which others cut.
constexpr bool gemm_batch_is_of_vectors(const GemmBatchExtents& x) {
    constexpr std::int64_t large = 4 << 20, long_k = 8192, some = gemm_multiprocessors;
    if (x.smallest() != 1 || x.k <= 0 || x.k > gemv_longest_k || x.largest() > gemv_batch_most)
        return false;
    const bool few = x.largest() < some && x.count < some && x.largest() * x.count < some;
    return (x.k <= long_k || !few) && (x.pointers || x.largest() < large / x.k);
}

/// `square`: the entry of gemm_square_table that the operands lie as, or -1. `pipelined`: the
/// products that the rung pipelined takes in a launch.
constexpr GemmBatchPlan plan_gemm_batch(Scalar type, int compute_capability,
                                        const GemmBatchExtents& x, int square,
                                        std::int64_t pipelined = 0) {
    if (square >= 0 && x.count >= (square == 2 ? 100 : 512))
        return {GemmBatchRoute::square, square, gemm_batch_flat};
    if (compute_capability == 90 && gemm_batch_is_of_vectors(x))
        return {GemmBatchRoute::gemv, -1, gemv_batch_most / x.largest()};
    const GemmBatchPlan other = plan_gemm_batch_anywhere(type, compute_capability, x, pipelined);
    const bool packed_rows = other.route == GemmBatchRoute::rows &&
                             x.pieces == GemmPieces::together && x.m == other.entry &&
                             x.n == other.entry && x.k == other.entry;
    const bool has_rivals = compute_capability == 90 && gemm_batch_is_small(x) && !packed_rows &&
                            other.route != GemmBatchRoute::pipelined &&
                            other.route != GemmBatchRoute::one_by_one;
    const GemmBatchPlan plan = has_rivals ? fastest_small_gemm_batch(type, x, other) : other;
    const bool thin_tile = type == Scalar::float64 && plan.route == GemmBatchRoute::tile;
    if (compute_capability != 90 || (plan.microseconds == 0 && !thin_tile)) return plan;
    GemmBatchFastest fastest = {plan};
    if (plan.route == GemmBatchRoute::tensor && x.k <= outer_batch_longest_k)
        fastest.plan.microseconds += gemm_tensor_storing(x.n) * x.bytes_of_c(type);
    fastest.consider_outer(type, x);
    if (type == Scalar::float32) fastest.consider_skinny(x);
    return fastest.plan;
}

}  // namespace tinyblas
