// SPDX-License-Identifier: MIT
// Batches of products of matrices without gaps: in which tiles, and how many products a block.
#pragma once

#include <cstdint>
#include <iterator>

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
    {Scalar::float32, 6, 2, 256, 3},
    {Scalar::float32, 8, 1, 128, 4},
    {Scalar::float64, 6, 1, 128, 4},
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
    const auto apart = [&](std::int64_t elements) {
        return together ? static_cast<int>(elements) : room(elements);
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

/// Of the entries for float, the one that is faster: a warp takes 1 / 0.6 of the time with 8 x 8
/// sums a thread. -1: none has room.
constexpr int gemm_pieces_entry_float(std::int64_t m, std::int64_t n, std::int64_t k,
                                      bool together) {
    const GemmPiecesPlan six = plan_gemm_pieces(0, m, n, k, together);
    const GemmPiecesPlan eight = plan_gemm_pieces(1, m, n, k, together);
    if (six.entry < 0 || eight.entry < 0) return six.entry < 0 ? eight.entry : six.entry;
    return eight.threads() * six.each < 0.6 * six.threads() * eight.each ? 1 : 0;
}

}  // namespace tinyblas
