// SPDX-License-Identifier: MIT
// Batches of products whose C are skinny, as host files see them. Compiled in
// gemm_batched_skinny.cu.
#pragma once

#include "gemm_pieces.hpp"

namespace tinyblas {

/// The launcher of an entry of skinny_batch_table, for batches whose C are of at most 16 columns,
/// or rows. Needs machine code for compute capability 9.0a.
BatchLauncher<float> batched_skinny_launcher(int entry);

}  // namespace tinyblas
