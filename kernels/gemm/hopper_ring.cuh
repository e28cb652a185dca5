// SPDX-License-Identifier: MIT
// What the roles of the rung hopper share: the ring of slots in shared memory, the units of work,
// and where an operand's bricks lie. And the role of the thread that copies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda/hopper.hpp"
#include "hopper_plan.hpp"
#include "planes.cuh"
#include "verdict.cuh"

namespace tinyblas {

inline constexpr unsigned hopper_slots = 7;
inline constexpr int hopper_step = 16;  // k of one instruction
inline constexpr unsigned hopper_brick_bytes = gemm_brick * gemm_brick * 2;
/// Bricks of a tile's edges, in a slot one after another.
inline constexpr unsigned hopper_a_halves = hopper_block_m / gemm_brick;
template <HopperForm form>
constexpr unsigned hopper_b_halves = hopper_block_n(form) / gemm_brick;
inline constexpr unsigned hopper_most_columns = hopper_block_n(HopperForm::paired);
inline constexpr unsigned hopper_slot_bytes = 4 * hopper_brick_bytes;
inline constexpr unsigned hopper_group_chunks = gemm_group / gemm_brick;
/// Exponents of B's rows lie in shared memory until a group later: copies may run ahead of the
/// multipliers by as many groups as slots hold, and one is kept to compare with.
inline constexpr unsigned hopper_exponent_buffers = 5;

/// One unit of work: a block's tile of C, and chunks of k from `first` to before `last`.
struct HopperUnit {
    unsigned tile_i, tile_j, first, last, slice;
    unsigned cut_tile;  // number among the block tiles that are cut
    bool cut;

    __device__ __forceinline__ HopperUnit(const HopperPlan& plan, unsigned unit, unsigned rank)
        : first(0), last(plan.chunks), slice(0), cut_tile(0), cut(unit >= plan.whole) {
        unsigned tile = unit;
        if (cut) {
            const unsigned inside = unit - plan.whole, number = inside / plan.slices;
            slice = inside - number * plan.slices;
            take_slice(plan);
            cut_tile = number * 2 + rank;
            tile = plan.whole + number;
        }
        // Down 8 tile rows, then along: neighbours share bricks of A and B in the L2 cache.
        constexpr unsigned band = 8;
        const unsigned above = tile / (band * plan.tiles_n) * band;
        const unsigned rows = plan.tiles_m - above < band ? plan.tiles_m - above : band;
        const unsigned place = tile - above * plan.tiles_n;
        tile_j = place / rows;
        tile_i = (above + place - tile_j * rows) * 2 + rank;
    }
    /// The only one of a block of the form sliced.
    __device__ __forceinline__ HopperUnit(const HopperPlan& plan, unsigned rank)
        : slice(rank), cut_tile(0), cut(false) {
        const unsigned tile = blockIdx.x / plan.slices;
        tile_j = tile / plan.tiles_m;
        tile_i = tile - tile_j * plan.tiles_m;
        take_slice(plan);
    }

  private:
    __device__ __forceinline__ void take_slice(const HopperPlan& plan) {
        first = slice * plan.chunks / plan.slices;
        last = (slice + 1) * plan.chunks / plan.slices;
    }
};

/// Chunks of k from `first` to before `last`.
struct HopperChunks {
    unsigned first, last;
};

/// How far the blocks of a launch are with shares of something.
struct HopperShares {
    unsigned taken, made, seen, found;
};
/// All zero before and after.
struct HopperCounters {
    unsigned of_tiles[HopperPlan::most_cut_units];  // that are cut: slices that have ended
    HopperShares of_drift, of_wide;
    unsigned begun;  // tiles that are not cut
};

struct HopperShared {
    std::uint8_t slots[hopper_slots][hopper_slot_bytes];
    int exponents[hopper_exponent_buffers][hopper_most_columns];
    unsigned changes[hopper_exponent_buffers];  // whether the scale of a row or column does
    std::uint64_t full[hopper_slots], empty[hopper_slots];
    std::uint64_t known;     // the verdict
    std::uint64_t prepared;  // what another route than the usual one needs
    HopperUnit units[2];     // of the warpgroups that multiply
    unsigned verdict;        // to begin with, and what has become of it once that is prepared for
    bool usual;              // the route, to begin with
    unsigned found;          // by the blocks of the launch together
    unsigned turn;
};
static_assert(sizeof(HopperShared) <= 227 << 10);

/// Where it lies, as the copy engine and the barriers want to know.
class HopperAddress {
  public:
    __device__ __forceinline__ explicit HopperAddress(const HopperShared& shared)
        : base_(device::opaque(static_cast<std::uint32_t>(__cvta_generic_to_shared(&shared)))) {}
    __device__ __forceinline__ std::uint32_t slot(unsigned number) const {
        return base_ + number * hopper_slot_bytes;
    }
    __device__ __forceinline__ std::uint32_t full(unsigned number) const {
        return base_ + offsetof(HopperShared, full) + number * 8;
    }
    __device__ __forceinline__ std::uint32_t empty(unsigned number) const {
        return base_ + offsetof(HopperShared, empty) + number * 8;
    }
    __device__ __forceinline__ std::uint32_t known() const {
        return base_ + offsetof(HopperShared, known);
    }
    __device__ __forceinline__ std::uint32_t prepared() const {
        return base_ + offsetof(HopperShared, prepared);
    }
    __device__ __forceinline__ std::uint32_t exponents(unsigned buffer) const {
        return base_ + offsetof(HopperShared, exponents) +
               buffer * (hopper_most_columns * unsigned{sizeof(int)});
    }

  private:
    std::uint32_t base_;
};

/// The ring as one role walks it.
struct HopperRing {
    unsigned slot = 0, parity;

    __device__ __forceinline__ explicit HopperRing(unsigned first_parity) : parity(first_parity) {}
    __device__ __forceinline__ void next() {
        if (++slot == hopper_slots) {
            slot = 0;
            parity ^= 1;
        }
    }
};

/// Waits until all slots have been left: before, no block may end, for the other block's
/// multipliers still signal to it. `ring`: of a copier, at its end.
__device__ __forceinline__ void wait_until_left(HopperAddress shared, HopperRing ring) {
    for (unsigned slot = 0; slot < hopper_slots; ++slot, ring.next())
        device::wait_for_phase(shared.empty(ring.slot), ring.parity);
}

struct HopperWork {
    GemmPlanesProduct product;  // from fp16x2
    GemmPlanesWork wide;        // the operands, and where bf16x3 has room, if it has
    HopperPlan plan;
    float* partials;
    HopperCounters* counters;
    unsigned clusters;  // of the launch

    __device__ __forceinline__ const GemmPlanes& a(GemmParts kind) const {
        return kind == GemmParts::fp16x2 ? product.a : wide.tasks[0].planes;
    }
    __device__ __forceinline__ const GemmPlanes& b(GemmParts kind) const {
        return kind == GemmParts::fp16x2 ? product.b : wide.tasks[1].planes;
    }
};

/// What the guard's verdict makes of a product.
struct HopperRoute {
    GemmParts kind;
    bool cross;   // not from high parts alone
    bool strict;  // not from parts

    static constexpr HopperRoute usual() { return {GemmParts::fp16x2, true, false}; }
    constexpr bool is_usual() const { return kind == GemmParts::fp16x2 && cross && !strict; }

    /// @param verdict  without gemm_far
    static __device__ __forceinline__ HopperRoute of(const HopperWork& work, unsigned verdict) {
        if (gemm_is_meant(GemmParts::fp16x2, verdict)) {
            // With a single chunk to a tile, copies might overtake the exponents by too many
            // groups.
            const bool cross = (verdict & gemm_has_low) || work.plan.chunks < 2;
            return {GemmParts::fp16x2, cross, false};
        }
        const bool wide = gemm_is_meant(GemmParts::bf16x3, verdict) &&
                          work.wide.tasks[0].planes.bricks != nullptr;
        return {wide ? GemmParts::bf16x3 : GemmParts::fp16x2, wide, !wide};
    }
};

/// Calls body(unit) for each unit of the calling block, while that returns true.
template <HopperForm form, class Body>
__device__ __forceinline__ void for_each_unit(const HopperWork& work, unsigned rank, Body&& body) {
    if constexpr (form == HopperForm::sliced) {
        body(HopperUnit(work.plan, rank));
    } else {
#pragma unroll 1
        for (unsigned unit = blockIdx.x / 2; unit < work.plan.units(); unit += work.clusters)
            if (!body(HopperUnit(work.plan, unit, rank))) return;
    }
}

/// How many slots are filled before the verdict is known, for nothing if it is not the usual one.
template <HopperForm form>
__device__ __forceinline__ unsigned slots_ahead(const HopperWork& work, unsigned rank) {
    unsigned slots = 0;
    for_each_unit<form>(work, rank, [&](const HopperUnit& at) {
        slots += (at.last - at.first) * gemm_parts(GemmParts::fp16x2);
        return slots < hopper_slots;
    });
    return slots < hopper_slots ? slots : hopper_slots;
}

/// Row 0 of the exponents of a row brick. Rows outside the operand have the last brick's: their
/// products are not stored.
__device__ __forceinline__ const int* hopper_exponents(const GemmPlanes& planes,
                                                       unsigned row_bricks, unsigned row,
                                                       const HopperPlan& plan, unsigned group) {
    row = row < row_bricks ? row : row_bricks - 1;
    return planes.exponents + (std::size_t{row} * plan.groups + group) * gemm_brick;
}

/// Threads that copy, of a warp each: one alone would not keep up. The first two bring A's halves
/// of a slot; the third B's: all, or, paired, the half which the block brings to both.
inline constexpr unsigned hopper_copiers = 3;

/// The role of copier `copier`: its share of all slots, one part of a chunk each. `goes_on()` is
/// asked before any slot is filled for the second time, and then now and again.
template <HopperForm form, class GoesOn>
__device__ __forceinline__ void copy_bricks(const HopperWork& work, HopperAddress shared,
                                            unsigned rank, unsigned copier, HopperRoute route,
                                            HopperRing& ring, GoesOn&& goes_on) {
    const unsigned parts = gemm_parts(route.kind);
    constexpr bool paired = form == HopperForm::paired;
    const HopperPlan& plan = work.plan;
    const bool of_a = copier < hopper_a_halves;
    const unsigned half = of_a ? copier : paired ? rank : 0;
    constexpr unsigned b_halves = hopper_b_halves<form>;
    constexpr unsigned exponents_bytes = gemm_brick * sizeof(int);  // of a brick
    const GemmPlanes& b = work.b(route.kind);
    const std::uint16_t* const bricks = of_a ? work.a(route.kind).bricks : b.bricks;
    const unsigned row_bricks = of_a ? plan.a_bricks : plan.b_bricks;
    const unsigned place = (of_a ? half : hopper_a_halves + half) * hopper_brick_bytes;
    const unsigned step = route.cross ? 1 : parts;
    unsigned buffer = 0;
    for_each_unit<form>(work, rank, [&](const HopperUnit& at) {
        // A row brick's chunks follow each other, and in them the parts.
        const unsigned row = (of_a ? at.tile_i * hopper_a_halves : at.tile_j * b_halves) + half;
        const std::uint16_t* from =
            bricks +
            (std::size_t{row < row_bricks ? row : row_bricks - 1} * plan.chunks + at.first) *
                (parts * gemm_brick * gemm_brick);
        const unsigned last = at.last * parts;
        unsigned part = at.first * parts, begins_at = part, group = at.first / hopper_group_chunks;
        const int* exponents = hopper_exponents(
            b, plan.b_bricks, at.tile_j * b_halves + copier % b_halves, plan, group);
#pragma unroll 1
        for (; part < last; part += step) {
            const std::uint32_t full = shared.full(ring.slot);
            if (ring.slot == 0 && ring.parity == 0 && !goes_on()) return false;
            device::wait_for_phase(shared.empty(ring.slot), ring.parity);
            const bool begins = part == begins_at;
            if (copier == 0)
                device::arrive_expecting(full, (hopper_a_halves + b_halves) * hopper_brick_bytes +
                                                   (begins ? b_halves * exponents_bytes : 0));
            if (!of_a && paired)
                device::copy_bulk_to(0b11, shared.slot(ring.slot) + place, from, hopper_brick_bytes,
                                     full);
            else if (paired)
                device::copy_bulk(shared.slot(ring.slot) + place, from, hopper_brick_bytes, full);
            else  // one turn: up to 5 % less time; where bricks are read in several, 2 % more
                device::copy_bulk_for_now(shared.slot(ring.slot) + place, from, hopper_brick_bytes,
                                          full);
            if (begins) {
                begins_at = ++group * (parts * hopper_group_chunks);
                if (copier < b_halves)
                    device::copy_bulk(shared.exponents(buffer) + copier * exponents_bytes,
                                      exponents, exponents_bytes, full);
                exponents += gemm_brick;
                if (++buffer == hopper_exponent_buffers) buffer = 0;
            }
            from += step * (gemm_brick * gemm_brick);
            ring.next();
        }
        return true;
    });
}

}  // namespace tinyblas
