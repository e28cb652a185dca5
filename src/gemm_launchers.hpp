// SPDX-License-Identifier: MIT
// The launchers of gemm's tuned rung, one an entry of its table, in the two files that compile
// them.
#pragma once

#include <type_traits>

#include "gemm_call.hpp"
#include "gemm_tuned_ring.hpp"
#include "kernels/gemm/3_tuned.cuh"
#include "launcher_table.hpp"

namespace tinyblas {

/// Whether `entry` multiplies T and is compiled in order (src/gemm_in_order.cu), or not.
template <class T, bool in_order>
constexpr bool gemm_entry_is(int entry) {
    constexpr Scalar type = std::is_same_v<T, float> ? Scalar::float32 : Scalar::float64;
    return gemm_table[entry].type == type && gemm_table[entry].tile.in_order() == in_order;
}

template <class T, int entry>
constexpr GemmLauncher<T> gemm_tuned_launcher() {
    if constexpr (std::is_same_v<T, float> && gemm_table[entry].tile.is_ring())
        return launch_gemm_tuned_ring;
    else
        return launch_gemm_tuned<T, entry>;
}

/// The launcher of each such entry; null for the others.
template <class T, bool in_order>
constexpr auto gemm_tuned_launchers = launcher_table<GemmLauncher<T>, gemm_entries>(
    []<int e>(std::integral_constant<int, e>) -> GemmLauncher<T> {
        if constexpr (gemm_entry_is<T, in_order>(e)) return gemm_tuned_launcher<T, e>();
        return nullptr;
    });

/// The launcher of `entry` from src/gemm_in_order.cu.
template <class T>
GemmLauncher<T> gemm_launcher_in_order(int entry);

}  // namespace tinyblas
