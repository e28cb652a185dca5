// SPDX-License-Identifier: MIT
// libtinyblas_blas through its BLAS and CBLAS names, over host memory. Run twice: as it comes, when
// the host computes what is small, and with TINYBLAS_BLAS_HOST_LIMIT=0, when the device computes
// all. The netlib programs (netlib.sh) test the same names up to extents of 65.
#include <cstdlib>
#include <string_view>
#include <thread>

#include <gmock/gmock.h>

#include "blas_names.hpp"
#include "gemm_problem.hpp"

namespace tinyblas::test {
namespace {

constexpr int row_major = 101, column_major = 102;
constexpr char letters[] = {'N', 'T', 'C'};  // 111, 112, 113 of CBLAS

bool on_device_alone() {
    const char* const limit = std::getenv("TINYBLAS_BLAS_HOST_LIMIT");
    return limit && std::string_view(limit) == "0";
}

template <class T>
class BlasSmall : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BlasSmall, Types);

/// op(A), op(B) and C lie column by column, or row by row where the layout and the op say so.
template <class T>
struct BlasProblem : GemmProblem<T> {
    BlasProblem(Shape shape, int layout, int opa, int opb)
        : GemmProblem<T>(shape, 7, storage(layout, opa, 3), storage(layout, opb, 1),
                         storage(layout, 0, 2)),
          layout(layout),
          opa(opa),
          opb(opb) {}

    static Storage storage(int layout, int op, std::int64_t ld_extra) {
        const bool by_column = (layout == column_major) == (op == 0);
        return {.name = by_column ? "by_column" : "by_row",
                .by_column = by_column,
                .ld_extra = ld_extra,
                .offset = 1};
    }

    void run(Context& context, bool fortran) {
        for (Operand<T>* operand : {&this->a, &this->b, &this->c}) {
            operand->upload(context);
            operand->download(context);  // before() becomes after()
        }
        const auto a = this->a.after(), b = this->b.after(), c = this->c.after();
        const auto ld = [](MatrixView<T> x) {
            return static_cast<int>(std::max(x.row_stride, x.column_stride));
        };
        const int m = static_cast<int>(c.rows), n = static_cast<int>(c.columns);
        const int k = static_cast<int>(a.columns);
        if (fortran)
            Blas<T>::gemm(letters[opa], letters[opb], m, n, k, this->alpha, a.data, ld(a), b.data,
                          ld(b), this->beta, c.data, ld(c));
        else
            Blas<T>::cblas_gemm(layout, 111 + opa, 111 + opb, m, n, k, this->alpha, a.data, ld(a),
                                b.data, ld(b), this->beta, c.data, ld(c));
    }

    int layout, opa, opb;
};

TYPED_TEST(BlasSmall, Gemm) {
    using T = TypeParam;
    Context context;
    constexpr Shape shapes[] = {{1, 1, 1}, {5, 3, 9}, {65, 67, 66}, {129, 131, 33}, {33, 7, 300}};
    constexpr T alphas[] = {1, -2, 3}, betas[] = {0, 1, -2, 3};
    int count = 0;
    for (const Shape shape : shapes)
        for (int opa = 0; opa < 3; ++opa)
            for (int opb = 0; opb < 3; ++opb)
                for (const int layout : {row_major, column_major, 0}) {
                    BlasProblem<T> p(shape, layout == 0 ? column_major : layout, opa, opb);
                    p.fill_integers();
                    p.alpha = alphas[count % 3];
                    p.beta = betas[count++ % 4];
                    if (p.beta == 0) p.c.fill(poison<T>);
                    p.run(context, layout == 0);
                    ASSERT_TRUE(exact(p)) << "layout " << layout << ", ops " << opa << opb;
                }
}

TYPED_TEST(BlasSmall, GemmOfReals) {
    using T = TypeParam;
    Context context;
    for (const Shape shape : {Shape{100, 101, 102}, Shape{70, 65, 1000}}) {
        BlasProblem<T> p(shape, column_major, 0, 1);
        p.fill([](Random& r) { return r.normal(); });
        p.alpha = T(0.7);
        p.beta = T(-1.3);
        p.run(context, true);
        EXPECT_TRUE(close(p));
    }
}

template <class T>
class BlasLarge : public testing::Test {};
TYPED_TEST_SUITE(BlasLarge, Types);

TYPED_TEST(BlasLarge, GemmOfPieces) {  // columns, and many of them, past what is staged at once
    using T = TypeParam;
    Context context;
    for (const Shape shape : {Shape{270001, 1, 1}, Shape{2, 1, 270001}}) {
        BlasProblem<T> p(shape, column_major, 0, 0);
        p.fill_integers();
        p.run(context, true);
        EXPECT_TRUE(exact(p));
    }
}

/// Blas's five vector operations on vectors with these increments, judged by wide sums.
template <class T>
void vectors(Context& context, std::int64_t n, std::int64_t incx, std::int64_t incy, bool cblas) {
    const auto storage = [](std::int64_t increment) {
        return Storage{.name = "vector",
                       .element_stride = std::abs(increment),
                       .flip_columns = increment < 0,
                       .offset = 1};
    };
    Random random(static_cast<std::uint64_t>(n));
    Operand<T> x(1, n, storage(incx)), y(1, n, storage(incy)), z(1, n, storage(incx));
    for (Operand<T>* operand : {&x, &y, &z}) {
        operand->fill([&] { return static_cast<T>(random.normal()); });
        operand->upload(context);
        operand->download(context);
    }
    const auto at = [](Operand<T>& operand) { return operand.after().row(0).data; };
    const int size = static_cast<int>(n), ix = static_cast<int>(incx), iy = static_cast<int>(incy);
    using B = Blas<T>;
    const T dot = (cblas ? B::cblas_dot : B::dot)(size, at(x), ix, at(y), iy);
    const T asum = (cblas ? B::cblas_asum : B::asum)(size, at(x), ix);
    const T nrm2 = (cblas ? B::cblas_nrm2 : B::nrm2)(size, at(x), ix);
    const T alpha = T(-0.7);
    (cblas ? B::cblas_axpy : B::axpy)(size, alpha, at(x), ix, at(y), iy);
    (cblas ? B::cblas_scal : B::scal)(size, alpha, at(z), ix);
    EXPECT_TRUE(x.intact());
    EXPECT_TRUE(y.intact(true));
    EXPECT_TRUE(z.intact(true));

    const WideMatrix<T> wide_x = widen(x.before()), wide_y = widen(y.before());
    const auto is_close = [&](T value, Wide<T> expected, Wide<T> magnitude) {
        return std::abs(value - expected) <= tolerance<T>(n, magnitude, 0, expected);
    };
    EXPECT_TRUE(is_close(dot, (wide_x.array() * wide_y.array()).sum(),
                         (wide_x.array() * wide_y.array()).abs().sum()));
    const Wide<T> sum = wide_x.array().abs().sum(), norm = wide_x.norm();
    EXPECT_TRUE(is_close(asum, ix > 0 ? sum : 0, sum));
    EXPECT_TRUE(is_close(nrm2, norm, norm));
    for (std::int64_t i = 0; i < n; ++i) {
        const Wide<T> product = alpha * wide_x(0, i);
        ASSERT_TRUE(std::abs(y.after()(0, i) - (product + wide_y(0, i))) <=
                    tolerance<T>(1, std::abs(product), std::abs(wide_y(0, i)), wide_y(0, i)));
        const T scaled = ix > 0 ? alpha * z.before()(0, i) : z.before()(0, i);
        ASSERT_EQ(z.after()(0, i), scaled);
    }
}

TYPED_TEST(BlasSmall, Vectors) {
    Context context;
    for (const std::int64_t n : {0, 1, 2, 15, 64, 129, 5001})
        for (const std::int64_t incx : {1, 2, -1, -3})
            for (const std::int64_t incy : {1, -2})
                for (const bool cblas : {false, true}) {
                    SCOPED_TRACE(testing::Message() << n << ' ' << incx << ' ' << incy);
                    vectors<TypeParam>(context, n, incx, incy, cblas);
                }
}

TYPED_TEST(BlasLarge, LongVectors) {  // of several pieces, more than is staged at once
    Context context;
    vectors<TypeParam>(context, (9 << 20) / sizeof(TypeParam) + 3, 1, 1, false);
    vectors<TypeParam>(context, 300001, 2, -1, true);
}

// What follows makes no context of its own: it runs without a device too.

template <class T>
class BlasAlone : public testing::Test {};
TYPED_TEST_SUITE(BlasAlone, Types);

TYPED_TEST(BlasAlone, SpecialValues) {
    using T = TypeParam;
    using B = Blas<T>;
    const T nan = std::numeric_limits<T>::quiet_NaN(), huge = std::numeric_limits<T>::max() / 2;
    const T inf = std::numeric_limits<T>::infinity();
    const T tiny = std::numeric_limits<T>::denorm_min() * 1024;
    const T a[4] = {1, 2, 3, 4}, nans[4] = {nan, nan, nan, nan};
    T c[4] = {nan, nan, nan, nan};
    B::gemm('n', 'T', 2, 2, 2, 1, a, 2, a, 2, 0, c, 2);  // beta = 0: C is not read
    EXPECT_THAT(c, testing::ElementsAre(10, 14, 14, 20));
    B::gemm('n', 'c', 2, 2, 2, 0, nans, 2, nans, 2, 2, c, 2);  // alpha = 0: neither are A and B
    EXPECT_THAT(c, testing::ElementsAre(20, 28, 28, 40));
    B::gemm('t', 'N', 2, 2, 0, 1, nullptr, 1, nullptr, 1, T(0.5), c, 2);  // nor with k = 0
    EXPECT_THAT(c, testing::ElementsAre(10, 14, 14, 20));
    B::gemm('N', 'N', 2, 2, 2, 0, nullptr, 2, nullptr, 2, 0, c, 2);
    EXPECT_THAT(c, testing::Each(0));
    B::gemm('N', 'N', 0, 2, 2, 1, nullptr, 1, nullptr, 2, 0, nullptr, 1);
    B::gemm('N', 'N', 2, 2, 1, 1, nans, 2, a, 1, 0, c, 2);
    EXPECT_TRUE(std::isnan(c[0]) && std::isnan(c[3]));

    const T far[3] = {huge, -huge, huge}, near[3] = {tiny, tiny, -tiny};
    EXPECT_NEAR(B::nrm2(3, far, 1) / huge, std::sqrt(T(3)), 1e-6);
    EXPECT_NEAR(B::nrm2(3, near, 1) / tiny, std::sqrt(T(3)), 1e-2);
    EXPECT_EQ(B::nrm2(1, &inf, 1), inf);
    EXPECT_TRUE(std::isnan(B::nrm2(4, nans, 1)));
    EXPECT_EQ(B::asum(3, far, 1), inf);

    T x[3] = {1, nan, 3}, y[3] = {10, 20, 30};
    B::scal(3, 0, x, 1);
    EXPECT_TRUE(x[0] == 0 && std::isnan(x[1]));
    B::axpy(3, 0, nans, 1, y, 1);  // alpha = 0: x is not read
    B::axpy(3, 2, a, 1, y, 0);     // one element takes all
    EXPECT_THAT(y, testing::ElementsAre(22, 20, 30));
    EXPECT_EQ(B::dot(3, y, 1, a, 0), 72);
    for (const int n : {0, -1}) {
        EXPECT_EQ(B::dot(n, nullptr, 1, nullptr, 1), 0);
        EXPECT_EQ(B::asum(n, nullptr, 1), 0);
        EXPECT_EQ(B::nrm2(n, nullptr, 1), 0);
        B::axpy(n, 1, nullptr, 1, nullptr, 1);
        B::scal(n, 1, nullptr, 1);
    }
    for (const int increment : {0, -1}) {
        EXPECT_EQ(B::asum(3, y, increment), 0);
        B::scal(3, 2, y, increment);
    }
    EXPECT_THAT(y, testing::ElementsAre(22, 20, 30));
    EXPECT_EQ(B::nrm2(2, a + 2, -1), 5);  // as the reference from version 3.10 on
}

TYPED_TEST(BlasAlone, Counts) {
    const TypeParam x[2] = {3, 4};
    const auto calls = tinyblas_blas_calls(), device_calls = tinyblas_blas_device_calls();
    EXPECT_EQ(Blas<TypeParam>::nrm2(2, x, 1), 5);
    EXPECT_EQ(Blas<TypeParam>::cblas_asum(2, x, 1), 7);
    EXPECT_EQ(tinyblas_blas_calls(), calls + 2);
    const bool no_device = !emulated && std::getenv("CUDA_VISIBLE_DEVICES");
    EXPECT_EQ(tinyblas_blas_device_calls(),
              device_calls + (on_device_alone() && !no_device ? 2 : 0));
}

TYPED_TEST(BlasAlone, Threads) {  // the bits of each are those of one alone
    using T = TypeParam;
    constexpr int n = 67, size = 3000;
    const auto mixed = [](std::uint64_t seed) {
        Random random(seed);
        std::vector<T> all(3 * n * n + 2 * size);
        for (T& one : all) one = static_cast<T>(random.normal());
        T *a = all.data(), *b = a + n * n, *c = b + n * n, *x = c + n * n, *y = x + size;
        for (int repeat = 0; repeat < 3; ++repeat) {
            Blas<T>::gemm('N', 'T', n, n, n, T(0.1), a, n, b, n, T(0.5), c, n);
            Blas<T>::axpy(size, T(0.3), x, 1, y, 1);
            x[0] = Blas<T>::dot(size, x, 1, y, 1) / size;
            a[0] = Blas<T>::nrm2(size, y, 1) / size;
            Blas<T>::scal(n, T(0.9), c, n);
        }
        return all;
    };
    std::vector<std::vector<T>> alone, together(8);
    for (std::uint64_t seed = 0; seed < 8; ++seed) alone.push_back(mixed(seed));
    std::vector<std::thread> threads;
    for (std::uint64_t seed = 0; seed < 8; ++seed)
        threads.emplace_back([&, seed] { together[seed] = mixed(seed); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(alone, together);
}

}  // namespace
}  // namespace tinyblas::test
