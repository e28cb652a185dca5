// SPDX-License-Identifier: MIT
// Batches of products of matrices without gaps, as host files see them. Compiled in gemm_pieces.cu.
#pragma once

#include "device/runtime.hpp"
#include "kernels/gemm/batched_operands.hpp"

namespace tinyblas {

template <class T>
using BatchLauncher = void (*)(device::Stream, const GemmBatch<T>&);

/// The launcher of an entry of gemm_pieces_table, for batches of its type. Needs machine code for
/// compute capability 9.0a.
template <class T>
BatchLauncher<T> pieces_launcher(int entry);

}  // namespace tinyblas
