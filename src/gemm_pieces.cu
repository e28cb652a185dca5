// SPDX-License-Identifier: MIT
// Compiles the kernels for batches of matrices without gaps, which need compute capability 9.0a.
#include "gemm_pieces.hpp"

#include "kernels/gemm/batched_pieces.cuh"

namespace tinyblas {

template <>
void (*pieces_launcher<float>(int entry))(device::Stream, const GemmBatch<float>&) {
    return entry == 0 ? launch_gemm_batched_pieces<float, 0> : launch_gemm_batched_pieces<float, 1>;
}
template <>
void (*pieces_launcher<double>(int))(device::Stream, const GemmBatch<double>&) {
    return launch_gemm_batched_pieces<double, 2>;
}

}  // namespace tinyblas
