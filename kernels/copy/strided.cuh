// SPDX-License-Identifier: MIT
// copy between any strides. A thread owns one element and moves its units, the largest words that
// divide its bytes and addresses. A warp walks the direction in which the target's stride is the
// shorter one: writes are coalesced where they can be, reads are what they are.
#pragma once

#include <cstddef>
#include <cstdint>

#include <device.hpp>

#include "tinyblas/view.hpp"

namespace tinyblas {

struct CopyUnit16 {
    std::uint64_t low, high;
};

/// Strides in units; element (i, j) is `units` neighbouring units.
template <class Unit>
__global__ void __launch_bounds__(256)
    copy_strided(MatrixView<const Unit> from, MatrixView<Unit> to, int units) {
    const std::int64_t tiles = (to.columns + 31) / 32;
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) / tiles * 8 + threadIdx.y;
    const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) % tiles * 32 + threadIdx.x;
    if (i >= to.rows || j >= to.columns) return;
    for (int unit = 0; unit < units; ++unit) (&to(i, j))[unit] = (&from(i, j))[unit];
}

template <class Unit>
void launch_copy_strided(device::Stream stream, MatrixView<const Unit> from, MatrixView<Unit> to,
                         int units) {
    if (to.row_stride < to.column_stride) {
        from = from.transposed();
        to = to.transposed();
    }
    const std::int64_t blocks = (to.columns + 31) / 32 * ((to.rows + 7) / 8);
    device::launch("copy", copy_strided<Unit>, device::grid(blocks, "copy"), dim3(32, 8), stream,
                   from, to, units);
}

}  // namespace tinyblas
