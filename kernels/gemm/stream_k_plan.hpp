// SPDX-License-Identifier: MIT
// Stream-k by elements: which tiles, and how many blocks share them. Figures: NVIDIA H200.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "batched_table.hpp"
#include "divisor.hpp"

namespace tinyblas {

/// A tile of stream-k, with as many blocks of a multiprocessor as leave registers for sums that are
/// set aside. Microseconds on an H200, fitted to 3,700 times of 360 products with a k of 100 to
/// 5,000 (root mean square 2 to 3 % of what is fast): of a launch; of each k, and of a piece
/// besides, as a share of the blocks that a multiprocessor has at once; one by itself takes as long
/// as `alone` of them.
struct StreamKEntry {
    GemmTile tile;
    ElementCopies copies;
    double start, load, piece, alone;

    constexpr unsigned most() const {
        return static_cast<unsigned>(tile.min_blocks) * gemm_multiprocessors;
    }
};

// clang-format off
inline constexpr StreamKEntry stream_k_table[] = {
    //  block m,n,k    warp m,n  thread m,n  stages  blocks  loaders, registers, loads  copies  start, load, piece, alone
    {{ 64,  64,  8,  32, 32,   8, 4,  3,  4},                {2,  8}, 2.79, 0.0296, 0.222, 1.32},
    {{128, 128,  8,  64, 32,   8, 8,  3,  1,  0, 0, 4, 12},  {2, 32}, 1.86, 0.0921, 1.953, 1.02},
    {{ 96,  64,  8,  48, 32,  12, 4,  3,  3},                {2, 24}, 2.39, 0.0384, 0.551, 1.15},
    {{ 64,  96,  8,  16, 96,   4, 12, 3,  3},                {2, 24}, 2.25, 0.0397, 0.559, 1.18},
    {{160,  64,  8,  80, 32,  20, 4,  3,  2},                {2, 40}, 2.30, 0.0599, 1.021, 1.13},
};
// clang-format on
inline constexpr int stream_k_entries = std::size(stream_k_table);

/// As exact as cuBLAS, which cuts a k into parts of 75 or more.
inline constexpr int stream_k_chain = 8;          // steps
inline constexpr unsigned stream_k_shortest = 3;  // steps of a block

/// The tiles of some products, one after the other, `steps` of block_k each, cut for blocks: each
/// has `each` steps in a row, of one tile or of several. Tiles begin `apart` steps from each other,
/// as many as they have; or more, a multiple of `each`, so that all are cut alike.
struct StreamKCut {
    unsigned tiles;  // of a product
    unsigned all;    // steps
    unsigned steps, each;
    unsigned apart = steps;

    constexpr unsigned blocks() const { return (all + each - 1) / each; }
    constexpr unsigned tiles_of_all() const { return all / apart; }
    /// Whether some tile has pieces.
    constexpr bool cuts() const { return each % apart != 0 && each < all; }
};

/// The same, as kernels read it.
struct StreamK : StreamKCut {
    int k, block_k;
    Divisor by_tiles{tiles}, by_apart{apart}, by_each{each};

    constexpr StreamK(const StreamKCut& cut, std::int64_t all_k, int of_step)
        : StreamKCut(cut), k(static_cast<int>(all_k)), block_k(of_step) {}

    /// What a block makes of a tile: steps from `first` to `end`. Pieces count from tile to tile
    /// and from block to block, so that the sum of both numbers is a piece's own.
    struct Piece {
        unsigned tile;
        int first, end;
        constexpr bool exists() const { return first < end; }
    };
    /// A block's number `turn`.
    constexpr Piece piece(unsigned block, unsigned turn) const {
        const unsigned begin = block * each, own = by_apart.quotient(begin), tile = own + turn;
        const unsigned beyond = all - begin < each ? all : begin + each;
        const int end = static_cast<int>(beyond - tile * apart), whole = static_cast<int>(steps);
        return {tile, turn == 0 ? static_cast<int>(begin - own * apart) : 0,
                end < whole ? end : whole};
    }
    constexpr bool is_whole(const Piece& piece) const {
        return piece.end - piece.first == static_cast<int>(steps);
    }
    /// The k of the first so many steps. The first one takes what is not whole.
    constexpr int k_of(int first_steps) const {
        return first_steps == 0 ? 0 : k - (static_cast<int>(steps) - first_steps) * block_k;
    }
    /// A tile's blocks.
    constexpr unsigned first_block(unsigned tile) const { return by_each.quotient(tile * apart); }
    constexpr unsigned last_block(unsigned tile) const {
        return by_each.quotient(tile * apart + steps - 1);
    }
};

struct GemmStreamKPlan {
    int entry = -1;  // of stream_k_table
    StreamKCut cut = {};
    double microseconds = 0;

    constexpr bool fits() const { return entry >= 0; }
};

/// What pieces leave: at most so many bytes.
constexpr std::int64_t stream_k_bytes(int entry, const StreamKCut& cut) {
    const GemmTile& t = stream_k_table[entry].tile;
    const std::int64_t pieces = std::int64_t{cut.blocks()} + cut.tiles_of_all();
    return cut.cuts() ? pieces * t.block_m * t.block_n * static_cast<int>(sizeof(float)) : 0;
}

/// Of blocks that multiprocessors have all at once.
constexpr double stream_k_microseconds(int entry, const StreamKCut& cut) {
    constexpr double sums = 0.56, bytes = 2.97e6, of_tile = 0.005;  // each piece
    const StreamKEntry& e = stream_k_table[entry];
    const unsigned together = (cut.blocks() + gemm_multiprocessors - 1) / gemm_multiprocessors;
    const bool even = cut.each % cut.apart == 0 || cut.apart % cut.each == 0;
    const unsigned pieces = even ? std::max(cut.each / cut.apart, 1U) : cut.each / cut.apart + 2;
    const double share = together == 1 ? e.alone : together;
    const auto each = static_cast<double>(cut.each * static_cast<unsigned>(e.tile.block_k));
    const double time = e.start + (e.load * each + e.piece * pieces) * share;
    const auto left = static_cast<double>(stream_k_bytes(entry, cut));
    return time + (cut.cuts() ? sums + left / bytes + of_tile * (cut.apart / cut.each) : 0);
}

/// `count` products in an entry's tiles, cut alike for so many blocks a tile, or fewer.
constexpr StreamKCut stream_k_alike(int entry, std::int64_t m, std::int64_t n, std::int64_t k,
                                    std::int64_t count, unsigned blocks) {
    const GemmTile& t = stream_k_table[entry].tile;
    const auto pieces = [](std::int64_t of, int extent) {
        return static_cast<unsigned>((of + extent - 1) / extent);
    };
    const unsigned tiles = pieces(m, t.block_m) * pieces(n, t.block_n);
    const unsigned steps = pieces(k, t.block_k);
    const unsigned each = std::max((steps + blocks - 1) / blocks, stream_k_shortest);
    const unsigned apart = (steps + each - 1) / each * each;
    return {tiles, tiles * static_cast<unsigned>(count) * apart, steps, each, apart};
}

/// The fastest plan that takes at most `memory` bytes; of a batch (`alike`), of those that cut all
/// tiles alike, the smallest ones; none where k is short or very long, or C very large.
constexpr GemmStreamKPlan plan_gemm_stream_k(std::int64_t m, std::int64_t n, std::int64_t k,
                                             std::size_t memory, std::int64_t count = 1,
                                             bool alike = false) {
    constexpr std::int64_t shortest = 96, longest = 1 << 20, most_elements = 1 << 26;
    constexpr std::int64_t most_steps = 1 << 29;
    GemmStreamKPlan fastest;
    if (k < shortest || k > longest || m > most_elements / n || count > longest) return fastest;
    for (int e = 0; e < (alike ? 1 : stream_k_entries); ++e) {
        StreamKCut cut = stream_k_alike(e, m, n, k, 1, 1);
        const std::int64_t tiles = cut.tiles * count;
        const unsigned most = stream_k_table[e].most();
        if (tiles > 2 * most || tiles * cut.steps > most_steps) continue;  // more were not timed
        const auto consider = [&](const StreamKCut& x) {
            if (x.blocks() > most || static_cast<std::size_t>(stream_k_bytes(e, x)) > memory)
                return;
            const double time = stream_k_microseconds(e, x);
            if (!fastest.fits() || time < fastest.microseconds) fastest = {e, x, time};
        };
        // As many blocks for each multiprocessor, or for each tile.
        cut.all = cut.tiles * cut.steps;
        cut.apart = cut.steps;
        for (unsigned places = gemm_multiprocessors; places <= most;
             places += gemm_multiprocessors) {
            cut.each = std::max((cut.all + places - 1) / places, stream_k_shortest);
            if (!alike) consider(cut);
            if (const auto blocks = places / static_cast<unsigned>(tiles); blocks > 0)
                consider(stream_k_alike(e, m, n, k, count, blocks));
        }
    }
    return fastest;
}

}  // namespace tinyblas
