// SPDX-License-Identifier: MIT
// The rung skinny of gemm, as host files see it. Compiled in gemm_skinny.cu.
#pragma once

#include "gemm_call.hpp"
#include "kernels/gemm/skinny_plan.hpp"

namespace tinyblas {

/// The plan for a call whose k is not 0.
GemmSkinnyPlan plan_gemm_skinny(const GemmCall<float>& call);

/// Enqueues the call, whose k is not 0, as `plan` says. Needs machine code for compute capability
/// 9.0a.
void enqueue_gemm_skinny(Context& context, const GemmCall<float>& call, const GemmSkinnyPlan& plan);

}  // namespace tinyblas
