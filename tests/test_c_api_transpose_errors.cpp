// SPDX-License-Identifier: MIT
// What tinyblas_stranspose and tinyblas_dtranspose refuse.
#include <algorithm>

#include "c_api_errors.hpp"

namespace tinyblas::test {
namespace {

/// 4 x 5, every leading dimension as small as it may be.
template <class T>
struct Transpose {
    const char* name = "transpose";
    tinyblas_context context = nullptr;
    tinyblas_layout layout = TINYBLAS_ROW_MAJOR;
    std::int64_t rows = 4, cols = 5;
    const T* a = nullptr;
    std::int64_t lda = 5;
    T* b = nullptr;
    std::int64_t ldb = 4;

    tinyblas_status call() const {
        return pick<T>(tinyblas_stranspose, tinyblas_dtranspose)(context, layout, rows, cols, a,
                                                                 lda, b, ldb);
    }
};

template <class T>
class SmallCApiTransposeErrors : public CApiErrors<T> {
  protected:
    SmallCApiTransposeErrors() {
        good.context = this->context;
        good.a = this->operand(8, 8);
        good.b = this->operand(8, 8);
    }
    Transpose<T> good;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallCApiTransposeErrors, Types);

// From the last argument to the first, each spoilt in turn and left so: the sentence must name the
// newest.
TYPED_TEST(SmallCApiTransposeErrors, FirstBadArgumentWins) {
    auto x = this->good;
    x.ldb = 3;
    this->expect_refused(x, "argument 8 (ldb) is 3: must be at least 4");
    x.b = nullptr;
    this->expect_refused(x, "argument 7 (b) is null: must be a pointer");
    x.lda = 4;
    this->expect_refused(x, "argument 6 (lda) is 4: must be at least 5");
    x.a = nullptr;
    this->expect_refused(x, "argument 5 (a) is null: must be a pointer");
    x.cols = -1;
    this->expect_refused(x, "argument 4 (cols) is -1: must be at least 0");
    x.rows = -2;
    this->expect_refused(x, "argument 3 (rows) is -2: must be at least 0");
    x.layout = tinyblas_layout(103);
    this->expect_refused(x, "argument 2 (layout) is 103: must be 101 or 102");
    x.context = nullptr;
    this->expect_refused(x, "argument 1 (context) is null: must be a pointer");
}

TYPED_TEST(SmallCApiTransposeErrors, LeadingDimensions) {
    auto x = this->good;
    x.layout = TINYBLAS_COL_MAJOR;
    x.lda = 3, x.ldb = 5;
    this->expect_refused(x, "argument 6 (lda) is 3: must be at least 4");
    x.lda = 4, x.ldb = 4;
    this->expect_refused(x, "argument 8 (ldb) is 4: must be at least 5");
    x.lda = -4;
    this->expect_refused(x, "argument 6 (lda) is -4: must be at least 4");
}

// Leading dimensions are checked where there is nothing to do, too; 0 never is one.
TYPED_TEST(SmallCApiTransposeErrors, EmptyMatrices) {
    for (const tinyblas_layout layout : {TINYBLAS_ROW_MAJOR, TINYBLAS_COL_MAJOR})
        for (const bool no_rows : {true, false}) {
            auto x = this->good;
            x.layout = layout;
            x.a = nullptr, x.b = nullptr;
            (no_rows ? x.rows : x.cols) = 0;
            const bool by_row = layout == TINYBLAS_ROW_MAJOR;
            const std::int64_t least_a = std::max<std::int64_t>(1, by_row ? x.cols : x.rows);
            const std::int64_t least_b = std::max<std::int64_t>(1, by_row ? x.rows : x.cols);
            x.lda = least_a, x.ldb = least_b;
            this->expect_accepted(x);
            const auto bound = [](const char* which, std::int64_t least) {
                return std::string("argument ") + which + " is " + std::to_string(least - 1) +
                       ": must be at least " + std::to_string(least);
            };
            --x.ldb;
            this->expect_refused(x, bound("8 (ldb)", least_b));
            --x.lda;
            this->expect_refused(x, bound("6 (lda)", least_a));
        }
}

// In place is only the very same square matrix; any other shared element is one too many.
TYPED_TEST(SmallCApiTransposeErrors, Overlap) {
    using T = TypeParam;
    T* const b = this->good.b;
    const auto refuse = [&](std::int64_t rows, std::int64_t cols, const T* a, std::int64_t lda,
                            std::int64_t ldb) {
        auto x = this->good;
        x.rows = rows, x.cols = cols;
        x.a = a, x.lda = lda, x.ldb = ldb;
        this->expect_refused(x, "argument 7 (b) is " + shown(b) +
                                    ": must be apart from a, or the same square matrix");
    };
    refuse(4, 5, b, 5, 4);      // the same place, not square
    refuse(4, 5, b, 8, 8);      // likewise
    refuse(4, 4, b, 4, 5);      // square, other leading dimensions
    refuse(4, 4, b + 1, 4, 4);  // shifted
    refuse(4, 4, b + 27, 8, 8);
    refuse(1, 5, b + 4, 5, 1);
    refuse(1, 1, b, 1, 2);
}

// Two blocks side by side share rows of memory, but no element.
TYPED_TEST(SmallCApiTransposeErrors, NeighboursAreNoOverlap) {
    Matrix<TypeParam> both(4, 8, Memory::managed);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j) both(i, j) = static_cast<TypeParam>(8 * i + j);
    auto x = this->good;
    x.rows = x.cols = 4;
    x.lda = x.ldb = 8;
    x.a = both.view().data;
    x.b = both.view().data + 4;
    this->expect_accepted(x);
    EXPECT_EQ(tinyblas_synchronize(this->context), TINYBLAS_SUCCESS);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            EXPECT_EQ(both(i, j), 8 * i + j);
            EXPECT_EQ(both(j, 4 + i), 8 * i + j);
        }
}

}  // namespace
}  // namespace tinyblas::test
