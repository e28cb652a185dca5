// SPDX-License-Identifier: MIT
// Batches of products of matrices without gaps: whether they pay, in which tiles, and how many
// products a block. Bounds are measured on an NVIDIA H200, on squares from 2 to 84 and random
// extents from 1 to 110; on an H100, of matrices that nearly fill a tile.
#pragma once

#include <cstdint>
#include <iterator>

#include "batched_extents.hpp"
#include "tiles.hpp"

namespace tinyblas {

/// A thread owns `share` rows of `share` columns of a C.
struct GemmPiecesTile {
    Scalar type;
    int share;
    int lines;       // of k, that the main loop's body holds
    int threads;     // a block, at most
    int min_blocks;  // launch bounds
};

inline constexpr GemmPiecesTile gemm_pieces_table[] = {
    {Scalar::float32, 6, 2, 256, 3}, {Scalar::float32, 8, 1, 128, 4},
    {Scalar::float64, 6, 1, 128, 4}, {Scalar::float32, 4, 1, 256, 4},
    {Scalar::float64, 4, 1, 256, 4},
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
    return plan.bytes <= most_bytes ? plan : GemmPiecesPlan{};
}

/// The entry that is faster for such products; -1: none has room. Of floats, a warp takes 1 / 0.6
/// of the time with 8 x 8 sums a thread.
constexpr int gemm_pieces_entry(Scalar type, const GemmBatchExtents& x) {
    const bool is_float = type == Scalar::float32, together = x.pieces == GemmPieces::together;
    const auto plan = [&](int entry) { return plan_gemm_pieces(entry, x.m, x.n, x.k, together); };
    // One thread for a product of 5 or 6 rows, as long as few of its matrices meet in a bank.
    const bool by_six = is_float && x.smallest() > 4 && x.largest() <= 6 && x.k % 4 != 0;
    if (x.largest() <= 8 && !by_six) return plan(is_float ? 3 : 4).entry;
    if (!is_float) return plan(2).entry;
    const GemmPiecesPlan six = plan(0), eight = plan(1);
    if (six.entry < 0 || eight.entry < 0) return six.entry < 0 ? eight.entry : six.entry;
    return eight.threads() * six.each < 0.6 * six.threads() * eight.each ? 1 : 0;
}

/// From how many products on pieces are faster than the tiles that are edge x edge, the smallest
/// ones that hold C.
struct GemmPiecesLeast {
    int edge;
    std::int64_t floats, doubles;
};
inline constexpr GemmPiecesLeast gemm_pieces_least[] = {
    {4, 40000, 40000}, {8, 8000, 8000}, {16, 4000, 4000}, {32, 1000, 3000},
    {48, 750, 4000},   {64, 600, 4000}, {96, 160, 250}};

/// Whether warps meet in banks of shared memory: many lines of which each begins in the same ones,
/// or many matrices.
constexpr bool gemm_pieces_meet(Scalar type, const GemmBatchExtents& x) {
    if (x.largest() <= 8) {  // by so many lanes each: four matrices may meet, of doubles eight
        const int lanes = (x.m > 4 ? 2 : 1) * (x.n > 4 ? 2 : 1);
        const auto meet = [&](std::int64_t elements) { return elements % (8 * lanes) == 0; };
        return (type == Scalar::float32 || lanes < 4) &&
               (meet(x.m * x.k) || meet(x.k * x.n) || meet(x.m * x.n));
    }
    const auto multiple = [&](std::int64_t elements, int words) {
        return elements * size_of(type) % (words * 4) == 0;
    };
    const bool together = x.pieces == GemmPieces::together;
    return (x.a_along_k && multiple(x.k, 32)) || (x.b_along_k && multiple(x.k, 16)) ||
           (together && x.m * x.n < 576 && (multiple(x.m * x.k, 32) || multiple(x.k * x.n, 32)));
}

/// Whether these matrices are better taken as pieces than in tiles.
constexpr bool gemm_pieces_pay(Scalar type, const GemmBatchExtents& x) {
    const bool is_float = type == Scalar::float32, together = x.pieces == GemmPieces::together;
    const std::int64_t largest = x.largest();
    if (x.pieces == GemmPieces::none || x.k == 0 || gemm_pieces_meet(type, x)) return false;
    if (largest <= 8 && (!together || (x.m == x.n && x.n == x.k && x.m % 4 == 0)))
        return false;  // too small to be copied one by one; or there is a kernel for them
    for (const GemmPiecesLeast& of : gemm_pieces_least) {
        if (largest > of.edge) continue;
        std::int64_t least = is_float ? of.floats : of.doubles;
        if (of.edge == 16 && !together) least *= 2;
        if (of.edge == 96 && x.smallest() <= 64) least *= 4;  // smaller tiles fit
        if (of.edge <= 8) return x.count >= least;
        // Tiles do better the more of them is used.
        const double used = static_cast<double>(x.m * x.n) / (of.edge * of.edge);
        if (is_float) {
            const bool vectors = x.n % 4 == 0 && x.k % 4 == 0;  // which tiles copy faster
            if (vectors && used > 0.67)
                least *= 6;
            else if (used > 0.93 && of.edge != 48)
                least *= 2;
            const bool full = of.edge >= 64 && vectors && used > 0.93;
            const bool long_k = of.edge == 16 && x.k > 50;
            return x.count >= least && !full && !long_k;
        }
        // The tensor cores' tiles do better the longer k is, too.
        if (x.k <= 20 && of.edge > 16 && of.edge < 96) least /= 3;
        const bool full = used > 0.53 && x.k > 8;
        const bool long_k = x.k > largest || (of.edge == 64 && x.k > 20) ||
                            (of.edge == 96 && x.smallest() <= 64 && x.k > 40);
        const bool small_pieces = of.edge == 16 && !together;
        return x.count >= least && !full && !long_k && !small_pieces;
    }
    return false;
}

}  // namespace tinyblas
