// SPDX-License-Identifier: MIT
// What the rung hopper does first where the guard asks for it: the multipliers of all its blocks
// judge how far rows drift, and split the operands anew into bf16x3, in place of the fp16x2 bricks.
// A kernel for it, launched each time and most often for nothing, would cost more than a small
// product.
//
// Warps take shares by number. When none is left, those taken last are being made by warps that
// run, so that a block may wait for them in whatever order blocks start.
#pragma once

#include "hopper_sums.cuh"

namespace tinyblas {

/// Calls make(share), which finds something, for all shares; the multipliers of all blocks do. On
/// return all are made: what they have found.
template <class Make>
__device__ __forceinline__ unsigned share_out(unsigned shares, HopperShares& state,
                                              unsigned& found_by_all, Make&& make) {
    const unsigned claims = shares + gridDim.x * (hopper_multipliers / 32);
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
    device::barrier_of(1, hopper_multipliers);  // what was found before may still be read
    if (hopper_thread() == 0) {
        while (device::load_acquire(&state.made) != shares) {
        }
        found_by_all = device::load_acquire(&state.found);
        // The last block that has seen it restores the state.
        if (device::take_turn(&state.seen, gridDim.x - 1) == gridDim.x - 1)
            state.made = state.found = 0;
    }
    device::barrier_of(1, hopper_multipliers);
    return found_by_all;
}

/// Judges how far the rows of A and B drift: the findings.
__device__ __forceinline__ unsigned judge_all_drift(const HopperWork& work,
                                                    unsigned& found_by_all) {
    const GemmPlanes &a = work.product.a, &b = work.product.b;
    return share_out(static_cast<unsigned>(a.strips() + b.strips()), work.counters->of_drift,
                     found_by_all, [&](unsigned strip) {
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
__device__ __forceinline__ void split_wide(const HopperWork& work, unsigned& found_by_all) {
    const GemmPlanesWork& wide = work.wide;
    share_out((wide.patches[0] + wide.patches[1]) * planes_warps, work.counters->of_wide,
              found_by_all, [&](unsigned share) {
                  with_patch(wide, share / planes_warps, WideShare{share % planes_warps});
                  return 0u;
              });
}

/// What the multipliers do where the verdict is not the usual one, before they multiply: what has
/// become of it. (A function that is called, so that the code of the usual route lies together.)
static __device__ __noinline__ unsigned prepare_route(const HopperWork& work,
                                                      HopperShared& shared) {
    unsigned verdict = shared.verdict;
    if (verdict & gemm_far)
        verdict = (verdict | judge_all_drift(work, shared.found)) & ~unsigned{gemm_far};
    if (HopperRoute::of(work, verdict).kind == GemmParts::bf16x3) split_wide(work, shared.found);
    device::barrier_of(1, hopper_multipliers);  // all have seen what was there
    if (hopper_thread() == 0) {
        shared.verdict = verdict;
        if (blockIdx.x == 0 && work.product.verdict) *work.product.verdict = verdict;
    }
    device::publish_to_copies();
    return verdict;
}

}  // namespace tinyblas
