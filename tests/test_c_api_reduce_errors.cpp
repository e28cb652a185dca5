// SPDX-License-Identifier: MIT
// What the reductions of the C interface refuse, with a host result and with a device result, and
// what they accept without reading.
#include "c_api_errors.hpp"

namespace tinyblas::test {
namespace {

constexpr std::int64_t n = 5;

/// asum, nrm2 and sum.
template <class T>
struct Reduce {
    using Function = tinyblas_status (*)(tinyblas_context, std::int64_t, const T*, std::int64_t,
                                         T*);
    const char* name;
    Function function;
    tinyblas_context context = nullptr;
    std::int64_t size = n;
    const T* x = nullptr;
    std::int64_t incx = 1;
    T* result = nullptr;

    tinyblas_status call() const { return function(context, size, x, incx, result); }
};

template <class T>
struct Dot {
    using Function = tinyblas_status (*)(tinyblas_context, std::int64_t, const T*, std::int64_t,
                                         const T*, std::int64_t, T*);
    const char* name;
    Function function;
    tinyblas_context context = nullptr;
    std::int64_t size = n;
    const T* x = nullptr;
    std::int64_t incx = 1;
    const T* y = nullptr;
    std::int64_t incy = 1;
    T* result = nullptr;

    tinyblas_status call() const { return function(context, size, x, incx, y, incy, result); }
};

template <class T>
class SmallCApiReduceErrors : public CApiErrors<T> {
  protected:
    SmallCApiReduceErrors() : x(this->operand(1, n)), y(this->operand(1, n)) {}

    std::vector<Reduce<T>> reductions() {
        std::vector<Reduce<T>> all = {
            {"asum", pick<T>(tinyblas_sasum, tinyblas_dasum)},
            {"nrm2", pick<T>(tinyblas_snrm2, tinyblas_dnrm2)},
            {"sum", pick<T>(tinyblas_ssum, tinyblas_dsum)},
            {"asum_device", pick<T>(tinyblas_sasum_device, tinyblas_dasum_device)},
            {"nrm2_device", pick<T>(tinyblas_snrm2_device, tinyblas_dnrm2_device)},
            {"sum_device", pick<T>(tinyblas_ssum_device, tinyblas_dsum_device)}};
        for (Reduce<T>& call : all)
            call.context = this->context, call.x = x, call.result = result.view().data;
        return all;
    }
    std::vector<Dot<T>> dots() {
        std::vector<Dot<T>> all = {
            {"dot", pick<T>(tinyblas_sdot, tinyblas_ddot)},
            {"dot_device", pick<T>(tinyblas_sdot_device, tinyblas_ddot_device)}};
        for (Dot<T>& call : all) {
            call.context = this->context, call.x = x, call.y = y;
            call.result = result.view().data;
        }
        return all;
    }
    T value() {
        EXPECT_EQ(tinyblas_synchronize(this->context), TINYBLAS_SUCCESS);
        return result(0, 0);
    }

    T *x, *y;
    Matrix<T> result{1, 1, Memory::managed};  // serves both forms
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallCApiReduceErrors, Types);

// From the last argument to the first, each spoilt in turn and left so: the sentence must name the
// newest.
TYPED_TEST(SmallCApiReduceErrors, FirstBadArgumentWins) {
    this->result(0, 0) = 77;
    for (auto call : this->reductions()) {
        auto* const result = call.result;
        call.result = nullptr;
        this->expect_refused(call, "argument 5 (result) is null: must be a pointer");
        call.result = result;
        call.x = nullptr;
        this->expect_refused(call, "argument 3 (x) is null: must be a pointer");
        call.result = nullptr;
        this->expect_refused(call, "argument 3 (x) is null: must be a pointer");
        call.context = nullptr;
        this->expect_refused(call, "argument 1 (context) is null: must be a pointer");
    }
    EXPECT_EQ(this->value(), 77);
}

TYPED_TEST(SmallCApiReduceErrors, FirstBadArgumentOfDotWins) {
    this->result(0, 0) = 77;
    for (auto call : this->dots()) {
        auto* const result = call.result;
        call.result = nullptr;
        this->expect_refused(call, "argument 7 (result) is null: must be a pointer");
        call.result = result;
        call.y = nullptr;
        this->expect_refused(call, "argument 5 (y) is null: must be a pointer");
        call.x = nullptr;
        call.result = nullptr;
        this->expect_refused(call, "argument 3 (x) is null: must be a pointer");
        call.context = nullptr;
        this->expect_refused(call, "argument 1 (context) is null: must be a pointer");
    }
    EXPECT_EQ(this->value(), 77);
}

// Without elements nothing is read, but a result is needed still.
TYPED_TEST(SmallCApiReduceErrors, NoElements) {
    const auto expect_zero = [this](auto call) {
        this->result(0, 0) = 77;
        this->expect_accepted(call);
        EXPECT_EQ(bits(this->value()), bits(TypeParam(0))) << call.name;
    };
    for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN})
        for (const std::int64_t increment : {-2, 0, 1}) {
            for (auto call : this->reductions()) {
                call.size = size, call.x = nullptr, call.incx = increment;
                expect_zero(call);
                call.result = nullptr;
                this->expect_refused(call, "argument 5 (result) is null: must be a pointer");
            }
            for (auto call : this->dots()) {
                call.size = size, call.x = nullptr, call.y = nullptr, call.incx = increment;
                expect_zero(call);
                call.result = nullptr;
                this->expect_refused(call, "argument 7 (result) is null: must be a pointer");
            }
        }
}

// asum alone takes a vector without a positive increment for empty.
TYPED_TEST(SmallCApiReduceErrors, NullVectorWithoutPositiveIncrement) {
    for (const std::int64_t increment : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN})
        for (auto call : this->reductions()) {
            call.x = nullptr, call.incx = increment;
            if (!std::string(call.name).starts_with("asum")) {
                this->expect_refused(call, "argument 3 (x) is null: must be a pointer");
                continue;
            }
            this->result(0, 0) = 77;
            this->expect_accepted(call);
            EXPECT_EQ(bits(this->value()), bits(TypeParam(0))) << call.name;
        }
}

// One element takes no step, whatever the increment.
TYPED_TEST(SmallCApiReduceErrors, OneElement) {
    for (const std::int64_t increment : {INT64_MIN, INT64_MAX, std::int64_t{0}}) {
        for (auto call : this->reductions()) {
            call.size = 1, call.incx = increment;
            this->expect_accepted(call);
            const bool empty = increment <= 0 && std::string(call.name).starts_with("asum");
            EXPECT_EQ(this->value(), empty ? 0 : 1) << call.name;
        }
        for (auto call : this->dots()) {
            call.size = 1, call.incx = call.incy = increment;
            this->expect_accepted(call);
            EXPECT_EQ(this->value(), 1) << call.name;
        }
    }
}

}  // namespace
}  // namespace tinyblas::test
