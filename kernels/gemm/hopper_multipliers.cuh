// SPDX-License-Identifier: MIT
// The role of the warpgroups that multiply, in the rung hopper (8_hopper.cuh).
#pragma once

#include "hopper_sums.cuh"

namespace tinyblas {

/// A warpgroup, which multiplies 64 rows of the block's tile. `usual`: the route is
/// HopperRoute::usual(), otherwise it is not.
template <HopperForm form, bool usual>
class HopperMultipliers {
    static constexpr unsigned readers = form == HopperForm::paired ? 2 : 1;  // blocks, of a slot
    static constexpr bool sliced = form == HopperForm::sliced;
    static constexpr int count = hopper_block_n(form) / 2;  // of a thread's sums
    using Sums = float[count];
    static constexpr GemmParts fp16x2 = GemmParts::fp16x2, bf16x3 = GemmParts::bf16x3;

  public:
    __device__ __forceinline__ HopperMultipliers(const HopperWork& work, HopperShared& shared,
                                                 HopperAddress address, unsigned rank,
                                                 HopperRoute route, HopperRing ring)
        : work_(work),
          shared_(shared),
          address_(address),
          rank_(rank),
          route_(route),
          ring_(ring) {}

    /// Begins the block's first unit: its first slot is full.
    __device__ __forceinline__ void begin() {
        // Not before: what is known here need not be kept while a route is being prepared.
        half_ = device::uniform(threadIdx.x / 128 - 1);
        exponents_ = hopper_exponent_buffers - 1;
        if constexpr (sliced)
            begin(HopperUnit(work_.plan, rank_));
        else
            begin(HopperUnit(work_.plan, blockIdx.x / 2, rank_));
    }
    /// Gives back `slots` slots, of which one has been entered, and multiplies nothing from them.
    __device__ __forceinline__ HopperRing pass_over(unsigned slots) {
        while (true) {
            leave<1>(1);
            if (--slots == 0) return ring_;
            enter();
        }
    }

    /// The unit that has begun, and all others of the block.
    __device__ __forceinline__ void run() {
#pragma unroll 1
        for (unsigned unit = blockIdx.x / 2;;) {
            const HopperUnit& at = put_aside_before();
            const HopperChunks chunks = {device::uniform(at.first), device::uniform(at.last)};
            Sums m;
            set_to_zero(m);
            // t is summed up for a chunk, or for half of one: the shorter, the less is lost to
            // truncation, at more additions. That pays where C is small and k of middling length: a
            // strict product would share k among blocks, and lose little, too. Where k is longer,
            // m's own roundings outweigh it.
            if constexpr (usual) {
                if (sliced && work_.plan.chunks > 16 && work_.plan.chunks < 64)
                    multiply_crosswise<fp16x2, 2>(m, chunks);
                else
                    multiply_crosswise<fp16x2, 1>(m, chunks);
            } else if (route_.cross) {
                multiply_crosswise<bf16x3, sliced ? 2 : 1>(m, chunks);
            } else {
                multiply_once(m, chunks);
            }
            finish(m, put_aside_before());
            if (sliced) return;
            device::publish_shared_to_copies();  // the stages are of no use any more
            __syncwarp();
            route_.kind == bf16x3 ? leave<3>(3) : leave<2>(2);
            unit += work_.clusters;
            if (unit >= work_.plan.units()) return;
            begin(HopperUnit(work_.plan, unit, rank_));
        }
    }

  private:
    __device__ __forceinline__ void begin(const HopperUnit& at) {
        put_aside(at);
        keep(at, at.first / hopper_group_chunks);
        begin_group();
    }
    // Products need the registers that a unit would take until its end.
    __device__ __forceinline__ void put_aside(const HopperUnit& at) {
        wait_for_others();  // they may still read the one before
        if (hopper_thread() % 128 == 0) shared_.units[half_] = at;
    }
    __device__ __forceinline__ const HopperUnit& put_aside_before() {
        wait_for_others();
        return shared_.units[half_];
    }
    __device__ __forceinline__ void wait_for_others() {
        device::barrier_of(2 + static_cast<int>(half_), 128);
    }

    /// Waits for the ring's next slot: its address.
    __device__ __forceinline__ std::uint32_t enter() {
        device::wait_for_phase(address_.full(ring_.slot), ring_.parity);
        const std::uint32_t slot = device::uniform(address_.slot(ring_.slot));
        ring_.next();
        return slot;
    }
    __device__ __forceinline__ unsigned slot_entered(unsigned ago) const {
        const unsigned slot = ring_.slot + hopper_slots - ago;
        return slot < hopper_slots ? slot : slot - hopper_slots;
    }
    /// Gives the slots of one chunk back, to all that fill them: the first was entered `ago` slots
    /// ago.
    template <int parts>
    __device__ __forceinline__ void leave(unsigned ago) {
        const unsigned lane = device::lane();
        unsigned slot = slot_entered(ago);
#pragma unroll
        for (int part = 0; part < parts; ++part, ++slot) {
            if (slot >= hopper_slots) slot -= hopper_slots;
            if (lane < readers) device::arrive_at(address_.empty(slot), sliced ? rank_ : lane);
        }
    }

    /// d = A B + (add ? d : 0) for `count` steps of a slot each, from step `first` on.
    template <GemmParts kind, int first = 0, int count = gemm_brick / hopper_step>
    __device__ __forceinline__ void multiply(Sums& d, std::uint32_t a_slot, std::uint32_t b_slot,
                                             bool add) const {
        const std::uint64_t a = device::swizzled_rows(a_slot + half_ * hopper_brick_bytes);
        const std::uint64_t b =
            device::swizzled_rows(b_slot + hopper_a_halves * hopper_brick_bytes);
#pragma unroll
        for (int step = first; step < first + count; ++step) {
            constexpr int step_units = hopper_step * 2 / 16;  // of 16 bytes
            if constexpr (kind == fp16x2)
                device::multiply_fp16(d, a + step * step_units, b + step * step_units,
                                      add || step > first);
            else
                device::multiply_bf16(d, a + step * step_units, b + step * step_units,
                                      add || step > first);
        }
    }

    /// m = the unit's chunks, all parts, in the scale of the last group.
    template <GemmParts kind, int halves>
    __device__ __forceinline__ void multiply_crosswise(Sums& m, HopperChunks chunks) {
        constexpr int parts = gemm_parts(kind);
        Sums t, x;
        unsigned chunk = chunks.first;
#pragma unroll 1
        for (bool more = false;;) {  // a run of chunks of one scale
            multiply_chunk<kind, halves>(m, t, x, false, [&] {
                if (kind == fp16x2 && more) [[unlikely]]
                    drift(m, put_aside_before(), chunk);
            });
            more = run_ends<kind>(chunks, ++chunk);
#pragma unroll 1
            while (!more && chunk < chunks.last) {
                multiply_chunk<kind, halves>(m, t, x, true, [&] {
                    device::wait_for_products<1>();  // the cross products of the chunk before
                    leave<parts>(parts + 1);
                });
                more = run_ends<kind>(chunks, ++chunk);
            }
            device::wait_for_products<0>();
            fold<kind>(m, x);
            if (!more) break;  // the last chunk's slots are kept, for the stages
            leave<parts>(parts + 1);
        }
    }
    /// Enters the chunk, if it is the unit's, and tells whether a new run begins there: where the
    /// scale changes, or cross products have been summed for long.
    template <GemmParts kind>
    __device__ __forceinline__ bool run_ends(HopperChunks chunks, unsigned chunk) {
        constexpr unsigned longest = kind == fp16x2 ? 64 : 8;  // chunks
        if (chunk == chunks.last) return false;
        const bool group_begins = chunk % hopper_group_chunks == 0;
        if (!group_begins) {
            high_ = enter();
            return false;
        }
        begin_group();
        return scale_changes() || chunk % longest == 0;
    }

    /// One chunk, whose high slot was entered. Cross products keep the tensor cores busy while t is
    /// added to m. `meanwhile()` is done while the first products run.
    template <GemmParts kind, int halves, class Meanwhile>
    __device__ __forceinline__ void multiply_chunk(Sums& m, Sums& t, Sums& x, bool add,
                                                   Meanwhile&& meanwhile) {
        start_high<kind, 0, halves>(t);
        meanwhile();
        const std::uint32_t p1 = enter();
        if constexpr (kind == fp16x2) {
            device::begin_products();
            multiply<kind>(x, p1, high_, add);
        } else {
            const std::uint32_t p2 = enter();
            device::begin_products();
            multiply<kind>(x, p2, high_, add);
            multiply<kind>(x, high_, p2, true);
            multiply<kind>(x, p1, p1, true);
        }
        if constexpr (halves == 2) {
            device::close_products();
            end_high<1>(m, t);
            start_high<kind, 1, halves>(t);
            device::begin_products();
        }
        if constexpr (kind == bf16x3) multiply<kind>(x, p1, high_, true);
        multiply<kind>(x, high_, p1, true);
        device::close_products();
        end_high<1>(m, t);
    }

    /// The same where the high parts are all there is.
    __device__ __forceinline__ void multiply_once(Sums& m, HopperChunks chunks) {
        constexpr int halves = sliced ? 2 : 1;
        Sums t;
#pragma unroll 1
        for (unsigned chunk = chunks.first;;) {
            start_high<fp16x2, 0, halves>(t);
            end_high<0>(m, t);
            if constexpr (halves == 2) {
                start_high<fp16x2, 1, halves>(t);
                end_high<0>(m, t);
            }
            if (++chunk == chunks.last) return;  // two slots are kept, for the stages
            if (chunk - chunks.first >= 2) leave<1>(2);
            if (chunk % hopper_group_chunks != 0) {
                high_ = enter();
            } else {
                begin_group();
                if (scale_changes()) [[unlikely]]
                    drift(m, put_aside_before(), chunk);
            }
        }
    }

    /// Enters a group's first slot: the exponents in shared memory become the group's.
    __device__ __forceinline__ void begin_group() {
        high_ = enter();
        if (++exponents_ == hopper_exponent_buffers) exponents_ = 0;
    }

    /// Starts t = p0 p0 of the chunk that was entered, or of its half number `half`.
    template <GemmParts kind, int half, int halves>
    __device__ __forceinline__ void start_high(Sums& t) {
        constexpr int count = gemm_brick / hopper_step / halves;
        device::begin_products();
        multiply<kind, half * count, count>(t, high_, high_, false);
        device::close_products();
    }
    /// m += t, once all but the last `pending` groups of products are done.
    template <int pending>
    __device__ __forceinline__ void end_high(Sums& m, Sums& t) {
        device::wait_for_products<pending>();
        device::settle(t);
#pragma unroll
        for (int e = 0; e < count; ++e) m[e] += t[e];
        device::settle(t);
    }

    /// m += a run's cross products.
    template <GemmParts kind>
    static __device__ __forceinline__ void fold(Sums& m, Sums& x) {
        device::settle(x);
#pragma unroll
        for (int e = 0; e < count; ++e)
            m[e] = kind == fp16x2 ? fmaf(x[e], 0x1p-11f, m[e]) : m[e] + x[e];
        device::settle(x);
    }

    // Exponents of rows would take long to come from memory when they are needed. So each thread
    // keeps that of one of its warp's 16 rows.

    __device__ __forceinline__ int row_exponent(const HopperUnit& at, unsigned group,
                                                unsigned row) const {
        const GemmPlanes& a = work_.a(route_.kind);
        // Of bf16x3, this kernel wrote it.
        return device::load_fresh(hopper_exponents(a, work_.plan.a_bricks,
                                                   at.tile_i * hopper_a_halves + half_, work_.plan,
                                                   group) +
                                  row);
    }
    static __device__ __forceinline__ unsigned kept_row() {
        return hopper_thread() / 32 % 4 * 16 + hopper_thread() % 16;
    }
    __device__ __forceinline__ void keep(const HopperUnit& at, unsigned group) {
        kept_ = row_exponent(at, group, kept_row());
    }
    /// Of the thread's own rows, 8 apart.
    __device__ __forceinline__ void kept_rows(int (&row)[2]) const {
        const unsigned first = hopper_thread() % 32 / 4;
        row[0] = __shfl_sync(~0u, kept_, first);
        row[1] = __shfl_sync(~0u, kept_, first + 8);
    }

    __device__ __forceinline__ HopperColumns columns_before() const {
        return columns_in(
            shared_.exponents[exponents_ == 0 ? hopper_exponent_buffers - 1 : exponents_ - 1]);
    }
    __device__ __forceinline__ HopperColumns columns_now() const {
        return columns_in(shared_.exponents[exponents_]);
    }
    /// Whether some exponent of the tile's rows or columns differs in the group that has begun.
    __device__ __forceinline__ bool scale_changes() const {
        return shared_.changes[exponents_] != 0;
    }
    /// m comes to the scale of the group that has begun.
    __device__ __forceinline__ void drift(Sums& m, const HopperUnit& at, unsigned chunk) {
        int before[2], now[2];
        kept_rows(before);
        keep(at, chunk / hopper_group_chunks);
        kept_rows(now);
        rescale(m, {before[0] - now[0], before[1] - now[1]}, columns_before(), columns_now());
    }
    /// A slice's m comes to the scale of the last group of k, if it is of another one.
    __device__ __forceinline__ void drift_to_end(Sums& m, const HopperUnit& at) {
        const unsigned last = work_.plan.groups - 1;
        if (route_.kind != fp16x2 || (at.last - 1) / hopper_group_chunks == last) return;
        int row[2], last_row[2];
        kept_rows(row);
        kept_ = row_exponent(at, last, kept_row());
        kept_rows(last_row);
        rescale(m, {row[0] - last_row[0], row[1] - last_row[1]}, columns_now(),
                last_columns<form>(work_, route_.kind, at));
    }

    /// From the unit's m to C, or to where slices are added up.
    __device__ __forceinline__ void finish(Sums& m, const HopperUnit& at) {
        if (sliced && work_.plan.slices > 1) {
            drift_to_end(m, at);
            return exchange_slices(m, work_, shared_, route_.kind, at);
        }
        HopperColumns columns = columns_now();
        if (!sliced && at.cut) {
            drift_to_end(m, at);
            if (!add_cut_slices(m, work_, shared_, at)) return;
            columns = last_columns<form>(work_, route_.kind, at);
        }
        store_tile<usual>(m, work_.product, at, {stage(1), stage(2)}, kept_, columns,
                          gemm_offset(route_.kind));
    }
    /// The warp's own, in A's rows of a slot that is not given back yet.
    __device__ __forceinline__ HopperStage stage(unsigned ago) const {
        return {reinterpret_cast<char*>(shared_.slots[slot_entered(ago)]) +
                hopper_thread() / 32 * (16 * gemm_brick * 2)};
    }

    const HopperWork& work_;
    HopperShared& shared_;
    HopperAddress address_;
    unsigned rank_, half_ = 0;
    HopperRoute route_;
    HopperRing ring_;
    std::uint32_t high_ = 0;
    unsigned exponents_ = 0;
    int kept_ = 0;
};

}  // namespace tinyblas
