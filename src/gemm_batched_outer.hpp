// SPDX-License-Identifier: MIT
// Batches of products whose k is short, as host files see them. Compiled in gemm_batched_outer.cu.
#pragma once

#include "gemm_pieces.hpp"

namespace tinyblas {

/// The launcher of such batches; `in_fours`: with a chain for each four k, of floats. Needs machine
/// code for compute capability 9.0a.
template <class T>
BatchLauncher<T> batched_outer_launcher(bool in_fours);

}  // namespace tinyblas
