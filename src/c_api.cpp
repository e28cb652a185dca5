// SPDX-License-Identifier: MIT
// The C interface: the only file that knows op and lda. Exceptions become a status and a sentence.
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "check.hpp"
#include "tinyblas/gemm.hpp"
#include "tinyblas/tinyblas.h"

struct tinyblas_context_s {
    tinyblas::Context context;
    tinyblas::GemmKernel gemm_kernel = tinyblas::GemmKernel::best;
    tinyblas::GemmKernel gemm_ran = tinyblas::GemmKernel::none;
};

namespace tinyblas {
namespace {

thread_local std::string last_error;

tinyblas_status report(Status status, const char* function, const char* sentence) noexcept {
    try {
        last_error = std::string(function) + ": " + sentence;
    } catch (...) {
        last_error.clear();
    }
    return static_cast<tinyblas_status>(status);
}

/// Runs `body`; what it throws becomes the status of `function`.
template <class Body>
tinyblas_status guarded(const char* function, Body&& body) noexcept {
    try {
        body();
        return TINYBLAS_SUCCESS;
    } catch (const Error& error) {
        return report(error.status(), function, error.what());
    } catch (const std::bad_alloc&) {
        return report(Status::out_of_memory, function, "no host memory");
    } catch (const std::exception& error) {
        return report(Status::internal_error, function, error.what());
    } catch (...) {
        return report(Status::internal_error, function, "unknown exception");
    }
}

/// "argument 10 (lda) is 3: must be at least 7"
template <class Value, class... Bound>
void require_argument(bool condition, int number, const char* name, const Value& value,
                      const Bound&... bound) {
    require(condition, "argument ", number, " (", name, ") is ", value, ": must be ", bound...);
}

void require_pointer(bool condition, int number, const char* name) {
    require_argument(condition, number, name, "null", "a pointer");
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
        require_pointer(context != nullptr, 1, "context");
        require_argument(layout == TINYBLAS_ROW_MAJOR || layout == TINYBLAS_COL_MAJOR, 2, "layout",
                         static_cast<int>(layout), "101 or 102");
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
        context->gemm_ran = gemm(context->context, alpha, a_view, b_view, beta, c_view,
                                 {.kernel = context->gemm_kernel})
                                .kernel;
    });
}

}  // namespace
}  // namespace tinyblas

using namespace tinyblas;

tinyblas_status tinyblas_create(tinyblas_context* context) {
    return guarded(__func__, [&] {
        require_pointer(context != nullptr, 1, "context");
        *context = nullptr;
        *context = new tinyblas_context_s;
    });
}

tinyblas_status tinyblas_destroy(tinyblas_context context) {
    return guarded(__func__, [&] { delete context; });
}

tinyblas_status tinyblas_set_stream(tinyblas_context context, void* stream) {
    return guarded(__func__, [&] {
        require_pointer(context != nullptr, 1, "context");
        context->context.set_stream(static_cast<CUstream_st*>(stream));
    });
}

tinyblas_status tinyblas_synchronize(tinyblas_context context) {
    return guarded(__func__, [&] {
        require_pointer(context != nullptr, 1, "context");
        context->context.synchronize();
    });
}

tinyblas_status tinyblas_set_gemm_kernel(tinyblas_context context, const char* name) {
    return guarded(__func__, [&] {
        require_pointer(context != nullptr, 1, "context");
        require_pointer(name != nullptr, 2, "name");
        try {
            context->gemm_kernel = gemm_kernel(name);
        } catch (const Error&) {
            require_argument(false, 2, "name", name, "best, naive, tiled or tuned");
        }
    });
}

tinyblas_status tinyblas_get_gemm_kernel(tinyblas_context context, const char** name) {
    return guarded(__func__, [&] {
        require_pointer(context != nullptr, 1, "context");
        require_pointer(name != nullptr, 2, "name");
        *name = to_string(context->gemm_ran);
    });
}

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

const char* tinyblas_status_string(tinyblas_status status) {
    return to_string(static_cast<Status>(status));
}

const char* tinyblas_last_error(void) { return last_error.c_str(); }
