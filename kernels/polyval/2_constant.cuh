// SPDX-License-Identifier: MIT
// polyval, rung 2. New over rung 1: the coefficients come from the constant bank, where the
// launch's parameters lie, through a cache of its own that hands one value to a whole warp.
//
//   parameters  [ steps | a(n-1) a(n-2) ... a0 ]     constant bank: 32,764 bytes a launch
//                         ^ one for all lanes
//        x  -->       acc = acc x + ak               A longer polynomial comes in pieces: a launch
//        y  <--       acc                            goes on where the chain was left.
//
// Limit: a fetch from the constant bank for every multiply-add, and each multiply-add waits for the
// one before.
#pragma once

#include "parts.cuh"

namespace tinyblas {

inline constexpr int polyval_constant_threads = 256;

template <class T, int slots>
__global__ void __launch_bounds__(polyval_constant_threads)
    polyval_constant(PolyvalOperands<T> v, const __grid_constant__ PolyvalParameters<T, slots> p) {
    const std::int64_t i = std::int64_t{blockIdx.x} * polyval_constant_threads + threadIdx.x;
    if (i >= v.size) return;

    const T x = v.x(i);
    T acc = v.chain.first ? v.chain(i) : p.start;
    for (int k = 0; k < p.steps; ++k) acc = device::fused_multiply_add(acc, x, p[k]);
    v.y(i) = acc;
}

template <class T, int slots>
void launch_polyval_constant_in(device::Stream stream, const PolyvalOperands<T>& v,
                                const PolyvalPiece<T>& piece) {
    PolyvalParameters<T, slots> p = {};
    p.start = piece.start();
    p.steps = piece.steps;
    for (int k = 0; k < piece.steps; ++k) p.set(k, piece.step(k));
    device::launch("polyval", polyval_constant<T, slots>,
                   polyval_grid(v.size, polyval_constant_threads), polyval_constant_threads, stream,
                   v, p);
}

/// At most polyval_most_steps steps.
template <class T>
void launch_polyval_constant(device::Stream stream, const PolyvalOperands<T>& v,
                             const PolyvalPiece<T>& piece) {
    if (piece.steps <= polyval_medium_slots<T>)
        launch_polyval_constant_in<T, polyval_medium_slots<T>>(stream, v, piece);
    else
        launch_polyval_constant_in<T, polyval_long_slots<T>>(stream, v, piece);
}

}  // namespace tinyblas
