// SPDX-License-Identifier: MIT
// What the host computes: problems so small that their way to the device takes longer, and all of
// them where there is no device. One thread, plain loops that compilers vectorize. Sums are in
// another order than on the device.
#pragma once

#include <cstdint>

#include "tinyblas/view.hpp"

namespace tinyblas::blas::host {

/// sum of x_i y_i
template <class T>
T dot(VectorView<const T> x, VectorView<const T> y);
/// sum of |x_i|
template <class T>
T asum(VectorView<const T> x);
/// sqrt(sum of x_i^2); no square overflows or underflows
template <class T>
T nrm2(VectorView<const T> x);
/// y_i = alpha x_i + y_i, one after the other: y's increment may be 0
template <class T>
void axpy(T alpha, VectorView<const T> x, VectorView<T> y);
/// x_i = alpha x_i
template <class T>
void scal(T alpha, VectorView<T> x);

/// C = alpha A B + beta C. alpha = 0: A and B are not read; beta = 0: C is not read. C's rows are
/// neighbours (column-major); A and B may have any strides.
template <class T>
void gemm(T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta, MatrixView<T> c);

}  // namespace tinyblas::blas::host
