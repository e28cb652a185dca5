// SPDX-License-Identifier: MIT
// How a kernel that works from parts learns whether it is meant: each of its blocks reads what the
// pre-pass has found, so that no kernel stands between the pre-pass and the product.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "planes.hpp"

namespace tinyblas {

/// Of the findings of A and B together, those that thread `thread` of `threads` reads, once the
/// pre-pass is known to have ended.
__device__ __forceinline__ unsigned some_findings(const GemmPlanes& a, const GemmPlanes& b,
                                                  unsigned thread, unsigned threads) {
    constexpr unsigned vector = 16, batch = 4;  // batch: loads under way at once
    const auto of_a = static_cast<unsigned>(a.all_findings() / vector);
    const unsigned count = of_a + static_cast<unsigned>(b.all_findings() / vector);
    unsigned found = 0;
#pragma unroll 1
    for (unsigned first = thread; first < count; first += batch * threads) {
        unsigned words[batch][4] = {};
#pragma unroll
        for (unsigned n = 0; n < batch; ++n) {
            const unsigned i = first + n * threads;
            if (i < count)
                device::load_fresh(words[n], reinterpret_cast<const unsigned*>(
                                                 i < of_a ? a.findings + i * vector
                                                          : b.findings + (i - of_a) * vector));
        }
#pragma unroll
        for (const auto& of_vector : words)
#pragma unroll
            for (const unsigned word : of_vector) found |= word;
    }
    found |= found >> 16;
    return (found | found >> 8) & 0xFF;
}

/// The findings of A and B together, for gemm_is_meant: all threads of a block, of one dimension,
/// get them.
__device__ __forceinline__ unsigned gemm_verdict(const GemmPlanes& a, const GemmPlanes& b) {
    auto& of_warps = device::shared<struct VerdictOfWarps, unsigned[16]>();
    const unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const unsigned found = __reduce_or_sync(~0u, some_findings(a, b, threadIdx.x, blockDim.x));
    if (lane == 0) of_warps[threadIdx.x / 32] = found;
    __syncthreads();
    return __reduce_or_sync(~0u, lane < warps ? of_warps[lane] : 0);
}

}  // namespace tinyblas
