// SPDX-License-Identifier: MIT
// Compiles gemm's pre-pass and the rung split.
#include "gemm_planes.hpp"

#include "kernels/gemm/7_split.cuh"
#include "kernels/gemm/planes.cuh"

namespace tinyblas {

template void launch_gemm_planes<GemmParts::fp16x2>(device::Stream, const GemmPlanesTask&,
                                                    const GemmPlanesTask&);
template void launch_gemm_planes<GemmParts::bf16x3>(device::Stream, const GemmPlanesTask&,
                                                    const GemmPlanesTask&);
template void launch_gemm_split<GemmParts::fp16x2>(device::Stream, const GemmPlanesProduct&);
template void launch_gemm_split<GemmParts::bf16x3>(device::Stream, const GemmPlanesProduct&);

}  // namespace tinyblas
