// SPDX-License-Identifier: MIT
// How threads bring tiles of an operand into shared memory, asynchronously, whatever its strides.
//
// Both operands are seen alike: rows are the index they share with C (m for A, n for B), columns
// are k. A tile is stored with k outside, so that a thread's share of a line of k is contiguous:
//
//   operand (extent, depth)  -->  tile [depth][extent + pad]
//
//   along_k   k is contiguous: single elements, 8 of k x 4 rows a warp, transposed on the way,
//             so that whole 32-byte sectors are read and 32 different banks written
//   vectors   rows are contiguous and aligned: 16 bytes at a time
//   along_i   any other strides: single elements, neighbouring threads on neighbouring rows
#pragma once

#include <cstdint>

#include <device.hpp>

#include "tinyblas/view.hpp"

namespace tinyblas {

enum class Walk { along_k, vectors, along_i };

template <class T, int extent, int depth, int threads>
class TileLoader {
  public:
    static constexpr int vector = 16 / sizeof(T);
    static constexpr int pitch = extent + vector;
    using Tile = T[depth][pitch];

    /// From the rows of `operand` from `first` on into `tiles`; `thread` is one of `threads` that
    /// load together.
    __device__ TileLoader(const MatrixView<const T>& operand, std::int64_t first, Tile* tiles,
                          int thread)
        : target_(&tiles[0][0][0]),
          row_stride_(operand.row_stride),
          column_stride_(operand.column_stride),
          walk_(choose(operand)),
          rows_(static_cast<int>(operand.rows - first < extent ? operand.rows - first : extent)) {
        const int step = walk_ == Walk::vectors ? vector : 1;
        i_ = walk_ == Walk::along_k ? thread / lanes_k : thread % (extent / step) * step;
        p_ = walk_ == Walk::along_k ? thread % lanes_k : thread / (extent / step);
        source_ = operand.data + (first + i_) * row_stride_ + p_ * column_stride_;
        target_ = target_ + (p_ * pitch + i_);
    }

    /// Starts the copy of the next `columns` (at most `depth`) columns into the tile of `stage`;
    /// what lies outside becomes zero.
    __device__ __forceinline__ void load(int stage, int columns) {
        const device::SharedPointer<T> to = target_ + stage * (depth * pitch);
        if (columns == depth && rows_ == extent)
            load<false>(to, columns);
        else
            load<true>(to, columns);
        source_ += columns * column_stride_;
    }

  private:
    static constexpr int lanes_k = 8;
    static_assert(depth % lanes_k == 0 && threads % lanes_k == 0 &&
                  extent % (threads / lanes_k) == 0);
    static_assert(extent * depth % (threads * vector) == 0);
    static_assert(extent % threads == 0 || threads % extent == 0);

    static __device__ Walk choose(const MatrixView<const T>& operand) {
        const bool aligned = reinterpret_cast<std::uintptr_t>(operand.data) % 16 == 0 &&
                             operand.column_stride % vector == 0;
        if (operand.row_stride == 1 && aligned) return Walk::vectors;
        return operand.column_stride == 1 ? Walk::along_k : Walk::along_i;
    }

    template <bool ragged>
    __device__ __forceinline__ void load(device::SharedPointer<T> to, int columns) {
        switch (walk_) {
            case Walk::along_k: return load<Walk::along_k, ragged>(to, columns);
            case Walk::vectors: return load<Walk::vectors, ragged>(to, columns);
            case Walk::along_i: return load<Walk::along_i, ragged>(to, columns);
        }
    }

    template <Walk walk, bool ragged>
    __device__ __forceinline__ void load(device::SharedPointer<T> to, int columns) {
        constexpr int width = walk == Walk::vectors ? vector : 1;
        constexpr int copies = extent * depth / (threads * width);
        constexpr int along_row = extent / width;                   // copies of one k
        constexpr int along_column = extent / (threads / lanes_k);  // copies of one set of k
        constexpr int at_once = copies < 8 ? copies : 8;  // more would take too many registers
#pragma unroll 1
        for (int first = 0; first < copies; first += at_once) {
#pragma unroll
            for (int next = 0; next < at_once; ++next) {
                // From this thread's first element to the one of this copy.
                const int copy = first + next;
                const int di = walk == Walk::along_k ? copy % along_column * (threads / lanes_k)
                                                     : copy * threads % along_row * width;
                const int dp = walk == Walk::along_k ? copy / along_column * lanes_k
                                                     : copy * threads / along_row;
                const T* from = source_ + di * row_stride_ + dp * column_stride_;
                int valid = width;
                if (ragged) {
                    const int left = p_ + dp < columns ? rows_ - i_ - di : 0;
                    valid = left < 0 ? 0 : left < width ? left : width;
                }
                device::copy_async<width>(to + (dp * pitch + di), from, valid);
            }
        }
    }

    device::SharedPointer<T> target_;  // this thread's first element in the first tile
    std::int64_t row_stride_, column_stride_;
    Walk walk_;
    int rows_;         // of the operand in this block's tiles
    int i_, p_;        // where that element lies in a tile
    const T* source_;  // the same element in the operand
};

}  // namespace tinyblas
