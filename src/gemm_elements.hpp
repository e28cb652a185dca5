// SPDX-License-Identifier: MIT
// Batches of products whose operands come by elements, and split-k, as host files see them.
// Compiled in gemm_elements.cu.
#pragma once

#include "gemm_pieces.hpp"
#include "kernels/gemm/split_k_plan.hpp"

namespace tinyblas {

/// The launcher of an entry of gemm_elements_table. Needs machine code for compute capability 9.0a.
BatchLauncher<float> elements_launcher(int entry);

/// C = alpha sum of `parts` + beta C, which are products of their own: of plan.k each, or `last_k`.
void enqueue_split_k(device::Stream stream, const GemmSplitKPlan& plan,
                     const GemmBatch<float>& parts, int last_k, float alpha, float beta,
                     const MatrixView<float>& c);

}  // namespace tinyblas
