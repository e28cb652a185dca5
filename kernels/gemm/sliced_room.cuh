// SPDX-License-Identifier: MIT
// A block's shared memory in the rung sliced, and what its slices do with their sums there:
//
//   operands' tiles, in stages  |  sums set aside for which a thread has no registers
//   then, in their place:       |
//   sums of slice 0, 1, ...     |
//
// and behind all else C's old elements, if it is read.
#pragma once

#include "sliced_loader.cuh"
#include "sliced_sums.cuh"

namespace tinyblas {

template <int entry>
struct SlicedShared {
    static constexpr SlicedTile s = sliced_tile(entry, device::reallocates_registers);
    static constexpr GemmTile t = s.tile;
    using LoaderA = SlicedLoader<t.block_m, t.block_k, s.loaders(t.block_m)>;
    using LoaderB = SlicedLoader<t.block_n, t.block_k, s.loaders(t.block_n)>;
    struct Tiles {
        typename LoaderA::Tile a[t.stages];
        typename LoaderB::Tile b[t.stages];
    };
    using Sums = float[t.block_m][t.block_n + 4];
    // Slices whose sums find room at once.
    static constexpr int kept() {
        return s.slices * sizeof(Sums) <= sizeof(Tiles) ? s.slices : s.slices / 2;
    }
    static_assert(kept() * sizeof(Sums) <= sizeof(Tiles));
    union {
        Tiles tiles;
        Sums sums[kept()];
    };
    static constexpr bool has_aside = s.sets_aside() && s.aside_in_shared() > 0;
    float aside[has_aside ? s.aside_in_shared() / 4 : 1][has_aside ? s.multipliers() : 1][4];
};
/// The same of a block of a cluster.
template <int entry>
struct SlicedClusterShared {
    SlicedShared<entry> own;
    SlicedReceived<entry> received;
};

/// Either of them where C is read.
template <int entry, class Shared>
struct SlicedAndOld {
    static constexpr GemmTile t = sliced_table[entry].tile.tile;
    static_assert(sizeof(Shared) % 16 == 0);
    Shared own;
    float old[t.block_m * t.block_n];
};

/// Starts the copies of C's old elements, `rows` x `columns` from (i, j) on, to `room`, row by row,
/// zeros for those that C does not have: before they are needed, so that no one waits for one after
/// the other. Called by `threads` threads.
template <int rows, int columns, int threads>
__device__ __forceinline__ void bring_old(const MatrixView<float>& c, std::int64_t i,
                                          std::int64_t j, float* room, int thread) {
    const bool by_column = c.row_stride == 1 && c.column_stride != 1;
    const auto down = static_cast<int>(c.rows - i), across = static_cast<int>(c.columns - j);
    const float* const from = &c(i, j);
#pragma unroll 1
    for (int e = thread; e < rows * columns; e += threads) {
        const int row = by_column ? e % rows : e / columns;
        const int column = by_column ? e / rows : e % columns;
        const bool there = row < down && column < across;
        device::copy_async<1>(device::SharedPointer<float>(room + row * columns + column),
                              from + row * c.row_stride + column * c.column_stride, there ? 1 : 0);
    }
}

/// Where four sums of a row are in a slice's room. What four lanes above each other store at once
/// lies four rows apart, of which every other one would meet in the same half of the banks: so two
/// of the rows have their columns exchanged.
template <int entry>
__device__ __forceinline__ float* sums_at(typename SlicedShared<entry>::Sums& room, int i, int j) {
    constexpr int exchanged = sliced_table[entry].tile.tile.lanes_m() == 4 ? 8 : 0;  // a row's bit
    return &room[i][j ^ (i & exchanged ? 8 : 0)];
}

/// Calls visit(place, sums) for each 16 bytes of a thread's sums, where `place` is theirs in the
/// room.
template <int entry, class Tile, class Visit>
__device__ __forceinline__ void visit_room(Tile& tile, typename SlicedShared<entry>::Sums& room,
                                           int thread, Visit&& visit) {
    constexpr int pitch = sizeof(room[0]) / sizeof(float);
    const int i0 = tile.row(thread), j0 = tile.column(thread);
    float* const first = sums_at<entry>(room, i0, j0);  // others are at constant distances
    tile.visit_vectors(thread, [&](int i, int j, float(&sums)[4]) {
        visit(first + (i - i0) * pitch + (j - j0), sums);
    });
}
/// A thread's sums go to its slice's room. one is 1: in registers of their own, sums may be stored
/// 16 bytes at a time; accumulators must not, which would have to lie in aligned quads.
template <int entry, class Tile>
__device__ __forceinline__ void leave_sums(Tile& tile, typename SlicedShared<entry>::Sums& room,
                                           int thread, float one) {
    visit_room<entry>(tile, room, thread, [&](float* place, const float(&sums)[4]) {
        float values[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) values[e] = sums[e] * one;
        device::store_vector(place, values);
    });
}
/// Those in the room are added to the thread's.
template <int entry, class Tile>
__device__ __forceinline__ void add_left_sums(Tile& tile, typename SlicedShared<entry>::Sums& room,
                                              int thread) {
    visit_room<entry>(tile, room, thread, [](const float* place, float(&sums)[4]) {
        float more[4];
        device::load_vector(more, place);
        add_to(sums, more);
    });
}

/// A thread's sums of chains of multiply-adds that have ended, as many as it can in registers.
template <int entry, class Tile>
class SlicedAside {
    static constexpr SlicedTile s = sliced_tile(entry, device::reallocates_registers);
    static constexpr int in_registers = s.aside_in_registers();

  public:
    __device__ __forceinline__ explicit SlicedAside(SlicedShared<entry>& shared)
        : shared_(shared) {}

    /// Adds those of `tile`, which are zero from then on; `first`: there are no others.
    __device__ __forceinline__ void take(Tile& tile, bool first) {
        const float zero = device::opaque(0.0f);
        each(
            tile, [&](float& sum, float& kept) { kept = first ? sum : kept + sum; },
            [&](float(&sums)[4], float(&place)[4]) {
                float all[4] = {};
                if (!first) device::load_vector(all, place);
                add_to(all, sums);
                device::store_vector(place, all);
            });
        tile.visit([&](int, float& sum) { sum = zero; });
    }
    /// Adds them to those of `tile`.
    __device__ __forceinline__ void give_back(Tile& tile) {
        each(
            tile, [&](float& sum, float& kept) { sum += kept; },
            [&](float(&sums)[4], float(&place)[4]) {
                float more[4];
                device::load_vector(more, place);
                add_to(sums, more);
            });
    }

  private:
    template <class One, class Vector>
    __device__ __forceinline__ void each(Tile& tile, One&& one, Vector&& four) {
        int number = 0;
        tile.visit_vectors(0, [&](int, int, float(&sums)[4]) {
            if (number < in_registers)
#pragma unroll
                for (int e = 0; e < 4; ++e) one(sums[e], kept_[number + e]);
            else if constexpr (in_registers < s.sums())
                four(sums, shared_.aside[(number - in_registers) / 4][threadIdx.x]);
            number += 4;
        });
    }

    SlicedShared<entry>& shared_;
    float kept_[in_registers];
};

/// The sums of all slices, in place of the tiles. Where they do not fit, the upper half of the
/// slices leaves its own for the lower half first.
template <int entry, class Tile>
__device__ __forceinline__ void leave_in_place(Tile& tile, SlicedShared<entry>& shared, float one) {
    constexpr SlicedTile s = sliced_tile(entry, device::reallocates_registers);
    constexpr int kept = SlicedShared<entry>::kept();
    const int thread = static_cast<int>(device::opaque(threadIdx.x));
    const int slice = thread / s.slice_threads(), inside = thread % s.slice_threads();
    meet<entry>();  // the tiles have been read
    if constexpr (kept < s.slices) {
        if (slice >= kept) leave_sums<entry>(tile, shared.sums[slice - kept], inside, one);
        meet<entry>();
        if (slice < kept) add_left_sums<entry>(tile, shared.sums[slice], inside);
    }
    // Where all are kept, there is nothing to branch on: the compiler does not know it of `slice`.
    if (kept == s.slices || slice < kept) leave_sums<entry>(tile, shared.sums[slice], inside, one);
    meet<entry>();
}

}  // namespace tinyblas
