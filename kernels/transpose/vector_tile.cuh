// SPDX-License-Identifier: MIT
// A tile read and written 16 bytes at a time, and turned on the way.
//
// A thread owns squares: as many rows of A as there are elements in 16 bytes (here 4), one chunk of
// 16 bytes of each. Turned in registers, a square is a chunk of 4 rows of B.
//
//   a's tile (rows, columns)         turned (columns, rows), in chunks of 16 bytes
//   |0 1 2 3|. . . .|                |0 4 8 C|. . . .|
//   |4 5 6 7|. . . .|      -->       |1 5 9 D|. . . .|     chunk q of row x lies at
//   |8 9 A B|. . . .|                |2 6 A E|. . . .|     q ^ (x / 4 & 7)
//   |C D E F|. . . .|                |3 7 B F|. . . .|
//
// Eight lanes that access shared memory together fill the chunks of eight squares, side by side in
// A and so 4 rows apart in `turned`, or read eight chunks of one row. The exchange of chunks gives
// each of them other banks in both cases.
#pragma once

#include "parts.cuh"

namespace tinyblas {

template <class Unit, int rows, int columns, int threads>
class VectorTile {
    static constexpr int vector = 16 / sizeof(Unit);
    static constexpr int across = columns / vector;  // squares in a row of A's tile
    static constexpr int down = rows / vector;
    static constexpr int squares = across * down / threads;  // of a thread

    // Rows of A's tile, and of B's, that all threads cover at once.
    static constexpr int rows_at_once = threads / across * vector;
    static constexpr int columns_at_once = threads / down;

  public:
    using Turned = Unit[columns][rows];

    /// From A's tile, of which m x n elements lie inside A (`whole`: all of them).
    template <bool whole, bool read_only>
    __device__ __forceinline__ void read(const Unit* from, std::int64_t stride, int m, int n,
                                         device::CachePolicy policy) {
        const int row = thread() / across * vector, column = thread() % across * vector;
        from += row * stride + column;
#pragma unroll
        for (int s = 0; s < squares; ++s)
#pragma unroll
            for (int e = 0; e < vector; ++e) {
                const int below = s * rows_at_once + e;
                const int valid = whole ? vector : row + below < m ? n - column : 0;
                load_chunk<read_only>(squares_[s][e], from + below * stride, valid, policy);
            }
    }

    __device__ __forceinline__ void turn(Turned& turned) const {
        const int first = thread() / across, row = thread() % across * vector;
#pragma unroll
        for (int s = 0; s < squares; ++s) {
            const int chunk = first + s * (rows_at_once / vector);
#pragma unroll
            for (int i = 0; i < vector; ++i) {
                Unit line[vector];
#pragma unroll
                for (int e = 0; e < vector; ++e) line[e] = squares_[s][e][i];
                device::store_vector(&turned[row + i][exchanged(chunk, row)], line);
            }
        }
    }

    /// To B's tile: n rows of m elements lie inside B.
    template <bool whole>
    static __device__ __forceinline__ void write(const Turned& turned, Unit* to,
                                                 std::int64_t stride, int m, int n) {
        const int first = thread() / down, chunk = thread() % down;
        to += first * stride + chunk * vector;
#pragma unroll
        for (int s = 0; s < squares * vector; ++s) {
            const int below = s * columns_at_once, row = first + below;
            const int valid = whole ? vector : row < n ? m - chunk * vector : 0;
            Unit line[vector];
            device::load_vector(line, &turned[row][exchanged(chunk, row)]);
            store_chunk(to + below * stride, line, valid);
        }
    }

  private:
    static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x); }
    /// The first element of a row's chunk; rows of the same square exchange alike.
    static __device__ __forceinline__ int exchanged(int chunk, int row) {
        return (chunk ^ (row / vector & 7)) * vector;
    }

    Unit squares_[squares][vector][vector];
};

}  // namespace tinyblas
