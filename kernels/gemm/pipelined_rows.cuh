// SPDX-License-Identifier: MIT
// A thread's tile of C in registers where the tiles of A lie row by row, as in memory: four k of a
// row come at once, those of B line by line as in thread_tile.cuh.
//
//   a row of A's tile:  0 1 2 3 | 4 5 6 7 | 8 9 10 11 | 12 13 14 15    k, four a vector
//   rows of the lanes:  0 | 1 | 2 | 3 | 0 | 1 | 2 | 3 | ...            every fourth is a lane's
//
// Lanes load the same k of neighbouring rows, which the copy engine has put into different banks
// (device::map_tiles). A row's next vector arrives once its last k has been multiplied, a line of
// B while the one before is. The multiply-adds go row by row, columns in a snake, so that each
// shares an operand with the one before: mostly A's, for all of A's elements with the same k have
// registers of one bank, which the sums could not avoid; B's alternate. So where rows change, and
// B's is shared, the column must be one whose sums have registers of the other bank.
#pragma once

#include <device.hpp>

#include "thread_tile.cuh"

namespace tinyblas {

template <GemmTile t>
class PipelinedRowsTile {
    static constexpr int depth = 4;   // k of a vector of A
    static constexpr int vector = 4;  // columns of one of B
    static_assert(t.thread_m == 16 && t.thread_n == 2 * vector && t.lanes_m() == 4 &&
                  t.block_k == 16);

  public:
    /// The tile of `thread`, one of t.multipliers(). a_tiles: tiles x (block_m, block_k), b_tiles:
    /// likewise, but (block_k, block_n).
    __device__ __forceinline__ PipelinedRowsTile(int thread, float* a_tiles, float* b_tiles)
        : a_(a_tiles + row(thread) * t.block_k),
          b_(b_tiles + column(thread)),
          swizzle_(lane_m(thread) / 2 * depth) {
        const float zero = device::opaque(0.0f);  // as in ThreadTile
#pragma unroll
        for (int i = 0; i < t.thread_m; ++i)
#pragma unroll
            for (int j = 0; j < t.thread_n; ++j) acc_[i][j] = zero;
    }

    /// Four k from here on: where the thread's first vectors lie, of A those of its even rows and
    /// of its odd ones.
    struct Line {
        device::SharedPointer<float> even, odd, b;
    };
    /// Lines are counted through all stages; those whose number is a multiple of 4.
    __device__ __forceinline__ Line line(int number) const {
        const int k = number & (t.block_k - 1), first = k ^ swizzle_;  // of an even row
        const auto a = a_ + (number - k) * t.block_m;
        return {a + first, a + (first ^ 2 * depth), b_ + number * t.block_n};
    }
    /// The next four, of a stage of which `left` times four are to come.
    __device__ __forceinline__ Line after(const Line& line, unsigned left) const {
        // In which k and k + 4 differ: 4 is followed by 8, all others by their neighbour.
        const int bits = (left % 2 == 0 ? 3 * depth : depth) * static_cast<int>(sizeof(float));
        return {line.even ^ bits, line.odd ^ bits, line.b + depth * t.block_n};
    }

    /// Loads what the first line needs, but for the last rows.
    __device__ __forceinline__ void start(const Line& first) {
#pragma unroll
        for (int i = 0; i < t.thread_m - at_once; ++i) load_a(first, i);
#pragma unroll
        for (int v = 0; v < 2; ++v) load_b(first, 0, v);
    }

    /// Multiplies line `p` of four (p a constant) while what line `next_p` from `next` on needs
    /// arrives.
    __device__ __forceinline__ void multiply(int p, const Line& next, int next_p) {
#pragma unroll
        for (int i = 0; i < t.thread_m; ++i)
#pragma unroll
            for (int turn = 0; turn < t.thread_n; ++turn) {
                if (turn == 0) {
                    if (next_p == 0 && i >= at_once) load_a(next, i - at_once);
                    if (p == 0 && i < at_once) load_a(next, t.thread_m - at_once + i);
                }
                if (turn == 6 && (i == 13 || i == 14)) load_b(next, next_p, i - 13);
                const int j = column_of(i % 2 == 0 ? t.thread_n - 1 - turn : turn) ^ (p % 2);
                device::multiply_add(acc_[i][j], a_rows_[i][p], b_line_[p % 2][j]);
            }
    }

    /// Calls visit(number, sum) for each of the thread's sums.
    template <class Visit>
    __device__ __forceinline__ void visit(Visit&& visit) {
        visit_sums(acc_, visit);
    }

    /// As in ThreadTile.
    static __device__ int row(int thread) {
        return thread / 32 / t.warps_n() * t.warp_m + lane_m(thread);
    }
    static __device__ int column(int thread) {
        return thread / 32 % t.warps_n() * t.warp_n + lane_n(thread) * vector;
    }
    static constexpr int down(int i) { return i * t.lanes_m(); }
    static constexpr int lane_rows = 1;

  private:
    // Rows whose vectors come when the first ones of the next four k have been multiplied.
    static constexpr int at_once = 2;

    // A row's columns in turn for an even k, with even ones at both ends, where rows change; for an
    // odd k, neighbours change places.
    static constexpr int column_of(int turn) {
        constexpr int columns[] = {0, 1, 3, 5, 7, 6, 4, 2};
        return columns[turn];
    }

    static __device__ int lane_m(int thread) { return thread % 32 / 2 % t.lanes_m(); }
    static __device__ int lane_n(int thread) {
        return thread % 2 + thread % 32 / (2 * t.lanes_m()) * 2;
    }

    __device__ __forceinline__ void load_a(const Line& from, int i) {
        device::load_vector(a_rows_[i], (i % 2 == 0 ? from.even : from.odd) + down(i) * t.block_k);
    }
    __device__ __forceinline__ void load_b(const Line& from, int k, int v) {
        float values[vector];
        device::load_vector(values, from.b + (k * t.block_n + v * vector * t.lanes_n()));
#pragma unroll
        for (int e = 0; e < vector; ++e) b_line_[k % 2][v * vector + e] = values[e];
    }

    device::SharedPointer<float> a_, b_;  // of the thread's first vectors
    int swizzle_;
    float acc_[t.thread_m][t.thread_n];
    float a_rows_[t.thread_m][depth];  // of these four k, then of the next
    float b_line_[2][t.thread_n];      // of this k and of the next
};

}  // namespace tinyblas
