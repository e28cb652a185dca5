// SPDX-License-Identifier: MIT
// What BLAS means by C = alpha A B + beta C where it is more than arithmetic: strong zeros, empty
// extents, NaN, Inf, subnormals.
#include "gemm_problem.hpp"

namespace tinyblas::test {
namespace {

class SmallGemmSemantics : public GemmVariants {};
TINYBLAS_FOR_EACH_GEMM_VARIANT(SmallGemmSemantics);

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T nan = std::numeric_limits<T>::quiet_NaN();

// Full tiles, ragged tiles, a single element, no k.
constexpr Shape shapes[] = {{128, 128, 16}, {129, 65, 13}, {1, 1, 1}, {33, 31, 0}};

TEST_P(SmallGemmSemantics, BetaZeroDoesNotReadC) {
    run([&]<class T>(T) {
        for (const Shape shape : shapes)
            for (const T beta : {T(0), T(-0.0)})
                for (const Storage& c_storage : {storages[0], storages[1], storages[7]}) {
                    GemmProblem<T> p(shape, 10, storages[0], storages[0], c_storage);
                    p.beta = beta;
                    p.fill_integers();
                    p.c.fill(poison<T>);
                    p.run(context, options);
                    ASSERT_TRUE(exact(p));
                }
    });
}

TEST_P(SmallGemmSemantics, AlphaZeroDoesNotReadAOrB) {
    run([&]<class T>(T) {
        for (const Shape shape : shapes)
            for (const T alpha : {T(0), T(-0.0)})
                for (const T beta : {T(0), T(1), T(-2)}) {
                    GemmProblem<T> p(shape, 20);
                    p.alpha = alpha;
                    p.beta = beta;
                    p.fill_integers();
                    p.a.fill(poison<T>);
                    p.b.fill(poison<T>);
                    if (beta == 0) p.c.fill(poison<T>);
                    p.run(context, options);
                    ASSERT_TRUE(exact(p));

                    MatrixView<T> a = p.a.device(), b = p.b.device();
                    a.data = b.data = nullptr;
                    p.c.upload(context);
                    gemm(context, alpha, a, b, beta, p.c.device(), options);
                    p.c.download(context);
                    ASSERT_TRUE(exact(p)) << "a and b null";
                }
    });
}

TEST_P(SmallGemmSemantics, NoDepthScalesC) {
    run([&]<class T>(T) {
        for (const T beta : {T(0), T(1), T(3)}) {
            GemmProblem<T> p({45, 70, 0}, 30, storages[0], storages[0], storages[4]);
            p.alpha = 2;
            p.beta = beta;
            p.fill_integers();
            MatrixView<T> a = p.a.device(), b = p.b.device();
            a.data = b.data = nullptr;
            p.c.upload(context);
            const GemmChoice choice = gemm(context, p.alpha, a, b, beta, p.c.device(), options);
            p.c.download(context);
            ASSERT_TRUE(exact(p));
            EXPECT_EQ(choice.kernel == GemmKernel::none, beta == 1);
        }
    });
}

TEST_P(SmallGemmSemantics, NoRowsOrColumnsIsNothing) {
    run([&]<class T>(T) {
        const auto none = [](std::int64_t rows, std::int64_t columns) {
            return MatrixView<T>::row_major(nullptr, rows, columns);
        };
        for (const Shape s : {Shape{0, 5, 3}, Shape{5, 0, 3}, Shape{0, 0, 0}, Shape{0, 7, 0}}) {
            const GemmChoice choice =
                gemm(context, T(1), none(s.m, s.k), none(s.k, s.n), T(2), none(s.m, s.n), options);
            EXPECT_EQ(choice.kernel, GemmKernel::none);
            EXPECT_EQ(choice.entry, -1);
        }
        context.synchronize();
    });
}

// One NaN in A spoils its row of C and nothing else; one in B, its column.
TEST_P(SmallGemmSemantics, NaNPropagates) {
    run([&]<class T>(T) {
        GemmProblem<T> p({70, 66, 21}, 40);
        p.fill_integers();
        p.a.before()(68, 20) = nan<T>;
        p.b.before()(3, 65) = nan<T>;
        p.run(context, options);
        const WideMatrix<T> expected = wide_gemm(p);
        EXPECT_TRUE(
            judge(p, "NaN in row 68 and column 65, exact elsewhere", [&](auto i, auto j, T x) {
                return i == 68 || j == 65 ? std::isnan(x) : x == expected(i, j);
            }));
    });
}

// Inf at the last k, with k no multiple of any tile's depth: a zero from the padding that met it
// would give NaN.
TEST_P(SmallGemmSemantics, InfinityNeverMeetsPadding) {
    run([&]<class T>(T) {
        for (const std::int64_t k : {1, 5, 13, 35})
            for (const Storage& storage : {storages[0], storages[1], storages[5]}) {
                const std::int64_t m = 67, n = 37;
                GemmProblem<T> p({m, n, k}, 50, storage, storage, storage);
                p.fill([](Random& r) { return r.integer(1, 3); });
                p.a.before()(m - 1, k - 1) = infinity<T>;
                p.b.before()(k - 1, n - 1) = -infinity<T>;
                p.run(context, options);
                ASSERT_TRUE(chained(p));
                ASSERT_EQ(p.c.after()(m - 1, 0), infinity<T>);
                ASSERT_EQ(p.c.after()(0, n - 1), -infinity<T>);
                ASSERT_TRUE(std::isfinite(p.c.after()(m - 2, n - 2)));
            }
    });
}

TEST_P(SmallGemmSemantics, ScalarsPropagate) {
    run([&]<class T>(T) {
        for (const auto& [alpha, beta] :
             {std::pair{nan<T>, T(0)}, {T(1), nan<T>}, {infinity<T>, T(1)}}) {
            GemmProblem<T> p({34, 9, 3}, 60);
            p.alpha = alpha;
            p.beta = beta;
            p.fill([](Random& r) { return r.integer(1, 3); });
            p.run(context, options);
            EXPECT_TRUE(chained(p));
            EXPECT_FALSE(std::isfinite(p.c.after()(33, 8)));
        }
    });
}

// Gradual underflow in inputs, in products and in C.
TEST_P(SmallGemmSemantics, SubnormalsAreKept) {
    run([&]<class T>(T) {
        constexpr T least = std::numeric_limits<T>::min();
        GemmProblem<T> sums({3, 2, 1000}, 70);
        const T tiny = 714 * std::numeric_limits<T>::denorm_min();
        sums.a.fill([&] { return tiny; });
        sums.b.fill([&] { return T(1); });
        sums.run(context, options);
        EXPECT_TRUE(judge(sums, "1000 times its term",
                          [&](auto, auto, T x) { return x == 1000 * tiny && x > 0; }));

        GemmProblem<T> products({5, 6, 3}, 71);
        products.beta = T(0.25);
        products.a.fill([&] { return least * 8; });
        products.b.fill([&] { return static_cast<T>(products.random.uniform() / 64); });
        products.c.fill([&] { return least; });
        products.run(context, options);
        EXPECT_TRUE(chained(products));
        EXPECT_TRUE(
            judge(products, "subnormal", [&](auto, auto, T x) { return 0 < x && x < least; }));
    });
}

TEST_P(SmallGemmSemantics, SumsStartAtPlusZero) {
    run([&]<class T>(T) {
        GemmProblem<T> p({9, 11, 7}, 80);
        p.a.fill([&] { return T(-0.0); });
        p.b.fill([&] { return T(1); });
        p.c.fill([&] { return T(-0.0); });
        p.run(context, options);
        EXPECT_TRUE(judge(p, "+0", [](auto, auto, T x) { return bits(x) == 0; }));
    });
}

// Any strides: a view may show the same element many times, as an input.
TEST_P(SmallGemmSemantics, InputsMayBeBroadcast) {
    run([&]<class T>(T) {
        GemmProblem<T> p({35, 40, 12}, 90);
        p.fill_integers();
        MatrixView<T> a = p.a.device(), b = p.b.device();
        a.row_stride = a.column_stride = 0;
        b.row_stride = b.column_stride = 0;
        for (Operand<T>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        gemm(context, T(1), a, b, T(0), p.c.device(), options);
        p.c.download(context);
        const T expected = 12 * p.a.before()(0, 0) * p.b.before()(0, 0);
        for (std::int64_t i = 0; i < 35; ++i)
            for (std::int64_t j = 0; j < 40; ++j) ASSERT_EQ(p.c.after()(i, j), expected);
    });
}

}  // namespace
}  // namespace tinyblas::test
