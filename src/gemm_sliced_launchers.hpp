// SPDX-License-Identifier: MIT
// The launchers of gemm's rung sliced, one an entry of its table, in the two files that compile
// them.
#pragma once

#include <type_traits>

#include "kernels/gemm/4_sliced.cuh"
#include "launcher_table.hpp"

namespace tinyblas {

using SlicedLauncher = void (*)(device::Stream, const SlicedWork&, bool reallocates);

/// The launcher of each entry that is compiled in order, or of each other one; null for the rest.
template <bool in_order>
constexpr auto sliced_launchers = launcher_table<SlicedLauncher, sliced_entries>(
    []<int e>(std::integral_constant<int, e>) -> SlicedLauncher {
        if constexpr (sliced_table[e].tile.tile.in_order() == in_order)
            return launch_gemm_sliced<e>;
        return nullptr;
    });

/// The launcher of `entry` from src/gemm_sliced_in_order.cu.
SlicedLauncher sliced_launcher_in_order(int entry);

}  // namespace tinyblas
