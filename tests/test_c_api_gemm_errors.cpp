// SPDX-License-Identifier: MIT
// What tinyblas_sgemm and tinyblas_dgemm refuse.
#include <functional>

#include "c_api_errors.hpp"

namespace tinyblas::test {
namespace {

/// The arguments of one call by name; good ones to start with: 4 x 6 x 5, every leading dimension
/// as small as it may be.
template <class T>
struct Gemm {
    const char* name = "gemm";
    tinyblas_context context = nullptr;
    tinyblas_layout layout = TINYBLAS_ROW_MAJOR;
    tinyblas_op opa = TINYBLAS_NO_TRANS, opb = TINYBLAS_NO_TRANS;
    std::int64_t m = 4, n = 6, k = 5;
    T alpha = 1;
    const T* a = nullptr;
    std::int64_t lda = 5;
    const T* b = nullptr;
    std::int64_t ldb = 6;
    T beta = 1;
    T* c = nullptr;
    std::int64_t ldc = 6;

    tinyblas_status call() const {
        return pick<T>(tinyblas_sgemm, tinyblas_dgemm)(context, layout, opa, opb, m, n, k, alpha, a,
                                                       lda, b, ldb, beta, c, ldc);
    }
};

template <class T>
class SmallCApiGemmErrors : public CApiErrors<T> {
  protected:
    using Spoil = std::function<void(Gemm<T>&)>;

    SmallCApiGemmErrors() {
        good.context = this->context;
        good.a = this->operand(4, 5);
        good.b = this->operand(5, 6);
        good.c = this->operand(4, 6);
    }

    using CApiErrors<T>::expect_refused;
    void expect_refused(Spoil spoil, const std::string& words) {
        Gemm<T> arguments = good;
        spoil(arguments);
        expect_refused(arguments, words);
    }

    Gemm<T> good;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallCApiGemmErrors, Types);

// From the last argument to the first, each spoilt in turn and left so: the sentence must name the
// newest.
TYPED_TEST(SmallCApiGemmErrors, FirstBadArgumentWins) {
    using Args = Gemm<TypeParam>;
    Args x = this->good;
    const auto then = [&](auto spoil, const std::string& words) {
        spoil(x);
        this->expect_refused(x, words);
    };
    then([](Args& x) { x.ldc = 3; }, "argument 15 (ldc) is 3: must be at least 6");
    then([](Args& x) { x.c = nullptr; }, "argument 14 (c) is null: must be a pointer");
    then([](Args& x) { x.ldb = 5; }, "argument 12 (ldb) is 5: must be at least 6");
    then([](Args& x) { x.b = nullptr; }, "argument 11 (b) is null: must be a pointer");
    then([](Args& x) { x.lda = 4; }, "argument 10 (lda) is 4: must be at least 5");
    then([](Args& x) { x.a = nullptr; }, "argument 9 (a) is null: must be a pointer");
    then([](Args& x) { x.k = -1; }, "argument 7 (k) is -1: must be at least 0");
    then([](Args& x) { x.n = -2; }, "argument 6 (n) is -2: must be at least 0");
    then([](Args& x) { x.m = -3; }, "argument 5 (m) is -3: must be at least 0");
    then([](Args& x) { x.opb = tinyblas_op(110); },
         "argument 4 (opb) is 110: must be 111, 112 or 113");
    then([](Args& x) { x.opa = tinyblas_op(114); },
         "argument 3 (opa) is 114: must be 111, 112 or 113");
    then([](Args& x) { x.layout = tinyblas_layout(100); },
         "argument 2 (layout) is 100: must be 101 or 102");
    then([](Args& x) { x.context = nullptr; }, "argument 1 (context) is null: must be a pointer");
}

// The bound of each leading dimension, by layout and op: good at the bound, refused below it.
TYPED_TEST(SmallCApiGemmErrors, LeadingDimensions) {
    for (tinyblas_layout layout : {TINYBLAS_ROW_MAJOR, TINYBLAS_COL_MAJOR})
        for (tinyblas_op opa : {TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS})
            for (tinyblas_op opb : {TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS}) {
                Gemm<TypeParam> x = this->good;
                const bool by_row = layout == TINYBLAS_ROW_MAJOR;
                x.layout = layout;
                x.opa = opa;
                x.opb = opb;
                x.alpha = 0;
                x.lda = by_row == (opa == TINYBLAS_NO_TRANS) ? x.k : x.m;
                x.ldb = by_row == (opb == TINYBLAS_NO_TRANS) ? x.n : x.k;
                x.ldc = by_row ? x.n : x.m;
                EXPECT_EQ(x.call(), TINYBLAS_SUCCESS) << tinyblas_last_error();
                const auto bound = [](const char* which, std::int64_t ld) {
                    return std::string("argument ") + which + " is " + std::to_string(ld - 1) +
                           ": must be at least " + std::to_string(ld);
                };
                Gemm<TypeParam> y = x;
                --y.ldc;
                this->expect_refused(y, bound("15 (ldc)", x.ldc));
                --y.ldb;
                this->expect_refused(y, bound("12 (ldb)", x.ldb));
                --y.lda;
                this->expect_refused(y, bound("10 (lda)", x.lda));
            }
}

// Leading dimensions are checked where there is nothing to do, too; 0 never is one.
TYPED_TEST(SmallCApiGemmErrors, EmptyProblems) {
    const auto empty = [](auto& x) {
        x.m = x.n = x.k = 0;
        x.lda = x.ldb = x.ldc = 1;
    };
    this->expect_refused(
        [&](auto& x) {
            empty(x);
            x.lda = 0;
        },
        "argument 10 (lda) is 0: must be at least 1");
    this->expect_refused(
        [&](auto& x) {
            empty(x);
            x.ldb = 0;
        },
        "argument 12 (ldb) is 0: must be at least 1");
    this->expect_refused(
        [&](auto& x) {
            empty(x);
            x.ldc = 0;
        },
        "argument 15 (ldc) is 0: must be at least 1");
    this->expect_refused(
        [](auto& x) {
            x.m = 0;
            x.ldc = 5;
        },
        "argument 15 (ldc) is 5: must be at least 6");
    this->expect_refused(
        [](auto& x) {
            x.alpha = 0;
            x.a = x.b = nullptr;
            x.lda = 4;
        },
        "argument 10 (lda) is 4: must be at least 5");
    this->expect_refused(
        [](auto& x) {
            x.k = 0;
            x.a = x.b = x.c = nullptr;
        },
        "argument 14 (c) is null: must be a pointer");
}

TYPED_TEST(SmallCApiGemmErrors, Overlap) {
    for (const char* other : {"a", "b"}) {
        Gemm<TypeParam> x = this->good;
        (*other == 'a' ? x.a : x.b) = x.c + 1;
        EXPECT_EQ(x.call(), TINYBLAS_INVALID_ARGUMENT);
        const std::string sentence = tinyblas_last_error();
        EXPECT_NE(sentence.find("argument 14 (c) is "), std::string::npos) << sentence;
        EXPECT_NE(sentence.find(std::string("must be apart from ") + other), std::string::npos)
            << sentence;
    }
}

}  // namespace
}  // namespace tinyblas::test
