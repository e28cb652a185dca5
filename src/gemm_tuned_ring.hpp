// SPDX-License-Identifier: MIT
// The tuned rung's first entry, as host files see it. Compiled in gemm_tuned_ring.cu.
#pragma once

#include <cstddef>

#include "device/runtime.hpp"
#include "gemm_call.hpp"
#include "kernels/gemm/batched_operands.hpp"
#include "kernels/gemm/gate.hpp"
#include "kernels/gemm/tiles.hpp"

namespace tinyblas {

struct GemmBatchMaps;  // kernels/gemm/batch_maps.hpp

/// How that entry would bring the operands, with at most `most_scratch` bytes for maps. Where
/// arrays of pointers say where they are, they are supposed to begin at 16 bytes.
GemmRingLoads gemm_ring_loads(const GemmBatch<float>& batch,
                              std::size_t most_scratch = static_cast<std::size_t>(-1));

/// How that entry takes one product the fastest, with at most `most_scratch` bytes.
GemmRingPlan plan_gemm_ring(const GemmCall<float>& call,
                            std::size_t most_scratch = static_cast<std::size_t>(-1));
/// Enqueues the call as its plan for the ring says. Needs machine code for compute capability 9.0a,
/// as what follows.
void enqueue_gemm_tuned_ring(Context& context, const GemmCall<float>& call);

/// Enqueues at most gemm_batch_most (batched_plan.hpp) products.
void enqueue_gemm_tuned_ring(Context& context, const GemmBatch<float>& batch);
/// Writes maps of a batch's matrices.
void enqueue_gemm_batch_maps(device::Stream stream, const GemmBatchMaps& work);
/// Enqueues one, unless the gate is closed.
void launch_gemm_tuned_ring(device::Stream stream, float alpha, MatrixView<const float> a,
                            MatrixView<const float> b, float beta, MatrixView<float> c,
                            GemmGate gate);

}  // namespace tinyblas
