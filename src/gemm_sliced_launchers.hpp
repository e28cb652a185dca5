// SPDX-License-Identifier: MIT
// The kernels of gemm's rung sliced, one an entry of its table, in the two files that compile them.
#pragma once

#include "kernels/gemm/4_sliced.cuh"
#include "launcher_table.hpp"

namespace tinyblas {

/// The kernel of each entry that is compiled in order, or of each other one; none for the rest.
template <bool in_order>
constexpr auto sliced_kernels = launcher_table<SlicedKernel, sliced_entries>(
    []<int e>(std::integral_constant<int, e>) -> SlicedKernel {
        if constexpr (sliced_table[e].tile.tile.in_order() == in_order)
            return make_sliced_kernel<e>();
        return {};
    });

/// The kernel of `entry` from src/gemm_sliced_in_order.cu.
const SlicedKernel& sliced_kernel_in_order(int entry);

}  // namespace tinyblas
