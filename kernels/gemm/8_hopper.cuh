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
// 2 us at n = 2048: right after the pre-pass, code that is not at hand takes long to come. So do
// the loads that tell the verdict: the first bricks come beside them, as if the route were the
// usual one. If it is not, those are passed over.
//
// Where C is small, tiles are half as wide, and clusters may share k (HopperForm::sliced). Sources:
// Ootomo and Yokota, Recovering single precision accuracy from Tensor Cores, IJHPCA 36(4), 2022;
// Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ CS 7, 2021.
//
// Limit: power, from n = 2048 on, where the clock is near 1.5 of 1.98 GHz; within the main loop the
// tensor cores are busy 96 % of the cycles. A third less of DRAM's traffic, by hints to the L2
// cache, made no difference. Below: the start of two kernels, and the pre-pass, a fifth of the time
// at n = 2048.
#pragma once

#include "hopper_first.cuh"
#include "hopper_multipliers.cuh"
#include "hopper_strict.cuh"
#include "hopper_watcher.cuh"

namespace tinyblas {

inline constexpr int hopper_threads = 128 + hopper_multipliers;
inline constexpr int hopper_copy_registers = 40, hopper_multiply_registers = 232;

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
        device::make_barrier(address.known(), 1);
        device::make_barrier(address.prepared(), hopper_multipliers);
        device::publish_barriers();
    }
    device::cluster_arrive_relaxed();
}

// The roles begin as if the route were the usual one, for the verdict takes as long to come as the
// first bricks. If it is another one, all pass over the slots that are filled by then.

/// The route, once the multipliers have prepared what it needs.
__device__ __forceinline__ HopperRoute wait_for_route(const HopperWork& work,
                                                      const HopperShared& shared,
                                                      HopperAddress address) {
    device::wait_for_phase(address.prepared(), 0);
    device::publish_to_copies();
    return HopperRoute::of(work, shared.verdict);
}

/// The role of the thread that is copier `copier`.
template <HopperForm form>
__device__ __forceinline__ void copy(const HopperWork& work, HopperShared& shared,
                                     HopperAddress address, unsigned rank, unsigned copier) {
    HopperRing ring(1);
    const auto is_usual = [&] {
        device::wait_for_phase(address.known(), 0);
        return shared.usual;
    };
    copy_bricks<form>(work, address, rank, copier, HopperRoute::usual(), ring, is_usual);
    if (!is_usual()) {
        const HopperRoute route = wait_for_route(work, shared, address);
        if (!route.strict)
            copy_bricks<form>(work, address, rank, copier, route, ring, [] { return true; });
    }
    if (form == HopperForm::paired) wait_until_left(address, ring);
}

/// The role of the warp that watches.
template <HopperForm form>
__device__ __forceinline__ void watch(const HopperWork& work, HopperShared& shared,
                                      HopperAddress address, unsigned rank) {
    HopperRing ring(1);
    if (find_verdict(work, shared, address))
        return watch_scales<form>(work, shared, address, rank, HopperRoute::usual(), ring);
    for (unsigned slots = slots_ahead<form>(work, rank); slots > 0; --slots, ring.next())
        if (threadIdx.x % 32 == 0) device::arrive(address.full(ring.slot));
    const HopperRoute route = wait_for_route(work, shared, address);
    if (!route.strict) watch_scales<form>(work, shared, address, rank, route, ring);
}

/// As exchange_slices does for those that have sums.
__device__ __forceinline__ void meet_slices() {
    device::cluster_arrive();
    device::cluster_wait();
}

/// The role of the other warpgroups: to multiply.
template <HopperForm form>
__device__ __forceinline__ void multiply(const HopperWork& work, HopperShared& shared,
                                         HopperAddress address, unsigned rank) {
    HopperMultipliers<form, true> usual(work, shared, address, rank, HopperRoute::usual(),
                                        HopperRing(0));
    usual.begin();
    HopperRoute route = HopperRoute::usual();
    HopperRing ring(0);
    if (!device::uniform(shared.usual)) [[unlikely]] {
        ring = usual.pass_over(slots_ahead<form>(work, rank));
        route = HopperRoute::of(work, device::uniform(prepare_route(work, shared)));
        device::arrive(address.prepared());
        if (route.is_usual()) usual.begin();
    }
    if (route.is_usual()) [[likely]] {
        usual.run();
    } else if (!route.strict) {
        HopperMultipliers<form, false> other(work, shared, address, rank, route, ring);
        other.begin();
        other.run();
    } else {
        multiply_strictly(work.product, work.wide.tasks[0], work.wide.tasks[1],
                          reinterpret_cast<StrictTiles&>(shared));
        if (form == HopperForm::sliced) meet_slices();
    }
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
        // Dependents start when the last block ends: before, the blocks of the next product's
        // pre-pass would gather where multiprocessors come free first.
        device::wait_for_launcher();
        device::cluster_wait();
        const unsigned rank = device::cluster_rank();
        if (threadIdx.x < 128) {
            device::give_up_registers<hopper_copy_registers>();
            const unsigned warp = threadIdx.x / 32;
            if (warp == hopper_copiers)
                watch<form>(work, shared, address, rank);
            else if (threadIdx.x % 32 == 0)
                copy<form>(work, shared, address, rank, warp);
            if (form == HopperForm::sliced && work.plan.slices > 1) meet_slices();
        } else {
            device::claim_registers<hopper_multiply_registers>();
            multiply<form>(work, shared, address, rank);
        }
    }
}

template <HopperForm form>
void launch_gemm_hopper(device::Stream stream, const HopperWork& work) {
    device::launch_dependent_clusters(
        "gemm", gemm_hopper<form>, work.clusters * work.plan.cluster_blocks(),
        work.plan.cluster_blocks(), hopper_threads, sizeof(HopperShared), stream, work);
}

}  // namespace tinyblas
