// SPDX-License-Identifier: MIT
// Compiles the kernels for batches of matrices without gaps, which need compute capability 9.0a.
#include "gemm_pieces.hpp"

#include <cstddef>

#include "gemm_choice.hpp"
#include "kernels/gemm/batched_pieces.cuh"
#include "launcher_table.hpp"

namespace tinyblas {
namespace {

/// The launchers of the entries of T; null for the others.
template <class T>
constexpr auto launchers = launcher_table<BatchLauncher<T>, gemm_pieces_entries>(
    []<int e>(std::integral_constant<int, e>) -> BatchLauncher<T> {
        if constexpr (gemm_pieces_table[e].type == gemm_scalar<T>)
            return launch_gemm_batched_pieces<T, e>;
        return nullptr;
    });

}  // namespace

template <class T>
BatchLauncher<T> pieces_launcher(int entry) {
    return launchers<T>[static_cast<std::size_t>(entry)];
}
template BatchLauncher<float> pieces_launcher<float>(int);
template BatchLauncher<double> pieces_launcher<double>(int);

}  // namespace tinyblas
