// SPDX-License-Identifier: MIT
// Batches of products of matrices without gaps: in which tiles, how many products a block, and how
// long that takes.
#pragma once

#include <cstdint>
#include <iterator>

#include "batched_extents.hpp"
#include "tiles.hpp"

namespace tinyblas {

/// Estimated microseconds of a batch: to start, and of a k of a block; of a warp besides; of what
/// an H200 takes to copy what is read, and written; of pointers, besides those of a product. Of the
/// cycles that instructions take to be issued, and loads in shared memory, what shows.
struct GemmPiecesTimes {
    double start, of_k, issue, load, warp, read, write, pointers, of_pointers;
};

/// A thread owns share_m rows of share_n columns of a C.
struct GemmPiecesTile {
    Scalar type;
    int share_m, share_n;
    bool ahead;      // a thread loads the next k's elements while it multiplies
    int lines;       // else: of k, that the main loop's body holds
    int threads;     // a block, at most
    int min_blocks;  // launch bounds
    GemmPiecesTimes times;
};

// clang-format off
inline constexpr GemmPiecesTile gemm_pieces_table[] = {
    // type           share ahead  lines threads blocks  start, of k, issue, load, warp, read, write, pointers, of each
    {Scalar::float32, 6, 6, false, 2,    256,    3,     {2.167, 0.035, 0.557, 0.49, 0.094, 0.296, 0, 0.604, 0.0235}},
    {Scalar::float32, 8, 8, true,  1,    256,    2,     {1.972, 0.0455, 0.528, 0.31, 0.235, 0.496, 0, 0.464, 0.0272}},
    {Scalar::float64, 6, 6, false, 1,    128,    4,     {1.841, 0.104, 0, 0.859, 0.0989, 0.656, 0.468, 1.399, 0.0254}},
    {Scalar::float32, 6, 4, true,  1,    256,    3,     {1.926, 0.0059, 0.782, 0.433, 0.0793, 0, 0.278, 0.316, 0.0217}},
    {Scalar::float64, 4, 4, false, 1,    256,    4,     {1.85, 0.0407, 0.61, 0.425, 0, 0.448, 1.043, 0.829, 0.0198}},
    {Scalar::float32, 4, 8, true,  1,    256,    3,     {2.076, 0.0136, 0.399, 0.547, 0.0892, 0.149, 0.12, 0.387, 0.0244}},
    {Scalar::float32, 4, 4, true,  1,    256,    4,     {1.782, 0.0112, 0.558, 0.496, 0.0568, 0.137, 0.163, 0.413, 0.0136}},
};
// clang-format on
inline constexpr int gemm_pieces_entries = std::size(gemm_pieces_table);

/// How many products a block makes, and where their matrices lie in its shared memory, in elements:
/// those of A from 0 on, those of B from of_b on, then those of C from 0 on; if it is read, its
/// old ones from of_old on, behind all others. Before each piece up to 16 bytes are free, so that
/// it begins as far from a multiple of 16 as in memory.
struct GemmPiecesPlan {
    int entry = -1;                // of gemm_pieces_table; -1: no block has room
    int each = 0;                  // products a block
    int lanes_m = 0, lanes_n = 0;  // threads a product
    int a_apart = 0, b_apart = 0, c_apart = 0, of_b = 0, of_old = 0;
    int bytes = 0;          // of shared memory
    int at_once = 0;        // blocks that a multiprocessor holds
    bool together = false;  // a block's matrices of an operand are one piece

    constexpr bool b_shared() const { return b_apart == 0; }  // all products have the same B
    constexpr bool reads_c() const { return of_old > 0; }
    constexpr int lanes() const { return lanes_m * lanes_n; }
    constexpr int threads() const { return (each * lanes() + 31) / 32 * 32; }
};

/// The plan for tiles of `entry`. `together`: from product to product there is no gap.
constexpr GemmPiecesPlan plan_gemm_pieces(int entry, std::int64_t m, std::int64_t n, std::int64_t k,
                                          bool together, bool b_shared = false,
                                          bool reads_c = false) {
    constexpr std::int64_t longest = 1024;
    // That a block wants, and can have; with C's old elements twice as many.
    constexpr int least_bytes = 6 << 10, most_bytes = 72 << 10;
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
        entry,        0,           pieces(m, t.share_m), pieces(n, t.share_n), apart(m * k),
        apart(k * n), apart(m * n)};
    plan.together = together;
    if (plan.lanes() > t.threads) return {};
    plan.each = pieces(least_bytes, (plan.a_apart + plan.b_apart) * size);
    if (plan.each > t.threads / plan.lanes()) plan.each = t.threads / plan.lanes();
    // A quarter of a block's threads at most have nothing to do.
    while (4 * plan.each * plan.lanes() < 3 * plan.threads() &&
           (plan.each + 1) * plan.lanes() <= t.threads)
        ++plan.each;
    plan.of_b = room(plan.each * plan.a_apart);
    const int operands = plan.of_b + room((b_shared ? 1 : plan.each) * plan.b_apart);
    if (b_shared) plan.b_apart = 0;
    const int sums = room(plan.each * plan.c_apart);
    const auto bytes = [&](int of_c) { return (operands > of_c ? operands : of_c) * size; };
    if (bytes(sums) > most_bytes) return {};
    plan.bytes = bytes(sums);
    if (reads_c) {
        plan.of_old = plan.bytes / size;
        plan.bytes += sums * size;
    }
    constexpr int shared = 228 << 10, besides = 1 << 10;  // bytes: of all blocks, of each
    const int by_shared = shared / (plan.bytes + besides);
    const int by_registers = t.threads * t.min_blocks / plan.threads();
    plan.at_once = by_shared < by_registers ? by_shared : by_registers;
    return plan;
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
    for (int g = 0; g < (apart > 0 ? plan.each : 1) && g * plan.lanes() < 32; ++g)
        for (int line = 0; line < shared && line < lines && g * plan.lanes() + line * step < 32;
             ++line) {
            int& own = loads[static_cast<unsigned>(g * apart + line * stride) & last_bank];
            if (++own > most) most = own;
        }
    return most;
}

/// What an H200 takes to copy so many elements of each of `count` products, in microseconds.
constexpr double gemm_batch_copy(Scalar type, std::int64_t count, std::int64_t elements) {
    return static_cast<double>(count) * static_cast<double>(elements) * size_of(type) / 4.3e6;
}
/// Blocks, one after another or at once, of the multiprocessor that has most of them, while it
/// holds all of its own; else of each, and half a one at the end.
constexpr double gemm_batch_blocks_of_one(std::int64_t blocks, int at_once) {
    const std::int64_t all = (blocks + gemm_multiprocessors - 1) / gemm_multiprocessors;
    return all <= at_once ? static_cast<double>(all)
                          : static_cast<double>(blocks) / gemm_multiprocessors + 0.5;
}

/// Estimated microseconds of these matrices as pieces; 0 if there is no room.
constexpr double gemm_pieces_microseconds(int entry, const GemmBatchExtents& x) {
    const GemmPiecesTile& t = gemm_pieces_table[entry];
    const int size = size_of(t.type);
    const GemmPiecesPlan plan =
        plan_gemm_pieces(entry, x.m, x.n, x.k, x.pieces == GemmPieces::together, x.b_shared);
    if (plan.entry < 0) return 0;
    const int loads =
        t.share_m * gemm_pieces_turns(plan, size, x.m, x.a_along_k ? x.k : 1, plan.a_apart, true) +
        t.share_n * gemm_pieces_turns(plan, size, x.n, x.b_along_k ? x.k : 1, plan.b_apart, false);
    const int issue = t.share_m * t.share_n * (size / 4) + t.share_m + t.share_n + 3;
    const double blocks =
        gemm_batch_blocks_of_one((x.count + plan.each - 1) / plan.each, plan.at_once);
    const double warps = blocks * plan.threads() / 32;
    double of_scheduler = warps / 4;  // of four, the one that has most of them
    if (blocks <= plan.at_once) of_scheduler = (static_cast<int>(warps) + 3) / 4;
    constexpr double cycles = 1700;  // a microsecond
    const auto k = static_cast<double>(x.k);
    const double pointers =
        x.pointers ? t.times.pointers + t.times.of_pointers * plan.each * blocks : 0;
    return t.times.start + pointers + t.times.of_k * k +
           k / cycles * (t.times.issue * of_scheduler * issue + t.times.load * warps * loads) +
           t.times.warp * warps +
           t.times.read * gemm_batch_copy(t.type, x.count, x.k * (x.m + x.n)) +
           t.times.write * gemm_batch_copy(t.type, x.count, x.m * x.n);
}

}  // namespace tinyblas
