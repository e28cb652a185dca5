// SPDX-License-Identifier: MIT
// gemm's rung sliced, as host files see it. Compiled in gemm_sliced.cu and
// gemm_sliced_in_order.cu.
#pragma once

#include "gemm_call.hpp"
#include "kernels/gemm/batched_operands.hpp"
#include "kernels/gemm/sliced_plan.hpp"

namespace tinyblas {

/// The plan for a call whose k is not 0, if at most `most_scratch` bytes are there for it.
GemmSlicedPlan plan_gemm_sliced(const GemmCall<float>& call,
                                std::size_t most_scratch = static_cast<std::size_t>(-1));

/// Enqueues the call, whose k is not 0, as `plan` says. Needs compute capability 9.0a.
void enqueue_gemm_sliced(Context& context, const GemmCall<float>& call, const GemmSlicedPlan& plan);
/// The same for a batch of the plan's products.
void enqueue_gemm_sliced(Context& context, const GemmBatch<float>& batch,
                         const GemmSlicedPlan& plan);

/// Enqueues the work with one entry of sliced_table, on a GPU of this compute capability; if there
/// is a `batch`, one that sliced_batches().
void launch_gemm_sliced(device::Stream stream, int entry, const SlicedWork& work,
                        int compute_capability, const SlicedBatch* batch = nullptr);

}  // namespace tinyblas
