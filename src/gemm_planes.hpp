// SPDX-License-Identifier: MIT
// gemm from parts, as host files see it: the pre-pass and the rung split. Compiled in
// gemm_planes.cu.
#pragma once

#include "device/runtime.hpp"
#include "kernels/gemm/planes.hpp"

namespace tinyblas {

/// Makes the parts of the operands that have data. For fp16x2: their exponents and findings too, of
/// which launch_gemm_planes_drift settles what concerns whole rows.
/// For bf16x3: nothing, unless the findings of both ask for it.
template <GemmParts parts>
void launch_gemm_planes(device::Stream stream, const GemmPlanesTask& a, const GemmPlanesTask& b);

void launch_gemm_planes_drift(device::Stream stream, const GemmPlanesTask& a,
                              const GemmPlanesTask& b);

/// The product from parts, if the findings ask for parts of this kind; runs on every GPU.
template <GemmParts parts>
void launch_gemm_split(device::Stream stream, const GemmPlanesProduct& product);

}  // namespace tinyblas
