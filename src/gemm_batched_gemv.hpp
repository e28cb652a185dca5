// SPDX-License-Identifier: MIT
// Batches of products of matrices and vectors, as host files see them. Compiled in
// gemm_batched_gemv.cu.
#pragma once

#include "gemm_pieces.hpp"

namespace tinyblas {

/// The launcher of batches whose C are columns or rows. Needs machine code for compute capability
/// 9.0a.
template <class T>
BatchLauncher<T> batched_gemv_launcher();

}  // namespace tinyblas
