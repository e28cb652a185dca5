// SPDX-License-Identifier: MIT
// Calls on vectors: reductions, axpy, scal, polyval.
#include <cmath>

#include "operations.hpp"
#include "tests/pick.hpp"

namespace tinyblas::fuzz {
namespace {

using test::pick;

template <class T>
Operand<T> vector(std::int64_t n, std::int64_t increment) {
    return {.grid = vector_grid(std::max<std::int64_t>(n, 0), increment)};
}

/// A vector that is read or written, arguments `number` and the one behind it.
template <class T>
void require_vector(Verdict& verdict, const Operand<T>& x, int number, const char* name,
                    const char* increment_name) {
    verdict.require_data(x, !x.empty(), number, name);
    verdict.require_reach(x, true, number + 1, increment_name);
}

/// One vector, or the same as another one.
template <class T>
bool require_apart(Verdict& verdict, const Operand<T>& y, std::int64_t incy, const Operand<T>& x,
                   std::int64_t incx, int number) {
    const bool same = y.data == x.data && (incx == incy || y.grid.rows <= 1);
    if (verdict.refused() || same || y.empty()) return same;
    verdict.require(!Marks<T>(y).meet(x), number, "y");
    return false;
}

template <class T>
using OneOperand = tinyblas_status (*)(tinyblas_context, std::int64_t, const T*, std::int64_t, T*);
template <class T>
using TwoOperands = tinyblas_status (*)(tinyblas_context, std::int64_t, const T*, std::int64_t,
                                        const T*, std::int64_t, T*);
template <class T>
struct Reduction {
    const char* function;
    OneOperand<T> one;
    TwoOperands<T> two;
    double (*term)(double, double);
    bool forward_only, root;
};

double magnitude(double x, double) { return std::fabs(x); }
double product(double x, double y) { return x * y; }
double square(double x, double) { return x * x; }
double plain(double x, double) { return x; }

template <class T>
const Reduction<T>& draw_reduction(Draw& draw) {
#define TINYBLAS_FUZZ_NAMES(name) \
    pick<T>("tinyblas_s" #name, "tinyblas_d" #name), pick<T>(tinyblas_s##name, tinyblas_d##name)
    static const Reduction<T> all[] = {
        {TINYBLAS_FUZZ_NAMES(asum), nullptr, magnitude, true, false},
        {TINYBLAS_FUZZ_NAMES(asum_device), nullptr, magnitude, true, false},
        {TINYBLAS_FUZZ_NAMES(nrm2), nullptr, square, false, true},
        {TINYBLAS_FUZZ_NAMES(nrm2_device), nullptr, square, false, true},
        {TINYBLAS_FUZZ_NAMES(sum), nullptr, plain, false, false},
        {TINYBLAS_FUZZ_NAMES(sum_device), nullptr, plain, false, false},
        {pick<T>("tinyblas_sdot", "tinyblas_ddot"), nullptr, pick<T>(tinyblas_sdot, tinyblas_ddot),
         product, false, false},
        {pick<T>("tinyblas_sdot_device", "tinyblas_ddot_device"), nullptr,
         pick<T>(tinyblas_sdot_device, tinyblas_ddot_device), product, false, false}};
#undef TINYBLAS_FUZZ_NAMES
    return all[static_cast<std::size_t>(draw.below(std::size(all)))];
}

}  // namespace

template <class T>
void reduce(Draw& draw) {
    if (draw.hasty() && !draw.once_in(4))
        return scal<T>(draw);  // lanes that exchange sums take long
    const Reduction<T>& reduction = draw_reduction<T>(draw);
    tinyblas_set_reduce_kernel(the_context(), draw.rung({"best", "naive", "texture", "tuned"}));
    const tinyblas_context context = draw_context(draw);
    std::int64_t n = draw.extent();
    if (!draw.hasty() && draw.once_in(32)) n = 200 + draw.below(9000);
    const std::int64_t incx = draw.increment(), incy = draw.increment();
    const std::int64_t elements = reduction.forward_only && incx <= 0 ? 0 : n;

    Attempt<T> attempt(reduction.function, draw);
    Verdict& verdict = attempt.verdict;
    Operand<T> x = vector<T>(elements, incx), y = vector<T>(elements, incy);
    Operand<T> result = vector<T>(1, 1);
    if (!reduction.two) y = vector<T>(0, 1);
    attempt.place({&x, &y});
    attempt.place({&result});
    attempt.fill(x);
    attempt.fill(y);

    verdict.require(context, 1, "context");
    require_vector(verdict, x, 3, "x", "incx");
    if (reduction.two) require_vector(verdict, y, 5, "y", "incy");
    verdict.require_data(result, true, reduction.two ? 7 : 5, "result");
    attempt.run(
        [&] {
            return reduction.two
                       ? reduction.two(context, n, x.data, incx, y.data, incy, result.data)
                       : reduction.one(context, n, x.data, incx, result.data);
        },
        [&] {
            double sum = 0;
            for (Wide i = 0; i < x.grid.rows; ++i)
                sum += reduction.term(x.before(i), reduction.two ? y.before(i) : 0);
            const double exact = reduction.root ? std::sqrt(sum) : sum;
            const double error = std::fabs(*result.data - exact);
            const bool right =
                reduction.root ? error <= exact * std::numeric_limits<T>::epsilon() : error == 0;
            result.expected(0) = right ? *result.data : static_cast<T>(exact);
        },
        [&](auto& words) {
            words << "n " << n << ", x " << x.data << ", incx " << incx << ", y " << y.data
                  << ", incy " << incy << ", result " << result.data;
        });
}

template <class T>
void axpy(Draw& draw) {
    const tinyblas_context context = draw_context(draw);
    const std::int64_t n = draw.extent();
    const T alpha = static_cast<T>(draw.factor());
    std::int64_t incx = draw.increment(), incy = draw.increment();
    const bool same = draw.once_in(8);
    if (same) incy = incx;

    Attempt<T> attempt(pick<T>("tinyblas_saxpy", "tinyblas_daxpy"), draw);
    Verdict& verdict = attempt.verdict;
    const std::int64_t touched = alpha == 0 ? 0 : n;
    Operand<T> x = vector<T>(touched, incx), y = vector<T>(touched, incy);
    attempt.place({&x, &y});
    if (same) attempt.place_at(y, x);
    attempt.fill(x);
    attempt.fill(y);

    verdict.require(context, 1, "context");
    require_vector(verdict, x, 4, "x", "incx");
    require_vector(verdict, y, 6, "y", "incy");
    verdict.require(incy != 0 || n <= 1, 7, "incy");
    if (!attempt.possible()) return;
    require_apart(verdict, y, incy, x, incx, 6);
    attempt.run(
        [&] {
            return pick<T>(tinyblas_saxpy, tinyblas_daxpy)(context, n, alpha, x.data, incx, y.data,
                                                           incy);
        },
        [&] {
            for (Wide i = 0; i < y.grid.rows; ++i)
                y.expected(i) = alpha * x.before(i) + y.before(i);
        },
        [&](auto& words) {
            words << "n " << n << ", alpha " << alpha << ", x " << x.data << ", incx " << incx
                  << ", y " << y.data << ", incy " << incy;
        });
}

template <class T>
void scal(Draw& draw) {
    const tinyblas_context context = draw_context(draw);
    const std::int64_t n = draw.extent(), incx = draw.increment();
    const T alpha = static_cast<T>(draw.factor());
    Attempt<T> attempt(pick<T>("tinyblas_sscal", "tinyblas_dscal"), draw);
    Operand<T> x = vector<T>(incx > 0 ? n : 0, incx);
    attempt.place({&x});
    attempt.fill(x);
    attempt.verdict.require(context, 1, "context");
    require_vector(attempt.verdict, x, 4, "x", "incx");
    attempt.run(
        [&] { return pick<T>(tinyblas_sscal, tinyblas_dscal)(context, n, alpha, x.data, incx); },
        [&] {
            for (Wide i = 0; i < x.grid.rows; ++i) x.expected(i) = alpha * x.before(i);
        },
        [&](auto& words) {
            words << "n " << n << ", alpha " << alpha << ", x " << x.data << ", incx " << incx;
        });
}

template <class T>
void polyval(Draw& draw) {
    tinyblas_set_polyval_kernel(the_context(), draw.rung({"best", "naive", "constant", "tuned"}));
    const tinyblas_context context = draw_context(draw);
    const std::int64_t n = draw.extent();
    const bool is_long = draw.once_in(64);
    std::int64_t count = is_long ? draw.below(20000) : draw.byte() % 8;
    if (draw.once_in(32)) count = draw.one_of<std::int64_t>({0, -1, least});
    std::int64_t incx = draw.increment(), incy = draw.increment();
    const bool same = draw.once_in(4);
    if (same) incy = incx;

    Attempt<T> attempt(pick<T>("tinyblas_spolyval", "tinyblas_dpolyval"), draw);
    Verdict& verdict = attempt.verdict;
    Operand<T> x = vector<T>(n, incx), y = vector<T>(n, incy), coefficients = vector<T>(count, 1);
    attempt.place({&x, &y});
    attempt.place({&coefficients});
    if (same) attempt.place_at(y, x);
    attempt.fill(y);
    attempt.fill(x, is_long ? 1 : 3);
    attempt.fill(coefficients, 2);

    verdict.require(context, 1, "context");
    verdict.require(count >= 1, 2, "coefficient_count");
    verdict.require_data(coefficients, true, 3, "coefficients");
    verdict.require(n >= 0, 4, "n");
    require_vector(verdict, x, 5, "x", "incx");
    require_vector(verdict, y, 7, "y", "incy");
    verdict.require(incy != 0 || n <= 1, 8, "incy");
    if (!attempt.possible()) return;
    require_apart(verdict, y, incy, x, incx, 7);
    attempt.run(
        [&] {
            return pick<T>(tinyblas_spolyval, tinyblas_dpolyval)(context, count, coefficients.data,
                                                                 n, x.data, incx, y.data, incy);
        },
        [&] {
            for (Wide i = 0; i < y.grid.rows; ++i) {
                double value = 0;
                for (Wide j = count; j-- > 0;) value = value * x.before(i) + coefficients.before(j);
                y.expected(i) = static_cast<T>(value);
            }
        },
        [&](auto& words) {
            words << "coefficient_count " << count << ", n " << n << ", x " << x.data << ", incx "
                  << incx << ", y " << y.data << ", incy " << incy;
        });
}

template void reduce<float>(Draw&);
template void reduce<double>(Draw&);
template void axpy<float>(Draw&);
template void axpy<double>(Draw&);
template void scal<float>(Draw&);
template void scal<double>(Draw&);
template void polyval<float>(Draw&);
template void polyval<double>(Draw&);

}  // namespace tinyblas::fuzz
