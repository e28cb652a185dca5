// SPDX-License-Identifier: MIT
// Batches of products, planned and enqueued, for gemm_strided_batched, gemm_batched and gemm
// itself, which makes a C of many rows as a batch of slabs. Compiled in gemm_batched.cu.
#pragma once

#include "kernels/gemm/batched_extents.hpp"
#include "tinyblas/context.hpp"

namespace tinyblas {

/// `alone`: as GemmBatchExtents has it.
template <class T>
GemmBatchPlan plan_gemm_batch(const Context& context, const GemmBatch<T>& batch, double alone = 0);

/// One launch, or a few where a grid would end. The context's device is the current one.
template <class T>
void enqueue_gemm_batch(Context& context, const GemmBatch<T>& batch, const GemmBatchPlan& plan);

}  // namespace tinyblas
