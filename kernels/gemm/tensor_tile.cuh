// SPDX-License-Identifier: MIT
// A warp's tile of C in the registers of its lanes, multiplied by its tensor core. The roles of the
// instruction's operands are exchanged: its 16 rows are columns of C, so that a lane holds pairs of
// neighbours along rows of C, and a fragment of B may come 16 bytes at a time.
//
//   lane = 4 g + t                    slab 0 (16 columns)     slab 1 ...
//                    strip 0 (8 rows)   sums[0][0]              sums[1][0]
//                    strip 1            sums[0][1]              sums[1][1]
//
//   sums[s][r][2 h + e]: row 8 r + 2 t + e, column 16 s + 2 g + h
#pragma once

#include <device.hpp>

#include "tensor_ring.cuh"

namespace tinyblas {

template <class Shared>
class TensorWarpTile {
    using A = typename Shared::A;
    using B = typename Shared::B;
    static constexpr GemmTensorTile t = Shared::t;

  public:
    static constexpr int slabs = t.warp_n / 16, strips = t.warp_m / 8;
    /// Whether a warp that begins a chunk lets the other one of its scheduler go first (YIELD,
    /// which only the compiler writes: see add_parts()). In this tile with B along k, 1 to 6 %
    /// faster; else up to 5 % slower (H200).
    static constexpr bool yields = t.block_m == 128 && t.block_n == 64 && B::along_k;

    double sums[slabs][strips][4];

    __device__ __forceinline__ TensorWarpTile(int warp, int lane) {
        const int row = warp / t.warps_n() * t.warp_m + lane / 4;
        const int column = warp % t.warps_n() * t.warp_n + lane / 4 * 2;
#pragma unroll
        for (int v = 0; v < a_variants; ++v)
            a_[v] = a_variants == 4 ? A::at(row, lane % 4 + 4 * v) : A::at(row + 8 * v, lane % 4);
#pragma unroll
        for (int v = 0; v < b_variants; ++v) b_[v] = B::at(column, lane % 4 + 4 * v);
    }

    /// Multiplies as many chunks as they come through the ring: sums start at zero
    /// and are one chain of multiply-adds in the order of k.
    __device__ __forceinline__ void multiply(unsigned chunks, TensorRing<Shared>& ring) {
        constexpr int steps = t.block_k / 16;
        static_assert(steps * slabs % 2 == 0);
        // With one slab, fragments of A have two places in turn, too: in one, each load would wait
        // for the product just begun.
        constexpr bool one_slab = slabs == 1;
        set_to_zero();
        if (chunks == 0) return;
        ring.wait_until_full();
        device::SharedAddress left = ring.before_first();
        auto a = ring.a() + a_[0], b = ring.b() + b_[0];
        double x[2][8], y[one_slab ? 2 : 1][strips][4];
        load_b(x[0], b, 0, 0);
#pragma unroll
        for (int r = 0; r < (one_slab ? strips : strips - 1); ++r) load_a(y[0][r], a, 0, r);
#pragma unroll 1
        for (; chunks > 0; --chunks) {
            const bool more = chunks > 1;
#pragma unroll
            for (int turn = 0; turn < steps * slabs; ++turn) {
                const int step = turn / slabs, s = turn % slabs;
                const bool last_slab = s == slabs - 1, last = turn == steps * slabs - 1;
                const int next_step = last ? 0 : step + 1;
                const int now = one_slab ? turn % 2 : 0, next = one_slab ? 1 - now : 0;
                const bool goes_on = !last || more;
                // Goes on to the next chunk, if this one ends and another is to come.
                const auto go_on = [&](auto&& then) {
                    if (last) {
                        left = ring.go_on();
                        if (!more) return;
                        ring.wait_until_full();
                        a = ring.a() + a_[0];
                        b = ring.b() + b_[0];
                    }
                    then();
                };
                const auto load_next = [&] {
                    load_b(x[(turn + 1) % 2], b, last_slab ? next_step : step, (s + 1) % slabs);
                    if (one_slab) load_a(y[next][0], a, next_step, 0);
                };
                // A load waits for the product that reads its registers, so it had better follow
                // the one after that; with many sums, this order alone spares the assembler spills.
                constexpr bool many_sums = slabs * strips > 8;
                if (many_sums) go_on(load_next);
#pragma unroll
                for (int r = 0; r < strips; ++r) {
                    device::multiply_fp64(sums[s][r], x[turn % 2], y[now][r]);
                    if (turn == 0 && r == 0) device::arrive(left);
                    if (r == 0 && s == 0 && !one_slab)
                        load_a(y[0][strips - 1], a, step, strips - 1);
                    if (r == 0 && !many_sums) go_on([] {});
                    if (r == (strips > 1 ? 1 : 0) && !many_sums && goes_on) load_next();
                    if (r > 0 && last_slab && goes_on) {
                        const int of = one_slab ? r : r - 1;
                        load_a(y[next][of], a, next_step, of);
                    }
                }
            }
        }
        device::arrive(left);
    }

    /// Calls use(pair, number) for pairs of sums, in the same order each time.
    template <class Use>
    __device__ __forceinline__ void for_each_pair(Use&& use) {
#pragma unroll
        for (int s = 0; s < slabs; ++s)
#pragma unroll
            for (int r = 0; r < strips; ++r)
#pragma unroll
                for (int h = 0; h < 2; ++h)
                    use(sums[s][r][2 * h], sums[s][r][2 * h + 1], ((s * strips) + r) * 2 + h);
    }

    /// The sums of each strip but the first move to the one before.
    __device__ __forceinline__ void to_next_strip() {
#pragma unroll
        for (int s = 0; s < slabs; ++s)
#pragma unroll
            for (int r = 1; r < strips; ++r)
#pragma unroll
                for (int q = 0; q < 4; ++q) sums[s][r - 1][q] = sums[s][r][q];
    }

  private:
    __device__ __forceinline__ void set_to_zero() {
        for_each_pair([](double& one, double& other, int) { one = other = 0; });
    }
    __device__ __forceinline__ void load_a(double (&y)[4], device::SharedPointer<double> a,
                                           int step, int strip) const {
        constexpr bool by_fours = a_variants == 4;
        const int half = by_fours ? 0 : strip % a_variants;
        a = a + A::beyond((strip - half) * 8, step * 16);
        if constexpr (A::spread) {
#pragma unroll
            for (int q = 0; q < 4; q += 2) load_pair(y[q], y[q + 1], a + A::beyond(0, q * 4));
        } else {
#pragma unroll
            for (int q = 0; q < 4; ++q)
                device::load_element(y[q], by_fours ? a + (a_[q] - a_[0])
                                                    : a + (a_[half] - a_[0]) + A::beyond(0, q * 4));
        }
    }
    __device__ __forceinline__ void load_b(double (&x)[8], device::SharedPointer<double> b,
                                           int step, int slab) const {
        constexpr bool by_fours = b_variants == 4;
        b = b + B::beyond(slab * 16, step * 16);
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const auto from = by_fours ? b + (b_[q] - b_[0]) : b + B::beyond(0, q * 4);
            if constexpr (B::layout == TensorLayout::together) {
                device::load_element(x[2 * q], from);
                device::load_element(x[2 * q + 1], from + B::beyond(1, 0));
            } else {
                load_pair(x[2 * q], x[2 * q + 1], from);
            }
        }
    }
    static __device__ __forceinline__ void load_pair(double& one, double& other,
                                                     device::SharedPointer<double> from) {
        double pair[2];
        device::load_vector(pair, from);
        one = pair[0];
        other = pair[1];
    }

    // Where this lane's first elements lie in a stage: for elements together, of each four of k
    // that a fragment has; for rows of A apart, in even strips and in odd ones.
    static constexpr int a_variants = !A::swizzles ? 1 : A::along_k ? 4 : 2;
    static constexpr int b_variants = B::swizzles && B::along_k ? 4 : 1;
    int a_[a_variants], b_[b_variants];
};

}  // namespace tinyblas
