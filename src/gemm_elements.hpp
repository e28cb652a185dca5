// SPDX-License-Identifier: MIT
// Batches of products whose operands come by elements, and stream-k, as host files see them.
// Compiled in gemm_elements.cu.
#pragma once

#include "gemm_pieces.hpp"
#include "kernels/gemm/stream_k_plan.hpp"
#include "tinyblas/context.hpp"

namespace tinyblas {

/// The launcher of an entry of gemm_elements_table. Needs machine code for compute capability 9.0a.
BatchLauncher<float> elements_launcher(int entry);

/// The products of `x` in tiles of an entry of stream_k_table.
void enqueue_stream_k(Context& context, int entry, const StreamKCut& cut,
                      const GemmBatch<float>& x);

}  // namespace tinyblas
