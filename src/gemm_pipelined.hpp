// SPDX-License-Identifier: MIT
// The rung pipelined of gemm, as host files see it. Compiled in gemm_pipelined.cu.
#pragma once

#include <cstddef>
#include <optional>

#include "gemm_call.hpp"
#include "kernels/gemm/batched_operands.hpp"
#include "kernels/gemm/pipelined_plan.hpp"

namespace tinyblas {

/// The plan for a call whose k is not 0, if at most `most_scratch` bytes are there for it, of the
/// forms asked for. `exchanged`: whether for the transposed product, whose tiles are as narrow as
/// others are low, and of which another operand may be packed; by default what is faster, but as
/// given if C is read.
GemmPipelinedPlan plan_gemm_pipelined(const GemmCall<float>& call,
                                      std::size_t most_scratch = static_cast<std::size_t>(-1),
                                      PipelinedForms forms = PipelinedForms::all,
                                      std::optional<bool> exchanged = {});

/// Enqueues the call, whose k is not 0, as `plan` says. Needs compute capability 9.0a.
void enqueue_gemm_pipelined(Context& context, const GemmCall<float>& call,
                            const GemmPipelinedPlan& plan);

/// Enqueues its pre-pass; a task without a target is none.
void enqueue_gemm_pack(device::Stream stream, const PipelinedPackTask& a,
                       const PipelinedPackTask& b, PipelinedPackOrder order);

/// Enqueues, behind its tiles, their edges. Compiled in gemm_edges.cu.
void enqueue_gemm_edges(device::Stream stream, const GemmEdgesWork& work);

/// How many products of a batch the rung makes in one launch; 0: it does not take this one.
std::int64_t gemm_pipelined_most(const Context& context, const GemmBatch<float>& batch);
/// At most as many. `products`: 1, or 2 or 4 side by side in a tile.
void enqueue_gemm_pipelined(Context& context, const GemmBatch<float>& batch, int products);

/// The same of batches whose matrices are read each as it lies, by pointers, too: of a product, A
/// and C may lie either way, B row by row.
std::int64_t gemm_pipelined_most_in_place(const Context& context, const GemmBatch<float>& batch);
void enqueue_gemm_pipelined_in_place(Context& context, const GemmBatch<float>& batch);

}  // namespace tinyblas
