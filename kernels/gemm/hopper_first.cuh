// SPDX-License-Identifier: MIT
// What the rung hopper does first where the guard asks for it: its own blocks judge how far rows
// drift, and split the operands anew into bf16x3, in place of the fp16x2 bricks. A kernel for it,
// launched each time and most often for nothing, would cost more than a small product.
//
// Warps take shares by number. When none is left, those taken last are being made by warps that
// run, so that a block may wait for them in whatever order blocks start.
#pragma once

#include "hopper_ring.cuh"

namespace tinyblas {

/// Calls make(share), which finds something, for all shares; all threads of all blocks do. On
/// return all are made: what they have found.
template <class Make>
__device__ __forceinline__ unsigned share_out(unsigned shares, HopperShares& state,
                                              WarpFindings& of_warps, Make&& make) {
    const unsigned claims = shares + gridDim.x * (blockDim.x / 32);
    const unsigned lane = threadIdx.x % 32;
    while (true) {
        unsigned share = 0;
        if (lane == 0) share = device::take_turn(&state.taken, claims - 1);
        share = __shfl_sync(~0u, share, 0);
        if (share >= shares) break;
        const unsigned found = make(share);
        device::publish_to_copies();
        __syncwarp();
        if (lane != 0) continue;
        if (found) atomicOr(&state.found, found);
        device::take_turn(&state.made, shares);
    }
    unsigned found = 0;
    if (threadIdx.x == 0) {
        while (device::load_acquire(&state.made) != shares) {
        }
        found = device::load_acquire(&state.found);
        // The last block that has seen it restores the state.
        if (device::take_turn(&state.seen, gridDim.x - 1) == gridDim.x - 1)
            state.made = state.found = 0;
    }
    __syncthreads();  // `of_warps` may still be read
    found = all_findings(found, of_warps);
    device::publish_to_copies();
    return found;
}

/// Judges how far the rows of A and B drift: the findings.
__device__ __forceinline__ unsigned judge_all_drift(const HopperWork& work,
                                                    WarpFindings& of_warps) {
    const GemmPlanes &a = work.product.a, &b = work.product.b;
    return share_out(static_cast<unsigned>(a.strips() + b.strips()), work.counters->of_drift,
                     of_warps, [&](unsigned strip) {
                         const bool of_b = is_of_b(a, strip);
                         const GemmPlanes& planes = of_b ? b : a;
                         if (!is_far(planes, strip)) return 0u;
                         return judge_drift(planes, work.wide.tasks[of_b].notes, strip);
                     });
}

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

/// Splits A and B into bf16x3. On return the bricks are there.
__device__ __forceinline__ void split_wide(const HopperWork& work, WarpFindings& of_warps) {
    const GemmPlanesWork& wide = work.wide;
    share_out((wide.patches[0] + wide.patches[1]) * planes_warps, work.counters->of_wide, of_warps,
              [&](unsigned share) {
                  with_patch(wide, share / planes_warps, WideShare{share % planes_warps});
                  return 0u;
              });
}

}  // namespace tinyblas
