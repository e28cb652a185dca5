// SPDX-License-Identifier: MIT
// How a batch of products is made: by which kernel, from its extents and the number of products.
// Whatever is chosen, an element is one chain of multiply-adds, so the choice does not show in the
// results. Bounds and times are measured on an NVIDIA H200, but for thin products, which take the
// tile that wastes least.
#pragma once

#include <cstdint>

#include "batched_table.hpp"
#include "pipelined_plan.hpp"

namespace tinyblas {

enum class GemmBatchRoute {
    one_by_one,  // a gemm each
    rows,        // `entry`: the edge
    square,      // `entry`: of gemm_square_table
    tile,        // `entry`: of gemm_batch_table
    tuned,       // `entry`: of gemm_table
    pipelined,   // `entry`: products side by side in a tile
    tensor,      // `entry`: of gemm_tensor_table
};

struct GemmBatchPlan {
    GemmBatchRoute route;
    int entry;
    std::int64_t most;  // products a launch
};

/// The end of a grid's z, and y.
inline constexpr std::int64_t gemm_batch_most = 65535;

struct GemmBatchExtents {
    std::int64_t m, n, k, count;
    bool a_along_k = true,
         b_along_k = false;  // whether neighbours lie so; as in row-major products

    constexpr std::int64_t largest() const { return m > n ? m : n; }
    constexpr std::int64_t smallest() const { return m < n ? m : n; }
    constexpr std::int64_t tiles(std::int64_t block_m, std::int64_t block_n) const {  // of all C
        return (m + block_m - 1) / block_m * ((n + block_n - 1) / block_n) * count;
    }
    constexpr std::int64_t tiles(std::int64_t edge) const { return tiles(edge, edge); }
    /// Operands that lie otherwise than in row-major products.
    constexpr int turned() const { return (a_along_k ? 0 : 1) + (b_along_k ? 1 : 0); }
};

constexpr GemmBatchPlan gemm_batch_tile(int entry) {
    const bool alone = gemm_batch_table[entry].matrices == 1;
    return {GemmBatchRoute::tile, entry, alone ? gemm_batch_most : std::int64_t{1} << 32};
}
constexpr GemmBatchPlan gemm_batch_tuned_entry(int entry) {
    return {GemmBatchRoute::tuned, entry, gemm_batch_most};
}

/// Estimated microseconds of a batch in tiles of block_m x block_n, with stages of `depth` k.
constexpr double gemm_batch_microseconds(const GemmBatchTimes& t, const GemmBatchExtents& x,
                                         int block_m, int block_n, int depth) {
    constexpr std::int64_t multiprocessors = 132;
    const std::int64_t each = (x.tiles(block_m, block_n) + multiprocessors - 1) / multiprocessors;
    const auto blocks = static_cast<double>(each);
    const auto k = static_cast<double>((x.k + depth - 1) / depth * depth);
    const double of_k = t.load * blocks > t.latency ? t.load * blocks : t.latency;
    return t.start + k * of_k + t.block * blocks;
}

/// Of all ways to make a batch, the one that is estimated to take least time.
struct GemmBatchFastest {
    GemmBatchPlan plan = {};
    double microseconds = 0;

    constexpr void consider(const GemmBatchPlan& other, double time) {
        if (microseconds != 0 && time >= microseconds) return;
        plan = other;
        microseconds = time;
    }
    /// The tiles of a type that have times.
    constexpr void consider_tiles(Scalar type, const GemmBatchExtents& x) {
        for (int e = 0; e < gemm_batch_entries; ++e) {
            const GemmBatchTile& tile = gemm_batch_table[e];
            if (tile.type != type || tile.times.start == 0) continue;
            GemmBatchTimes times = tile.times;
            times.latency *= 1 + gemm_batch_turning(type) * x.turned();
            times.load *= 1 + gemm_batch_turning(type) * x.turned();
            consider(gemm_batch_tile(e),
                     gemm_batch_microseconds(times, x, tile.edge, tile.edge, tile.depth));
        }
    }
};

constexpr GemmBatchPlan fastest_gemm_batch_float(const GemmBatchExtents& x) {
    const bool deep = x.k >= 256 || x.n <= 64 || (x.k >= 128 && x.tiles(64) <= 528);
    constexpr GemmTile t = gemm_table[gemm_batch_tuned[0]].tile;  // the other's blocks are as large
    GemmBatchTimes times = gemm_batch_tuned_times;                // of one operand along k
    times.load *= 1 + 0.08 * ((x.a_along_k ? 1 : 0) + (x.b_along_k ? 1 : 0) - 1);
    GemmBatchFastest fastest;
    fastest.consider(gemm_batch_tuned_entry(gemm_batch_tuned[deep ? 0 : 1]),
                     gemm_batch_microseconds(times, x, t.block_m, t.block_n, t.block_k));
    fastest.consider_tiles(Scalar::float32, x);
    return fastest.plan;
}

constexpr GemmBatchPlan fastest_gemm_batch_double(const GemmBatchExtents& x) {
    GemmBatchFastest fastest;
    fastest.consider_tiles(Scalar::float64, x);
    for (int e = 0; e < gemm_tensor_entries; ++e) {
        const GemmTensorTile& t = gemm_tensor_table[e];
        const std::int64_t most = gemm_tensor_most(e, x.m, x.n, x.k);
        if (most > 0)
            fastest.consider({GemmBatchRoute::tensor, e, most},
                             gemm_batch_microseconds(gemm_batch_tensor_times[e], x, t.block_m,
                                                     t.block_n, t.block_k));
    }
    return fastest.plan;
}

constexpr GemmBatchPlan plan_gemm_batch_float(int compute_capability, const GemmBatchExtents& x) {
    const bool few = x.count <= 64;
    if (x.largest() <= 16) return gemm_batch_tile(0);
    if (compute_capability != 90)
        return x.largest() <= 64 || x.smallest() <= 32 ? gemm_batch_tile(4)
                                                       : gemm_batch_tuned_entry(1);
    if (x.largest() <= 32) return gemm_batch_tile(x.count <= 264 ? 2 : 1);
    if (x.largest() <= 64 && few) return gemm_batch_tile(2);
    if (x.largest() <= 48) return gemm_batch_tile(3);
    if (x.largest() <= 64) return gemm_batch_tile(4);
    if (x.smallest() <= 32) return gemm_batch_tile(x.tiles(32) <= 264 ? 2 : 1);
    if (x.largest() <= 96 && x.count >= 128) return gemm_batch_tile(5);
    return fastest_gemm_batch_float(x);
}

constexpr GemmBatchPlan plan_gemm_batch_double(int compute_capability, const GemmBatchExtents& x) {
    if (compute_capability != 90) return gemm_batch_tuned_entry(5);
    if (x.largest() <= 16) return gemm_batch_tile(6);
    if (x.largest() <= 32 || x.smallest() <= 16 || x.k == 0) return gemm_batch_tile(7);
    if (x.largest() <= 48 && x.count > 128) return gemm_batch_tile(8);
    if (x.smallest() > 56 && x.largest() <= 64 && x.count >= 512)  // memory alone
        return {GemmBatchRoute::tensor, 1, gemm_tensor_most(1, x.m, x.n, x.k)};
    return fastest_gemm_batch_double(x);
}

/// Whether a gemm for each product is faster than one launch for all: it keeps the GPU busy for
/// long, or its sums are so long that they want to be cut, and gemm has more to choose from.
constexpr bool gemm_batch_one_by_one(Scalar type, int compute_capability,
                                     const GemmBatchExtents& x) {
    if (x.k < 512) return false;
    if (x.k / 512 >= x.count || x.k > gemm_tuned_longest_k) return true;
    constexpr std::int64_t mebi = 1 << 20;
    const auto at_least = [](std::int64_t elements, std::int64_t rows, std::int64_t columns) {
        return rows >= (elements + columns - 1) / columns;
    };
    if (type == Scalar::float32 && x.smallest() >= 64)
        return at_least(4 * mebi, x.m, x.n) || at_least(64 * mebi, x.m + x.n, x.k);
    // The rung tensor's tiles are the same for a batch.
    if (type == Scalar::float64 && compute_capability == 90 && x.smallest() > 16) return false;
    return (x.m >= 1024 && x.n >= 1024) || at_least(4 * mebi, x.m + x.n, x.k);
}

/// How many products a tile of the rung pipelined should have, side by side, for a batch that it
/// takes; 0: it is not the fastest. Its tiles must be mostly C's, and even their last turn keep
/// most of the GPU busy.
constexpr int gemm_batch_pipelined(const GemmBatchExtents& x) {
    constexpr GemmTile t = pipelined_tile;
    if (x.count == 0 || x.m < t.block_m || x.k < 64) return 0;
    const auto tiles_of = [&](int products) {
        return pipelined_tiles(x.m, x.n, products) * pipelined_pieces(x.count, products);
    };
    const auto time = [&](int products) {
        return static_cast<double>(tiles_of(products)) * pipelined_step(products);
    };
    int products = 1;
    if (time(2) < time(1)) products = 2;
    if (time(4) < time(products)) products = 4;
    constexpr std::int64_t at_once = pipelined_multiprocessors;
    const std::int64_t tiles = tiles_of(products), turns = pipelined_pieces(tiles, at_once);
    const double of_c = static_cast<double>(x.m) * static_cast<double>(x.n) *
                        static_cast<double>(x.count) / static_cast<double>(tiles);
    return (turns > 1 || x.k >= 256) && 8 * tiles >= 7 * turns * at_once &&
                   of_c >= 0.75 * t.block_m * t.block_n
               ? products
               : 0;
}

/// `square`: the entry of gemm_square_table that the operands lie as, or -1. `pointers`: only the
/// device knows where matrices begin, so that it must be one launch. `pipelined`: the products that
/// the rung pipelined takes in a launch.
constexpr GemmBatchPlan plan_gemm_batch(Scalar type, int compute_capability,
                                        const GemmBatchExtents& x, int square,
                                        bool pointers = false, std::int64_t pipelined = 0) {
    constexpr std::int64_t flat = std::int64_t{1} << 30;  // products: fewer blocks
    if (x.largest() <= 8 && x.k <= 8)
        return {GemmBatchRoute::rows, x.largest() <= 4 && x.k <= 4 ? 4 : 8, flat};
    if (square >= 0 && x.count >= (square == 2 ? 100 : 512))
        return {GemmBatchRoute::square, square, flat};
    if (!pointers && gemm_batch_one_by_one(type, compute_capability, x))
        return {GemmBatchRoute::one_by_one, -1, 1};
    if (pipelined > 0) {
        const std::int64_t launches = pipelined_pieces(x.count, pipelined);
        const std::int64_t each = pipelined_pieces(x.count, launches);
        const int products = gemm_batch_pipelined({x.m, x.n, x.k, each});
        if (products > 0) return {GemmBatchRoute::pipelined, products, each};
    }
    // A grid's y ends, too.
    if (x.m > gemm_batch_most * 16) {
        const bool single = type == Scalar::float32;
        return gemm_batch_tuned_entry(single ? 1 : 5);
    }
    return type == Scalar::float32 ? plan_gemm_batch_float(compute_capability, x)
                                   : plan_gemm_batch_double(compute_capability, x);
}

}  // namespace tinyblas
