// SPDX-License-Identifier: MIT
// The routines of libtinyblas_blas, which fortran.cpp and cblas.cpp give their names: BLAS's
// semantics over host memory, computed on the device or, where that is faster, on the host.
#pragma once

#include "blas/calls.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas::blas {

// Vectors as BLAS has them: a size below 0 is no elements; an increment may have any sign.

template <class T>
T dot(Counter& counter, VectorView<const T> x, VectorView<const T> y);
/// 0 if x's increment is not positive.
template <class T>
T asum(Counter& counter, VectorView<const T> x);
template <class T>
T nrm2(Counter& counter, VectorView<const T> x);
template <class T>
void axpy(Counter& counter, T alpha, VectorView<const T> x, VectorView<T> y);
/// Nothing happens if x's increment is not positive.
template <class T>
void scal(Counter& counter, T alpha, VectorView<T> x);

/// What sgemm_ is called with: column-major matrices. Ops are letters, as in Fortran.
template <class T>
struct GemmArguments {
    char opa, opb;
    int m, n, k;
    T alpha;
    const T* a;
    int lda;
    const T* b;
    int ldb;
    T beta;
    T* c;
    int ldc;
};

/// The number of the first bad argument, as Fortran counts them; 0 if there is none.
template <class T>
int first_bad(const GemmArguments<T>& arguments);
/// C = alpha op(A) op(B) + beta C. All arguments are good.
template <class T>
void gemm(Counter& counter, const GemmArguments<T>& arguments);

}  // namespace tinyblas::blas
