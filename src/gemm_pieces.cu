// SPDX-License-Identifier: MIT
// Compiles the kernels for batches of matrices without gaps, which need compute capability 9.0a.
#include "gemm_pieces.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "gemm_choice.hpp"
#include "kernels/gemm/batched_pieces.cuh"

namespace tinyblas {

namespace {

template <class T>
using Launcher = void (*)(device::Stream, const GemmBatch<T>&);

/// The launchers of the entries of T; null for the others.
template <class T>
constexpr auto launchers = []<int... entry>(std::integer_sequence<int, entry...>) {
    constexpr auto launcher = []<int e>(std::integral_constant<int, e>) -> Launcher<T> {
        if constexpr (gemm_pieces_table[e].type == gemm_scalar<T>)
            return launch_gemm_batched_pieces<T, e>;
        return nullptr;
    };
    return std::array<Launcher<T>, sizeof...(entry)>{
        launcher(std::integral_constant<int, entry>())...};
}
(std::make_integer_sequence<int, gemm_pieces_entries>());

}  // namespace

template <class T>
Launcher<T> pieces_launcher(int entry) {
    return launchers<T>[static_cast<std::size_t>(entry)];
}
template Launcher<float> pieces_launcher<float>(int);
template Launcher<double> pieces_launcher<double>(int);

}  // namespace tinyblas
