// SPDX-License-Identifier: MIT
// Results checked on the GPU, against twice double's precision.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "../data.hpp"
#include "../samples.hpp"
#include "check.hpp"
#include "tinyblas/matrix.hpp"
#include "two_sum.cuh"

namespace tinyblas::bench {
namespace {

// --- Products ------------------------------------------------------------------------------------

// A block computes 64 x 64 entries, a thread 4 x 4 that lie 16 apart.
constexpr int tile = 64, depth = 16, threads = 256, apart = 16, share = tile / apart;

/// Products of float are exact in double, and sums of them as good as exact beside float's errors.
struct PlainSum {
    double high = 0;
    static constexpr double low = 0;
    __device__ void add_product(double x, double y) { high = fma(x, y, high); }
};
template <class T>
using Sum = std::conditional_t<sizeof(T) == sizeof(float), PlainSum, TwoSum>;

/// Elements first to first + 15 of k of 64 rows; zero for a row of -1.
template <class T>
__device__ void load(double (&to)[depth][tile + 1], MatrixView<const T> rows,
                     const std::int64_t (&which)[tile], std::int64_t first) {
    const bool along_k = rows.column_stride == 1;
    for (int e = int(threadIdx.x); e < tile * depth; e += threads) {
        const int r = along_k ? e / depth : e % tile, p = along_k ? e % depth : e / tile;
        const bool inside = which[r] >= 0 && first + p < rows.columns;
        to[p][r] = inside ? double(rows(which[r], first + p)) : 0;
    }
}

template <class T>
__global__ void __launch_bounds__(threads)
    exact_tile(MatrixView<const T> a, MatrixView<const T> b, MatrixView<ExactEntry> exact) {
    __shared__ double x[depth][tile + 1], y[depth][tile + 1];
    __shared__ std::int64_t i_of[tile], j_of[tile];
    const std::int64_t tiles = (exact.columns + tile - 1) / tile;
    const std::int64_t first_s = blockIdx.x / tiles * tile, first_j = blockIdx.x % tiles * tile;
    if (threadIdx.x < tile) {
        const std::int64_t s = first_s + threadIdx.x, j = first_j + threadIdx.x;
        i_of[threadIdx.x] = s < exact.rows ? sample_row(s, exact.rows, a.rows) : -1;
        j_of[threadIdx.x] = j < exact.columns ? j : -1;
    }
    __syncthreads();
    const int row = int(threadIdx.x) / apart, column = int(threadIdx.x) % apart;
    Sum<T> sum[share][share];
    double magnitude[share][share] = {};
    for (std::int64_t first = 0; first < a.columns; first += depth) {
        load(x, a, i_of, first);
        load(y, b.transposed(), j_of, first);
        __syncthreads();
        for (int p = 0; p < depth; ++p) {
            double xs[share], ys[share];
            for (int r = 0; r < share; ++r) xs[r] = x[p][row + apart * r];
            for (int c = 0; c < share; ++c) ys[c] = y[p][column + apart * c];
            for (int r = 0; r < share; ++r)
                for (int c = 0; c < share; ++c) {
                    sum[r][c].add_product(xs[r], ys[c]);
                    magnitude[r][c] = fma(fabs(xs[r]), fabs(ys[c]), magnitude[r][c]);
                }
        }
        __syncthreads();
    }
    for (int r = 0; r < share; ++r)
        for (int c = 0; c < share; ++c) {
            const std::int64_t s = first_s + row + apart * r, j = first_j + column + apart * c;
            if (s < exact.rows && j < exact.columns)
                exact(s, j) = {sum[r][c].high, sum[r][c].low, magnitude[r][c]};
        }
}

constexpr int parts = 4096;  // warps that share a result

struct ErrorPart {
    double max, squares;
};

template <class T>
__global__ void product_error_parts(MatrixView<const ExactEntry> exact, MatrixView<const T> c,
                                    ErrorPart* part) {
    double worst = 0, squares = 0;
    const std::int64_t count = exact.rows * exact.columns;
    for (std::int64_t at = std::int64_t(blockIdx.x) * 32 + threadIdx.x; at < count;
         at += std::int64_t(parts) * 32) {
        const std::int64_t s = at / exact.columns, j = at % exact.columns;
        const auto [high, low, magnitude] = exact(s, j);
        const double is = c(sample_row(s, exact.rows, c.rows), j);
        const double error = fabs((is - high) - low);
        double one = error == 0 ? 0 : error / magnitude;
        if (isnan(one)) one = std::numeric_limits<double>::infinity();
        worst = fmax(worst, one);
        squares += one * one;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        worst = fmax(worst, __shfl_xor_sync(~0u, worst, lanes));
        squares += __shfl_xor_sync(~0u, squares, lanes);
    }
    if (threadIdx.x == 0) part[blockIdx.x] = {worst, squares};
}

// --- Reductions and polynomials ------------------------------------------------------------------

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
Matrix<ExactEntry> exact_product(Context& context, MatrixView<const T> a, MatrixView<const T> b,
                                 std::int64_t count) {
    Matrix<ExactEntry> exact(count, b.columns);
    const std::int64_t tiles = (count + tile - 1) / tile * ((b.columns + tile - 1) / tile);
    exact_tile<<<static_cast<unsigned>(tiles), threads, 0, context.stream()>>>(a, b, exact.view());
    check(cudaGetLastError(), "exact_product");
    return exact;
}

template <class T>
ProductError product_error(Context& context, MatrixView<const ExactEntry> exact,
                           MatrixView<const T> c) {
    Matrix<ErrorPart> part(1, parts, Memory::mapped);
    product_error_parts<<<parts, 32, 0, context.stream()>>>(exact, c, part.view().data);
    check(cudaGetLastError(), "product_error");
    context.synchronize();
    double worst = 0, squares = 0;
    for (int p = 0; p < parts; ++p) {
        worst = std::max(worst, part(0, p).max);
        squares += part(0, p).squares;
    }
    constexpr double unit = std::numeric_limits<T>::epsilon() / 2;
    return {worst / unit,
            std::sqrt(squares / static_cast<double>(exact.rows * exact.columns)) / unit};
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
