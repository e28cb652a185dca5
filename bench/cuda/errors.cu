// SPDX-License-Identifier: MIT
// Results checked on the GPU, against twice double's precision.
#include <cmath>
#include <limits>

#include "../data.hpp"
#include "../samples.hpp"
#include "check.hpp"
#include "tinyblas/matrix.hpp"
#include "two_sum.cuh"

namespace tinyblas::bench {
namespace {

/// A warp computes the error of one sampled entry.
template <class T>
__global__ void product_errors(MatrixView<const T> a, MatrixView<const T> b, MatrixView<const T> c,
                               double* error) {
    const auto [i, j] = sample(int(blockIdx.x), c.rows, c.columns);
    Measured part;
    for (std::int64_t p = threadIdx.x; p < a.columns; p += 32) {
        const double x = a(i, p), y = b(p, j);
        part.sum.add_product(x, y);
        part.magnitude += fabs(x * y);
    }
    const auto [sum, magnitude] = warp_total(part);
    if (threadIdx.x == 0)
        error[blockIdx.x] = fabs((double(c(i, j)) - sum.high) - sum.low) / magnitude;
}

constexpr int parts = 4096;  // warps that share a reduction

template <class T>
__global__ void reduction_parts(Reduction operation, VectorView<const T> x, VectorView<const T> y,
                                Measured* result) {
    Measured part;
    for (std::int64_t i = std::int64_t(blockIdx.x) * 32 + threadIdx.x; i < x.size;
         i += std::int64_t(parts) * 32) {
        const double xi = x(i);
        if (operation == Reduction::dot || operation == Reduction::nrm2) {
            const double yi = operation == Reduction::dot ? double(y(i)) : xi;
            part.sum.add_product(xi, yi);
            part.magnitude += fabs(xi * yi);
        } else {
            part.sum.add(operation == Reduction::asum ? fabs(xi) : xi);
            part.magnitude += fabs(xi);
        }
    }
    part = warp_total(part);
    if (threadIdx.x == 0) result[blockIdx.x] = part;
}

/// A thread computes the error at one sampled point.
template <class T>
__global__ void polynomial_errors(VectorView<const T> coefficients, VectorView<const T> x,
                                  VectorView<const T> y, double* error) {
    const int s = int(blockIdx.x) * 32 + threadIdx.x;
    const std::int64_t i = sample(s, x.size);
    TwoSum value;
    double magnitude = 0;
    for (std::int64_t j = coefficients.size - 1; j >= 0; --j) {
        value.horner(x(i), coefficients(j));
        magnitude = fma(magnitude, fabs(double(x(i))), fabs(double(coefficients(j))));
    }
    error[s] = fabs((double(y(i)) - value.high) - value.low) / magnitude;
}

/// The largest of the samples' errors, in units; infinity if one is NaN.
template <class T>
double worst(Context& context, const Matrix<double>& error) {
    context.synchronize();
    double worst = 0;
    for (int s = 0; s < samples; ++s)
        if (!(error(0, s) <= worst))
            worst = std::isnan(error(0, s)) ? std::numeric_limits<double>::infinity() : error(0, s);
    return worst / (std::numeric_limits<T>::epsilon() / 2);
}

}  // namespace

template <class T>
double product_error(Context& context, MatrixView<const T> a, MatrixView<const T> b,
                     MatrixView<const T> c) {
    Matrix<double> error(1, samples, Memory::mapped);
    product_errors<<<samples, 32, 0, context.stream()>>>(a, b, c, error.view().data);
    check(cudaGetLastError(), "product_error");
    return worst<T>(context, error);
}

template <class T>
double reduction_error(Context& context, Reduction operation, VectorView<const T> x,
                       VectorView<const T> y, T result) {
    Matrix<Measured> part(1, parts, Memory::mapped);
    reduction_parts<<<parts, 32, 0, context.stream()>>>(operation, x, y, part.view().data);
    check(cudaGetLastError(), "reduction_error");
    context.synchronize();
    long double exact = 0, magnitude = 0;
    for (int p = 0; p < parts; ++p) {
        exact += static_cast<long double>(part(0, p).sum.high) + part(0, p).sum.low;
        magnitude += part(0, p).magnitude;
    }
    if (operation == Reduction::nrm2) magnitude = exact = std::sqrt(exact);
    const auto error = static_cast<double>(std::abs(result - exact) / magnitude);
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    return error / (std::numeric_limits<T>::epsilon() / 2);
}

template <class T>
double polynomial_error(Context& context, VectorView<const T> coefficients, VectorView<const T> x,
                        VectorView<const T> y) {
    Matrix<double> error(1, samples, Memory::mapped);
    polynomial_errors<<<samples / 32, 32, 0, context.stream()>>>(coefficients, x, y,
                                                                 error.view().data);
    check(cudaGetLastError(), "polynomial_error");
    return worst<T>(context, error);
}

template double product_error(Context&, MatrixView<const float>, MatrixView<const float>,
                              MatrixView<const float>);
template double product_error(Context&, MatrixView<const double>, MatrixView<const double>,
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
