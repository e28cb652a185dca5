// SPDX-License-Identifier: MIT
// The roles of the warp that watches, in the rung hopper (8_hopper.cuh). First it reads what the
// pre-pass has found, while the first slots are being filled: a slot is full when it says so, too.
// Then: where a group of k begins, does the scale of some row or column of the block's tile change?
// The multipliers could find out themselves, but have no time for it: what they run so seldom comes
// from memory each time, 8 instructions at once, while the tensor cores wait.
#pragma once

#include "hopper_ring.cuh"

namespace tinyblas {

/// Tells the block the verdict, and whoever else wants to know. Returns whether it is the usual
/// one.
__device__ __forceinline__ bool find_verdict(const HopperWork& work, HopperShared& shared,
                                             HopperAddress address) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned verdict =
        __reduce_or_sync(~0u, some_findings(work.product.a, work.product.b, lane, 32));
    const bool usual = !(verdict & gemm_far) && HopperRoute::of(work, verdict).is_usual();
    if (lane == 0) {
        shared.verdict = verdict;
        shared.usual = usual;
        device::arrive(address.known());
        if (blockIdx.x == 0 && work.product.verdict) *work.product.verdict = verdict;
    }
    return usual;
}

/// Clusters begin their tiles together, turn by turn: where some are ahead of others, k far apart,
/// each fetches the bricks that they share from memory for itself (n = 16384: 117 GB in place of
/// 27, and the power that it takes). They wait a little, but not for ever: others may not be there,
/// for another kernel has their place.
class HopperTurns {
  public:
    /// By one thread of a cluster, where a tile begins that is not cut.
    __device__ __forceinline__ void begin(const HopperWork& work) {
        constexpr unsigned short_k = 32;  // chunks; then caches hold what clusters are apart
        if (work.plan.chunks <= short_k) return;
        unsigned* const begun = &work.counters->begun;
        device::take_turn(begun, work.plan.whole - 1);
        expected_ += work.clusters;
        // In the last turn none waits, so that no one still looks when the last one sets it to 0.
        if (expected_ == work.clusters || expected_ >= work.plan.whole) return;
        constexpr unsigned most_looks = 256;  // each takes somewhat less than a microsecond
        for (unsigned looks = 0; device::load_acquire(begun) < expected_; ++looks)
            if (looks == most_looks) {
                expected_ = never;
                return;
            }
    }

  private:
    static constexpr unsigned never = 1u << 31;
    unsigned expected_ = 0;  // tiles that will have begun once all clusters are at this turn
};

/// Walks the ring as copiers do, and says in `changes` what the multipliers want to know. (A row's
/// bf16x3 parts have one scale.)
template <HopperForm form>
__device__ __forceinline__ void watch_scales(const HopperWork& work, HopperShared& shared,
                                             HopperAddress address, unsigned rank,
                                             HopperRoute route, HopperRing& ring) {
    const HopperPlan& plan = work.plan;
    const unsigned slots = route.cross ? gemm_parts(route.kind) : 1, lane = threadIdx.x % 32;
    constexpr unsigned b_halves = hopper_b_halves<form>, lanes = gemm_brick / 4;
    unsigned buffer = 0;
    HopperTurns turns;
    for_each_unit<form>(work, rank, [&](const HopperUnit& at) {
        // A lane watches 4 rows of A and 4 of B, in the group before the one that begins and in it.
        // It keeps their places, which take fewer registers than pointers.
        const auto place = [&](const GemmPlanes& planes, unsigned row_bricks, unsigned brick) {
            const int* const exponents =
                hopper_exponents(planes, row_bricks, brick, plan, at.first / hopper_group_chunks) +
                lane % lanes * 4;
            return static_cast<unsigned>(exponents - planes.exponents);
        };
        unsigned a =
            place(work.product.a, plan.a_bricks, at.tile_i * hopper_a_halves + lane / lanes);
        unsigned b =
            place(work.product.b, plan.b_bricks, at.tile_j * b_halves + lane / lanes % b_halves);
        const auto differ = [](const GemmPlanes& planes, unsigned place) {
            int before[4], now[4];
            device::load_fresh(before, planes.exponents + place);
            device::load_fresh(now, planes.exponents + place + gemm_brick);
            return before[0] != now[0] || before[1] != now[1] || before[2] != now[2] ||
                   before[3] != now[3];
        };
        if (form == HopperForm::paired && !at.cut && rank == 0 && lane == 0) turns.begin(work);
        __syncwarp();
#pragma unroll 1
        for (unsigned chunk = at.first; chunk < at.last; ++chunk) {
#pragma unroll 1
            for (unsigned slot = 0; slot < slots; ++slot) {
                device::wait_for_phase(address.empty(ring.slot), ring.parity);
                const bool group_begins = chunk % hopper_group_chunks == 0;
                if (slot == 0 && (group_begins || chunk == at.first)) {
                    bool changes = false;
                    if (chunk != at.first && route.kind == GemmParts::fp16x2) {
                        changes =
                            __any_sync(~0u, differ(work.product.a, a) | differ(work.product.b, b));
                        a += gemm_brick;
                        b += gemm_brick;
                    }
                    if (lane == 0) shared.changes[buffer] = changes;
                    if (++buffer == hopper_exponent_buffers) buffer = 0;
                }
                if (lane == 0) device::arrive(address.full(ring.slot));
                ring.next();
            }
        }
        return true;
    });
}

}  // namespace tinyblas
