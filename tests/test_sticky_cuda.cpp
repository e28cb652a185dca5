// SPDX-License-Identifier: MIT
// Sticky errors: a kernel that meets an address it must not touch ends the CUDA context of its
// process. Each operation meets one in a process of its own: the next call that asks the device
// names the operation and what happened, every later one fails too, nothing hangs or crashes, and
// the process ends as it wants to. And after a reset of the device all works as before.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tinyblas/tinyblas.h"
#include "tinyblas/tinyblas.hpp"

namespace tinyblas::test {
namespace {

/// Where nothing is, for 1024 elements a number.
template <class T>
T* nowhere(int number) {
    return reinterpret_cast<T*>(0x10000 + 0x100000 * number);
}
template <class T>
MatrixView<T> matrix(int number, std::int64_t n) {
    return MatrixView<T>::row_major(nowhere<T>(number), n, n);
}
template <class T>
VectorView<T> vector(int number) {
    return {nowhere<T>(number), 1000, 1};
}

struct Operation {
    const char* name;  // as sentences begin
    std::function<void(Context&)> enqueue;
};
std::ostream& operator<<(std::ostream& to, const Operation& operation) {
    return to << operation.name;
}

template <class T>
Operation gemm_of(std::int64_t n, GemmOptions options) {
    return {"gemm", [=](Context& context) {
                gemm(context, T(1), matrix<const T>(0, n), matrix<const T>(1, n), T(0),
                     matrix<T>(2, n), options);
            }};
}

const Operation operations[] = {
    gemm_of<float>(30, {}),
    gemm_of<float>(30, {.kernel = GemmKernel::naive}),
    gemm_of<float>(500, {.precision = Precision::fp32_strict}),
    gemm_of<float>(500, {.precision = Precision::fp32}),
    gemm_of<double>(300, {}),
    {"gemm",
     [](Context& context) {
         gemm_strided_batched(context, 1.0f, matrix<const float>(0, 8), 64,
                              matrix<const float>(1, 8), 64, 0.0f, matrix<float>(2, 8), 64, 10);
     }},
    {"gemv",
     [](Context& context) {
         gemv(context, 1.0f, matrix<const float>(0, 1000), vector<const float>(8), 0.0f,
              vector<float>(9));
     }},
    {"ger",
     [](Context& context) {
         ger(context, 1.0f, vector<const float>(8), vector<const float>(9), matrix<float>(0, 1000));
     }},
    {"transpose",
     [](Context& context) {
         transpose(context, matrix<const float>(0, 300), matrix<float>(1, 300));
     }},
    {"asum", [](Context& context) { asum(context, vector<const float>(0), nowhere<float>(1)); }},
    {"dot",
     [](Context& context) {
         dot(context, vector<const double>(0), vector<const double>(1), nowhere<double>(2),
             {.kernel = ReduceKernel::texture});
     }},
    {"axpy",
     [](Context& context) { axpy(context, 2.0f, vector<const float>(0), vector<float>(1)); }},
    {"scal", [](Context& context) { scal(context, 2.0, vector<double>(0)); }},
    {"polyval",
     [](Context& context) {
         const float coefficients[] = {1, 2, 3};
         polyval(context, coefficients, vector<const float>(0), vector<float>(1));
     }},
};

/// Says what came of `call`, with its status.
void attempt(const std::function<void()>& call) {
    try {
        call();
        std::cerr << "success";
    } catch (const Error& error) {
        std::cerr << to_string(error.status()) << " [" << error.what() << "]";
    }
    std::cerr << "; ";
}

class StickyErrors : public testing::TestWithParam<Operation> {
  protected:
    StickyErrors() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
INSTANTIATE_TEST_SUITE_P(Each, StickyErrors, testing::ValuesIn(operations), [](const auto& info) {
    return std::string(info.param.name) + std::to_string(info.index);
});

// The call itself may see it already, if the device is fast and the operation has several steps.
TEST_P(StickyErrors, AreReportedAndSurvived) {
    const Operation& operation = GetParam();
    const auto child = [&] {
        {
            Context context;
            Matrix<float> memory(100, 100), pinned(100, 100, Memory::pinned);
            context.scratch(1000);
            attempt([&] {
                operation.enqueue(context);
                context.synchronize();
            });
            attempt([&] { context.synchronize(); });
            attempt([&] { operation.enqueue(context); });
            attempt([&] { copy(context, memory.view(), pinned); });
            attempt([&] { asum(context, VectorView<const float>{memory.view().data, 100, 1}); });
            attempt([&] { Matrix<float>(7, 7); });
            attempt([] { Context(); });
        }
        std::exit(0);  // after everything has been let go
    };
    const std::string name = operation.name;
    const std::string error = R"(: cuda[A-Za-z0-9]+: CUDA error [0-9]+ .*\]; )";
    EXPECT_EXIT(child(), testing::ExitedWithCode(0),
                testing::MatchesRegex("^device error \\[" + name + error + "device error \\[" +
                                      name + error + "device error \\[" + name + error +
                                      R"(device error \[copy)" + error + R"(device error \[asum)" +
                                      error + R"(device error \[matrix)" + error +
                                      R"(device error \[context)" + error + "$"));
}

// A result that the host waits for never comes: an error instead of an endless wait.
TEST(StickyErrorsToTheHost, EndTheWait) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            Context context;
            attempt([&] { asum(context, vector<const float>(0)); });
            std::exit(0);
        },
        testing::ExitedWithCode(0), R"(^device error \[asum: cudaStreamSynchronize: CUDA error)");
}

TEST(StickyErrorsInC, AreAStatus) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            tinyblas_context context = nullptr;
            tinyblas_create(&context);
            tinyblas_sscal(context, 1000, 2, nowhere<float>(0), 1);
            std::cerr << tinyblas_synchronize(context) << " " << tinyblas_last_error() << "; "
                      << tinyblas_destroy(context) << "\n";
            std::exit(0);
        },
        testing::ExitedWithCode(0),
        "^5 tinyblas_synchronize: scal: cudaStreamSynchronize: CUDA error 700 .*; 0");
}

/// The sum of A A for an A of ones.
float sum_of_square(std::int64_t n) {
    Context context;
    Matrix<float> a(n, n, Memory::managed), c(n, n, Memory::managed);
    std::fill_n(a.view().data, a.view().row_stride * n, 1.0f);
    gemm(context, 1, a, a, 0, c.view(), {.precision = Precision::fp32_strict});
    context.synchronize();
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) sum += c.view()(i, j);
    return sum;
}

// What the library remembers of kernels (how much shared memory they may take), a reset undoes.
TEST(DeviceReset, IsFollowedByGemmAsBefore) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            for (int life = 0; life < 3; ++life) {
                for (const std::int64_t n : {64, 256, 1024}) std::cerr << sum_of_square(n) << " ";
                if (cudaDeviceReset() != cudaSuccess) std::exit(1);
            }
            std::exit(0);
        },
        testing::ExitedWithCode(0), "^(262144 1.67772e\\+07 1.07374e\\+09 ){3}$");
}

}  // namespace
}  // namespace tinyblas::test
