// SPDX-License-Identifier: MIT
// Operands made, and results checked, by the host: under device emulation all memory is its own.
#include "../data.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "../samples.hpp"

namespace tinyblas::bench {
namespace {

double normal(std::uint64_t seed, std::uint64_t at) {
    return std::sqrt(-2 * std::log(random_unit(seed, 2 * at))) *
           std::cos(2 * std::numbers::pi * random_unit(seed, 2 * at + 1));
}

/// Element `i` of fill_random's sequence `seed`.
template <class T>
T random_element(std::uint64_t seed, std::int64_t i) {
    const auto at = static_cast<std::uint64_t>(i);
    if constexpr (std::is_same_v<T, Bits128>)
        return {random_bits(seed, 2 * at), random_bits(seed, 2 * at + 1)};
    else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(random_bits(seed, at));
    else
        return static_cast<T>(normal(seed, at));
}

/// An error in units of T's rounding unit; infinity if it is NaN.
template <class T>
double units(long double error) {
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    return static_cast<double>(error) / (std::numeric_limits<T>::epsilon() / 2);
}

}  // namespace

template <class T>
void fill_random(Context& context, T* data, std::int64_t count, std::uint64_t seed) {
    context.synchronize();
    for (std::int64_t i = 0; i < count; ++i) data[i] = random_element<T>(seed, i);
}

template <class T>
void fill_uniform(Context& context, T* data, std::int64_t count, std::uint64_t seed) {
    context.synchronize();
    for (std::int64_t i = 0; i < count; ++i)
        data[i] = static_cast<T>(2 * random_unit(seed, static_cast<std::uint64_t>(i)) - 1);
}

template <class T>
void fill_operand(Context& context, MatrixView<T> rows, Side side, Data data, std::uint64_t seed) {
    context.synchronize();
    for (std::int64_t row = 0; row < rows.rows; ++row)
        for (std::int64_t p = 0; p < rows.columns; ++p) {
            const std::int64_t at = row * rows.row_stride + p * rows.column_stride;
            const auto position = static_cast<std::uint64_t>(at);
            const double number = data_number(data, normal(seed, position), seed, position);
            const double power = data_power(data, side, row, p, rows.columns, seed, position);
            rows.data[at] = static_cast<T>(number * std::exp2(power));
        }
}

void poison(Context& context, void* data, std::int64_t bytes) {
    context.synchronize();
    std::memset(data, 0xFF, static_cast<std::size_t>(bytes));
}

template <class T>
std::int64_t wrong_elements(Context& context, MatrixView<const T> b, const Place& a,
                            std::uint64_t seed) {
    context.synchronize();
    std::int64_t wrong = 0;
    for (std::int64_t j = 0; j < b.rows; ++j)
        for (std::int64_t i = 0; i < b.columns; ++i) {
            const T expected =
                random_element<T>(seed, a.shift + i * a.row_stride + j * a.column_stride);
            if (std::memcmp(&b(j, i), &expected, sizeof(T)) != 0) ++wrong;
        }
    return wrong;
}

template <class T>
Matrix<ExactEntry> exact_product(Context& context, MatrixView<const T> a, MatrixView<const T> b,
                                 std::int64_t count) {
    context.synchronize();
    Matrix<ExactEntry> exact(count, b.columns);
    for (std::int64_t s = 0; s < count; ++s) {
        const std::int64_t i = sample_row(s, count, a.rows);
        for (std::int64_t j = 0; j < b.columns; ++j) {
            long double sum = 0, magnitude = 0;
            for (std::int64_t p = 0; p < a.columns; ++p) {
                const long double product = static_cast<long double>(a(i, p)) * b(p, j);
                sum += product;
                magnitude += std::abs(product);
            }
            const auto high = static_cast<double>(sum);
            exact(s, j) = {high, static_cast<double>(sum - high), static_cast<double>(magnitude)};
        }
    }
    return exact;
}

template <class T>
ProductError product_error(Context& context, MatrixView<const ExactEntry> exact,
                           MatrixView<const T> c) {
    context.synchronize();
    double worst = 0, squares = 0;
    for (std::int64_t s = 0; s < exact.rows; ++s) {
        const std::int64_t i = sample_row(s, exact.rows, c.rows);
        for (std::int64_t j = 0; j < c.columns; ++j) {
            const auto [high, low, magnitude] = exact(s, j);
            const long double error = std::abs(c(i, j) - static_cast<long double>(high) - low);
            const double one = error == 0 ? 0 : units<T>(error / magnitude);
            worst = std::max(worst, one);
            squares += one * one;
        }
    }
    return {worst, std::sqrt(squares / static_cast<double>(exact.rows * exact.columns))};
}

template <class T>
double reduction_error(Context& context, Reduction operation, VectorView<const T> x,
                       VectorView<const T> y, T result) {
    context.synchronize();
    long double sum = 0, magnitude = 0;
    for (std::int64_t i = 0; i < x.size; ++i) {
        long double term = x(i);
        if (operation == Reduction::asum) term = std::abs(term);
        if (operation == Reduction::dot) term *= y(i);
        if (operation == Reduction::nrm2) term *= term;
        sum += term;
        magnitude += std::abs(term);
    }
    if (operation == Reduction::nrm2) magnitude = sum = std::sqrt(sum);
    return units<T>(std::abs(result - sum) / magnitude);
}

template <class T>
double polynomial_error(Context& context, VectorView<const T> coefficients, VectorView<const T> x,
                        VectorView<const T> y) {
    context.synchronize();
    double worst = 0;
    for (int s = 0; s < samples; ++s) {
        const std::int64_t i = sample(s, x.size);
        long double value = 0, magnitude = 0;
        for (std::int64_t j = coefficients.size - 1; j >= 0; --j) {
            value = value * x(i) + coefficients(j);
            magnitude = magnitude * std::abs(x(i)) + std::abs(coefficients(j));
        }
        worst = std::max(worst, units<T>(std::abs(y(i) - value) / magnitude));
    }
    return worst;
}

template void fill_random(Context&, float*, std::int64_t, std::uint64_t);
template void fill_random(Context&, double*, std::int64_t, std::uint64_t);
template void fill_random(Context&, std::uint16_t*, std::int64_t, std::uint64_t);
template void fill_random(Context&, Bits128*, std::int64_t, std::uint64_t);
template void fill_uniform(Context&, float*, std::int64_t, std::uint64_t);
template void fill_uniform(Context&, double*, std::int64_t, std::uint64_t);
template void fill_operand(Context&, MatrixView<float>, Side, Data, std::uint64_t);
template void fill_operand(Context&, MatrixView<double>, Side, Data, std::uint64_t);
template std::int64_t wrong_elements(Context&, MatrixView<const float>, const Place&,
                                     std::uint64_t);
template std::int64_t wrong_elements(Context&, MatrixView<const double>, const Place&,
                                     std::uint64_t);
template std::int64_t wrong_elements(Context&, MatrixView<const std::uint16_t>, const Place&,
                                     std::uint64_t);
template std::int64_t wrong_elements(Context&, MatrixView<const Bits128>, const Place&,
                                     std::uint64_t);
template Matrix<ExactEntry> exact_product(Context&, MatrixView<const float>,
                                          MatrixView<const float>, std::int64_t);
template Matrix<ExactEntry> exact_product(Context&, MatrixView<const double>,
                                          MatrixView<const double>, std::int64_t);
template ProductError product_error(Context&, MatrixView<const ExactEntry>,
                                    MatrixView<const float>);
template ProductError product_error(Context&, MatrixView<const ExactEntry>,
                                    MatrixView<const double>);
template double reduction_error(Context&, Reduction, VectorView<const float>,
                                VectorView<const float>, float);
template double reduction_error(Context&, Reduction, VectorView<const double>,
                                VectorView<const double>, double);
template double polynomial_error(Context&, VectorView<const float>, VectorView<const float>,
                                 VectorView<const float>);
template double polynomial_error(Context&, VectorView<const double>, VectorView<const double>,
                                 VectorView<const double>);

}  // namespace tinyblas::bench
