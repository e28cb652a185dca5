// SPDX-License-Identifier: MIT
// The CBLAS names. A row-major product is the column-major one of the transposed matrices, which
// lie in the same memory: C^T = op(B)^T op(A)^T.
#include "blas/errors.hpp"
#include "blas/routines.hpp"
#include "tinyblas/export.h"

namespace tinyblas::blas {
namespace {

constexpr int row_major = 101, column_major = 102;  // cblas.h: CBLAS_LAYOUT

/// The letter of a CBLAS_TRANSPOSE; a blank if it is none.
char letter(int op) { return op >= 111 && op <= 113 ? "NTC"[op - 111] : ' '; }

/// `x` has the arguments as given but for layout and ops.
template <class T>
void checked_gemm(Counter& counter, const char* name, const char* fortran_name, int layout, int opa,
                  int opb, GemmArguments<T> x) {
    counter.count_call();
    x.opa = letter(opa);
    x.opb = letter(opb);
    if (layout == row_major)
        x = {x.opb, x.opa, x.n, x.m, x.k, x.alpha, x.b, x.ldb, x.a, x.lda, x.beta, x.c, x.ldc};
    const bool is_layout = layout == row_major || layout == column_major;
    const int number = first_bad(x);
    if (is_layout && number == 0) return gemm(counter, x);

    const CallFromC call_from_c(layout == row_major);
    if (!is_layout)
        cblas_xerbla(1, name, "Illegal layout setting, %d\n", layout);
    else if (letter(opa) == ' ')
        cblas_xerbla(2, name, "Illegal TransA setting, %d\n", opa);
    else if (letter(opb) == ' ')
        cblas_xerbla(3, name, "Illegal TransB setting, %d\n", opb);
    else
        refuse(fortran_name, number);
}

}  // namespace
}  // namespace tinyblas::blas

using namespace tinyblas::blas;

extern "C" {

TINYBLAS_API float cblas_sdot(int n, const float* x, int incx, const float* y, int incy) {
    static Counter counter("cblas_sdot");
    return dot<float>(counter, {x, n, incx}, {y, n, incy});
}
TINYBLAS_API double cblas_ddot(int n, const double* x, int incx, const double* y, int incy) {
    static Counter counter("cblas_ddot");
    return dot<double>(counter, {x, n, incx}, {y, n, incy});
}

TINYBLAS_API float cblas_sasum(int n, const float* x, int incx) {
    static Counter counter("cblas_sasum");
    return asum<float>(counter, {x, n, incx});
}
TINYBLAS_API double cblas_dasum(int n, const double* x, int incx) {
    static Counter counter("cblas_dasum");
    return asum<double>(counter, {x, n, incx});
}

TINYBLAS_API float cblas_snrm2(int n, const float* x, int incx) {
    static Counter counter("cblas_snrm2");
    return nrm2<float>(counter, {x, n, incx});
}
TINYBLAS_API double cblas_dnrm2(int n, const double* x, int incx) {
    static Counter counter("cblas_dnrm2");
    return nrm2<double>(counter, {x, n, incx});
}

TINYBLAS_API void cblas_saxpy(int n, float alpha, const float* x, int incx, float* y, int incy) {
    static Counter counter("cblas_saxpy");
    axpy<float>(counter, alpha, {x, n, incx}, {y, n, incy});
}
TINYBLAS_API void cblas_daxpy(int n, double alpha, const double* x, int incx, double* y, int incy) {
    static Counter counter("cblas_daxpy");
    axpy<double>(counter, alpha, {x, n, incx}, {y, n, incy});
}

TINYBLAS_API void cblas_sscal(int n, float alpha, float* x, int incx) {
    static Counter counter("cblas_sscal");
    scal<float>(counter, alpha, {x, n, incx});
}
TINYBLAS_API void cblas_dscal(int n, double alpha, double* x, int incx) {
    static Counter counter("cblas_dscal");
    scal<double>(counter, alpha, {x, n, incx});
}

TINYBLAS_API void cblas_sgemm(int layout, int opa, int opb, int m, int n, int k, float alpha,
                              const float* a, int lda, const float* b, int ldb, float beta,
                              float* c, int ldc) {
    static Counter counter("cblas_sgemm");
    checked_gemm<float>(counter, "cblas_sgemm", "SGEMM ", layout, opa, opb,
                        {' ', ' ', m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}
TINYBLAS_API void cblas_dgemm(int layout, int opa, int opb, int m, int n, int k, double alpha,
                              const double* a, int lda, const double* b, int ldb, double beta,
                              double* c, int ldc) {
    static Counter counter("cblas_dgemm");
    checked_gemm<double>(counter, "cblas_dgemm", "DGEMM ", layout, opa, opb,
                         {' ', ' ', m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}
}
