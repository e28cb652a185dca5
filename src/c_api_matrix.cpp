// SPDX-License-Identifier: MIT
// The C interface of gemm and transpose: the only file that knows op and lda.
#include <algorithm>
#include <utility>

#include "batch.hpp"
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

/// The arguments of gemm, alone or in a batch.
template <class T>
struct GemmArguments {
    tinyblas_layout layout;
    tinyblas_op opa, opb;
    std::int64_t m, n, k;
    T alpha;
    const T* a;
    std::int64_t lda, stride_a;
    const T* b;
    std::int64_t ldb, stride_b;
    T beta;
    T* c;
    std::int64_t ldc, stride_c, batch;
};

/// Numbers of gemm's arguments from a on: those of a batch have strides between them.
struct GemmNumbers {
    int a, lda, b, ldb, c, ldc, stride_c, batch;
};
constexpr GemmNumbers one_product = {9, 10, 11, 12, 14, 15, 0, 0};
constexpr GemmNumbers batch_of_products = {9, 10, 12, 13, 16, 17, 18, 19};

template <class T>
tinyblas_status gemm_from_c(const char* function, tinyblas_context context,
                            const GemmNumbers& numbers, const GemmArguments<T>& x) {
    return guarded(function, [&] {
        require_context(context);
        require_layout(x.layout);
        require_op(3, "opa", x.opa);
        require_op(4, "opb", x.opb);
        require_argument(x.m >= 0, 5, "m", x.m, "at least 0");
        require_argument(x.n >= 0, 6, "n", x.n, "at least 0");
        require_argument(x.k >= 0, 7, "k", x.k, "at least 0");
        const bool writes = x.m > 0 && x.n > 0 && x.batch != 0;
        const bool reads = writes && x.k > 0 && x.alpha != T(0);
        const auto least_a = least_ld(x.layout, x.opa, x.m, x.k);
        const auto least_b = least_ld(x.layout, x.opb, x.k, x.n);
        const auto least_c = least_ld(x.layout, TINYBLAS_NO_TRANS, x.m, x.n);
        require_pointer(x.a || !reads, numbers.a, "a");
        require_argument(x.lda >= least_a, numbers.lda, "lda", x.lda, "at least ", least_a);
        require_pointer(x.b || !reads, numbers.b, "b");
        require_argument(x.ldb >= least_b, numbers.ldb, "ldb", x.ldb, "at least ", least_b);
        require_pointer(x.c || !writes, numbers.c, "c");
        require_argument(x.ldc >= least_c, numbers.ldc, "ldc", x.ldc, "at least ", least_c);
        require_argument(x.batch >= 0, numbers.batch, "batch", x.batch, "at least 0");

        const MatrixView<const T> a = view(x.layout, x.opa, x.a, x.m, x.k, x.lda);
        const MatrixView<const T> b = view(x.layout, x.opb, x.b, x.k, x.n, x.ldb);
        const MatrixView<T> c = view(x.layout, TINYBLAS_NO_TRANS, x.c, x.m, x.n, x.ldc);
        const Batch all_c(c, x.stride_c, x.batch);
        require_argument(!writes || elements_distinct(all_c), numbers.stride_c, "stride_c",
                         x.stride_c, "a stride that keeps ", x.batch, " matrices of c apart");
        if (reads)
            for (const auto& [other, name] : {std::pair(Batch(a, x.stride_a, x.batch), "a"),
                                              std::pair(Batch(b, x.stride_b, x.batch), "b")})
                require_argument(!overlap(all_c, other), numbers.c, "c", x.c, "apart from ", name);
        const GemmOptions options{.kernel = context->gemm.asked};
        context->gemm.ran =
            gemm_strided_batched(context->context, x.alpha, a, x.stride_a, b, x.stride_b, x.beta, c,
                                 x.stride_c, x.batch, options)
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
    return gemm_from_c<float>(
        __func__, context, one_product,
        {layout, opa, opb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1});
}
tinyblas_status tinyblas_dgemm(tinyblas_context context, tinyblas_layout layout, tinyblas_op opa,
                               tinyblas_op opb, int64_t m, int64_t n, int64_t k, double alpha,
                               const double* a, int64_t lda, const double* b, int64_t ldb,
                               double beta, double* c, int64_t ldc) {
    return gemm_from_c<double>(
        __func__, context, one_product,
        {layout, opa, opb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1});
}

tinyblas_status tinyblas_sgemm_strided_batched(tinyblas_context context, tinyblas_layout layout,
                                               tinyblas_op opa, tinyblas_op opb, int64_t m,
                                               int64_t n, int64_t k, float alpha, const float* a,
                                               int64_t lda, int64_t stride_a, const float* b,
                                               int64_t ldb, int64_t stride_b, float beta, float* c,
                                               int64_t ldc, int64_t stride_c, int64_t batch) {
    return gemm_from_c<float>(__func__, context, batch_of_products,
                              {layout, opa, opb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b,
                               beta, c, ldc, stride_c, batch});
}
tinyblas_status tinyblas_dgemm_strided_batched(tinyblas_context context, tinyblas_layout layout,
                                               tinyblas_op opa, tinyblas_op opb, int64_t m,
                                               int64_t n, int64_t k, double alpha, const double* a,
                                               int64_t lda, int64_t stride_a, const double* b,
                                               int64_t ldb, int64_t stride_b, double beta,
                                               double* c, int64_t ldc, int64_t stride_c,
                                               int64_t batch) {
    return gemm_from_c<double>(__func__, context, batch_of_products,
                               {layout, opa, opb, m, n, k, alpha, a, lda, stride_a, b, ldb,
                                stride_b, beta, c, ldc, stride_c, batch});
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
