// SPDX-License-Identifier: MIT
// Compiles gemm's pre-pass and the rung split.
#include "gemm_planes.hpp"

#include "kernels/gemm/7_split.cuh"
#include "kernels/gemm/planes_drift.cuh"

namespace tinyblas {

void launch_gemm_planes_drift(device::Stream stream, const GemmPlanesTask& a,
                              const GemmPlanesTask& b) {
    const unsigned strips = device::grid(a.planes.strips() + b.planes.strips(), "gemm");
    if (strips > 0)
        device::launch_dependent("gemm", gemm_planes_drift, strips, 32, stream, planes_work(a, b));
}

template void launch_gemm_planes<GemmParts::fp16x2>(device::Stream, const GemmPlanesTask&,
                                                    const GemmPlanesTask&);
template void launch_gemm_planes<GemmParts::bf16x3>(device::Stream, const GemmPlanesTask&,
                                                    const GemmPlanesTask&);
template void launch_gemm_split<GemmParts::fp16x2>(device::Stream, const GemmPlanesProduct&);
template void launch_gemm_split<GemmParts::bf16x3>(device::Stream, const GemmPlanesProduct&);

}  // namespace tinyblas
