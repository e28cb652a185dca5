// SPDX-License-Identifier: MIT
// What gemv and ger of the C interface refuse, and what they accept without touching it.
#include "c_api_errors.hpp"

namespace tinyblas::test {
namespace {

template <class T>
struct Gemv {
    const char* name = "gemv";
    tinyblas_context context = nullptr;
    tinyblas_layout layout = TINYBLAS_ROW_MAJOR;
    tinyblas_op op = TINYBLAS_NO_TRANS;
    std::int64_t m = 4, n = 6;
    T alpha = 1;
    const T* a = nullptr;
    std::int64_t lda = 6;
    const T* x = nullptr;
    std::int64_t incx = 1;
    T beta = 0;
    T* y = nullptr;
    std::int64_t incy = 1;

    tinyblas_status call() const {
        return pick<T>(tinyblas_sgemv, tinyblas_dgemv)(context, layout, op, m, n, alpha, a, lda, x,
                                                       incx, beta, y, incy);
    }
};

template <class T>
struct Ger {
    const char* name = "ger";
    tinyblas_context context = nullptr;
    tinyblas_layout layout = TINYBLAS_ROW_MAJOR;
    std::int64_t m = 4, n = 6;
    T alpha = 1;
    const T* x = nullptr;
    std::int64_t incx = 1;
    const T* y = nullptr;
    std::int64_t incy = 1;
    T* a = nullptr;
    std::int64_t lda = 6;

    tinyblas_status call() const {
        return pick<T>(tinyblas_sger, tinyblas_dger)(context, layout, m, n, alpha, x, incx, y, incy,
                                                     a, lda);
    }
};

template <class T>
class SmallCApiGemvErrors : public CApiErrors<T> {
  protected:
    SmallCApiGemvErrors() {
        gemv.context = ger.context = this->context;
        ger.a = this->operand(12, 12);
        gemv.a = ger.a;
        ger.x = gemv.x = this->operand(1, 12);
        gemv.y = this->operand(1, 12);
        ger.y = gemv.y;
    }
    /// The call with `member` changed must be refused.
    template <class Arguments, class Member, class Value>
    void refused(Arguments call, Member Arguments::*member, Value value, const std::string& words) {
        call.*member = static_cast<Member>(value);
        this->expect_refused(call, words);
    }

    Gemv<T> gemv;
    Ger<T> ger;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallCApiGemvErrors, Types);

TYPED_TEST(SmallCApiGemvErrors, Gemv) {
    using Call = Gemv<TypeParam>;
    const Call& good = this->gemv;
    const auto refused = [&](auto... arguments) { this->refused(good, arguments...); };
    refused(&Call::context, nullptr, "argument 1 (context) is null: must be a pointer");
    refused(&Call::layout, 7, "argument 2 (layout) is 7: must be 101 or 102");
    refused(&Call::op, 9, "argument 3 (op) is 9: must be 111, 112 or 113");
    refused(&Call::m, -1, "argument 4 (m) is -1: must be at least 0");
    refused(&Call::n, -2, "argument 5 (n) is -2: must be at least 0");
    refused(&Call::a, nullptr, "argument 7 (a) is null: must be a pointer");
    refused(&Call::lda, 5, "argument 8 (lda) is 5: must be at least 6");
    refused(&Call::x, nullptr, "argument 9 (x) is null: must be a pointer");
    refused(&Call::y, nullptr, "argument 12 (y) is null: must be a pointer");
    refused(&Call::incy, 0, "argument 13 (incy) is 0: must be other than 0 for m = 4");

    Call call = good;
    call.op = TINYBLAS_TRANS;
    call.incy = 0;
    this->expect_refused(call, "argument 13 (incy) is 0: must be other than 0 for n = 6");
    call = good;
    call.layout = TINYBLAS_COL_MAJOR;
    call.lda = 3;
    this->expect_refused(call, "argument 8 (lda) is 3: must be at least 4");
    call = good;
    call.m = 0;
    call.n = 0;
    call.lda = 0;
    this->expect_refused(call, "argument 8 (lda) is 0: must be at least 1");
}

TYPED_TEST(SmallCApiGemvErrors, Ger) {
    using Call = Ger<TypeParam>;
    const Call& good = this->ger;
    const auto refused = [&](auto... arguments) { this->refused(good, arguments...); };
    refused(&Call::context, nullptr, "argument 1 (context) is null: must be a pointer");
    refused(&Call::layout, 111, "argument 2 (layout) is 111: must be 101 or 102");
    refused(&Call::m, -1, "argument 3 (m) is -1: must be at least 0");
    refused(&Call::n, -2, "argument 4 (n) is -2: must be at least 0");
    refused(&Call::x, nullptr, "argument 6 (x) is null: must be a pointer");
    refused(&Call::y, nullptr, "argument 8 (y) is null: must be a pointer");
    refused(&Call::a, nullptr, "argument 10 (a) is null: must be a pointer");
    refused(&Call::lda, 5, "argument 11 (lda) is 5: must be at least 6");
}

TYPED_TEST(SmallCApiGemvErrors, Overlap) {
    using T = TypeParam;
    T* const a = this->ger.a;
    Gemv<T> gemv = this->gemv;
    gemv.lda = 12;
    for (const std::int64_t offset : {0, 5, 12, 38}) {
        gemv.y = a + offset;
        this->expect_refused(gemv,
                             "argument 12 (y) is " + shown(gemv.y) + ": must be apart from a");
    }
    gemv.y = const_cast<T*>(gemv.x) + 5;
    this->expect_refused(gemv, "argument 12 (y) is " + shown(gemv.y) + ": must be apart from x");
    Ger<T> ger = this->ger;
    ger.lda = 12;
    ger.x = a + 5;
    this->expect_refused(ger, "argument 10 (a) is " + shown(a) + ": must be apart from x");
    ger.x = this->ger.x;
    ger.y = a + 40;
    this->expect_refused(ger, "argument 10 (a) is " + shown(a) + ": must be apart from y");
}

TYPED_TEST(SmallCApiGemvErrors, NothingIsTouched) {
    Gemv<TypeParam> gemv = this->gemv;
    gemv.alpha = 0;
    gemv.beta = 1;
    gemv.a = gemv.x = nullptr;
    this->expect_accepted(gemv);
    gemv.m = 0;
    gemv.y = nullptr;
    gemv.incy = 0;
    this->expect_accepted(gemv);
    Ger<TypeParam> ger = this->ger;
    ger.alpha = 0;
    this->expect_accepted(ger);
    ger.alpha = 1;
    ger.n = 0;
    ger.x = ger.y = ger.a = nullptr;
    this->expect_accepted(ger);
}

}  // namespace
}  // namespace tinyblas::test
