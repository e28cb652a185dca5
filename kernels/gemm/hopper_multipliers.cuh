// SPDX-License-Identifier: MIT
// The role of the warpgroups that multiply, in the rung hopper (8_hopper.cuh).
#pragma once

#include "hopper_sums.cuh"

namespace tinyblas {

/// A warpgroup, which multiplies 64 rows of the block's tile.
template <HopperForm form, GemmParts kind>
class HopperMultipliers {
    static constexpr int parts = gemm_parts(kind);
    static constexpr unsigned readers = form == HopperForm::paired ? 2 : 1;  // blocks, of a slot
    // In which t is summed: the shorter, the less is lost to truncation, at more additions. Where
    // C is small, a strict product would share k among blocks, and lose little, too.
    static constexpr int halves = form == HopperForm::sliced ? 2 : 1;
    static constexpr int count = hopper_block_n(form) / 2;  // of a thread's sums
    using Sums = float[count];

  public:
    __device__ __forceinline__ HopperMultipliers(const HopperWork& work, HopperShared& shared,
                                                 HopperAddress address, unsigned rank)
        : work_(work),
          shared_(shared),
          address_(address),
          rank_(rank),
          half_(threadIdx.x / 128 - 1) {}

    /// All units of the block. `cross`: with the cross products.
    template <bool cross>
    __device__ __forceinline__ void run() {
        for_each_unit<form>(work_, rank_, [&](const HopperUnit& at) {
            Sums m;
            int row[2];
            set_to_zero(m);
            read_row_exponents(row, at.tile_i, at.first / hopper_group_chunks);
            if constexpr (cross)
                multiply_crosswise(m, row, at);
            else
                multiply_once(m, row, at);
            const HopperColumns columns = columns_in(shared_.exponents[exponents_]);
            if (form == HopperForm::sliced && work_.plan.slices > 1) {
                drift_to_end(m, row, columns, at);
                exchange_slices<kind>(m, work_, shared_, at);
            } else if (form == HopperForm::sliced || !at.cut) {
                unscale<kind>(m, row, columns);
                store_tile(m, work_.product, at);
            } else {
                drift_to_end(m, row, columns, at);
                if (!add_cut_slices(m, work_, shared_, at)) return;
                unscale<kind>(m, row, last_columns<form, kind>(work_, at));
                store_tile(m, work_.product, at);
            }
        });
    }

  private:
    /// Of a thread's rows of A, 8 apart.
    __device__ __forceinline__ void read_row_exponents(int (&row)[2], unsigned tile_i,
                                                       unsigned group) const {
        const int* const from =
            hopper_exponents(work_.a<kind>(), work_.plan.a_bricks, tile_i * hopper_a_halves + half_,
                             work_.plan, group) +
            first_row() % gemm_brick;
        row[0] = device::load_fresh(from);  // of bf16x3, this kernel wrote it
        row[1] = device::load_fresh(from + 8);
    }

    /// Waits for the ring's next slot: its address.
    __device__ __forceinline__ std::uint32_t enter() {
        device::wait_for_phase(address_.full(ring_.slot), ring_.parity);
        const std::uint32_t slot = address_.slot(ring_.slot);
        ring_.next();
        return slot;
    }
    /// Gives the slots of one chunk back, to all that fill them: the first was entered `ago` slots
    /// ago.
    template <bool cross>
    __device__ __forceinline__ void leave(unsigned ago) {
        const unsigned lane = device::lane();
        unsigned slot = ring_.slot + hopper_slots - ago;
#pragma unroll
        for (int part = 0; part < (cross ? parts : 1); ++part, ++slot) {
            if (slot >= hopper_slots) slot -= hopper_slots;
            if (lane < readers)
                device::arrive_at(address_.empty(slot), form == HopperForm::paired ? lane : rank_);
        }
    }

    /// d = A B + (add ? d : 0) for `count` steps of a slot each, from step `first` on.
    template <int first = 0, int count = gemm_brick / hopper_step>
    __device__ __forceinline__ void multiply(Sums& d, std::uint32_t a_slot, std::uint32_t b_slot,
                                             bool add) const {
        const std::uint64_t a = device::swizzled_rows(a_slot + half_ * hopper_brick_bytes);
        const std::uint64_t b =
            device::swizzled_rows(b_slot + hopper_a_halves * hopper_brick_bytes);
#pragma unroll
        for (int step = first; step < first + count; ++step) {
            constexpr int step_units = hopper_step * 2 / 16;  // of 16 bytes
            if constexpr (kind == GemmParts::fp16x2)
                device::multiply_fp16(d, a + step * step_units, b + step * step_units,
                                      add || step > first);
            else
                device::multiply_bf16(d, a + step * step_units, b + step * step_units,
                                      add || step > first);
        }
    }

    /// m = the unit's chunks, all parts, in the scale of the last group; `row` becomes its rows'
    /// exponents.
    __device__ __forceinline__ void multiply_crosswise(Sums& m, int (&row)[2],
                                                       const HopperUnit& at) {
        Sums t, x;
        int next_row[2] = {row[0], row[1]};
#pragma unroll 1
        for (unsigned chunk = at.first, end; chunk < at.last; chunk = end) {
            begin_group();
            multiply_chunk(m, t, x, false, [&] {
                if (kind == GemmParts::fp16x2 && chunk > at.first) drift(m, row, next_row);
                row[0] = next_row[0];
                row[1] = next_row[1];
            });
            end = (chunk / hopper_group_chunks + 1) * hopper_group_chunks;
            if (end < at.last)
                read_row_exponents(next_row, at.tile_i, end / hopper_group_chunks);
            else
                end = at.last;
#pragma unroll 1
            while (++chunk < end) {
                high_ = enter();
                multiply_chunk(m, t, x, true, [&] {
                    device::wait_for_products<1>();  // the cross products of the chunk before
                    leave<true>(parts + 1);
                });
            }
            device::wait_for_products<0>();
            leave<true>(parts);
            fold(m, x);
        }
    }

    /// One chunk, whose high slot was entered. Cross products keep the tensor cores busy while t is
    /// added to m. `meanwhile()` is done while the first products run.
    template <class Meanwhile>
    __device__ __forceinline__ void multiply_chunk(Sums& m, Sums& t, Sums& x, bool add,
                                                   Meanwhile&& meanwhile) {
        start_high<0>(t);
        meanwhile();
        const std::uint32_t p1 = enter();
        if constexpr (kind == GemmParts::fp16x2) {
            device::begin_products();
            multiply(x, p1, high_, add);
        } else {
            const std::uint32_t p2 = enter();
            device::begin_products();
            multiply(x, p2, high_, add);
            multiply(x, high_, p2, true);
            multiply(x, p1, p1, true);
        }
        if constexpr (halves == 2) {
            device::close_products();
            end_high<1>(m, t);
            start_high<1>(t);
            device::begin_products();
        }
        if constexpr (kind == GemmParts::bf16x3) multiply(x, p1, high_, true);
        multiply(x, high_, p1, true);
        device::close_products();
        end_high<1>(m, t);
    }

    /// The same where the high parts are all there is.
    __device__ __forceinline__ void multiply_once(Sums& m, int (&row)[2], const HopperUnit& at) {
        Sums t;
#pragma unroll 1
        for (unsigned chunk = at.first; chunk < at.last; ++chunk) {
            if (chunk == at.first) {
                begin_group();
            } else if (chunk % hopper_group_chunks == 0) {
                int next_row[2];
                read_row_exponents(next_row, at.tile_i, chunk / hopper_group_chunks);
                begin_group();
                drift(m, row, next_row);
                row[0] = next_row[0];
                row[1] = next_row[1];
            } else {
                high_ = enter();
            }
            start_high<0>(t);
            end_high<0>(m, t);
            if constexpr (halves == 2) {
                start_high<1>(t);
                end_high<0>(m, t);
            }
            leave<false>(1);
        }
    }

    /// Enters a group's first slot: the exponents in shared memory become the group's.
    __device__ __forceinline__ void begin_group() {
        high_ = enter();
        if (++exponents_ == hopper_exponent_buffers) exponents_ = 0;
    }

    /// Starts t = p0 p0 of the chunk that was entered, or of its half number `half`.
    template <int half>
    __device__ __forceinline__ void start_high(Sums& t) {
        constexpr int count = gemm_brick / hopper_step / halves;
        device::begin_products();
        multiply<half * count, count>(t, high_, high_, false);
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

    /// m += the group's cross products.
    static __device__ __forceinline__ void fold(Sums& m, Sums& x) {
        device::settle(x);
#pragma unroll
        for (int e = 0; e < count; ++e)
            m[e] = kind == GemmParts::fp16x2 ? fmaf(x[e], 0x1p-11f, m[e]) : m[e] + x[e];
        device::settle(x);
    }

    /// m comes to the scale of the group that has begun.
    __device__ __forceinline__ void drift(Sums& m, const int (&row)[2],
                                          const int (&next_row)[2]) const {
        const unsigned before = exponents_ == 0 ? hopper_exponent_buffers - 1 : exponents_ - 1;
        rescale(m, {row[0] - next_row[0], row[1] - next_row[1]},
                columns_in(shared_.exponents[before]), columns_in(shared_.exponents[exponents_]));
    }
    /// A slice's m comes to the scale of the last group of k, if it is of another one; `row` too.
    __device__ __forceinline__ void drift_to_end(Sums& m, int (&row)[2],
                                                 const HopperColumns& columns,
                                                 const HopperUnit& at) const {
        if (kind != GemmParts::fp16x2 ||
            (at.last - 1) / hopper_group_chunks == work_.plan.groups - 1)
            return;
        int last_row[2];
        read_row_exponents(last_row, at.tile_i, work_.plan.groups - 1);
        rescale(m, {row[0] - last_row[0], row[1] - last_row[1]}, columns,
                last_columns<form, kind>(work_, at));
        row[0] = last_row[0];
        row[1] = last_row[1];
    }

    const HopperWork& work_;
    HopperShared& shared_;
    HopperAddress address_;
    unsigned rank_, half_;
    HopperRing ring_{0};
    std::uint32_t high_ = 0;
    unsigned exponents_ = hopper_exponent_buffers - 1;
};

}  // namespace tinyblas
