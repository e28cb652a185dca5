// SPDX-License-Identifier: MIT
// How the rung sliced adds up what slices, the blocks of a cluster and the parts of k have summed,
// always in the same order, and ends in C.
//
//   slices of a block   in shared memory
//   ranks of a cluster  each block adds up a segment of the tile, which the others push into its
//                       shared memory; where there are no clusters, as parts are
//   parts               through memory: of `fan` neighbours the one that ends last adds them up,
//                       and of those groups likewise
#pragma once

#include <cstdint>

#include "parts.cuh"
#include "sliced_table.hpp"
#include "sliced_work.hpp"

namespace tinyblas {

/// The place of a block's tile.
struct SlicedPlace {
    std::int64_t i, j;  // its first element in C
    unsigned tile;      // its number
    unsigned rank, part;
};

/// Of 16 bytes of a tile, numbered so that neighbours in memory have neighbouring numbers.
template <int entry>
struct SlicedVector {
    static constexpr GemmTile t = sliced_table[entry].tile.tile;
    int row, column;
    __device__ __forceinline__ SlicedVector(int number, bool by_column)
        : row(by_column ? number % t.block_m : number / (t.block_n / 4)),
          column((by_column ? number / t.block_m : number % (t.block_n / 4)) * 4) {}
};

template <int count>
__device__ __forceinline__ void add_to(float (&sum)[count], const float (&more)[count]) {
#pragma unroll
    for (int e = 0; e < count; ++e) sum[e] += more[e];
}

/// The sum of `count` vectors, which load(vector, number) makes: of their first half and of their
/// other one, and so on, for smaller errors than one after the other.
template <int count, class Load>
__device__ __forceinline__ void sum_in_pairs(float (&sum)[4], Load&& load, int first = 0) {
    if constexpr (count == 1) return load(sum, first);
    if constexpr (count > 1) {
        sum_in_pairs<count / 2>(sum, load, first);
        float more[4];
        sum_in_pairs<count - count / 2>(more, load, first + count / 2);
        add_to(sum, more);
    }
}

/// The sum of `count` vectors, `stride` elements apart.
__device__ __forceinline__ void add_partials(float (&sum)[4], const float* from, unsigned count,
                                             std::int64_t stride) {
    constexpr unsigned at_once = 4;  // on their way
    device::load_fresh(sum, from);
#pragma unroll 1
    for (unsigned q = 1; q < count; q += at_once) {
        float more[at_once][4];
#pragma unroll
        for (unsigned u = 0; u < at_once; ++u)
            if (q + u < count) device::load_fresh(more[u], from + (q + u) * stride);
#pragma unroll
        for (unsigned u = 0; u < at_once; ++u)
            if (q + u < count) add_to(sum, more[u]);
    }
}

/// Waits for all threads of the block that multiply; `all`: for those that only load, too.
template <int entry, bool all = false>
__device__ __forceinline__ void meet() {
    constexpr SlicedTile t = sliced_tile(entry, device::reallocates_registers);
    if constexpr (t.tile.loaders > 0)
        device::role_barrier(all ? 1 : 2, all ? t.threads() : t.multipliers());
    else
        __syncthreads();
}

/// Whether a row's four neighbours from `at` on, in column j, can be stored as 16 bytes.
__device__ __forceinline__ bool as_vector(const MatrixView<float>& c, std::int64_t j,
                                          const float* at) {
    return c.column_stride == 1 && j + 4 <= c.columns &&
           reinterpret_cast<std::uintptr_t>(at) % 16 == 0;
}

/// Called by all threads of a block that multiply: vectors first ... last - 1 of its unit's sums,
/// which value(sum, number) makes, become a part of C, or are left for another block. `old`: C's
/// old elements, if it is read.
template <int entry, class Value>
__device__ __forceinline__ void finish_parts(const SlicedWork& work, const SlicedPlace& at,
                                             int first, int last, const float* old, Value value) {
    constexpr SlicedTile t = sliced_table[entry].tile;
    constexpr std::int64_t tile_size = t.vectors() * 4;
    const SlicedCut& cut = work.cut;
    const bool by_column = work.c.row_stride == 1 && work.c.column_stride != 1;
    const int thread = static_cast<int>(threadIdx.x);
    const auto each = [&](auto&& visit) {
#pragma unroll 1
        for (int number = first + thread; number < last; number += t.multipliers()) {
            float sum[4];
            visit(sum, number);
        }
    };
    const auto put = [&](const float(&sum)[4], int number) {
        const SlicedVector<entry> v(number, by_column);
        float values[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) values[e] = work.alpha * sum[e];
        if (work.beta != 0) {
            float before[4];
            device::load_vector(before, old + v.row * t.tile.block_n + v.column);
#pragma unroll
            for (int e = 0; e < 4; ++e) device::multiply_add(values[e], work.beta, before[e]);
        }
        const MatrixView<float>& c = work.c;
        const std::int64_t i = at.i + v.row, j = at.j + v.column;
        if (i >= c.rows) return;
        float* const to = &c(i, j);
        if (as_vector(c, j, to))
            device::store_global(to, values);
        else
#pragma unroll
            for (int e = 0; e < 4; ++e)
                if (j + e < c.columns) to[e * c.column_stride] = values[e];
    };
    if (!work.through_memory())
        return each([&](float(&sum)[4], int number) {
            value(sum, number);
            put(sum, number);
        });

    // Slots of the tile, one a unit; in a cluster, a rank uses its segment of its part's.
    const unsigned unmerged = work.cluster ? cut.parts : cut.units();
    float* const slots = work.partials + at.tile * (unmerged * tile_size);
    const unsigned slot = work.cluster ? at.part : at.part << cut.ranks_log2 | at.rank;
    unsigned* counters = work.counters + at.tile * cut.counters() +
                         (work.cluster ? at.rank * (cut.groups() + 1) : 0);
    each([&](float(&sum)[4], int number) {
        value(sum, number);
        device::store_global(slots + slot * tile_size + number * 4, sum);
    });
    auto& turn = device::shared<struct SlicedTurn, unsigned>();
    // Levels: ranks, if not merged; groups of `fan` parts; the groups.
    unsigned stride = 1;  // slots between those that a level adds up
    unsigned slots_left = unmerged;
    for (int level = work.cluster ? 1 : 0; level < 3; ++level) {
        const unsigned most = level == 0 ? cut.ranks() : level == 1 ? cut.fan : cut.groups();
        const unsigned group = slot / (stride * most);
        const unsigned groups = (slots_left + most - 1) / most;
        const unsigned members = group + 1 < groups ? most : slots_left - group * most;
        float* const start = slots + std::int64_t{group} * (stride * most) * tile_size;
        meet<entry>();
        if (thread == 0) turn = device::take_turn(counters + group, members - 1);
        meet<entry>();
        if (turn != members - 1) return;
        const bool end = groups == 1;
        each([&](float(&sum)[4], int number) {
            add_partials(sum, start + number * 4, members, stride * tile_size);
            if (end)
                put(sum, number);
            else
                device::store_global(start + number * 4, sum);
        });
        if (end) return;
        counters += groups;
        stride *= most;
        slots_left = groups;
    }
}

/// What a block of a cluster gets: each rank's sums of its segment, in the order of ranks.
template <int entry>
using SlicedReceived = float[sliced_table[entry].tile.vectors()][4];

}  // namespace tinyblas
