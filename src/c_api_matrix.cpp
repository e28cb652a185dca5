// SPDX-License-Identifier: MIT
// The C interface of gemm and transpose.
#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "batch.hpp"
#include "c_api.hpp"
#include "kernels/gemm/tiles.hpp"

namespace tinyblas {
namespace {

/// The arguments of gemm, alone or in a batch; of one given by arrays of pointers, In and Out point
/// to these.
template <class T, class In = const T*, class Out = T*>
struct GemmArguments {
    tinyblas_layout layout;
    tinyblas_op opa, opb;
    std::int64_t m, n, k;
    T alpha;
    In a;
    std::int64_t lda, stride_a;
    In b;
    std::int64_t ldb, stride_b;
    T beta;
    Out c;
    std::int64_t ldc, stride_c, batch;
};

/// Numbers of gemm's arguments from a on: those of a batch have strides between them.
struct GemmNumbers {
    int a, lda, b, ldb, c, ldc, stride_c, batch;
};
constexpr GemmNumbers one_product = {9, 10, 11, 12, 14, 15, 0, 0};
constexpr GemmNumbers batch_of_products = {9, 10, 12, 13, 16, 17, 18, 19};
constexpr GemmNumbers arrays_of_matrices = {9, 10, 11, 12, 14, 15, 0, 16};

/// The operands, and whether the call touches them. The strides of those with no step are 0.
template <class T>
struct GemmOperands {
    bool writes, reads;
    MatrixView<const T> a, b;
    MatrixView<T> c;
    std::int64_t stride_a, stride_b, stride_c;
};

/// Of matrices given by arrays of pointers, nothing can be told from where they begin.
template <class T>
T* first_of(T* data) {
    return data;
}
template <class T>
T* first_of(T* const*) {
    return nullptr;
}

template <class T, class In, class Out>
GemmOperands<T> check_gemm_arguments(tinyblas_context context, const GemmNumbers& numbers,
                                     const GemmArguments<T, In, Out>& x) {
    require_context(context);
    require_layout(x.layout);
    require_op(3, "opa", x.opa);
    require_op(4, "opb", x.opb);
    require_argument(x.m >= 0, 5, "m", x.m, "at least 0");
    require_argument(x.n >= 0, 6, "n", x.n, "at least 0");
    require_argument(x.k >= 0, 7, "k", x.k, "at least 0");
    const bool writes = x.m > 0 && x.n > 0 && x.batch != 0;
    const bool reads = writes && x.k > 0 && x.alpha != T(0);
    constexpr bool arrays = !std::is_same_v<In, const T*>;
    require_argument(!arrays || !reads || x.k <= gemm_tuned_longest_k, 7, "k", x.k, "at most ",
                     gemm_tuned_longest_k);
    const auto stride_argument = [&](int number, const char* name, std::int64_t stride,
                                     const auto& first, bool touched) {
        if (!touched || x.batch <= 1) return std::int64_t{0};
        require_argument(has_addresses(first, stride, x.batch), number, name, stride, "such that ",
                         x.batch, " matrices lie within the address space");
        return stride;
    };
    GemmOperands<T> found = {};
    found.writes = writes;
    found.reads = reads;
    require_pointer(x.a || !reads, numbers.a, "a");
    found.a =
        matrix_argument(numbers.lda, "lda", x.layout, x.opa, first_of(x.a), x.m, x.k, x.lda, reads);
    found.stride_a = stride_argument(numbers.lda + 1, "stride_a", x.stride_a, found.a, reads);
    require_pointer(x.b || !reads, numbers.b, "b");
    found.b =
        matrix_argument(numbers.ldb, "ldb", x.layout, x.opb, first_of(x.b), x.k, x.n, x.ldb, reads);
    found.stride_b = stride_argument(numbers.ldb + 1, "stride_b", x.stride_b, found.b, reads);
    require_pointer(x.c || !writes, numbers.c, "c");
    found.c = matrix_argument(numbers.ldc, "ldc", x.layout, TINYBLAS_NO_TRANS, first_of(x.c), x.m,
                              x.n, x.ldc, writes);
    found.stride_c = stride_argument(numbers.ldc + 1, "stride_c", x.stride_c, found.c, writes);
    require_argument(x.batch >= 0, numbers.batch, "batch", x.batch, "at least 0");
    return found;
}

template <class T>
tinyblas_status gemm_from_c(const char* function, tinyblas_context context,
                            const GemmNumbers& numbers, const GemmArguments<T>& x) {
    return guarded(function, [&] {
        const auto [writes, reads, a, b, c, stride_a, stride_b, stride_c] =
            check_gemm_arguments(context, numbers, x);
        if (writes) {
            const Batch all_c(c, stride_c, x.batch);
            require_argument(elements_distinct(all_c), numbers.stride_c, "stride_c", x.stride_c,
                             "a stride that keeps ", x.batch, " matrices of c apart");
            if (reads)
                for (const auto& [other, name] :
                     std::array{std::pair(Batch(a, stride_a, x.batch), "a"),
                                std::pair(Batch(b, stride_b, x.batch), "b")})
                    require_argument(!overlap(all_c, other), numbers.c, "c", x.c, "apart from ",
                                     name);
        }
        const GemmOptions options{.kernel = context->gemm.asked};
        context->gemm.ran = gemm_strided_batched(context->context, x.alpha, a, stride_a, b,
                                                 stride_b, x.beta, c, stride_c, x.batch, options)
                                .kernel;
    });
}

template <class T>
tinyblas_status gemm_of_arrays_from_c(const char* function, tinyblas_context context,
                                      const GemmArguments<T, const T* const*, T* const*>& x) {
    return guarded(function, [&] {
        check_gemm_arguments(context, arrays_of_matrices, x);
        const auto array = [&](tinyblas_op op, auto* data, std::int64_t rows, std::int64_t columns,
                               std::int64_t ld) {
            using Element = std::remove_pointer_t<std::remove_cvref_t<decltype(*data)>>;
            return MatrixArray<Element>::like(
                data, view<Element>(x.layout, op, nullptr, rows, columns, ld));
        };
        context->gemm.ran =
            gemm_batched(context->context, x.alpha, array(x.opa, x.a, x.m, x.k, x.lda),
                         array(x.opb, x.b, x.k, x.n, x.ldb), x.beta,
                         array(TINYBLAS_NO_TRANS, x.c, x.m, x.n, x.ldc), x.batch,
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
        constexpr auto plain = TINYBLAS_NO_TRANS;
        require_pointer(a || !moves, 5, "a");
        const auto a_view = matrix_argument(6, "lda", layout, plain, a, rows, cols, lda, moves);
        require_pointer(b || !moves, 7, "b");
        const auto b_view = matrix_argument(8, "ldb", layout, plain, b, cols, rows, ldb, moves);
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

tinyblas_status tinyblas_sgemm_batched(tinyblas_context context, tinyblas_layout layout,
                                       tinyblas_op opa, tinyblas_op opb, int64_t m, int64_t n,
                                       int64_t k, float alpha, const float* const* a, int64_t lda,
                                       const float* const* b, int64_t ldb, float beta,
                                       float* const* c, int64_t ldc, int64_t batch) {
    return gemm_of_arrays_from_c<float>(
        __func__, context,
        {layout, opa, opb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, batch});
}
tinyblas_status tinyblas_dgemm_batched(tinyblas_context context, tinyblas_layout layout,
                                       tinyblas_op opa, tinyblas_op opb, int64_t m, int64_t n,
                                       int64_t k, double alpha, const double* const* a, int64_t lda,
                                       const double* const* b, int64_t ldb, double beta,
                                       double* const* c, int64_t ldc, int64_t batch) {
    return gemm_of_arrays_from_c<double>(
        __func__, context,
        {layout, opa, opb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, batch});
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
