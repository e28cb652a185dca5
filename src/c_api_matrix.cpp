// SPDX-License-Identifier: MIT
// The C interface of gemm and transpose: the only file that knows op and lda.
#include <algorithm>
#include <utility>

#include "c_api.hpp"

namespace tinyblas {
namespace {

void require_layout(tinyblas_layout layout) {
    require_argument(layout == TINYBLAS_ROW_MAJOR || layout == TINYBLAS_COL_MAJOR, 2, "layout",
                     static_cast<int>(layout), "101 or 102");
}

void require_op(int number, const char* name, tinyblas_op op) {
    require_argument(op == TINYBLAS_NO_TRANS || op == TINYBLAS_TRANS || op == TINYBLAS_CONJ_TRANS,
                     number, name, static_cast<int>(op), "111, 112 or 113");
}

/// op(X), `rows` x `columns`, stored with leading dimension ld. The caller has checked ld.
template <class T>
MatrixView<T> view(tinyblas_layout layout, tinyblas_op op, T* data, std::int64_t rows,
                   std::int64_t columns, std::int64_t ld) {
    const bool along_rows = (layout == TINYBLAS_ROW_MAJOR) == (op == TINYBLAS_NO_TRANS);
    return {data, rows, columns, along_rows ? ld : 1, along_rows ? 1 : ld};
}

/// The least leading dimension of op(X), `rows` x `columns`.
std::int64_t least_ld(tinyblas_layout layout, tinyblas_op op, std::int64_t rows,
                      std::int64_t columns) {
    const bool along_rows = (layout == TINYBLAS_ROW_MAJOR) == (op == TINYBLAS_NO_TRANS);
    return std::max<std::int64_t>(1, along_rows ? columns : rows);
}

template <class T>
tinyblas_status gemm_from_c(const char* function, tinyblas_context context, tinyblas_layout layout,
                            tinyblas_op opa, tinyblas_op opb, std::int64_t m, std::int64_t n,
                            std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b,
                            std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
    return guarded(function, [&] {
        require_context(context);
        require_layout(layout);
        require_op(3, "opa", opa);
        require_op(4, "opb", opb);
        require_argument(m >= 0, 5, "m", m, "at least 0");
        require_argument(n >= 0, 6, "n", n, "at least 0");
        require_argument(k >= 0, 7, "k", k, "at least 0");
        const bool writes = m > 0 && n > 0;
        const bool reads = writes && k > 0 && alpha != T(0);
        const auto least_a = least_ld(layout, opa, m, k);
        const auto least_b = least_ld(layout, opb, k, n);
        const auto least_c = least_ld(layout, TINYBLAS_NO_TRANS, m, n);
        require_pointer(a || !reads, 9, "a");
        require_argument(lda >= least_a, 10, "lda", lda, "at least ", least_a);
        require_pointer(b || !reads, 11, "b");
        require_argument(ldb >= least_b, 12, "ldb", ldb, "at least ", least_b);
        require_pointer(c || !writes, 14, "c");
        require_argument(ldc >= least_c, 15, "ldc", ldc, "at least ", least_c);

        const MatrixView<const T> a_view = view(layout, opa, a, m, k, lda);
        const MatrixView<const T> b_view = view(layout, opb, b, k, n, ldb);
        const MatrixView<T> c_view = view(layout, TINYBLAS_NO_TRANS, c, m, n, ldc);
        if (reads)
            for (const auto& [other, name] : {std::pair(a_view, "a"), std::pair(b_view, "b")})
                require_argument(!overlap(Footprint(c_view), Footprint(other)), 14, "c", c,
                                 "apart from ", name);
        context->gemm.ran = gemm(context->context, alpha, a_view, b_view, beta, c_view,
                                 {.kernel = context->gemm.asked})
                                .kernel;
    });
}

template <class T>
tinyblas_status transpose_from_c(const char* function, tinyblas_context context,
                                 tinyblas_layout layout, std::int64_t rows, std::int64_t cols,
                                 const T* a, std::int64_t lda, T* b, std::int64_t ldb) {
    return guarded(function, [&] {
        require_context(context);
        require_layout(layout);
        require_argument(rows >= 0, 3, "rows", rows, "at least 0");
        require_argument(cols >= 0, 4, "cols", cols, "at least 0");
        const bool moves = rows > 0 && cols > 0;
        const auto least_a = least_ld(layout, TINYBLAS_NO_TRANS, rows, cols);
        const auto least_b = least_ld(layout, TINYBLAS_NO_TRANS, cols, rows);
        require_pointer(a || !moves, 5, "a");
        require_argument(lda >= least_a, 6, "lda", lda, "at least ", least_a);
        require_pointer(b || !moves, 7, "b");
        require_argument(ldb >= least_b, 8, "ldb", ldb, "at least ", least_b);

        const MatrixView<const T> a_view = view(layout, TINYBLAS_NO_TRANS, a, rows, cols, lda);
        const MatrixView<T> b_view = view(layout, TINYBLAS_NO_TRANS, b, cols, rows, ldb);
        const bool in_place = a == b && rows == cols && lda == ldb;
        require_argument(in_place || !overlap(Footprint(b_view), Footprint(a_view)), 7, "b", b,
                         "apart from a, or the same square matrix");
        context->transpose.ran =
            transpose(context->context, a_view, b_view, {.kernel = context->transpose.asked})
                .kernel;
    });
}

}  // namespace
}  // namespace tinyblas

using namespace tinyblas;

tinyblas_status tinyblas_sgemm(tinyblas_context context, tinyblas_layout layout, tinyblas_op opa,
                               tinyblas_op opb, int64_t m, int64_t n, int64_t k, float alpha,
                               const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
                               float* c, int64_t ldc) {
    return gemm_from_c(__func__, context, layout, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c,
                       ldc);
}
tinyblas_status tinyblas_dgemm(tinyblas_context context, tinyblas_layout layout, tinyblas_op opa,
                               tinyblas_op opb, int64_t m, int64_t n, int64_t k, double alpha,
                               const double* a, int64_t lda, const double* b, int64_t ldb,
                               double beta, double* c, int64_t ldc) {
    return gemm_from_c(__func__, context, layout, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c,
                       ldc);
}

tinyblas_status tinyblas_stranspose(tinyblas_context context, tinyblas_layout layout, int64_t rows,
                                    int64_t cols, const float* a, int64_t lda, float* b,
                                    int64_t ldb) {
    return transpose_from_c(__func__, context, layout, rows, cols, a, lda, b, ldb);
}
tinyblas_status tinyblas_dtranspose(tinyblas_context context, tinyblas_layout layout, int64_t rows,
                                    int64_t cols, const double* a, int64_t lda, double* b,
                                    int64_t ldb) {
    return transpose_from_c(__func__, context, layout, rows, cols, a, lda, b, ldb);
}
