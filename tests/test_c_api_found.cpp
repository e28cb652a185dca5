// SPDX-License-Identifier: MIT
// Calls of the C interface that tests/fuzz has found something about. A finding is an overflow or
// an address made from null where nothing is read or written: UndefinedBehaviorSanitizer sees it.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

#include "pick.hpp"
#include "tinyblas/matrix.hpp"
#include "tinyblas/tinyblas.h"

namespace tinyblas::test {
namespace {

constexpr std::int64_t too_far = INT64_MAX - 1;

template <class T>
class Found : public testing::Test {
  protected:
    Found() : memory_(2, 3, Memory::managed) {
        EXPECT_EQ(tinyblas_create(&context), TINYBLAS_SUCCESS);
        for (int e = 0; e < 6; ++e) c[e] = T(e);
    }
    ~Found() override { tinyblas_destroy(context); }

    void expect_multiplied_by(T factor) {
        EXPECT_EQ(tinyblas_synchronize(context), TINYBLAS_SUCCESS) << tinyblas_last_error();
        for (int e = 0; e < 6; ++e) EXPECT_EQ(c[e], factor * T(e)) << e;
    }

    tinyblas_context context = nullptr;

  private:
    Matrix<T> memory_;

  protected:
    T* c = memory_.view().data;  // 2 x 3, by rows
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Found, Types);

constexpr auto row_major = TINYBLAS_ROW_MAJOR;

// Kernels made addresses from null or from a leading dimension that nobody had checked.
TYPED_TEST(Found, ProductsThatReadNothing) {
    using T = TypeParam;
    const auto call = pick<T>(tinyblas_sgemm, tinyblas_dgemm);
    T factor = 1;
    for (const char* kernel : {"best", "naive", "tiled", "tuned", pick<T>("sliced", "tensor"),
                               pick<T>("split", "tensor")})
        for (const tinyblas_op op : {TINYBLAS_NO_TRANS, TINYBLAS_TRANS}) {
            SCOPED_TRACE(kernel);
            EXPECT_EQ(tinyblas_set_gemm_kernel(this->context, kernel), TINYBLAS_SUCCESS);
            for (const std::int64_t k : {0, 4}) {
                EXPECT_EQ(call(this->context, row_major, op, op, 2, 3, k, 0, nullptr, too_far,
                               nullptr, too_far, 2, this->c, 3),
                          TINYBLAS_SUCCESS)
                    << tinyblas_last_error();
                this->expect_multiplied_by(factor *= 2);
            }
        }
}

TYPED_TEST(Found, BatchesThatReadNothing) {
    using T = TypeParam;
    const auto strided = pick<T>(tinyblas_sgemm_strided_batched, tinyblas_dgemm_strided_batched);
    EXPECT_EQ(strided(this->context, row_major, TINYBLAS_NO_TRANS, TINYBLAS_NO_TRANS, 1, 3, 4, 0,
                      nullptr, too_far, too_far, nullptr, too_far, too_far, 2, this->c, 3, 3, 2),
              TINYBLAS_SUCCESS)
        << tinyblas_last_error();
    this->expect_multiplied_by(2);

    Matrix<T*> pointers(1, 2, Memory::managed);
    T** const array = pointers.view().data;
    for (int e = 0; e < 2; ++e) array[e] = this->c + 3 * e;
    const auto batched = pick<T>(tinyblas_sgemm_batched, tinyblas_dgemm_batched);
    EXPECT_EQ(batched(this->context, row_major, TINYBLAS_NO_TRANS, TINYBLAS_NO_TRANS, 1, 3, 4, 0,
                      nullptr, too_far, nullptr, too_far, 2, array, 3, 2),
              TINYBLAS_SUCCESS)
        << tinyblas_last_error();
    this->expect_multiplied_by(4);
}

// Overlap was looked for among matrices that are not there, with leading dimensions that overflow.
TYPED_TEST(Found, BatchesOfNone) {
    using T = TypeParam;
    const auto call = pick<T>(tinyblas_sgemm_strided_batched, tinyblas_dgemm_strided_batched);
    for (const tinyblas_layout layout : {TINYBLAS_ROW_MAJOR, TINYBLAS_COL_MAJOR})
        EXPECT_EQ(
            call(this->context, layout, TINYBLAS_NO_TRANS, TINYBLAS_NO_TRANS, 2, 3, 3, 1, this->c,
                 too_far, too_far, this->c, too_far, too_far, 2, this->c, too_far, too_far, 0),
            TINYBLAS_SUCCESS)
            << tinyblas_last_error();
    this->expect_multiplied_by(1);
}

TYPED_TEST(Found, TransposesOfNothing) {
    using T = TypeParam;
    const auto call = pick<T>(tinyblas_stranspose, tinyblas_dtranspose);
    for (const tinyblas_layout layout : {TINYBLAS_ROW_MAJOR, TINYBLAS_COL_MAJOR})
        for (const std::int64_t rows : {0, 3})
            EXPECT_EQ(
                call(this->context, layout, rows, 3 - rows, this->c, too_far, this->c, too_far),
                TINYBLAS_SUCCESS)
                << tinyblas_last_error();
    this->expect_multiplied_by(1);
}

}  // namespace
}  // namespace tinyblas::test
