// SPDX-License-Identifier: MIT
// Operands made, and results checked, where they are: on the device. The checks wait for the
// stream.
#pragma once

#include <cstdint>

#include "machine.hpp"

namespace tinyblas::bench {

/// `count` elements, the same for the same seed: of the normal distribution N(0, 1) in float and
/// double, random bits in std::uint16_t and Bits128.
template <class T>
void fill_random(Context& context, T* data, std::int64_t count, std::uint64_t seed);
/// The same, uniform in (-1, 1).
template <class T>
void fill_uniform(Context& context, T* data, std::int64_t count, std::uint64_t seed);
/// Sets all bits: NaN in every floating type.
void poison(Context& context, void* data, std::int64_t bytes);

/// How many elements of B are not, bit for bit, those of transposed(A), where a(i, j) is element
/// i * a_stride + j of fill_random's sequence `seed`.
template <class T>
std::int64_t wrong_elements(Context& context, MatrixView<const T> b, std::int64_t a_stride,
                            std::uint64_t seed);

// Errors in units of T's rounding unit, 2^-24 or 2^-53, against results to at least twice T's
// precision. NaN gives infinity.

/// The largest |c - AB| / (|A| |B|) over sampled entries (see samples.hpp).
template <class T>
double product_error(Context& context, MatrixView<const T> a, MatrixView<const T> b,
                     MatrixView<const T> c);

/// |result - r|, over sum |x_i| for asum and sum, sum |x_i y_i| for dot, r for nrm2.
template <class T>
double reduction_error(Context& context, Reduction operation, VectorView<const T> x,
                       VectorView<const T> y, T result);

/// The largest |y_i - p(x_i)| / sum |a_j| |x_i|^j over sampled i. `coefficients` in device memory.
template <class T>
double polynomial_error(Context& context, VectorView<const T> coefficients, VectorView<const T> x,
                        VectorView<const T> y);

}  // namespace tinyblas::bench
