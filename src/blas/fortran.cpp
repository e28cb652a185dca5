// SPDX-License-Identifier: MIT
// The Fortran names: everything by address, integers of 32 bits. Compilers append the lengths of
// strings to the arguments; nobody here reads them. Source of the semantics: netlib's reference
// BLAS 3.11.
//
//     LD_PRELOAD=libtinyblas_blas.so TINYBLAS_BLAS_COUNT=1 program
#include "blas/errors.hpp"
#include "blas/routines.hpp"
#include "tinyblas/export.h"

namespace tinyblas::blas {
namespace {

template <class T>
void checked_gemm(Counter& counter, const char* routine, const GemmArguments<T>& arguments) {
    counter.count_call();
    if (const int number = first_bad(arguments)) return refuse(routine, number);
    gemm(counter, arguments);
}

}  // namespace
}  // namespace tinyblas::blas

using namespace tinyblas::blas;

extern "C" {

TINYBLAS_API float sdot_(const int* n, const float* x, const int* incx, const float* y,
                         const int* incy) {
    static Counter counter("sdot_");
    return dot<float>(counter, {x, *n, *incx}, {y, *n, *incy});
}
TINYBLAS_API double ddot_(const int* n, const double* x, const int* incx, const double* y,
                          const int* incy) {
    static Counter counter("ddot_");
    return dot<double>(counter, {x, *n, *incx}, {y, *n, *incy});
}

TINYBLAS_API float sasum_(const int* n, const float* x, const int* incx) {
    static Counter counter("sasum_");
    return asum<float>(counter, {x, *n, *incx});
}
TINYBLAS_API double dasum_(const int* n, const double* x, const int* incx) {
    static Counter counter("dasum_");
    return asum<double>(counter, {x, *n, *incx});
}

TINYBLAS_API float snrm2_(const int* n, const float* x, const int* incx) {
    static Counter counter("snrm2_");
    return nrm2<float>(counter, {x, *n, *incx});
}
TINYBLAS_API double dnrm2_(const int* n, const double* x, const int* incx) {
    static Counter counter("dnrm2_");
    return nrm2<double>(counter, {x, *n, *incx});
}

TINYBLAS_API void saxpy_(const int* n, const float* alpha, const float* x, const int* incx,
                         float* y, const int* incy) {
    static Counter counter("saxpy_");
    axpy<float>(counter, *alpha, {x, *n, *incx}, {y, *n, *incy});
}
TINYBLAS_API void daxpy_(const int* n, const double* alpha, const double* x, const int* incx,
                         double* y, const int* incy) {
    static Counter counter("daxpy_");
    axpy<double>(counter, *alpha, {x, *n, *incx}, {y, *n, *incy});
}

TINYBLAS_API void sscal_(const int* n, const float* alpha, float* x, const int* incx) {
    static Counter counter("sscal_");
    scal<float>(counter, *alpha, {x, *n, *incx});
}
TINYBLAS_API void dscal_(const int* n, const double* alpha, double* x, const int* incx) {
    static Counter counter("dscal_");
    scal<double>(counter, *alpha, {x, *n, *incx});
}

TINYBLAS_API void sgemm_(const char* opa, const char* opb, const int* m, const int* n, const int* k,
                         const float* alpha, const float* a, const int* lda, const float* b,
                         const int* ldb, const float* beta, float* c, const int* ldc) {
    static Counter counter("sgemm_");
    checked_gemm<float>(counter, "SGEMM ",
                        {*opa, *opb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc});
}
TINYBLAS_API void dgemm_(const char* opa, const char* opb, const int* m, const int* n, const int* k,
                         const double* alpha, const double* a, const int* lda, const double* b,
                         const int* ldb, const double* beta, double* c, const int* ldc) {
    static Counter counter("dgemm_");
    checked_gemm<double>(counter, "DGEMM ",
                         {*opa, *opb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc});
}
}
