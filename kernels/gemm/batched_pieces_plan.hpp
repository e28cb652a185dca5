// SPDX-License-Identifier: MIT
// Batches of products of matrices without gaps: in which tiles, how many products a block, and how
// long that takes.
#pragma once

#include <cstdint>
#include <iterator>

#include "batched_extents.hpp"
#include "tiles.hpp"

namespace tinyblas {

/// Of the cycles that instructions take to be issued, and loads in shared memory, what shows; and
/// microseconds of a k of one block. Fitted to 2,080 batches with extents to 112 (NVIDIA H100).
struct GemmPiecesTimes {
    double issue, load, of_k;
};

/// A thread owns `share` rows of `share` columns of a C.
struct GemmPiecesTile {
    Scalar type;
    int share;
    int lines;       // of k, that the main loop's body holds
    int threads;     // a block, at most
    int min_blocks;  // launch bounds
    GemmPiecesTimes times;
};

inline constexpr GemmPiecesTile gemm_pieces_table[] = {
    {Scalar::float32, 6, 2, 256, 3, {0.33, 0.72, 0.027}},
    {Scalar::float32, 8, 1, 128, 4, {0.24, 0.94, 0.052}},
    {Scalar::float64, 6, 1, 128, 4, {0.37, 0.86, 0.061}},
    {Scalar::float32, 4, 1, 256, 4, {0.24, 0.76, 0.014}},
    {Scalar::float64, 4, 1, 256, 4, {0.31, 1.05, 0.047}},
};
inline constexpr int gemm_pieces_entries = std::size(gemm_pieces_table);

/// How many products a block makes, and where their matrices lie in its shared memory, in elements:
/// those of A from 0 on, those of B from of_b on, then those of C from 0 on. Before each piece up
/// to 16 bytes are free, so that it begins as far from a multiple of 16 as in memory.
struct GemmPiecesPlan {
    int entry = -1;                // of gemm_pieces_table; -1: no block has room
    int each = 0;                  // products a block
    int lanes_m = 0, lanes_n = 0;  // threads a product
    int a_apart = 0, b_apart = 0, c_apart = 0, of_b = 0;
    int bytes = 0;          // of shared memory
    int at_once = 0;        // blocks that a multiprocessor holds
    bool together = false;  // a block's matrices of an operand are one piece

    constexpr int lanes() const { return lanes_m * lanes_n; }
    constexpr int threads() const { return (each * lanes() + 31) / 32 * 32; }
};

/// The plan for tiles of `entry`. `together`: from product to product there is no gap.
constexpr GemmPiecesPlan plan_gemm_pieces(int entry, std::int64_t m, std::int64_t n, std::int64_t k,
                                          bool together) {
    constexpr std::int64_t longest = 1024;
    constexpr int least_bytes = 6 << 10, most_bytes = 72 << 10;  // that a block wants, and can have
    if (m < 1 || n < 1 || k < 1 || m > longest || n > longest || k > longest) return {};
    const GemmPiecesTile& t = gemm_pieces_table[entry];
    const int size = size_of(t.type), vector = 16 / size;
    const auto pieces = [](std::int64_t whole, std::int64_t part) {
        return static_cast<int>((whole + part - 1) / part);
    };
    const auto room = [&](std::int64_t elements) {  // of a piece that begins anywhere
        return pieces(elements + vector - 1, vector) * vector;
    };
    // Odd numbers of vectors, so that equal places of matrices lie in different banks.
    const auto apart = [&](std::int64_t elements) {
        return together ? static_cast<int>(elements) : (room(elements) / vector | 1) * vector;
    };
    GemmPiecesPlan plan = {
        entry, 0, pieces(m, t.share), pieces(n, t.share), apart(m * k), apart(k * n), apart(m * n)};
    plan.together = together;
    if (plan.lanes() > t.threads) return {};
    plan.each = pieces(least_bytes, (plan.a_apart + plan.b_apart) * size);
    if (plan.each > t.threads / plan.lanes()) plan.each = t.threads / plan.lanes();
    // A quarter of a block's threads at most have nothing to do.
    while (4 * plan.each * plan.lanes() < 3 * plan.threads() &&
           (plan.each + 1) * plan.lanes() <= t.threads)
        ++plan.each;
    plan.of_b = room(plan.each * plan.a_apart);
    const int operands = plan.of_b + room(plan.each * plan.b_apart);
    const int sums = room(plan.each * plan.c_apart);
    plan.bytes = (operands > sums ? operands : sums) * size;
    constexpr int shared = 228 << 10, besides = 1 << 10;  // bytes: of all blocks, of each
    const int by_shared = shared / (plan.bytes + besides);
    const int by_registers = t.threads * t.min_blocks / plan.threads();
    plan.at_once = by_shared < by_registers ? by_shared : by_registers;
    return plan.bytes <= most_bytes ? plan : GemmPiecesPlan{};
}

/// In how many turns a warp loads an element of A (`of_a`) or B for each lane: as many as there are
/// different ones in a bank, at most. The operand's `lines`, which the lanes share, begin `stride`
/// elements apart, its matrices `apart`.
constexpr int gemm_pieces_turns(const GemmPiecesPlan& plan, int size, std::int64_t lines,
                                std::int64_t stride, std::int64_t apart, bool of_a) {
    int loads[32] = {};
    const unsigned last_bank = size == 4 ? 31 : 15;
    const int shared = of_a ? plan.lanes_m : plan.lanes_n;  // lines that a product's lanes begin at
    const int step = of_a ? plan.lanes_n : 1;               // lanes from one to the next
    int most = 1;
    for (int g = 0; g < plan.each && g * plan.lanes() < 32; ++g)
        for (int line = 0; line < shared && line < lines && g * plan.lanes() + line * step < 32;
             ++line) {
            int& own = loads[static_cast<unsigned>(g * apart + line * stride) & last_bank];
            if (++own > most) most = own;
        }
    return most;
}

/// Estimated microseconds of a batch that takes so long but for what all blocks share: until one
/// block has ended; multiprocessors, for all of them; memory. What of these is shorter than the
/// longest one is not all hidden behind it.
constexpr double gemm_batch_joined(double one, double all, double memory) {
    double longest = one > all ? one : all;
    if (memory > longest) longest = memory;
    return 1.5 + longest + 0.4 * (one + all + memory - longest);
}
/// To read A and B and write C, as fast as an H200 copies.
constexpr double gemm_batch_memory(Scalar type, const GemmBatchExtents& x) {
    return static_cast<double>(x.count) * static_cast<double>(x.k * (x.m + x.n) + x.m * x.n) *
           size_of(type) / 4.3e6;
}

/// Estimated microseconds of these matrices as pieces; 0 if there is no room.
constexpr double gemm_pieces_microseconds(int entry, const GemmBatchExtents& x) {
    const GemmPiecesTile& t = gemm_pieces_table[entry];
    const int size = size_of(t.type);
    const GemmPiecesPlan plan =
        plan_gemm_pieces(entry, x.m, x.n, x.k, x.pieces == GemmPieces::together);
    if (plan.entry < 0) return 0;
    const int turns =
        gemm_pieces_turns(plan, size, x.m, x.a_along_k ? x.k : 1, plan.a_apart, true) +
        gemm_pieces_turns(plan, size, x.n, x.b_along_k ? x.k : 1, plan.b_apart, false);
    // A multiprocessor's cycles for a k of a block: to issue it, and to load from shared memory.
    const int issue = t.share * t.share * (size / 4) + 2 * t.share + 3;
    const double k_cycles =
        plan.threads() / 32 * (t.times.issue * issue / 4 + t.times.load * t.share * turns);
    const auto k = static_cast<double>(x.k);
    const double blocks =  // a multiprocessor
        static_cast<double>((x.count + plan.each - 1) / plan.each) / gemm_multiprocessors;
    return gemm_batch_joined(2.4 + t.times.of_k * k, blocks * k * k_cycles / 1700,
                             0.9 * gemm_batch_memory(t.type, x));
}

/// The entry that is estimated to be the fastest, and how long that takes; -1: none has room.
struct GemmPiecesFastest {
    int entry = -1;
    double microseconds = 0;

    constexpr GemmPiecesFastest(Scalar type, const GemmBatchExtents& x) {
        for (int e = 0; e < gemm_pieces_entries; ++e) {
            if (gemm_pieces_table[e].type != type) continue;
            const double time = gemm_pieces_microseconds(e, x);
            if (time == 0 || (entry >= 0 && time >= microseconds)) continue;
            entry = e;
            microseconds = time;
        }
    }
};

}  // namespace tinyblas
