// SPDX-License-Identifier: MIT
// Reductions, rung 2. New over rung 1: the vector is read through a texture object over linear
// memory, four floats or two doubles a fetch, and each thread has several fetches in flight. See
// walk.cuh for who reads what; partial sums pass from lane to lane in registers.
//
//   tex1Dfetch(texture, g)  ->  [ x_4g  x_4g+1  x_4g+2  x_4g+3 ]     a texel of 16 bytes
//
// A vector that starts off a multiple of 16 bytes has texels of one element. A long one needs
// several textures, as each shows a limited number of texels.
//
// Limit: memory; a fetch takes a longer way than a plain load, which shows in short vectors.
#pragma once

#include "walk.cuh"

namespace tinyblas {

template <class Sum, class Operand>
__global__ void __launch_bounds__(reduce_most_threads, reduce_resident_blocks)
    reduce_texture(const __grid_constant__ Operand x, const __grid_constant__ Operand y,
                   std::int64_t n, ReduceEnd<Sum> end) {
    device::wait_for_launcher();
    reduce_groups<ReduceFinish::any>(x, y, n, end);
}

template <class Sum, int count>
void launch_reduce_texture(const char* operation, device::Stream stream,
                           const TextureOperand<typename Sum::Element, count>& x,
                           const TextureOperand<typename Sum::Element, count>& y, std::int64_t n,
                           const ReduceEnd<Sum>& end) {
    using Operand = TextureOperand<typename Sum::Element, count>;
    launch_reduce_groups(operation, reduce_texture<Sum, Operand>, stream, x, y, n, end);
}

}  // namespace tinyblas
