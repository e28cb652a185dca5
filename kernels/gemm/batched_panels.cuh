// SPDX-License-Identifier: MIT
// How a block of a batch brings its panels of A and B into shared memory.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "tinyblas/view.hpp"

namespace tinyblas {

/// A panel of `lines` x `length` elements a stage, line by line. The pad, a vector past a multiple
/// of all banks, keeps reads of vectors down the lines and of fragments free of bank conflicts.
/// `turns`: whether the panel's lines may lie across those in memory.
template <class T, int lines, int length, int threads, bool turns>
class PanelLoader {
  public:
    static constexpr int pitch = length + 4;
    static constexpr int vector = 16 / sizeof(T);
    using Panel = T[lines][pitch];

    /// `from`: the operand from the panel's first element on, its lines as rows.
    __device__ __forceinline__ PanelLoader(const MatrixView<const T>& from, int thread)
        : line_stride_(from.row_stride), stride_(from.column_stride) {
        const bool aligned =
            line_stride_ % vector == 0 && reinterpret_cast<std::uintptr_t>(from.data) % 16 == 0;
        walk_ = turns && stride_ != 1 && line_stride_ == 1 ? Walk::across
                : stride_ == 1 && aligned                  ? Walk::vectors
                                                           : Walk::along;
        constexpr int vectors = length / vector;
        switch (walk_) {
            case Walk::vectors: line_ = thread / vectors, at_ = thread % vectors * vector; break;
            case Walk::along: line_ = thread / length, at_ = thread % length; break;
            case Walk::across:
                line_ = thread / 32 % (lines / 8) * 8 + thread % 8;
                at_ = thread / (lines * 4) * 4 + thread % 32 / 8;
                break;
        }
        source_ = from.data + line_ * line_stride_ + at_ * stride_;
    }

    /// Starts the copy of the panel, of which `lines_left` x `left` elements exist; the rest
    /// becomes zero.
    __device__ __forceinline__ void load(Panel& panel, int lines_left, int left) const {
        const device::SharedPointer<T> to(&panel[line_][at_]);
        switch (walk_) {
            case Walk::vectors: return copy<Walk::vectors>(to, lines_left, left);
            case Walk::along: return copy<Walk::along>(to, lines_left, left);
            case Walk::across:
                if constexpr (turns) copy<Walk::across>(to, lines_left, left);
        }
    }
    __device__ __forceinline__ void move(std::int64_t elements) { source_ += elements; }

  private:
    enum class Walk {
        vectors,  // 16 bytes of a line at a time
        along,    // single elements, neighbouring threads along a line
        across,   // lines lie side by side: 8 lines x 4 elements a warp, in whole sectors
    };

    template <Walk walk>
    __device__ __forceinline__ void copy(device::SharedPointer<T> to, int lines_left,
                                         int left) const {
        constexpr int width = walk == Walk::vectors ? vector : 1;
        constexpr int passes = lines * length / width / threads;
        static_assert(passes * width * threads == lines * length);
        // From pass to pass. A pass may hold but a part of a line; across, but a part of the lines.
        constexpr int parts = walk == Walk::across ? lines * 4 > threads ? lines * 4 / threads : 1
                              : length > threads * width ? length / (threads * width)
                                                         : 1;
        constexpr int dl = walk == Walk::across ? lines / parts : threads * width * parts / length;
        constexpr int da = walk == Walk::across ? threads * parts / lines : length / parts;
        static_assert(walk == Walk::across
                          ? da * lines == threads * parts && da % 4 == 0 && lines % (8 * parts) == 0
                          : dl * length == threads * width * parts);
        const std::int64_t step = dl * line_stride_;
        const T* from = source_;
        int room = left - at_;
        if (width > 1) room = room < 0 ? 0 : room < width ? room : width;
#pragma unroll(passes < 8 ? passes : 8)
        for (int pass = 0; pass < passes; ++pass) {
            const int l = walk == Walk::across ? pass % parts * dl : pass / parts * dl;
            const int a = walk == Walk::across ? pass / parts * da : pass % parts * da;
            const int valid = walk == Walk::across      ? line_ + l < lines_left && a < room
                              : line_ + l >= lines_left ? 0
                              : width > 1               ? room
                                                        : a < room;
            if (walk == Walk::across) from = source_ + (l * line_stride_ + a * stride_);
            device::copy_async<width>(to + (l * pitch + a), from, valid);
            if (walk != Walk::across)
                from +=
                    pass % parts == parts - 1 ? step - (parts - 1) * da * stride_ : da * stride_;
        }
    }

    std::int64_t line_stride_, stride_;
    Walk walk_;
    int line_, at_;  // of this thread's first element
    const T* source_;
};

}  // namespace tinyblas
