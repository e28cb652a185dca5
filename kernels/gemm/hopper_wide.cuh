// SPDX-License-Identifier: MIT
// What the rung hopper does first where the guard asks for bf16x3: its own blocks split the
// operands anew, in place of the fp16x2 bricks. A kernel for it, launched each time and most often
// for nothing, would cost more than a small product.
//
// Warps take shares of patches by number. When none is left, those taken last are being made by
// warps that run, so that a block may wait for them in whatever order blocks start.
#pragma once

#include "hopper_ring.cuh"

namespace tinyblas {

/// A warp's share of a patch, as if it were warp `warp` of the pre-pass.
struct WideShare {
    unsigned warp;

    template <class Owner>
    __device__ __forceinline__ void make(const GemmPlanesTask& task, PlanesPatch patch,
                                         bool vectors) const {
        const Owner owner(warp * 32 + threadIdx.x % 32);
        const GemmPlanes& planes = task.planes;
        PlanesRuns runs;
        read_patch(owner, runs, task, patch, vectors);
        const std::int64_t first = planes.exponents_of(patch.strip / 2, 0) - planes.exponents +
                                   patch.strip % 2 * gemm_strip;
        const std::int64_t groups = planes.groups();
        int exponents[planes_runs];
#pragma unroll
        for (unsigned run = 0; run < planes_runs; ++run) {
            const std::int64_t row = first + owner.row(run);
            exponents[run] = task.narrow_exponents[row];
            for (std::int64_t group = 1; group < groups; ++group)
                exponents[run] =
                    max(exponents[run], task.narrow_exponents[row + group * gemm_brick]);
            planes.exponents[row + patch.group * gemm_brick] = exponents[run];
        }
        store_parts<GemmParts::bf16x3>(owner, runs, exponents, planes, patch);
    }
};

/// Where the counters of split_wide lie among the launch's.
enum { hopper_taken = 256, hopper_made, hopper_seen };

/// Splits A and B into bf16x3; all threads of all blocks. On return the bricks are there.
__device__ __forceinline__ void split_wide(const GemmPlanesWork& work, unsigned* counters) {
    const unsigned shares = (work.patches[0] + work.patches[1]) * planes_warps;
    const unsigned claims = shares + gridDim.x * (blockDim.x / 32);
    const unsigned lane = threadIdx.x % 32;
    while (true) {
        unsigned share = 0;
        if (lane == 0) share = device::take_turn(counters + hopper_taken, claims - 1);
        share = __shfl_sync(~0u, share, 0);
        if (share >= shares) break;
        with_patch(work, share / planes_warps, WideShare{share % planes_warps});
        device::publish_to_copies();
        __syncwarp();
        if (lane == 0) device::take_turn(counters + hopper_made, shares);
    }
    if (threadIdx.x == 0) {
        while (device::load_acquire(counters + hopper_made) != shares) {
        }
        // The last block that has seen it restores the counter.
        if (device::take_turn(counters + hopper_seen, gridDim.x - 1) == gridDim.x - 1)
            counters[hopper_made] = 0;
    }
    __syncthreads();
    device::publish_to_copies();
}

}  // namespace tinyblas
