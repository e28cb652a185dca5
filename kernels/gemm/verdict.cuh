// SPDX-License-Identifier: MIT
// How a kernel that works from parts learns whether it is meant: each of its blocks reads what the
// pre-pass has found, so that no kernel stands between the pre-pass and the product.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "planes.hpp"

namespace tinyblas {

/// What each warp of a block has found.
using WarpFindings = unsigned[16];

/// What all threads of a block, of one dimension, have found together: every one gets the same.
__device__ __forceinline__ unsigned all_findings(unsigned found, WarpFindings& of_warps) {
    const unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
    found = __reduce_or_sync(~0u, found);
    if (lane == 0) of_warps[threadIdx.x / 32] = found;
    __syncthreads();
    return __reduce_or_sync(~0u, lane < warps ? of_warps[lane] : 0);
}

/// The findings of A and B together, for gemm_is_meant, once the pre-pass is known to have ended.
__device__ __forceinline__ unsigned gemm_verdict(const GemmPlanes& a, const GemmPlanes& b,
                                                 WarpFindings& of_warps) {
    constexpr unsigned batch = 8;  // loads under way at once
    const auto of_a = static_cast<unsigned>(a.strips() * a.groups());
    const unsigned count = of_a + static_cast<unsigned>(b.strips() * b.groups());
    unsigned found = 0;
#pragma unroll 1
    for (unsigned first = threadIdx.x; first < count; first += batch * blockDim.x) {
        unsigned words[batch];
#pragma unroll
        for (unsigned n = 0; n < batch; ++n) {
            const unsigned i = first + n * blockDim.x;
            words[n] = i < count
                           ? device::load_fresh(i < of_a ? a.findings + i : b.findings + (i - of_a))
                           : 0;
        }
#pragma unroll
        for (const unsigned word : words) found |= word;
    }
    return all_findings(found, of_warps);
}
__device__ __forceinline__ unsigned gemm_verdict(const GemmPlanes& a, const GemmPlanes& b) {
    return gemm_verdict(a, b, device::shared<struct VerdictOfWarps, WarpFindings>());
}

}  // namespace tinyblas
