// SPDX-License-Identifier: MIT
// Sums in twice double's precision, to measure errors with.
#pragma once

#include <cstdint>

namespace tinyblas::bench {

/// A sum held as high + low. Source: Ogita, Rump, Oishi, Accurate sum and dot product, SIAM J. Sci.
/// Comput. 26(6), 2005.
struct TwoSum {
    double high = 0, low = 0;

    __device__ void add(double x) {
        const double sum = __dadd_rn(high, x), part = __dsub_rn(sum, high);
        low += __dadd_rn(__dsub_rn(high, __dsub_rn(sum, part)), __dsub_rn(x, part));
        high = sum;
    }
    __device__ void add_product(double x, double y) {
        const double product = __dmul_rn(x, y);
        low += fma(x, y, -product);
        add(product);
    }
    /// this = this * x + a: a step of compensated Horner (Graillat, Langlois, Louvet, 2005).
    __device__ void horner(double x, double a) {
        const double product = __dmul_rn(high, x), rest = fma(high, x, -product);
        low = fma(low, x, rest);
        high = product;
        add(a);
    }
};

/// A sum and the sum of its terms' magnitudes.
struct Measured {
    TwoSum sum;
    double magnitude = 0;
};

/// The warp's total, in every lane.
__device__ inline Measured warp_total(Measured part) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const double high = __shfl_xor_sync(~0u, part.sum.high, lanes);
        const double low = __shfl_xor_sync(~0u, part.sum.low, lanes);
        part.sum.add(high);
        part.sum.low += low;
        part.magnitude += __shfl_xor_sync(~0u, part.magnitude, lanes);
    }
    return part;
}

}  // namespace tinyblas::bench
