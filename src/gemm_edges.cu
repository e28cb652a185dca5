// SPDX-License-Identifier: MIT
// Compiles the edges of gemm's rung pipelined, which only machine code for 9.0a has.
#include "kernels/gemm/edges.cuh"

#include "gemm_pipelined.hpp"

namespace tinyblas {

void enqueue_gemm_edges(device::Stream stream, const GemmEdgesWork& work) {
    launch_gemm_edges(stream, work);
}

}  // namespace tinyblas
