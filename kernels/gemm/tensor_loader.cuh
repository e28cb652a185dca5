// SPDX-License-Identifier: MIT
// How tiles of the rung tensor's operands lie in shared memory, and the threads that bring them
// there. Both operands are seen alike: rows are the index they share with C (m for A, n for B),
// columns are k.
//
//   apart       k 0: rows 0 1 2 3 ...         if rows are neighbours in memory
//   together    row 0: k 0 1 2 3 ...          if those in k are
//   spread      likewise, but in tiles for large products: each element where a lane's share of a
//               fragment lies together, so that it is read with half as many instructions:
//               A  row 0: k 0 4 8 12 | 1 5 9 13 | 2 6 10 14 | 3 7 11 15
//               B  rows 0, 1: both of k 0, both of k 1, ...
//
// Pairs of neighbours are copied at once where addresses allow, but for spread elements.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "tinyblas/view.hpp"

namespace tinyblas {

enum class TensorLayout { apart, together, spread };

/// A tile of `extent` rows by `depth` of k. The pads keep reads of fragments free of bank
/// conflicts.
template <int extent, int depth, TensorLayout layout_, bool of_b>
struct TensorTile {
    static_assert(depth % 16 == 0 && extent % 16 == 0);
    static constexpr TensorLayout layout = layout_;
    static constexpr bool along_k = layout != TensorLayout::apart;
    static constexpr bool spread = layout == TensorLayout::spread;
    static constexpr int rows = extent, columns = depth;
    static constexpr int pitch = !along_k  ? extent + 4
                                 : !spread ? depth + (of_b ? 2 : 4)
                                           : (of_b ? 2 * depth + 8 : depth + 2);
    static constexpr int elements = (!along_k         ? depth
                                     : spread && of_b ? extent / 2
                                                      : extent) *
                                    pitch;

    /// Where element (row, p) lies.
    static constexpr __device__ int at(int row, int p) {
        if (!along_k) return p * pitch + row;
        if (!spread) return row * pitch + p;
        if (of_b) return row / 2 * pitch + p * 2 + row % 2;
        return row * pitch + p / 16 * 16 + p % 4 * 4 + p % 16 / 4;
    }
    /// The first of the `width` neighbours that `thread` copies first, so that a half warp writes
    /// 128 bytes in one piece.
    static constexpr __device__ int first_row(int thread, int width) {
        if (!along_k) return thread % (extent / width) * width;
        return spread && of_b ? thread / (2 * depth) * 2 + thread / 8 % 2
                              : thread / (depth / width);
    }
    static constexpr __device__ int first_column(int thread, int width) {
        if (!along_k) return thread / (extent / width);
        return spread && of_b ? thread % 8 + thread / 16 % (depth / 8) * 8
                              : thread % (depth / width) * width;
    }
};

/// One of `threads` threads that bring an operand's tiles.
template <class Tile, int threads>
class TensorLoader {
    static constexpr bool along_k = Tile::along_k;

  public:
    /// `operand`: the first matrix of all, in a parameter of the kernel, which costs no registers.
    __device__ __forceinline__ TensorLoader(const MatrixView<const double>& operand, int thread)
        : operand_(operand), thread_(thread) {}

    /// Starts at element (i, p) of one of the matrices.
    __device__ __forceinline__ void enter(const MatrixView<const double>& from, std::int64_t i,
                                          std::int64_t p) {
        pairs_ = !Tile::spread && (along_k ? from.column_stride : from.row_stride) == 1 &&
                 line_stride() % 2 == 0 && reinterpret_cast<std::uintptr_t>(from.data) % 16 == 0;
        row_ = Tile::first_row(thread_, pairs_ ? 2 : 1);
        column_ = Tile::first_column(thread_, pairs_ ? 2 : 1);
        source_ = &from(i + row_, p + column_);
    }

    /// Starts the copy of the next tile; of it, `rows` x `columns` elements lie in the operand, the
    /// others become zero.
    __device__ __forceinline__ void load(device::SharedPointer<double> to, int rows, int columns) {
        to = to + Tile::at(row_, column_);
        const bool whole = rows >= Tile::rows && columns >= Tile::columns;
        rows -= row_;
        columns -= column_;
        if (!Tile::spread && pairs_) {
            if constexpr (!Tile::spread)
                whole ? load<2, false>(to, rows, columns) : load<2, true>(to, rows, columns);
        } else {
            whole ? load<1, false>(to, rows, columns) : load<1, true>(to, rows, columns);
        }
        source_ += Tile::columns * operand_.column_stride;
    }

  private:
    __device__ __forceinline__ std::int64_t line_stride() const {
        return along_k ? operand_.row_stride : operand_.column_stride;
    }

    template <int width, bool ragged>
    __device__ __forceinline__ void load(device::SharedPointer<double> to, int rows, int columns) {
        // Rows, or columns, that all threads copy together.
        constexpr int at_once = threads * width / (along_k ? Tile::columns : Tile::rows);
        constexpr int passes = (along_k ? Tile::rows : Tile::columns) / at_once;
        static_assert(at_once * passes == (along_k ? Tile::rows : Tile::columns));
        constexpr int step = along_k ? Tile::at(at_once, 0) : Tile::at(0, at_once);
        static_assert(!Tile::spread || at_once % 2 == 0);
        const std::int64_t stride = at_once * line_stride();
        const int left = along_k ? rows : columns, beside = along_k ? columns : rows;
        const int most = beside <= 0 ? 0 : beside < width ? beside : width;
        const double* from = source_;
#pragma unroll(ragged ? 1 : passes < 8 ? passes : 8)
        for (int pass = 0; pass < passes; ++pass, from += stride) {
            const int valid = !ragged ? width : pass * at_once < left ? most : 0;
            device::copy_async<width>(to + pass * step, from, valid);
        }
    }

    const MatrixView<const double>& operand_;
    int thread_;
    bool pairs_ = false;
    int row_ = 0, column_ = 0;  // of this thread's first element in a tile
    const double* source_ = nullptr;
};

}  // namespace tinyblas
