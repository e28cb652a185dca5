// SPDX-License-Identifier: MIT
// The tuning data of gemm's rung sliced: one line a block tile, with what it takes on an H200. The
// rung's plan (sliced_plan.hpp) chooses among them by these times.
#pragma once

#include <iterator>

#include "sliced_work.hpp"
#include "tiles.hpp"

namespace tinyblas {

/// Who owns what of C, and how k is walked: slices of a block hold the whole block tile each, and
/// multiply lines of k in turn.
struct SlicedTile {
    GemmTile tile;
    int slices;

    /// Of a thread's sums, those for which there are as many registers again: where a slice ends a
    /// chain of multiply-adds after some steps, it sets them aside there, and the others in shared
    /// memory, which takes time. Tiles of 16 x 128 take 1 to 3 % longer with it (an H200).
    constexpr int aside_in_registers() const { return sums() < 48 ? sums() : 48; }
    constexpr int aside_in_shared() const { return sums() - aside_in_registers(); }
    constexpr bool sets_aside() const { return sums() <= 48 || (sums() == 64 && tile.in_order()); }
    /// Steps of the longest chain of so many: chains are as long as each other.
    constexpr int chain_steps(int steps) const {
        const int most = aside_in_shared() == 0 ? 8 : 16;
        const int chains = sets_aside() ? (steps + most - 1) / most : 1;
        return chains > 1 ? (steps + chains - 1) / chains : steps;
    }
    /// k of its longest chain.
    constexpr int chain(int depth) const {
        const int most = chain_steps((depth + tile.block_k - 1) / tile.block_k) * lines();
        return most < depth / slices ? most : depth / slices;
    }

    constexpr int sums() const { return tile.thread_m * tile.thread_n; }  // of a thread
    constexpr int slice_threads() const {
        return tile.block_m / tile.thread_m * (tile.block_n / tile.thread_n);
    }
    constexpr int multipliers() const { return slices * slice_threads(); }
    constexpr int threads() const { return multipliers() + tile.loaders; }
    constexpr int lines() const { return tile.block_k / slices; }  // a slice's, of a stage
    constexpr int vectors() const { return tile.block_m * tile.block_n / 4; }  // of a block tile
    // What is left of a block's registers for the others where some threads only load.
    constexpr int multiplier_registers() const {
        const int at_start = 65536 / tile.min_blocks / threads() / 8 * 8 * threads();
        return (at_start - tile.loaders * tile.loader_registers) / multipliers() / 8 * 8;
    }
    // Threads that load a tile of an operand: as many as share it evenly, however they walk.
    constexpr int loaders(int extent) const {
        const auto even = [extent](int count) {
            return count % extent == 0 || extent % count == 0;
        };
        int count = tile.loaders > 0 ? tile.loaders : multipliers();
        while (!even(count) || !even(count * 4) || extent * tile.block_k % (count * 4) != 0)
            count -= 8;
        return count;
    }
};

/// Microseconds on an H200, fitted to 22,000 measurements of 2,600 products, each by several
/// entries and cuts (the root mean square is 3 to 4 %, 5 to 8 of the four smallest tiles): of a
/// launch, of a step of block_k in each block whose operands come by vectors, of a block besides,
/// and of adding up a cluster's ranks. Blocks of a multiprocessor count one after the other.
struct SlicedTimes {
    double launch, step, block, cluster;
    double longer_a[2], longer_b[2];  // by how much a step takes longer: along k, along i

    constexpr double step_of(const SlicedLayout& x) const {
        const auto longer = [](const double(&by)[2], SlicedWalk walk) {
            return walk == SlicedWalk::vectors ? 0 : by[walk == SlicedWalk::along_k ? 0 : 1];
        };
        const double usual = 0.4 * (longer_a[0] + longer_a[1] + longer_b[0] + longer_b[1]);
        return step * (1 + (x.known ? longer(longer_a, x.a) + longer(longer_b, x.b) : usual));
    }
};

struct SlicedEntry {
    SlicedTile tile;
    SlicedTimes times;
};

// clang-format off
inline constexpr SlicedEntry sliced_table[] = {
    //  block m,n,k    warp m,n  thread m,n  stages  blocks  loaders, registers, loads  slices  launch  step  block  cluster  longer: A along k, i  B
    {{{ 16,  16, 64,   16,  16,    4, 4,  3,  1},                   8},  {1.35, 0.276, 0.21, 0.48, {-0.02, 0.02}, {0.03, 0.05}}},
    {{{ 16,  32, 64,   16,  32,    4, 4,  3,  1},                   8},  {1.31, 0.425, 0.37, 0.48, {-0.05, -0.02}, {0.13, 0.03}}},
    {{{ 16,  64, 64,   16,  64,    4, 8,  3,  1, 128},              8},  {0.48, 0.581, 1.62, 0.57, {-0.06, 0.01}, {0.17, 0.10}}},
    {{{ 16, 128, 32,   16, 128,    8, 8,  5,  1, 128},              8},  {0.62, 0.535, 1.99, 0.32, {-0.07, 0.01}, {0.26, 0.18}}},
    {{{ 24, 128, 64,   24, 128,   12, 8,  3,  1, 128},              8},  {0.87, 1.333, 2.59, 0.55, {-0.01, 0.02}, {0.21, 0.11}}},
    {{{ 32,  32, 64,   32,  32,    8, 4,  3,  1, 128},              8},  {0.52, 0.525, 1.56, 0.56, {-0.02, 0.13}, {0.07, 0.15}}},
    {{{ 48,  32, 64,   48,  32,   12, 4,  3,  1, 128},              8},  {0.60, 0.774, 1.98, 0.30, {0.00, 0.06}, {0.04, 0.07}}},
    {{{ 32,  64, 64,   32,  64,    8, 8,  3,  1, 128, 0, 4, 12},    8},  {0.65, 0.826, 2.59, 0.44, {-0.01, 0.09}, {0.09, 0.11}}},
    {{{ 40,  64, 64,   40,  64,   20, 4,  3,  1, 128},              8},  {0.76, 1.048, 2.69, 0.51, {0.03, 0.10}, {0.10, 0.10}}},
    {{{ 48,  64, 64,   48,  64,   12, 8,  3,  1, 128},              8},  {0.88, 1.186, 2.80, 0.51, {0.02, 0.06}, {0.10, 0.10}}},
    {{{ 64,  64, 64,   32,  64,    8, 8,  4,  1, 128, 0, 4, 12},    4},  {1.20, 1.380, 3.37, 0.56, {0.06, 0.12}, {0.09, 0.11}}},
    {{{ 64,  96, 64,   32,  96,    8,12,  3,  1, 128},              4},  {1.28, 2.100, 3.41, 0.40, {0.04, 0.09}, {0.09, 0.08}}},
    {{{ 96,  96, 64,   48,  96,   12,12,  3,  1, 128, 40},          4},  {1.62, 3.093, 4.59, 0.31, {0.04, 0.12}, {0.08, 0.09}}},
};
// clang-format on
inline constexpr int sliced_entries = std::size(sliced_table);

/// Whether an entry also makes batches: the one of which these gain most, alone or with another.
constexpr bool sliced_batches(int entry) {
    const GemmTile& t = sliced_table[entry].tile.tile;
    return t.block_m == 32 && t.block_n == 64;
}

/// The entry's tile. Machine code that cannot pass registers on has all threads load where it would
/// need to: the sums are the same.
constexpr SlicedTile sliced_tile(int entry, bool reallocates) {
    SlicedTile tile = sliced_table[entry].tile;
    if (tile.tile.loader_registers > 0 && !reallocates)
        tile.tile.loaders = tile.tile.loader_registers = 0;
    return tile;
}

constexpr bool valid(const SlicedTile& s) {
    const GemmTile& t = s.tile;
    return t.block_m % t.warp_m == 0 && t.block_n % t.warp_n == 0 &&
           t.warp_m / t.thread_m * (t.warp_n / t.thread_n) ==
               (s.slice_threads() < 32 ? s.slice_threads() : 32) &&
           t.thread_m % 4 == 0 && t.thread_n % 4 == 0 && t.block_k % s.slices == 0 &&
           (s.lines() % 2 == 0) && s.threads() % 32 == 0 && s.threads() <= 1024 && t.stages >= 2 &&
           t.stages * t.block_k * (t.block_m + t.block_n + 8) * 4 <= 160 * 1024;
}
constexpr bool sliced_table_valid() {
    for (const SlicedEntry& entry : sliced_table)
        if (!valid(entry.tile)) return false;
    return true;
}
static_assert(sliced_table_valid(), "a line of sliced_table does not divide, or exceeds a block");

}  // namespace tinyblas
