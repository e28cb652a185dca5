// SPDX-License-Identifier: MIT
// Vector operations on the host.
#include <cmath>
#include <limits>

#include "blas/host.hpp"

namespace tinyblas::blas::host {
namespace {

/// term(0) + term(1) + ...: several sums side by side, which are added up last.
template <class Sum, class Term>
Sum sum_of(std::int64_t n, Term term) {
    constexpr int width = 64 / sizeof(Sum);
    Sum sums[width] = {};
    std::int64_t i = 0;
    for (; i + width <= n; i += width)
        for (int lane = 0; lane < width; ++lane) sums[lane] += term(i + lane);
    for (int lane = 0; i < n; ++i, ++lane) sums[lane] += term(i);
    for (int half = width / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
}

/// body(x), with x as a pointer where its elements are neighbours and as a view elsewhere.
template <class T, class Body>
auto with_elements(VectorView<T> x, Body body) {
    if (x.increment != 1) return body(x);
    const auto of_pointer = [data = x.data](std::int64_t i) -> T& { return data[i]; };
    return body(of_pointer);
}

/// sqrt(sum of (scale x_i)^2) / scale
template <class T>
double scaled_norm(VectorView<const T> x, double scale) {
    return with_elements(x, [&](auto x_at) {
        return std::sqrt(sum_of<double>(x.size,
                                        [&](std::int64_t i) {
                                            const double scaled = scale * x_at(i);
                                            return scaled * scaled;
                                        })) /
               scale;
    });
}

template <class T>
double greatest(VectorView<const T> x) {
    double most = 0;
    for (std::int64_t i = 0; i < x.size; ++i) most = std::fmax(most, std::fabs(x(i)));
    return most;
}

}  // namespace

template <class T>
T dot(VectorView<const T> x, VectorView<const T> y) {
    return with_elements(x, [&](auto x_at) {
        return with_elements(y, [&](auto y_at) {
            return sum_of<T>(x.size, [&](std::int64_t i) { return x_at(i) * y_at(i); });
        });
    });
}

template <class T>
T asum(VectorView<const T> x) {
    return with_elements(x, [&](auto x_at) {
        return sum_of<T>(x.size, [&](std::int64_t i) { return std::fabs(x_at(i)); });
    });
}

template <class T>
T nrm2(VectorView<const T> x) {
    const double plain = scaled_norm(x, 1);
    // Squares of floats are well inside a double's range; those of doubles may have left it, or
    // have lost digits near its lower end.
    const bool trusted = plain >= 0x1p-480 && plain <= std::numeric_limits<double>::max();
    if (trusted || sizeof(T) < sizeof(double)) return static_cast<T>(plain);
    const double most = greatest(x);
    if (most == 0 || most > std::numeric_limits<double>::max() || std::isnan(plain))
        return static_cast<T>(plain);
    const int exponent = std::ilogb(most);
    const auto scale = [](int of) { return std::ldexp(1.0, of); };
    // 2^-exponent itself may be out of range where `most` is subnormal.
    return static_cast<T>(exponent < -1000 ? scaled_norm(x, scale(1000))
                                           : scaled_norm(x, scale(-exponent)));
}

template <class T>
void axpy(T alpha, VectorView<const T> x, VectorView<T> y) {
    with_elements(x, [&](auto x_at) {
        with_elements(y, [&](auto y_at) {
            for (std::int64_t i = 0; i < x.size; ++i) y_at(i) += alpha * x_at(i);
        });
    });
}

template <class T>
void scal(T alpha, VectorView<T> x) {
    with_elements(x, [&](auto x_at) {
        for (std::int64_t i = 0; i < x.size; ++i) x_at(i) = alpha * x_at(i);
    });
}

template float dot(VectorView<const float>, VectorView<const float>);
template double dot(VectorView<const double>, VectorView<const double>);
template float asum(VectorView<const float>);
template double asum(VectorView<const double>);
template float nrm2(VectorView<const float>);
template double nrm2(VectorView<const double>);
template void axpy(float, VectorView<const float>, VectorView<float>);
template void axpy(double, VectorView<const double>, VectorView<double>);
template void scal(float, VectorView<float>);
template void scal(double, VectorView<double>);

}  // namespace tinyblas::blas::host
