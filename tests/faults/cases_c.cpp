// SPDX-License-Identifier: MIT
// The calls of the C interface: every function that its header declares.
#include <utility>

#include "cases.hpp"

namespace tinyblas::faults {
namespace {

constexpr auto row_major = TINYBLAS_ROW_MAJOR;
constexpr auto plain = TINYBLAS_NO_TRANS, turned = TINYBLAS_TRANS;

/// The table under construction.
class Table {
  public:
    /// call(bench) returns a status; a failure becomes an Error with tinyblas_last_error().
    template <class Call>
    void operator()(
        const char* function, Call call, std::function<void(Bench&)> prepare = [](Bench&) {},
        bool lets_go = false) {
        cases_.push_back({function, function,
                          [=](Bench& b) {
                              const tinyblas_status status = call(b);
                              if (status != TINYBLAS_SUCCESS)
                                  throw Error(static_cast<Status>(status), tinyblas_last_error());
                          },
                          std::move(prepare), lets_go});
    }
    std::vector<Case> take() { return std::move(cases_); }

  private:
    std::vector<Case> cases_;
};

void add_contexts(Table& add) {
    add("tinyblas_create", [](Bench&) {
        tinyblas_context made = nullptr;
        const auto status = tinyblas_create(&made);
        if (status != TINYBLAS_SUCCESS && made)
            throw Error(Status::internal_error, "a context in spite of a failure");
        tinyblas_destroy(made);
        return status;
    });
    add(
        "tinyblas_destroy", [](Bench& b) { return tinyblas_destroy(std::exchange(b.c, nullptr)); },
        [](Bench& b) {
            if (!b.c) tinyblas_create(&b.c);
            tinyblas_set_reduce_kernel(b.c, "texture");
            for (CUstream_st* stream : {b.stream, b.other}) {
                tinyblas_set_stream(b.c, stream);
                tinyblas_sasum_device(b.c, 100, b.operand<float>(0), 1, b.operand<float>(2));
            }
        },
        true);
    add("tinyblas_set_stream", [](Bench& b) { return tinyblas_set_stream(b.c, b.stream); });
    add("tinyblas_synchronize", [](Bench& b) { return tinyblas_synchronize(b.c); });
    add("tinyblas_set_precision",
        [](Bench& b) { return tinyblas_set_precision(b.c, TINYBLAS_FP32); });
    add("tinyblas_set_scratch", [](Bench& b) { return tinyblas_set_scratch(b.c, nullptr, 0); });
    add("tinyblas_load_tuning", [](Bench& b) { return tinyblas_load_tuning(b.c, nullptr); });
    add("tinyblas_load_tuning", [](Bench& b) { return tinyblas_load_tuning(b.c, nullptr); });
    add("tinyblas_sgemm_scratch_bytes", [](Bench&) {
        std::uint64_t bytes = 0;
        return tinyblas_sgemm_scratch_bytes(300, 400, 500, &bytes);
    });
    add("tinyblas_status_string", [](Bench&) {
        return tinyblas_status_string(TINYBLAS_SUCCESS) ? TINYBLAS_SUCCESS
                                                        : TINYBLAS_INTERNAL_ERROR;
    });
    add("tinyblas_last_error",
        [](Bench&) { return tinyblas_last_error() ? TINYBLAS_SUCCESS : TINYBLAS_INTERNAL_ERROR; });
}

void add_kernels(Table& add) {
    const auto add_pair = [&](const char* setter, auto set, const char* getter, auto get) {
        add(setter, [=](Bench& b) { return set(b.c, "best"); });
        add(getter, [=](Bench& b) {
            const char* name = nullptr;
            return get(b.c, &name);
        });
    };
    add_pair("tinyblas_set_gemm_kernel", tinyblas_set_gemm_kernel, "tinyblas_get_gemm_kernel",
             tinyblas_get_gemm_kernel);
    add_pair("tinyblas_set_transpose_kernel", tinyblas_set_transpose_kernel,
             "tinyblas_get_transpose_kernel", tinyblas_get_transpose_kernel);
    add_pair("tinyblas_set_reduce_kernel", tinyblas_set_reduce_kernel, "tinyblas_get_reduce_kernel",
             tinyblas_get_reduce_kernel);
    add_pair("tinyblas_set_polyval_kernel", tinyblas_set_polyval_kernel,
             "tinyblas_get_polyval_kernel", tinyblas_get_polyval_kernel);
}

/// The functions of one type, `letter` s or d.
#define TINYBLAS_FAULTS_OF_TYPE(letter, T)                                                         \
    add("tinyblas_" #letter "gemm", [](Bench& b) {                                                 \
        return tinyblas_##letter##gemm(b.c, row_major, plain, turned, 700, 690, 680, 2,            \
                                       b.operand<T>(0), 680, b.operand<T>(1), 680, 3,              \
                                       b.operand<T>(2), 690);                                      \
    });                                                                                            \
    add("tinyblas_" #letter "gemm_strided_batched", [](Bench& b) {                                 \
        return tinyblas_##letter##gemm_strided_batched(b.c, row_major, plain, plain, 30, 40, 50,   \
                                                       2, b.operand<T>(0), 50, 0, b.operand<T>(1), \
                                                       40, 2000, 3, b.operand<T>(2), 40, 1200, 3); \
    });                                                                                            \
    add("tinyblas_" #letter "gemm_batched", [](Bench& b) {                                         \
        return tinyblas_##letter##gemm_batched(                                                    \
            b.c, row_major, plain, plain, 30, 40, 50, 2, b.operand<const T* const>(0), 50,         \
            b.operand<const T* const>(1), 40, 3, b.operand<T* const>(2), 40, 3);                   \
    });                                                                                            \
    add("tinyblas_" #letter "gemv", [](Bench& b) {                                                 \
        return tinyblas_##letter##gemv(b.c, row_major, plain, 900, 800, 2, b.operand<T>(0), 800,   \
                                       b.operand<T>(1), 1, 3, b.operand<T>(2), 1);                 \
    });                                                                                            \
    add("tinyblas_" #letter "ger", [](Bench& b) {                                                  \
        return tinyblas_##letter##ger(b.c, row_major, 90, 80, 2, b.operand<T>(0), 1,               \
                                      b.operand<T>(1), 1, b.operand<T>(2), 80);                    \
    });                                                                                            \
    add("tinyblas_" #letter "transpose", [](Bench& b) {                                            \
        return tinyblas_##letter##transpose(b.c, row_major, 90, 80, b.operand<T>(0), 80,           \
                                            b.operand<T>(1), 90);                                  \
    });                                                                                            \
    TINYBLAS_FAULTS_OF_REDUCTION(letter, T, asum)                                                  \
    TINYBLAS_FAULTS_OF_REDUCTION(letter, T, nrm2)                                                  \
    TINYBLAS_FAULTS_OF_REDUCTION(letter, T, sum)                                                   \
    add("tinyblas_" #letter "dot", [](Bench& b) {                                                  \
        T result = 0;                                                                              \
        return tinyblas_##letter##dot(b.c, 9000, b.operand<T>(0), 1, b.operand<T>(1), 2, &result); \
    });                                                                                            \
    add("tinyblas_" #letter "dot_device", [](Bench& b) {                                           \
        return tinyblas_##letter##dot_device(b.c, 9000, b.operand<T>(0), 1, b.operand<T>(1), 2,    \
                                             b.operand<T>(2));                                     \
    });                                                                                            \
    add("tinyblas_" #letter "axpy", [](Bench& b) {                                                 \
        return tinyblas_##letter##axpy(b.c, 90, 2, b.operand<T>(0), 1, b.operand<T>(1), 1);        \
    });                                                                                            \
    add("tinyblas_" #letter "scal",                                                                \
        [](Bench& b) { return tinyblas_##letter##scal(b.c, 90, 2, b.operand<T>(1), 1); });         \
    add("tinyblas_" #letter "polyval", [](Bench& b) {                                              \
        static const std::vector<T> coefficients(20000, T(1));                                     \
        return tinyblas_##letter##polyval(b.c, 20000, coefficients.data(), 90, b.operand<T>(0), 1, \
                                          b.operand<T>(0), 1);                                     \
    });
#define TINYBLAS_FAULTS_OF_REDUCTION(letter, T, name)                                            \
    add("tinyblas_" #letter #name, [](Bench& b) {                                                \
        T result = 0;                                                                            \
        return tinyblas_##letter##name(b.c, 9000, b.operand<T>(0), 1, &result);                  \
    });                                                                                          \
    add("tinyblas_" #letter #name "_device", [](Bench& b) {                                      \
        return tinyblas_##letter##name##_device(b.c, 9000, b.operand<T>(0), 1, b.operand<T>(2)); \
    });

}  // namespace

std::vector<Case> cases_c() {
    Table add;
    add_contexts(add);
    add_kernels(add);
    TINYBLAS_FAULTS_OF_TYPE(s, float)
    TINYBLAS_FAULTS_OF_TYPE(d, double)
    return add.take();
}

}  // namespace tinyblas::faults
