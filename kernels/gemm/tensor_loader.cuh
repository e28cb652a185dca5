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
// Pairs of neighbours are copied at once where addresses allow, but for spread elements. Lanes find
// what they read of a fragment in different banks: in large tiles because each line has a pad. But
// a copy whose 128 bytes are not one line of shared memory takes twice as long there, which small
// tiles feel; so theirs have no pads, and fours of elements change places: four u of line l lies
// where four u xor l % 4 would.
#pragma once

#include <bit>
#include <cstdint>

#include <device.hpp>

#include "tinyblas/view.hpp"

namespace tinyblas {

enum class TensorLayout { apart, together, spread };

/// Where element `at` of a line lies in it.
constexpr __device__ int swizzled(int line, int at) { return at ^ line % 4 * 4; }

/// A tile of `extent` rows by `depth` of k. Reads of fragments are free of bank conflicts.
template <int extent, int depth, TensorLayout layout_, bool swizzles_, bool of_b_>
struct TensorTile {
    static_assert(depth % 16 == 0 && extent % 16 == 0);
    static constexpr TensorLayout layout = layout_;
    static constexpr bool spread = layout == TensorLayout::spread, of_b = of_b_;
    static constexpr bool along_k = layout != TensorLayout::apart, swizzles = swizzles_;
    static constexpr int rows = extent, columns = depth;
    static constexpr int pitch = !along_k  ? extent + (swizzles ? 0 : 4)
                                 : !spread ? depth + (swizzles ? 0
                                                      : of_b   ? 2
                                                               : 4)
                                           : (of_b ? 2 * depth + 8 : depth + 2);
    static constexpr int elements = (!along_k         ? depth
                                     : spread && of_b ? extent / 2
                                                      : extent) *
                                    pitch;

    /// Where element (row, p) lies.
    static constexpr __device__ int at(int row, int p) {
        if (!along_k) return p * pitch + (swizzles ? swizzled(p, row) : row);
        if (!spread) return row * pitch + (swizzles ? swizzled(of_b ? row / 2 : row, p) : p);
        if (of_b) return row / 2 * pitch + p * 2 + row % 2;
        return row * pitch + p / 16 * 16 + p % 4 * 4 + p % 16 / 4;
    }
    /// How much further (row + rows, p + columns) lies than (row, p): whole lines, or multiples of
    /// 16 along a line; with pads, of 8 rows and of 4 columns.
    static constexpr __device__ int beyond(int rows, int columns) {
        if (!swizzles) return at(rows, columns);
        return along_k ? rows * pitch + columns : columns * pitch + rows;
    }
    /// Lines after which elements have the same places in theirs.
    static constexpr int period = !swizzles ? 1 : along_k && of_b ? 8 : 4;
    /// Where element (row + rows, p) lies, or (row, p + rows) of elements apart, if (row, p) lies
    /// at `from`; `rows`: a multiple of the period, or of a power of two that row, or p, is less
    /// than.
    static constexpr __device__ int after(int from, int rows) {
        constexpr int in_line = spread && of_b ? 2 : 1;
        const int line = along_k && of_b ? rows / 2 : rows;
        return (swizzles ? swizzled(line, from) : from) + rows / in_line * pitch;
    }
    /// The first of the `width` neighbours that `thread` copies first, so that a half warp writes
    /// 128 bytes in one piece.
    static constexpr __device__ unsigned first_row(unsigned thread, unsigned width) {
        if (!along_k) return thread % (extent / width) * width;
        return spread && of_b ? thread / (2 * depth) * 2 + thread / 8 % 2
                              : thread / (depth / width);
    }
    static constexpr __device__ unsigned first_column(unsigned thread, unsigned width) {
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
    /// `ahead`: of lines along k, the L2 cache is to get the next tile's, too.
    __device__ __forceinline__ TensorLoader(const MatrixView<const double>& operand, int thread,
                                            bool ahead)
        : operand_(operand), thread_(thread), ahead_(ahead) {}

    /// Starts at element (i, p) of one of the matrices.
    __device__ __forceinline__ void enter(const MatrixView<const double>& from, std::int64_t i,
                                          std::int64_t p) {
        pairs_ = !Tile::spread && (along_k ? from.column_stride : from.row_stride) == 1 &&
                 line_stride() % 2 == 0 && reinterpret_cast<std::uintptr_t>(from.data) % 16 == 0;
        const auto thread = static_cast<unsigned>(thread_);
        row_ = static_cast<int>(pairs_ ? Tile::first_row(thread, 2) : Tile::first_row(thread, 1));
        column_ = static_cast<int>(pairs_ ? Tile::first_column(thread, 2)
                                          : Tile::first_column(thread, 1));
        source_ = &from(i + row_, p + column_);
    }

    /// Starts the copy of the next tile; of it, `rows` x `columns` elements lie in the operand, the
    /// others become zero.
    __device__ __forceinline__ void load(device::SharedPointer<double> to, int rows, int columns) {
        const bool whole = rows >= Tile::rows && columns >= Tile::columns;
        rows -= row_;
        columns -= column_;
        constexpr int usual = Tile::spread ? 1 : 2;
        if (may_ahead && ahead_ && whole && (Tile::spread || pairs_)) {
            if constexpr (may_ahead) load<usual, false, true>(to, rows, columns);
        } else if (!Tile::spread && pairs_) {
            if constexpr (!Tile::spread)
                whole ? load<2, false>(to, rows, columns) : load<2, true>(to, rows, columns);
        } else {
            whole ? load<1, false>(to, rows, columns) : load<1, true>(to, rows, columns);
        }
        source_ += Tile::columns * operand_.column_stride;
    }

  private:
    static constexpr bool may_ahead = along_k && Tile::rows >= 64;

    __device__ __forceinline__ std::int64_t line_stride() const {
        return along_k ? operand_.row_stride : operand_.column_stride;
    }

    template <int width, bool ragged, bool ahead = false>
    __device__ __forceinline__ void load(device::SharedPointer<double> to, int rows, int columns) {
        // Rows, or columns, that are copied together: a power of two, so that some threads may have
        // nothing to do.
        constexpr int neighbours = (along_k ? Tile::columns : Tile::rows) / width;
        constexpr int at_once = std::bit_floor(static_cast<unsigned>(threads / neighbours));
        constexpr int passes = (along_k ? Tile::rows : Tile::columns) / at_once;
        static_assert(at_once * passes == (along_k ? Tile::rows : Tile::columns));
        if (at_once * neighbours < threads && thread_ >= at_once * neighbours) return;
        // Passes after which elements change places as before; and those without a branch, a
        // divisor of all.
        constexpr int turns = Tile::period > at_once ? Tile::period / at_once : 1;
        constexpr int most_in_row = ragged ? 4 : 8;
        constexpr int in_row = passes <= most_in_row ? passes
                               : passes % 8 == 0     ? most_in_row
                                                     : passes / 3;
        static_assert(passes % in_row == 0 && in_row % turns == 0);
        int places[turns];
#pragma unroll
        for (int turn = 0; turn < turns; ++turn)
            places[turn] = Tile::after(Tile::at(row_, column_), turn * at_once);
        const std::int64_t stride = at_once * line_stride();
        int left = along_k ? rows : columns;
        const int beside = along_k ? columns : rows;
        const int most = beside <= 0 ? 0 : beside < width ? beside : width;
        const double* from = source_;
#pragma unroll 1
        for (int pass = 0; pass < passes; pass += in_row) {
#pragma unroll
            for (int at = 0; at < in_row; ++at, from += stride) {
                const int turn = at % turns;
                const int valid = !ragged ? width : at * at_once < left ? most : 0;
                device::copy_async<width, ahead>(
                    to + places[turn] + Tile::after(0, (at - turn) * at_once), from, valid);
            }
            to = to + Tile::after(0, in_row * at_once);
            left -= in_row * at_once;
        }
    }

    const MatrixView<const double>& operand_;
    int thread_;
    bool ahead_, pairs_ = false;
    int row_ = 0, column_ = 0;  // of this thread's first element in a tile
    const double* source_ = nullptr;
};

}  // namespace tinyblas
