// SPDX-License-Identifier: MIT
// polyval, compensated: Horner's rule that keeps what each product and each sum loses, and adds the
// polynomial of these losses at the end (Graillat, Langlois, Louvet, Compensated Horner scheme,
// 2005). Elements are owned as in rung 3; coefficients come from global memory as in rung 1, one
// load for about ten operations on every element.
//
//   acc x      = product + lost_product     both exact: the first by a fused multiply-add,
//   product + a = next   + lost_sum         the second by Knuth's six additions
//   lost       = lost x + (lost_product + lost_sum)
//   y          = acc + lost
//
// Limit: arithmetic, eleven operations a step.
#pragma once

#include "parts.cuh"

namespace tinyblas {

inline constexpr int polyval_compensated_threads = 128;
inline constexpr int polyval_compensated_vectors = 2;
template <class T, PolyvalWalk walk>
using PolyvalCompensatedShare =
    PolyvalShare<T, walk, polyval_compensated_vectors, polyval_compensated_threads>;

template <class T>
struct CompensatedChain {
    T acc, lost;

    __device__ __forceinline__ void step(T x, T coefficient) {
        // Opaque, lest the compiler fuse the product and the sum: then nothing would be lost there.
        const T product = device::opaque(acc * x);
        const T lost_product = device::fused_multiply_add(acc, x, -product);
        const T next = product + coefficient;
        const T part = next - product;
        const T lost_sum = (product - (next - part)) + (coefficient - part);
        lost = device::fused_multiply_add(lost, x, lost_product + lost_sum);
        acc = next;
    }
    /// Where Inf or NaN came up, the losses mean nothing.
    __device__ __forceinline__ T value() const {
        const T sum = acc + lost;
        return sum - sum == T(0) ? sum : acc;
    }
};

template <class T, PolyvalWalk walk>
__global__ void __launch_bounds__(polyval_compensated_threads)
    polyval_compensated(PolyvalOperands<T> v, const T* coefficients, std::int64_t degree) {
    const PolyvalCompensatedShare<T, walk> share(v.size);
    if (share.empty()) return;

    T x[share.elements], y[share.elements];
    CompensatedChain<T> chain[share.elements];
    share.load(x, v.x);
    const T start = coefficients[degree];
#pragma unroll
    for (int e = 0; e < share.elements; ++e) chain[e] = {start, T(0)};
    for (std::int64_t k = degree - 1; k >= 0; --k) {
        const T coefficient = coefficients[k];
#pragma unroll
        for (int e = 0; e < share.elements; ++e) chain[e].step(x[e], coefficient);
    }
#pragma unroll
    for (int e = 0; e < share.elements; ++e) y[e] = chain[e].value();
    share.store(v.y, y);
}

/// `coefficients` is device memory.
template <class T>
void launch_polyval_compensated(device::Stream stream, const PolyvalOperands<T>& v,
                                const T* coefficients, std::int64_t degree) {
    const std::int64_t elements =
        polyval_compensated_threads * PolyvalCompensatedShare<T, PolyvalWalk::vectors>::elements;
    device::launch("polyval",
                   polyval_walk(v) == PolyvalWalk::vectors
                       ? polyval_compensated<T, PolyvalWalk::vectors>
                       : polyval_compensated<T, PolyvalWalk::elements>,
                   polyval_grid(v.size, elements), polyval_compensated_threads, stream, v,
                   coefficients, degree);
}

}  // namespace tinyblas
