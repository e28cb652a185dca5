// SPDX-License-Identifier: MIT
// A thread's tile of C in registers, fed from the tiles of A and B one line of k at a time.
//
// Rows and columns come in vectors of 16 bytes, one vector of every lane apart (4 x 8 lanes):
//
//   a_tile's line of k:  lane row 0 | 1 | 2 | 3 | 0 | 1 | 2 | 3 | ...   each a vector
//   b_tile's line of k:  lane column 0 | 1 | ... | 7 | 0 | 1 | ...
//
// so that the lanes of a warp read neighbouring vectors. While a line is multiplied, the next
// one's vectors arrive, spread among the multiply-adds. Their order is a snake: each shares an
// operand with the one before, which need not be read from the registers again (a file of two
// banks, and a multiply-add has three operands).
#pragma once

#include <cstdint>

#include <device.hpp>

#include "parts.cuh"
#include "tiles.hpp"

namespace tinyblas {

/// Calls visit(number, sum) for each of a thread's sums.
template <class T, int rows, int columns, class Visit>
__device__ __forceinline__ void visit_sums(T (&sums)[rows][columns], Visit&& visit) {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j) visit(i * columns + j, sums[i][j]);
}

/// `pad`: elements between two lines of a tile of A or B in shared memory. `of`: one line of so
/// many is the thread's.
template <class T, GemmTile t, int pad = 16 / sizeof(T), int of = 1>
class ThreadTile {
    static constexpr int vector = 16 / sizeof(T);
    static constexpr int a_pitch = (t.block_m + pad) * of;
    static constexpr int b_pitch = (t.block_n + pad) * of;
    static constexpr int a_vectors = t.thread_m / vector;
    static constexpr int b_vectors = t.thread_n / vector;
    // Multiply-adds from one vector's load to the next one's, and before the first.
    static constexpr int spacing =
        t.in_order() ? t.load_spacing : t.thread_m * t.thread_n / (a_vectors + b_vectors) / 2;
    static constexpr int first = t.in_order() ? t.first_load : spacing / 2;

  public:
    /// The tile of `thread`, one of t.multipliers(). a_tiles: stages x (block_k, a_pitch), b_tiles:
    /// likewise.
    __device__ __forceinline__ ThreadTile(int thread, T* a_tiles, T* b_tiles)
        : a_(a_tiles + row(thread)), b_(b_tiles + column(thread)) {
        // Zero, but not a constant: those come in aligned register pairs, which would spoil the
        // choice of banks.
        const T zero = device::opaque(T(0));
#pragma unroll
        for (int i = 0; i < t.thread_m; ++i)
#pragma unroll
            for (int j = 0; j < t.thread_n; ++j) acc_[i][j] = zero;
    }

    /// A line of k: where the thread's first vectors of both operands lie.
    struct Line {
        device::SharedPointer<T> a, b;
        __device__ __forceinline__ Line operator+(int lines) const {
            return {a + lines * a_pitch, b + lines * b_pitch};
        }
    };
    /// Lines are counted through all stages.
    __device__ __forceinline__ Line line(int number) const { return Line{a_, b_} + number; }

    /// Loads the first line to multiply.
    __device__ __forceinline__ void start(const Line& line) {
#pragma unroll
        for (int v = 0; v < a_vectors + b_vectors; ++v) load(line, 0, v);
    }
    __device__ __forceinline__ void start(int number) { start(line(number)); }
    /// In place of a first line, for a loop that begins with the last one of other lines: zeros.
    __device__ __forceinline__ void start() {
#pragma unroll
        for (int i = 0; i < t.thread_m; ++i) a_line_[1][i] = 0;
#pragma unroll
        for (int j = 0; j < t.thread_n; ++j) b_line_[1][j] = 0;
    }

    /// Multiplies line `p` of some lines (p a constant) while line `next_p` from `next` on arrives.
    __device__ __forceinline__ void multiply(int p, int next, int next_p) {
        multiply(p, line(next), next_p);
    }
    __device__ __forceinline__ void multiply(int p, const Line& next, int next_p) {
        multiply(p, next, next_p, 0, [] {});
    }
    /// The same; before multiply-add number `at` comes `beside()`.
    template <class Beside>
    __device__ __forceinline__ void multiply(int p, const Line& next, int next_p, int at,
                                             Beside&& beside) {
#pragma unroll
        for (int j = 0; j < t.thread_n; ++j)
#pragma unroll
            for (int turn = 0; turn < t.thread_m; ++turn) {
                const int done = j * t.thread_m + turn;
                if (done % spacing == first) load(next, next_p, done / spacing);
                if (done == at) beside();
                const int i = (j % 2 == 0) != t.in_order() ? turn : t.thread_m - 1 - turn;
                multiply_one(i, j, p);
            }
    }

    /// Calls visit(number, sum) for each of the thread's sums.
    template <class Visit>
    __device__ __forceinline__ void visit(Visit&& visit) {
        visit_sums(acc_, visit);
    }

    /// Calls visit(i, j, sums) for each 16 bytes of sums, the first of which belongs to element
    /// (i, j) of the block tile.
    template <class Visit>
    __device__ __forceinline__ void visit_vectors(int thread, Visit&& visit) {
        const int i0 = row(thread), j0 = column(thread);
#pragma unroll
        for (int i = 0; i < t.thread_m; ++i)
#pragma unroll
            for (int j = 0; j < t.thread_n; j += vector) {
                T sums[vector];
#pragma unroll
                for (int e = 0; e < vector; ++e) sums[e] = acc_[i][j + e];
                visit(i0 + down(i), j0 + j * t.lanes_n(), sums);
#pragma unroll
                for (int e = 0; e < vector; ++e) acc_[i][j + e] = sums[e];
            }
    }

    /// C = alpha acc + beta C for this tile, in the block tile whose first element is C's (i0, j0).
    __device__ __forceinline__ void store(int thread, const MatrixView<T>& c, std::int64_t i0,
                                          std::int64_t j0, T alpha, T beta) {
        visit_vectors(thread, [&](int i, int j, const T(&sums)[vector]) {
            store_row(c, i0 + i, j0 + j, alpha, sums, beta);
        });
    }

    /// Of the thread's first element in the block tile.
    static __device__ int row(int thread) {
        return thread / 32 / t.warps_n() * t.warp_m + lane_m(thread) * vector;
    }
    static __device__ int column(int thread) {
        return thread / 32 % t.warps_n() * t.warp_n + lane_n(thread) * vector;
    }
    /// Of the thread's rows, the i-th: how far below the first one.
    static constexpr int down(int i) { return i / vector * vector * t.lanes_m() + i % vector; }
    /// From a lane's first row to that of the lane below.
    static constexpr int lane_rows = vector;

  protected:
    /// Loads vector v of line p from `line` on, first those of A, then those of B.
    __device__ __forceinline__ void load(const Line& line, int p, int v) {
        T values[vector];
        if (v < a_vectors) {
            device::load_vector(values, line.a + (p * a_pitch + v * vector * t.lanes_m()));
#pragma unroll
            for (int e = 0; e < vector; ++e) a_line_[p % 2][v * vector + e] = values[e];
        } else if (v < a_vectors + b_vectors) {
            const int w = v - a_vectors;
            device::load_vector(values, line.b + (p * b_pitch + w * vector * t.lanes_n()));
#pragma unroll
            for (int e = 0; e < vector; ++e) b_line_[p % 2][w * vector + e] = values[e];
        }
    }

    /// The multiply-add of row i and column j in line `p`.
    __device__ __forceinline__ void multiply_one(int i, int j, int p) {
        device::multiply_add(acc_[i][j], a_line_[p % 2][i], b_line_[p % 2][j]);
    }

  private:
    // Lanes form groups of 2 x 2: a load then meets fewer rows of banks.
    static __device__ int lane_m(int thread) { return thread % 32 / 2 % t.lanes_m(); }
    static __device__ int lane_n(int thread) {
        return thread % 2 + thread % 32 / (2 * t.lanes_m()) * 2;
    }

    device::SharedPointer<T> a_, b_;  // of the thread's first vectors
    T acc_[t.thread_m][t.thread_n];
    T a_line_[2][t.thread_m], b_line_[2][t.thread_n];  // of this line of k and of the next
};

}  // namespace tinyblas
