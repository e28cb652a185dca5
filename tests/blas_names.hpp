// SPDX-License-Identifier: MIT
// The names that libtinyblas_blas exports, as a caller of BLAS and of CBLAS declares them, by type.
#pragma once

#include <cstddef>
#include <cstdint>

// NAMES(s, float): sdot_, cblas_sdot and so on.
#define TINYBLAS_BLAS_NAMES(s, T)                                                                \
    T s##dot_(const int* n, const T* x, const int* incx, const T* y, const int* incy);           \
    T s##asum_(const int* n, const T* x, const int* incx);                                       \
    T s##nrm2_(const int* n, const T* x, const int* incx);                                       \
    void s##axpy_(const int* n, const T* alpha, const T* x, const int* incx, T* y,               \
                  const int* incy);                                                              \
    void s##scal_(const int* n, const T* alpha, T* x, const int* incx);                          \
    void s##gemm_(const char* opa, const char* opb, const int* m, const int* n, const int* k,    \
                  const T* alpha, const T* a, const int* lda, const T* b, const int* ldb,        \
                  const T* beta, T* c, const int* ldc, std::size_t, std::size_t);                \
    T cblas_##s##dot(int n, const T* x, int incx, const T* y, int incy);                         \
    T cblas_##s##asum(int n, const T* x, int incx);                                              \
    T cblas_##s##nrm2(int n, const T* x, int incx);                                              \
    void cblas_##s##axpy(int n, T alpha, const T* x, int incx, T* y, int incy);                  \
    void cblas_##s##scal(int n, T alpha, T* x, int incx);                                        \
    void cblas_##s##gemm(int layout, int opa, int opb, int m, int n, int k, T alpha, const T* a, \
                         int lda, const T* b, int ldb, T beta, T* c, int ldc);

extern "C" {
TINYBLAS_BLAS_NAMES(s, float)
TINYBLAS_BLAS_NAMES(d, double)
std::uint64_t tinyblas_blas_calls();
std::uint64_t tinyblas_blas_device_calls();
}

namespace tinyblas::test {

/// Blas<T>::dot and so on: the Fortran names with arguments by value, and the CBLAS names.
template <class T>
struct Blas;

#define TINYBLAS_BLAS_TYPE(s, T)                                                                \
    template <>                                                                                 \
    struct Blas<T> {                                                                            \
        static T dot(int n, const T* x, int incx, const T* y, int incy) {                       \
            return s##dot_(&n, x, &incx, y, &incy);                                             \
        }                                                                                       \
        static T asum(int n, const T* x, int incx) { return s##asum_(&n, x, &incx); }           \
        static T nrm2(int n, const T* x, int incx) { return s##nrm2_(&n, x, &incx); }           \
        static void axpy(int n, T alpha, const T* x, int incx, T* y, int incy) {                \
            s##axpy_(&n, &alpha, x, &incx, y, &incy);                                           \
        }                                                                                       \
        static void scal(int n, T alpha, T* x, int incx) { s##scal_(&n, &alpha, x, &incx); }    \
        static void gemm(char opa, char opb, int m, int n, int k, T alpha, const T* a, int lda, \
                         const T* b, int ldb, T beta, T* c, int ldc) {                          \
            s##gemm_(&opa, &opb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);   \
        }                                                                                       \
        static constexpr auto cblas_dot = ::cblas_##s##dot;                                     \
        static constexpr auto cblas_asum = ::cblas_##s##asum;                                   \
        static constexpr auto cblas_nrm2 = ::cblas_##s##nrm2;                                   \
        static constexpr auto cblas_axpy = ::cblas_##s##axpy;                                   \
        static constexpr auto cblas_scal = ::cblas_##s##scal;                                   \
        static constexpr auto cblas_gemm = ::cblas_##s##gemm;                                   \
        static constexpr char letter = #s[0];                                                   \
    };
TINYBLAS_BLAS_TYPE(s, float)
TINYBLAS_BLAS_TYPE(d, double)

#undef TINYBLAS_BLAS_NAMES
#undef TINYBLAS_BLAS_TYPE

}  // namespace tinyblas::test
