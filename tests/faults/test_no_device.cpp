// SPDX-License-Identifier: MIT
// The real runtime on a machine without a driver or, which CUDA_VISIBLE_DEVICES arranges, without a
// device: a Status at the first call, whichever it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tinyblas/tinyblas.h"
#include "tinyblas/tinyblas.hpp"

namespace tinyblas::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

template <class Call>
void expect_no_device(const char* operation, Call call) {
    for (int attempt = 0; attempt < 2; ++attempt) try {
            call();
            ADD_FAILURE() << operation << " succeeded";
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::no_device) << error.what();
            EXPECT_THAT(error.what(), StartsWith(operation));
            EXPECT_THAT(error.what(), HasSubstr(": cuda"));
        }
}

TEST(NoDevice, NoContext) {
    expect_no_device("context: ", [] { Context(); });
    expect_no_device("context: ", [] { Context(nullptr); });
}

TEST(NoDevice, NoMatrix) {
    for (const auto memory :
         {Memory::device, Memory::device_pitched, Memory::pinned, Memory::pinned_portable,
          Memory::write_combined, Memory::mapped, Memory::managed})
        expect_no_device("matrix: ", [=] { Matrix<float>(2, 3, memory); });
    EXPECT_EQ(Matrix<float>(0, 3).rows(), 0);  // which needs no memory
}

TEST(NoDevice, NoContextInC) {
    tinyblas_context context = nullptr;
    EXPECT_EQ(tinyblas_create(&context), TINYBLAS_NO_DEVICE);
    EXPECT_EQ(context, nullptr);
    EXPECT_THAT(tinyblas_last_error(), StartsWith("tinyblas_create: context: cudaGetDevice: CUDA"));
    EXPECT_EQ(tinyblas_synchronize(context), TINYBLAS_INVALID_ARGUMENT);
    EXPECT_EQ(tinyblas_destroy(context), TINYBLAS_SUCCESS);
}

}  // namespace
}  // namespace tinyblas::test
