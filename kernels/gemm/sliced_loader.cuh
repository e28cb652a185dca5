// SPDX-License-Identifier: MIT
// How the rung sliced brings tiles of an operand into shared memory. As loader.cuh, but all that
// differs between copies is found out beforehand: here every thread loads and multiplies.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "sliced_work.hpp"

namespace tinyblas {

template <int extent, int depth, int threads>
class SlicedLoader {
    static constexpr int vector = 4;
    static constexpr int pitch = extent + vector;

  public:
    using Tile = float[depth][pitch];

    /// From row `first` and column `p` of `operand` on into `tiles`; `thread` is one of `threads`.
    __device__ __forceinline__ SlicedLoader(const MatrixView<const float>& operand, SlicedWalk walk,
                                            std::int64_t first, std::int64_t p, Tile* tiles,
                                            int thread)
        : target_(&tiles[0][0][0]),
          row_stride_(operand.row_stride),
          column_stride_(operand.column_stride),
          walk_(walk) {
        int i = thread % extent, q = thread / extent;
        if (walk == SlicedWalk::along_k) {
            i = thread / lanes_k % rows_at_once;
            q = thread / (lanes_k * rows_at_once) * lanes_k + thread % lanes_k;
        } else if (walk == SlicedWalk::vectors) {
            i = thread % (extent / vector) * vector;
            q = thread / (extent / vector);
        }
        const std::int64_t left = operand.rows - first;
        left_ = static_cast<int>(left < extent ? left : extent) - i;
        p_ = q;
        source_ = operand.data + (first + i) * row_stride_ + (p + q) * column_stride_;
        target_ = target_ + (q * pitch + i);
    }

    /// Starts the copy of the next `columns` columns (all `depth` unless `ragged`) into the tile of
    /// `stage`; what lies outside becomes zero.
    template <bool ragged>
    __device__ __forceinline__ void load(int stage, int columns) {
        const device::SharedPointer<float> to = target_ + stage * (depth * pitch);
        if (walk_ == SlicedWalk::along_k)
            load_turned<ragged>(to, columns);
        else if (walk_ == SlicedWalk::vectors)
            load_straight<vector, ragged>(to, columns);
        else
            load_straight<1, ragged>(to, columns);
        source_ += (ragged ? columns : depth) * column_stride_;
    }

  private:
    static constexpr int lanes_k = 8;
    static constexpr int rows_at_once = threads / lanes_k < extent ? threads / lanes_k : extent;
    static constexpr int depth_at_once = threads / rows_at_once;
    static_assert(threads % rows_at_once == 0 && depth_at_once % lanes_k == 0 &&
                  depth % depth_at_once == 0 && extent % rows_at_once == 0);

    /// Rows are neighbours: a thread's copies are of the same rows.
    template <int width, bool ragged>
    __device__ __forceinline__ void load_straight(device::SharedPointer<float> to, int columns) {
        constexpr int run = threads * width < extent ? threads * width : extent;
        constexpr int at_once = threads * width / run;
        const float* from = source_;
#pragma unroll(extent / run < (ragged ? 8 : 16) ? (ragged ? 8 : 16) / (extent / run) : 1)
        for (int q = 0; q < depth; q += at_once) {
#pragma unroll
            for (int i = 0; i < extent; i += run) {
                const int left = ragged && p_ + q >= columns ? 0 : left_ - i;
                device::copy_async<width>(to + (q * pitch + i), from + i * row_stride_,
                                          left < 0       ? 0
                                          : left < width ? left
                                                         : width);
            }
            from += at_once * column_stride_;
        }
    }

    /// Columns are neighbours: single elements, 8 columns of 4 rows a warp.
    template <bool ragged>
    __device__ __forceinline__ void load_turned(device::SharedPointer<float> to, int columns) {
        const float* from = source_;
#pragma unroll( \
    (ragged ? 8 : 16) * depth_at_once < depth ? 1 : (ragged ? 8 : 16) * depth_at_once / depth)
        for (int i = 0; i < extent; i += rows_at_once) {
#pragma unroll
            for (int q = 0; q < depth; q += depth_at_once) {
                const bool valid = left_ > i && (!ragged || p_ + q < columns);
                device::copy_async<1>(to + (q * pitch + i), from + q, valid ? 1 : 0);
            }
            from += rows_at_once * row_stride_;
        }
    }

    device::SharedPointer<float> target_;  // this thread's first element in the first tile
    std::int64_t row_stride_, column_stride_;
    SlicedWalk walk_;
    int left_;             // rows of the operand from this thread's first one on, at most a tile's
    int p_;                // that element's column
    const float* source_;  // the same element in the operand
};

}  // namespace tinyblas
