// SPDX-License-Identifier: MIT
// One product in the tiles of a batch.
#pragma once

#include "gemm_call.hpp"

namespace tinyblas {

void enqueue_gemm_thin(Context& context, const GemmCall<float>& call, const GemmThinPlan& plan);

}  // namespace tinyblas
