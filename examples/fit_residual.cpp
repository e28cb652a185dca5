// SPDX-License-Identifier: MIT
// How well does a polynomial fit measured points? r = p(x) - y on the device, and its norm: the
// root mean square error of a fit.
// Prints:
//   1 + 2 x + 3 x^2: off by 0.01
//   a line instead: off by 22.4
#include <cmath>
#include <cstdio>
#include <span>
#include <tinyblas/tinyblas.hpp>

/// The root mean square of p(x_i) - y_i.
double error_of(tinyblas::Context& context, std::span<const double> coefficients,
                tinyblas::VectorView<const double> x, tinyblas::VectorView<const double> y) {
    tinyblas::Matrix<double> memory(1, x.size);
    const auto residual = memory.view().row(0);
    polyval(context, coefficients, x, residual);  // p(x)
    axpy(context, -1.0, y, residual);             // p(x) - y
    return nrm2(context, residual) / std::sqrt(static_cast<double>(x.size));
}

int main() {
    constexpr int n = 1001;
    tinyblas::Context context;
    tinyblas::Matrix<double> points(2, n, tinyblas::Memory::mapped);  // x above y
    for (int i = 0; i < n; ++i) {
        const double x = -5 + 0.01 * i, noise = i % 2 == 0 ? 0.01 : -0.01;
        points(0, i) = x;
        points(1, i) = 1 + 2 * x + 3 * x * x + noise;
    }
    const auto x = points.view().row(0), y = points.view().row(1);
    const double parabola[] = {1, 2, 3}, line[] = {26, 2};
    std::printf("1 + 2 x + 3 x^2: off by %.3g\n", error_of(context, parabola, x, y));
    std::printf("a line instead: off by %.3g\n", error_of(context, line, x, y));
}
