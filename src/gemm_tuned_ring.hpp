// SPDX-License-Identifier: MIT
// The tuned rung's first entry, as host files see it. Compiled in gemm_tuned_ring.cu.
#pragma once

#include "device/runtime.hpp"
#include "kernels/gemm/batched_operands.hpp"
#include "kernels/gemm/gate.hpp"
#include "kernels/gemm/tiles.hpp"

namespace tinyblas {

/// How that entry would bring the operands. Where arrays of pointers say where they are, they are
/// supposed to begin at 16 bytes.
GemmRingLoads gemm_ring_loads(const GemmBatch<float>& batch);

/// Enqueues at most gemm_batch_most (batched_plan.hpp) products; or one, unless the gate is closed.
/// Needs machine code for compute capability 9.0a.
void launch_gemm_tuned_ring(device::Stream stream, const GemmBatch<float>& batch);
void launch_gemm_tuned_ring(device::Stream stream, float alpha, MatrixView<const float> a,
                            MatrixView<const float> b, float beta, MatrixView<float> c,
                            GemmGate gate);

}  // namespace tinyblas
