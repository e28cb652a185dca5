// SPDX-License-Identifier: MIT
// The C interface of gemv and ger.
#include <array>
#include <utility>

#include "c_api.hpp"

namespace tinyblas {
namespace {

template <class T>
tinyblas_status gemv_from_c(const char* function, tinyblas_context context, tinyblas_layout layout,
                            tinyblas_op op, std::int64_t m, std::int64_t n, T alpha, const T* a,
                            std::int64_t lda, const T* x, std::int64_t incx, T beta, T* y,
                            std::int64_t incy) {
    return guarded(function, [&] {
        require_context(context);
        require_layout(layout);
        require_op(3, "op", op);
        require_argument(m >= 0, 4, "m", m, "at least 0");
        require_argument(n >= 0, 5, "n", n, "at least 0");
        const bool plain = op == TINYBLAS_NO_TRANS;
        const std::int64_t rows = plain ? m : n, columns = plain ? n : m;  // of op(A)
        const bool reads = rows > 0 && columns > 0 && alpha != T(0);
        require_pointer(a || !reads, 7, "a");
        const auto a_view = matrix_argument(8, "lda", layout, op, a, rows, columns, lda, reads);
        auto x_view = vector_argument(9, "x", reads ? columns : 0, x, incx);
        const auto y_view = vector_argument(12, "y", rows, y, incy);
        require_steps(13, "incy", rows, incy, plain ? "m" : "n");

        if (reads) {
            require_argument(!overlap(Footprint(y_view), Footprint(a_view)), 12, "y", y,
                             "apart from a");
            require_argument(!overlap(Track(y_view), Track(x_view)), 12, "y", y, "apart from x");
        }
        x_view.size = columns;
        gemv(context->context, alpha, a_view, x_view, beta, y_view);
    });
}

template <class T>
tinyblas_status ger_from_c(const char* function, tinyblas_context context, tinyblas_layout layout,
                           std::int64_t m, std::int64_t n, T alpha, const T* x, std::int64_t incx,
                           const T* y, std::int64_t incy, T* a, std::int64_t lda) {
    return guarded(function, [&] {
        require_context(context);
        require_layout(layout);
        require_argument(m >= 0, 3, "m", m, "at least 0");
        require_argument(n >= 0, 4, "n", n, "at least 0");
        const bool writes = m > 0 && n > 0 && alpha != T(0);
        const auto x_view = vector_argument(6, "x", writes ? m : 0, x, incx);
        const auto y_view = vector_argument(8, "y", writes ? n : 0, y, incy);
        require_pointer(a || !writes, 10, "a");
        const auto a_view =
            matrix_argument(11, "lda", layout, TINYBLAS_NO_TRANS, a, m, n, lda, writes);
        if (!writes) return;

        for (const auto& [other, name] : std::array{std::pair(x_view, "x"), std::pair(y_view, "y")})
            require_argument(!overlap(Footprint(a_view), Footprint(other)), 10, "a", a,
                             "apart from ", name);
        ger(context->context, alpha, x_view, y_view, a_view);
    });
}

}  // namespace
}  // namespace tinyblas

using namespace tinyblas;

tinyblas_status tinyblas_sgemv(tinyblas_context context, tinyblas_layout layout, tinyblas_op op,
                               int64_t m, int64_t n, float alpha, const float* a, int64_t lda,
                               const float* x, int64_t incx, float beta, float* y, int64_t incy) {
    return gemv_from_c(__func__, context, layout, op, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
tinyblas_status tinyblas_dgemv(tinyblas_context context, tinyblas_layout layout, tinyblas_op op,
                               int64_t m, int64_t n, double alpha, const double* a, int64_t lda,
                               const double* x, int64_t incx, double beta, double* y,
                               int64_t incy) {
    return gemv_from_c(__func__, context, layout, op, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

tinyblas_status tinyblas_sger(tinyblas_context context, tinyblas_layout layout, int64_t m,
                              int64_t n, float alpha, const float* x, int64_t incx, const float* y,
                              int64_t incy, float* a, int64_t lda) {
    return ger_from_c(__func__, context, layout, m, n, alpha, x, incx, y, incy, a, lda);
}
tinyblas_status tinyblas_dger(tinyblas_context context, tinyblas_layout layout, int64_t m,
                              int64_t n, double alpha, const double* x, int64_t incx,
                              const double* y, int64_t incy, double* a, int64_t lda) {
    return ger_from_c(__func__, context, layout, m, n, alpha, x, incx, y, incy, a, lda);
}
