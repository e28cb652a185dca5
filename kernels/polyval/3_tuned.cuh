// SPDX-License-Identifier: MIT
// polyval, rung 3. New over rung 2: a thread owns many elements, so that a coefficient meets all of
// them once it is fetched, and their chains do not wait for each other; elements come and go 16
// bytes at a time; coefficients lie at places known at compile time, or in blocks, and are fetched
// two at a time.
//
//   a chain of 13 steps: straight code for each bit of 13 = 8 + 4 + 1
//
//   slots   [ 8 steps ......... | 4 steps . | 2 . | 1 | - ] [ 32 steps ... ] [ 32 steps ... ]
//             ^ taken             ^ taken     ^     ^ taken   ^ long chains: whole blocks
//                                          skipped
//
// Limit: memory up to some 40 steps on an H200, which has time for 7 multiply-adds a byte; from
// there on the multiply-adds themselves.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "2_constant.cuh"
#include "parts.cuh"

namespace tinyblas {

/// Slots for what whole blocks leave over of a chain, or for all of a short one.
constexpr int polyval_straight_slots(int slots) {
    return slots == polyval_short_slots ? polyval_short_slots : polyval_block;
}

/// Where a run of `run` steps, a power of two, starts: behind the longer ones.
constexpr int polyval_run_slot(int slots, int run) {
    return polyval_straight_slots(slots) - 2 * run;
}

template <class T, int elements>
__device__ __forceinline__ void horner_step(T (&acc)[elements], const T (&x)[elements],
                                            T coefficient) {
#pragma unroll
    for (int e = 0; e < elements; ++e)
        acc[e] = device::fused_multiply_add(acc[e], x[e], coefficient);
}

/// The runs of `run` steps and fewer whose bits `steps` has.
template <int run, class T, int elements, int slots>
__device__ __forceinline__ void horner_straight(T (&acc)[elements], const T (&x)[elements],
                                                const PolyvalParameters<T, slots>& p, int steps) {
    if (steps & run) {
#pragma unroll
        for (int k = 0; k < run; ++k) horner_step(acc, x, p[polyval_run_slot(slots, run) + k]);
    }
    if constexpr (run > 1) horner_straight<run / 2>(acc, x, p, steps);
}

template <class T, int entry, int slots>
__global__ void __launch_bounds__(polyval_table[entry].threads, polyval_table[entry].min_blocks)
    polyval_tuned(PolyvalOperands<T> v, const __grid_constant__ PolyvalParameters<T, slots> p) {
    constexpr PolyvalEntry t = polyval_table[entry];
    constexpr int straight = polyval_straight_slots(slots);
    const PolyvalShare<T, t.walk, t.vectors, t.threads> share(v.size);
    if (share.empty()) return;

    T x[share.elements], acc[share.elements];
    share.load(x, v.x);
    if (v.chain.first) {
        share.load(acc, v.chain);
    } else {
#pragma unroll
        for (int e = 0; e < share.elements; ++e) acc[e] = p.start;
    }
    horner_straight<straight / 2>(acc, x, p, p.steps);
    if constexpr (t.in_blocks()) {
        const int end = straight + p.steps / polyval_block * polyval_block;
#pragma unroll 1
        for (int slot = straight; slot < end; slot += polyval_block) {
#pragma unroll
            for (int k = 0; k < polyval_block; k += 2) {
                const auto pair = p.pairs[(slot + k) / 2];
                horner_step(acc, x, pair.first);
                horner_step(acc, x, pair.second);
            }
        }
    }
    share.store(v.y, acc);
}

template <class T, int slots>
PolyvalParameters<T, slots> polyval_arranged(const PolyvalPiece<T>& piece) {
    PolyvalParameters<T, slots> p = {};
    p.start = piece.start();
    p.steps = piece.steps;
    const int straight = polyval_straight_slots(slots);
    int k = 0;
    for (int run = straight / 2; run > 0; run /= 2)
        for (int i = 0; i < run && (piece.steps & run); ++i)
            p.set(polyval_run_slot(slots, run) + i, piece.step(k++));
    for (int slot = straight; slot < slots && k < piece.steps; ++slot) p.set(slot, piece.step(k++));
    return p;
}

/// The kernels of all entries that have so many slots; null for the others.
template <class T, int slots>
constexpr auto polyval_tuned_kernels = []<int... entry>(std::integer_sequence<int, entry...>) {
    using Kernel = void (*)(PolyvalOperands<T>, PolyvalParameters<T, slots>);
    const auto kernel = []<int e>(std::integral_constant<int, e>) -> Kernel {
        if constexpr (polyval_table[e].in_blocks() == (slots != polyval_short_slots))
            return polyval_tuned<T, e, slots>;
        return nullptr;
    };
    return std::array<Kernel, sizeof...(entry)>{kernel(std::integral_constant<int, entry>())...};
}
(std::make_integer_sequence<int, polyval_entries>());

template <class T, int slots>
void launch_polyval_tuned_in(device::Stream stream, int entry, const PolyvalOperands<T>& v,
                             const PolyvalPiece<T>& piece) {
    const PolyvalEntry& t = polyval_table[entry];
    device::launch("polyval", polyval_tuned_kernels<T, slots>[static_cast<std::size_t>(entry)],
                   polyval_grid(v.size, t.threads * t.elements(sizeof(T))), t.threads, stream, v,
                   polyval_arranged<T, slots>(piece));
}

/// At most polyval_most_steps steps.
template <class T>
void launch_polyval_tuned(device::Stream stream, int multiprocessors, const PolyvalOperands<T>& v,
                          const PolyvalPiece<T>& piece) {
    if (piece.steps == 0) return launch_polyval_constant(stream, v, piece);  // nothing to multiply
    const PolyvalWalk walk = polyval_walk(v);
    const int entry = choose_polyval_entry(walk, sizeof(T), multiprocessors, piece.steps, v.size);
    if (!polyval_table[entry].in_blocks())
        launch_polyval_tuned_in<T, polyval_short_slots>(stream, entry, v, piece);
    else if (piece.steps < polyval_medium_slots<T>)
        launch_polyval_tuned_in<T, polyval_medium_slots<T>>(stream, entry, v, piece);
    else
        launch_polyval_tuned_in<T, polyval_long_slots<T>>(stream, entry, v, piece);
}

}  // namespace tinyblas
