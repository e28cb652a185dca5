// SPDX-License-Identifier: MIT
// Operands made, and results checked, where they are: on the device. The checks wait for the
// stream.
#pragma once

#include <cstdint>
#include <string_view>

#include "machine.hpp"
#include "place.hpp"
#include "samples.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {

/// `count` elements, the same for the same seed: of the normal distribution N(0, 1) in float and
/// double, random bits in std::uint16_t and Bits128.
template <class T>
void fill_random(Context& context, T* data, std::int64_t count, std::uint64_t seed);
/// The same, uniform in (-1, 1).
template <class T>
void fill_uniform(Context& context, T* data, std::int64_t count, std::uint64_t seed);
/// The words of samples.hpp's enum.
const char* to_string(Data data);
/// The kind of that name; throws Error (invalid_argument) that lists them if there is none.
Data data_kind(std::string_view name);
/// An operand of a product, all within `rows`: A, or B transposed. An element's position in the
/// sequence `seed` is its distance from element (0, 0).
template <class T>
void fill_operand(Context& context, MatrixView<T> rows, Side side, Data data, std::uint64_t seed);
/// Sets all bits: NaN in every floating type.
void poison(Context& context, void* data, std::int64_t bytes);

/// How many elements of B are not, bit for bit, those of transposed(A), where a(i, j) is element
/// a.shift + i * a.row_stride + j * a.column_stride of fill_random's sequence `seed`.
template <class T>
std::int64_t wrong_elements(Context& context, MatrixView<const T> b, const Place& a,
                            std::uint64_t seed);

// Errors in units of T's rounding unit, 2^-24 or 2^-53, against results to at least twice T's
// precision. NaN gives infinity.

/// An entry of A B: high + low, and of |A| |B|.
struct ExactEntry {
    double high, low, magnitude;
};
/// `count` rows of A B (sample_row() says which), of all columns.
template <class T>
Matrix<ExactEntry> exact_product(Context& context, MatrixView<const T> a, MatrixView<const T> b,
                                 std::int64_t count);
/// |c - AB| / (|A| |B|) over those rows.
struct ProductError {
    double max, rms;
};
template <class T>
ProductError product_error(Context& context, MatrixView<const ExactEntry> exact,
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
