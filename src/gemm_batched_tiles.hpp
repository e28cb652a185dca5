// SPDX-License-Identifier: MIT
// Tiles of batches that only compute capability 9.0 has, as host files see them. Compiled in
// gemm_batched_tiles.cu.
#pragma once

#include "kernels/gemm/batched_tile.cuh"

namespace tinyblas {

/// The kernel of an entry of gemm_batch_table that is not portable, for operands that lie so. Needs
/// machine code for compute capability 9.0a.
template <class T>
GemmBatchTileKernel<T> gemm_batch_tile_kernel_of_90(const GemmBatch<T>& batch, int entry);

}  // namespace tinyblas
