// SPDX-License-Identifier: MIT
// The rung tensor of gemm, as host files see it. Compiled in gemm_tensor.cu.
#pragma once

#include "gemm_call.hpp"
#include "kernels/gemm/batched_operands.hpp"
#include "kernels/gemm/tensor_plan.hpp"

namespace tinyblas {

/// Rows: the index that the operand shares with C. Plans do not depend on addresses: only on what
/// lies between lines.
TensorPitch tensor_pitch(const MatrixView<const double>& operand);

/// The plan for a call whose k is not 0, if at most `most_scratch` bytes are there for it.
GemmTensorPlan plan_gemm_tensor(const GemmCall<double>& call,
                                std::size_t most_scratch = static_cast<std::size_t>(-1));

/// Enqueues the call, whose k is not 0, as `plan` says. Needs compute capability 9.0a.
void enqueue_gemm_tensor(Context& context, const GemmCall<double>& call,
                         const GemmTensorPlan& plan);
/// A batch of at most gemm_tensor_most() products (tensor_plan.hpp), by a plan of as many.
void enqueue_gemm_tensor(Context& context, const GemmBatch<double>& batch,
                         const GemmTensorPlan& plan);

}  // namespace tinyblas
