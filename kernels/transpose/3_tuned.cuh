// SPDX-License-Identifier: MIT
// transpose, rung 3: one launcher for each line of the table. The forms are files of their own:
//
//   slim        few rows or few columns         3_tuned_slim.cuh
//   vectors     aligned rows                    3_tuned_vectors.cuh
//   skewed      rows that begin anywhere        3_tuned_skewed.cuh
//   in_place    aligned rows, A is B            3_tuned_in_place.cuh
//
// All of them need contiguous rows, of A and of B.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "3_tuned_in_place.cuh"
#include "3_tuned_skewed.cuh"
#include "3_tuned_slim.cuh"
#include "3_tuned_vectors.cuh"

namespace tinyblas {

template <class Unit>
using TransposeLauncher = void (*)(device::Stream, MatrixView<const Unit>, MatrixView<Unit>);

template <class Unit, int entry>
constexpr TransposeLauncher<Unit> transpose_tuned_launcher() {
    constexpr TransposeForm form = transpose_table[entry].form;
    if constexpr (transpose_table[entry].element_size != sizeof(Unit))
        return nullptr;
    else if constexpr (form == TransposeForm::slim)
        return launch_transpose_slim<Unit, entry>;
    else if constexpr (form == TransposeForm::vectors)
        return launch_transpose_vectors<Unit, entry>;
    else if constexpr (form == TransposeForm::skewed)
        return launch_transpose_skewed<Unit, entry>;
    else
        return launch_transpose_in_place<Unit, entry>;
}

/// The launcher of each entry; null for those of other element sizes.
template <class Unit>
constexpr auto transpose_tuned_launchers = []<int... entry>(std::integer_sequence<int, entry...>) {
    return std::array<TransposeLauncher<Unit>, sizeof...(entry)>{
        transpose_tuned_launcher<Unit, entry>()...};
}
(std::make_integer_sequence<int, transpose_entries>());

}  // namespace tinyblas
