// SPDX-License-Identifier: MIT
// The C interface of the operations that write a vector: axpy, scal, polyval.
#include <span>

#include "c_api.hpp"

namespace tinyblas {
namespace {

template <class T>
void require_apart(int number, const char* name, VectorView<T> y, VectorView<const T> x) {
    const bool same = y.data == x.data && y.increment == x.increment;
    require_argument(same || !overlap(Track(y), Track(x)), number, name, y.data,
                     "apart from x, or the same vector");
}

template <class T>
tinyblas_status axpy_from_c(const char* function, tinyblas_context context, std::int64_t n, T alpha,
                            const T* x, std::int64_t incx, T* y, std::int64_t incy) {
    return guarded(function, [&] {
        require_context(context);
        const std::int64_t touched = alpha == T(0) ? 0 : n;
        const auto x_view = vector_argument(4, "x", touched, x, incx);
        const auto y_view = vector_argument(6, "y", touched, y, incy);
        require_steps(7, "incy", n, incy);
        if (touched <= 0) return;
        require_apart(6, "y", y_view, x_view);
        axpy(context->context, alpha, x_view, y_view);
    });
}

template <class T>
tinyblas_status scal_from_c(const char* function, tinyblas_context context, std::int64_t n, T alpha,
                            T* x, std::int64_t incx) {
    return guarded(function, [&] {
        require_context(context);
        scal(context->context, alpha, vector_argument(4, "x", incx > 0 ? n : 0, x, incx));
    });
}

template <class T>
tinyblas_status polyval_from_c(const char* function, tinyblas_context context, std::int64_t count,
                               const T* coefficients, std::int64_t n, const T* x, std::int64_t incx,
                               T* y, std::int64_t incy) {
    return guarded(function, [&] {
        require_context(context);
        require_argument(count >= 1, 2, "coefficient_count", count, "at least 1");
        require_pointer(coefficients, 3, "coefficients");
        require_argument(n >= 0, 4, "n", n, "at least 0");
        const auto x_view = vector_argument(5, "x", n, x, incx);
        const auto y_view = vector_argument(7, "y", n, y, incy);
        require_steps(8, "incy", n, incy);
        require_apart(7, "y", y_view, x_view);
        context->polyval.ran =
            polyval(context->context, std::span(coefficients, static_cast<std::size_t>(count)),
                    x_view, y_view, {.kernel = context->polyval.asked})
                .kernel;
    });
}

}  // namespace
}  // namespace tinyblas

using namespace tinyblas;

tinyblas_status tinyblas_saxpy(tinyblas_context context, int64_t n, float alpha, const float* x,
                               int64_t incx, float* y, int64_t incy) {
    return axpy_from_c(__func__, context, n, alpha, x, incx, y, incy);
}
tinyblas_status tinyblas_daxpy(tinyblas_context context, int64_t n, double alpha, const double* x,
                               int64_t incx, double* y, int64_t incy) {
    return axpy_from_c(__func__, context, n, alpha, x, incx, y, incy);
}

tinyblas_status tinyblas_sscal(tinyblas_context context, int64_t n, float alpha, float* x,
                               int64_t incx) {
    return scal_from_c(__func__, context, n, alpha, x, incx);
}
tinyblas_status tinyblas_dscal(tinyblas_context context, int64_t n, double alpha, double* x,
                               int64_t incx) {
    return scal_from_c(__func__, context, n, alpha, x, incx);
}

tinyblas_status tinyblas_spolyval(tinyblas_context context, int64_t coefficient_count,
                                  const float* coefficients, int64_t n, const float* x,
                                  int64_t incx, float* y, int64_t incy) {
    return polyval_from_c(__func__, context, coefficient_count, coefficients, n, x, incx, y, incy);
}
tinyblas_status tinyblas_dpolyval(tinyblas_context context, int64_t coefficient_count,
                                  const double* coefficients, int64_t n, const double* x,
                                  int64_t incx, double* y, int64_t incy) {
    return polyval_from_c(__func__, context, coefficient_count, coefficients, n, x, incx, y, incy);
}
