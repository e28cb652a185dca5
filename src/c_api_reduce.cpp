// SPDX-License-Identifier: MIT
// The C interface of the reductions: each with its result on the host or on the device.
#include "c_api.hpp"

namespace tinyblas {
namespace {

// The overloaded functions as values: reduction(context, x..., [result,] options).
constexpr auto asum_of = [](auto&... arguments) { return asum(arguments...); };
constexpr auto dot_of = [](auto&... arguments) { return dot(arguments...); };
constexpr auto nrm2_of = [](auto&... arguments) { return nrm2(arguments...); };
constexpr auto sum_of = [](auto&... arguments) { return sum(arguments...); };

// The two forms. Only the one with a device result says which rung ran.
constexpr auto to_host = [](tinyblas_context_s& context, auto reduction, auto* result, auto... x) {
    const ReduceOptions options{.kernel = context.reduce.asked};
    *result = reduction(context.context, x..., options);
};
constexpr auto to_device = [](tinyblas_context_s& context, auto reduction, auto* result,
                              auto... x) {
    const ReduceOptions options{.kernel = context.reduce.asked};
    context.reduce.ran = reduction(context.context, x..., result, options).kernel;
};

template <class T, class Reduction, class Form>
tinyblas_status reduce_from_c(const char* function, tinyblas_context context, std::int64_t n,
                              const T* x, std::int64_t incx, T* result, Reduction reduction,
                              Form form) {
    return guarded(function, [&] {
        require_context(context);
        const auto x_view = vector_argument(3, "x", n, x, incx);
        require_pointer(result, 5, "result");
        form(*context, reduction, result, x_view);
    });
}

/// As BLAS has it: without a positive increment there are no elements.
template <class T, class Form>
tinyblas_status asum_from_c(const char* function, tinyblas_context context, std::int64_t n,
                            const T* x, std::int64_t incx, T* result, Form form) {
    return reduce_from_c(function, context, incx > 0 ? n : 0, x, incx, result, asum_of, form);
}

template <class T, class Form>
tinyblas_status dot_from_c(const char* function, tinyblas_context context, std::int64_t n,
                           const T* x, std::int64_t incx, const T* y, std::int64_t incy, T* result,
                           Form form) {
    return guarded(function, [&] {
        require_context(context);
        const auto x_view = vector_argument(3, "x", n, x, incx);
        const auto y_view = vector_argument(5, "y", n, y, incy);
        require_pointer(result, 7, "result");
        form(*context, dot_of, result, x_view, y_view);
    });
}

}  // namespace
}  // namespace tinyblas

using namespace tinyblas;

tinyblas_status tinyblas_sasum(tinyblas_context context, int64_t n, const float* x, int64_t incx,
                               float* result) {
    return asum_from_c(__func__, context, n, x, incx, result, to_host);
}
tinyblas_status tinyblas_dasum(tinyblas_context context, int64_t n, const double* x, int64_t incx,
                               double* result) {
    return asum_from_c(__func__, context, n, x, incx, result, to_host);
}

tinyblas_status tinyblas_sasum_device(tinyblas_context context, int64_t n, const float* x,
                                      int64_t incx, float* result) {
    return asum_from_c(__func__, context, n, x, incx, result, to_device);
}
tinyblas_status tinyblas_dasum_device(tinyblas_context context, int64_t n, const double* x,
                                      int64_t incx, double* result) {
    return asum_from_c(__func__, context, n, x, incx, result, to_device);
}

tinyblas_status tinyblas_sdot(tinyblas_context context, int64_t n, const float* x, int64_t incx,
                              const float* y, int64_t incy, float* result) {
    return dot_from_c(__func__, context, n, x, incx, y, incy, result, to_host);
}
tinyblas_status tinyblas_ddot(tinyblas_context context, int64_t n, const double* x, int64_t incx,
                              const double* y, int64_t incy, double* result) {
    return dot_from_c(__func__, context, n, x, incx, y, incy, result, to_host);
}

tinyblas_status tinyblas_sdot_device(tinyblas_context context, int64_t n, const float* x,
                                     int64_t incx, const float* y, int64_t incy, float* result) {
    return dot_from_c(__func__, context, n, x, incx, y, incy, result, to_device);
}
tinyblas_status tinyblas_ddot_device(tinyblas_context context, int64_t n, const double* x,
                                     int64_t incx, const double* y, int64_t incy, double* result) {
    return dot_from_c(__func__, context, n, x, incx, y, incy, result, to_device);
}

tinyblas_status tinyblas_snrm2(tinyblas_context context, int64_t n, const float* x, int64_t incx,
                               float* result) {
    return reduce_from_c(__func__, context, n, x, incx, result, nrm2_of, to_host);
}
tinyblas_status tinyblas_dnrm2(tinyblas_context context, int64_t n, const double* x, int64_t incx,
                               double* result) {
    return reduce_from_c(__func__, context, n, x, incx, result, nrm2_of, to_host);
}

tinyblas_status tinyblas_snrm2_device(tinyblas_context context, int64_t n, const float* x,
                                      int64_t incx, float* result) {
    return reduce_from_c(__func__, context, n, x, incx, result, nrm2_of, to_device);
}
tinyblas_status tinyblas_dnrm2_device(tinyblas_context context, int64_t n, const double* x,
                                      int64_t incx, double* result) {
    return reduce_from_c(__func__, context, n, x, incx, result, nrm2_of, to_device);
}

tinyblas_status tinyblas_ssum(tinyblas_context context, int64_t n, const float* x, int64_t incx,
                              float* result) {
    return reduce_from_c(__func__, context, n, x, incx, result, sum_of, to_host);
}
tinyblas_status tinyblas_dsum(tinyblas_context context, int64_t n, const double* x, int64_t incx,
                              double* result) {
    return reduce_from_c(__func__, context, n, x, incx, result, sum_of, to_host);
}

tinyblas_status tinyblas_ssum_device(tinyblas_context context, int64_t n, const float* x,
                                     int64_t incx, float* result) {
    return reduce_from_c(__func__, context, n, x, incx, result, sum_of, to_device);
}
tinyblas_status tinyblas_dsum_device(tinyblas_context context, int64_t n, const double* x,
                                     int64_t incx, double* result) {
    return reduce_from_c(__func__, context, n, x, incx, result, sum_of, to_device);
}
