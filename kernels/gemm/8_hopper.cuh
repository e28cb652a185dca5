// SPDX-License-Identifier: MIT
// gemm, rung 8 (compute capability 9.0a). New over rung 7, whose arithmetic it does: the tensor
// cores multiply, straight from shared memory (wgmma); the copy engine brings bricks there; warps
// that only copy and two warpgroups that only multiply share a block; two blocks share B.
//
//   a cluster's tile of C: 256 x 128          a slot holds one part of 64 k: 2 bricks of A, 2 of B
//   +-----------------+
//   |  multipliers 0  | block 0               copier      [p0][p1][p0][p1][p0][p1][p0]   7 slots
//   |  multipliers 1  |                         |  fills  ^              ^
//   +-----------------+                         |         | waits until both blocks' multipliers
//   |  multipliers 0  | block 1                 |           have left a slot: each block brings
//   |  multipliers 1  |                         |           half of B to both
//   +-----------------+                       multipliers  read slots in turn
//
//   tensor cores   | p0 p0, chunk c  | cross products, c       | p0 p0, chunk c + 1  | ...
//   adders              ...          |  m += t (p0 p0 of c)    |
//
// A multiplier keeps three sets of 64 registers: t, a chunk's products of high parts; x, the cross
// products of a run of chunks; m, the sum in fp32. The tensor cores add with truncation, an error
// that always points to zero: so t is short, and m is added to by the ordinary adder, rounded to
// nearest. That happens while the tensor cores are busy with x, which is 2^-11 as large and may run
// longer: for 64 chunks, or until the scale of a row or column changes.
//
// One kernel for all routes of the guard: another one, launched each time and most often for
// nothing, would take 1 to 3 us. But the usual route has code of its own, in one piece, which saves
// 2 us at n = 2048: right after the pre-pass, code that is not at hand takes long to come.
//
// Where C is small, tiles are half as wide, and clusters may share k (HopperForm::sliced). Sources:
// Ootomo and Yokota, Recovering single precision accuracy from Tensor Cores, IJHPCA 36(4), 2022;
// Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ CS 7, 2021.
//
// Limit: power, from n = 4096 on; within the main loop the tensor cores are busy 96 % of the
// cycles. Below: the start of two kernels, and the verdict, whose loads take 1 to 3 us while what
// the pre-pass has written is still on its way.
#pragma once

#include "hopper_first.cuh"
#include "hopper_multipliers.cuh"
#include "hopper_strict.cuh"
#include "hopper_watcher.cuh"

namespace tinyblas {

inline constexpr int hopper_threads = 128 + hopper_multipliers;
inline constexpr int hopper_copy_registers = 40, hopper_multiply_registers = 232;

/// The roles of the block's threads, once the parts that are wanted are there.
template <HopperForm form, bool usual>
__device__ __forceinline__ void play_roles(const HopperWork& work, HopperShared& shared,
                                           HopperAddress address, HopperRoute route) {
    const unsigned rank = device::cluster_rank();
    if (threadIdx.x < 128) {
        device::give_up_registers<hopper_copy_registers>();
        if (route.strict) return;
        if (threadIdx.x / 32 == hopper_copiers)
            watch_scales<form>(work, shared, address, rank, route);
        else if (threadIdx.x % 32 == 0)
            copy_bricks<form>(work, address, rank, threadIdx.x / 32, route);
        if (form == HopperForm::sliced) {  // as exchange_slices
            if (work.plan.slices == 1) return;
            device::cluster_arrive();
            device::cluster_wait();
        }
    } else {
        device::claim_registers<hopper_multiply_registers>();
        if (route.strict)
            return multiply_strictly(work.product, work.wide.tasks[0], work.wide.tasks[1],
                                     reinterpret_cast<StrictTiles&>(shared));
        HopperMultipliers<form, usual>(work, shared, address, rank, route).run();
        if (form == HopperForm::sliced) return;
    }
    device::cluster_arrive_relaxed();  // no block may end while the other can still signal to it
    device::cluster_wait();
}

/// Makes the barriers ready; the cluster waits for them later.
template <HopperForm form>
__device__ __forceinline__ void make_barriers(HopperAddress address) {
    if (threadIdx.x == 0) {
        if (address.slot(0) % 1024 != 0) device::trap();             // the swizzle counts on it
        constexpr int readers = form == HopperForm::paired ? 2 : 1;  // blocks, of a slot
        for (unsigned slot = 0; slot < hopper_slots; ++slot) {
            device::make_barrier(address.full(slot), 2);  // a copier and the watcher
            device::make_barrier(address.empty(slot), readers * hopper_multipliers / 32);
        }
        device::publish_barriers();
    }
    device::cluster_arrive_relaxed();
}

/// C in the way that the findings ask for.
template <HopperForm form>
__global__ void __launch_bounds__(hopper_threads, 1)
    gemm_hopper(const __grid_constant__ HopperWork work) {
    if constexpr (!device::reallocates_registers) {
        device::trap();
    } else {
        HopperShared& shared = device::large_shared<HopperShared>();
        const HopperAddress address(shared);
        make_barriers<form>(address);
        device::wait_for_launcher();
        unsigned verdict = gemm_verdict(work.product.a, work.product.b, shared.findings);
        device::let_dependents_start();
        if (verdict & gemm_far) [[unlikely]]
            verdict = (verdict | judge_all_drift(work, shared.findings)) & ~unsigned{gemm_far};
        if (blockIdx.x == 0 && threadIdx.x == 0 && work.product.verdict)
            *work.product.verdict = verdict;
        device::cluster_wait();
        const bool narrow = gemm_is_meant(GemmParts::fp16x2, verdict);
        // With a single chunk to a tile, copies might overtake the exponents by too many groups.
        const bool cross = (verdict & gemm_has_low) || work.plan.chunks < 2;
        if (narrow && cross) [[likely]]
            return play_roles<form, true>(work, shared, address, HopperRoute::usual());
        const bool wide = gemm_is_meant(GemmParts::bf16x3, verdict) &&
                          work.wide.tasks[0].planes.bricks != nullptr;
        if (wide) split_wide(work, shared.findings);
        play_roles<form, false>(
            work, shared, address,
            {wide ? GemmParts::bf16x3 : GemmParts::fp16x2, wide, !narrow && !wide});
    }
}

template <HopperForm form>
void launch_gemm_hopper(device::Stream stream, const HopperWork& work) {
    device::launch_dependent_clusters(
        "gemm", gemm_hopper<form>, work.clusters * work.plan.cluster_blocks(),
        work.plan.cluster_blocks(), hopper_threads, sizeof(HopperShared), stream, work);
}

}  // namespace tinyblas
