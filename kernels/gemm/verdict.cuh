// SPDX-License-Identifier: MIT
// How a kernel that works from parts learns whether it is meant: each of its blocks reads what the
// pre-pass has found, so that no kernel stands between the pre-pass and the product.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "planes.hpp"

namespace tinyblas {

/// The calling thread's share of an operand's findings.
__device__ __forceinline__ unsigned gemm_findings(const GemmPlanes& planes) {
    const auto strips = static_cast<unsigned>(planes.strips());
    unsigned found = 0;
#pragma unroll 4  // loads that do not wait for each other
    for (unsigned strip = threadIdx.x; strip < strips; strip += blockDim.x)
        found |= device::load_fresh(planes.findings + strip);
    return found;
}

/// The findings of A and B together, for gemm_is_meant. Called by all threads of a block, of one
/// dimension, once the pre-pass is known to have ended: every one gets the same.
__device__ __forceinline__ unsigned gemm_verdict(const GemmPlanes& a, const GemmPlanes& b) {
    const unsigned found = gemm_findings(a) | gemm_findings(b);
    unsigned verdict = 0;
#pragma unroll
    for (unsigned bit = gemm_has_low; bit <= gemm_strict; bit *= 2)
        if (__syncthreads_or((found & bit) != 0)) verdict |= bit;
    return verdict;
}

}  // namespace tinyblas
