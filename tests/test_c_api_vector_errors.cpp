// SPDX-License-Identifier: MIT
// What axpy, scal and polyval of the C interface refuse, and what they accept without touching it.
#include <algorithm>

#include "c_api_errors.hpp"

namespace tinyblas::test {
namespace {

constexpr std::int64_t size = 12;  // of the buffers; calls use 5 elements of them

template <class T>
struct Axpy {
    const char* name = "axpy";
    tinyblas_context context = nullptr;
    std::int64_t n = 5;
    T alpha = 2;
    const T* x = nullptr;
    std::int64_t incx = 1;
    T* y = nullptr;
    std::int64_t incy = 1;

    tinyblas_status call() const {
        return pick<T>(tinyblas_saxpy, tinyblas_daxpy)(context, n, alpha, x, incx, y, incy);
    }
};

template <class T>
struct Scal {
    const char* name = "scal";
    tinyblas_context context = nullptr;
    std::int64_t n = 5;
    T alpha = 2;
    T* x = nullptr;
    std::int64_t incx = 1;

    tinyblas_status call() const {
        return pick<T>(tinyblas_sscal, tinyblas_dscal)(context, n, alpha, x, incx);
    }
};

template <class T>
struct Polyval {
    const char* name = "polyval";
    tinyblas_context context = nullptr;
    std::int64_t coefficient_count = 3;
    const T* coefficients = nullptr;
    std::int64_t n = 5;
    const T* x = nullptr;
    std::int64_t incx = 1;
    T* y = nullptr;
    std::int64_t incy = 1;

    tinyblas_status call() const {
        return pick<T>(tinyblas_spolyval, tinyblas_dpolyval)(context, coefficient_count,
                                                             coefficients, n, x, incx, y, incy);
    }
};

template <class T>
class SmallCApiVectorErrors : public CApiErrors<T> {
  protected:
    SmallCApiVectorErrors() : x(this->operand(1, size)), y(this->operand(1, size)) {
        axpy.context = scal.context = polyval.context = this->context;
        axpy.x = polyval.x = x;
        axpy.y = polyval.y = scal.x = y;
        polyval.coefficients = coefficients;
    }

    /// x and y in one buffer, y's `offset` elements behind x's: refused or not touched.
    template <class Arguments>
    void expect_overlap(Arguments call, std::int64_t offset, std::int64_t incx, std::int64_t incy,
                        const char* argument) {
        call.x = y, call.y = y + offset;
        call.incx = incx, call.incy = incy;
        this->expect_refused(call, std::string("argument ") + argument + " is " + shown(call.y) +
                                       ": must be apart from x, or the same vector");
    }
    template <class Arguments>
    void expect_overlaps(const Arguments& call, const char* argument) {
        expect_overlap(call, 1, 1, 1, argument);
        expect_overlap(call, 0, 1, 2, argument);
        expect_overlap(call, 0, 1, -1, argument);
        expect_overlap(call, 0, 0, 1, argument);
        expect_overlap(call, 4, 1, 1, argument);
        expect_overlap(call, 2, 2, 2, argument);
        expect_overlap(call, 3, -1, -1, argument);
    }

    /// The same places on memory that may change: none of these shares an element.
    template <class Arguments>
    void expect_no_overlaps(Arguments call) {
        Matrix<T> memory(1, size, Memory::managed);
        T* const data = memory.view().data;
        std::fill_n(data, size, T(1));
        const auto accept = [&](std::int64_t offset, std::int64_t incx, std::int64_t incy) {
            call.x = data, call.y = data + offset;
            call.incx = incx, call.incy = incy;
            this->expect_accepted(call);
        };
        accept(0, 1, 1);
        accept(0, -2, -2);
        accept(5, 1, 1);
        accept(1, 2, 2);
        accept(1, 2, -2);
        accept(5, 0, -1);
        call.n = 1;
        accept(0, 3, -7);
        accept(0, 0, 0);
        accept(0, INT64_MIN, INT64_MAX);
        EXPECT_EQ(tinyblas_synchronize(this->context), TINYBLAS_SUCCESS);
    }

    T *x, *y;
    T coefficients[3] = {1, 2, 3};
    Axpy<T> axpy;
    Scal<T> scal;
    Polyval<T> polyval;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallCApiVectorErrors, Types);

// From the last argument to the first, each spoilt in turn and left so: the sentence must name the
// newest.
TYPED_TEST(SmallCApiVectorErrors, FirstBadArgumentOfAxpyWins) {
    auto call = this->axpy;
    call.incy = 0;
    this->expect_refused(call, "argument 7 (incy) is 0: must be other than 0 for n = 5");
    call.y = nullptr;
    this->expect_refused(call, "argument 6 (y) is null: must be a pointer");
    call.x = nullptr;
    this->expect_refused(call, "argument 4 (x) is null: must be a pointer");
    call.context = nullptr;
    this->expect_refused(call, "argument 1 (context) is null: must be a pointer");
}

TYPED_TEST(SmallCApiVectorErrors, FirstBadArgumentOfScalWins) {
    auto call = this->scal;
    call.x = nullptr;
    this->expect_refused(call, "argument 4 (x) is null: must be a pointer");
    call.context = nullptr;
    this->expect_refused(call, "argument 1 (context) is null: must be a pointer");
}

TYPED_TEST(SmallCApiVectorErrors, FirstBadArgumentOfPolyvalWins) {
    auto call = this->polyval;
    call.incy = 0;
    this->expect_refused(call, "argument 8 (incy) is 0: must be other than 0 for n = 5");
    call.y = nullptr;
    this->expect_refused(call, "argument 7 (y) is null: must be a pointer");
    call.x = nullptr;
    this->expect_refused(call, "argument 5 (x) is null: must be a pointer");
    call.n = -1;
    this->expect_refused(call, "argument 4 (n) is -1: must be at least 0");
    call.coefficients = nullptr;
    this->expect_refused(call, "argument 3 (coefficients) is null: must be a pointer");
    call.coefficient_count = 0;
    this->expect_refused(call, "argument 2 (coefficient_count) is 0: must be at least 1");
    call.coefficient_count = -3;
    this->expect_refused(call, "argument 2 (coefficient_count) is -3: must be at least 1");
    call.context = nullptr;
    this->expect_refused(call, "argument 1 (context) is null: must be a pointer");
}

TYPED_TEST(SmallCApiVectorErrors, Overlap) {
    this->expect_overlaps(this->axpy, "6 (y)");
    this->expect_overlaps(this->polyval, "7 (y)");
}

TYPED_TEST(SmallCApiVectorErrors, NoOverlap) {
    this->expect_no_overlaps(this->axpy);
    this->expect_no_overlaps(this->polyval);
}

TYPED_TEST(SmallCApiVectorErrors, NothingToDo) {
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
        auto axpy = this->axpy;
        axpy.n = n, axpy.x = nullptr, axpy.y = nullptr, axpy.incy = 0;
        this->expect_accepted(axpy);
        auto scal = this->scal;
        scal.n = n, scal.x = nullptr;
        this->expect_accepted(scal);
    }
    for (const TypeParam zero : {TypeParam(0), -TypeParam(0)}) {
        auto axpy = this->axpy;
        axpy.alpha = zero, axpy.x = axpy.y;
        this->expect_accepted(axpy);
        axpy.x = nullptr, axpy.y = nullptr;
        this->expect_accepted(axpy);
        axpy.incy = 0;
        this->expect_refused(axpy, "argument 7 (incy) is 0: must be other than 0 for n = 5");
    }
    for (const std::int64_t increment : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
        auto scal = this->scal;
        scal.incx = increment;
        this->expect_accepted(scal);
        scal.x = nullptr;
        this->expect_accepted(scal);
    }
    auto polyval = this->polyval;
    polyval.n = 0, polyval.x = nullptr, polyval.y = nullptr, polyval.incy = 0;
    this->expect_accepted(polyval);
    polyval.coefficients = nullptr;
    this->expect_refused(polyval, "argument 3 (coefficients) is null: must be a pointer");
}

}  // namespace
}  // namespace tinyblas::test
