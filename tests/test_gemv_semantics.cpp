// SPDX-License-Identifier: MIT
// What BLAS means by y = alpha A x + beta y where it is more than arithmetic: strong zeros, empty
// extents, NaN, Inf, subnormals, what must not be read.
#include "gemv_problem.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class SmallGemvSemantics : public testing::Test {
  protected:
    /// test(problem, rung) for shapes of every form, both orientations, aligned and not.
    template <class Test>
    void for_all(Test test) {
        for (const auto& [m, n] : {std::pair{1, 1}, {300, 7}, {129, 257}, {9, 4000}, {4000, 9}})
            for (const Storage& storage : {storages[0], storages[4], storages[7]})
                for (const bool transposed : {false, true})
                    for (const GemvKernel rung : gemv_rungs) {
                        GemvProblem<T> p(m, n, storage, transposed);
                        p.fill_integers();
                        test(p, GemvOptions{rung});
                    }
    }

    Context context;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallGemvSemantics, Types);

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

TYPED_TEST(SmallGemvSemantics, BetaZeroDoesNotReadY) {
    using T = TypeParam;
    this->for_all([&](GemvProblem<T>& p, GemvOptions options) {
        for (const T beta : {T(0), T(-0.0)}) {
            p.beta = beta;
            p.y.fill(poison<T>);
            p.run(this->context, options);
            ASSERT_TRUE(exact(p));
        }
    });
}

TYPED_TEST(SmallGemvSemantics, AlphaZeroDoesNotReadAOrX) {
    using T = TypeParam;
    this->for_all([&](GemvProblem<T>& p, GemvOptions options) {
        p.a.fill(poison<T>);
        p.x.fill(poison<T>);
        for (const T alpha : {T(0), T(-0.0)})
            for (const T beta : {T(0), T(1), T(-2)}) {
                p.alpha = alpha;
                p.beta = beta;
                const GemvChoice choice = p.run(this->context, options);
                ASSERT_TRUE(exact(p));
                ASSERT_EQ(choice.kernel == GemvKernel::none, beta == 1);
            }
        MatrixView<const T> a = p.transposed ? p.a.device().transposed() : p.a.device();
        a.data = nullptr;
        p.upload(this->context);
        gemv(this->context, T(0), a, VectorView<const T>{nullptr, a.columns, 1}, p.beta,
             p.y.device().row(0), options);
        p.download(this->context);
        ASSERT_TRUE(exact(p)) << "a and x null";
    });
}

TYPED_TEST(SmallGemvSemantics, NoColumnsScalesY) {
    using T = TypeParam;
    for (const T beta : {T(0), T(1), T(3)}) {
        GemvProblem<T> p(200, 0, storages[0], false, vector_storages[0], vector_storages[4]);
        p.fill_integers();
        p.beta = beta;
        if (beta == 0) p.y.fill(poison<T>);
        p.upload(this->context);
        const GemvChoice choice =
            gemv(this->context, T(2), MatrixView<const T>{nullptr, 200, 0, 0, 1},
                 VectorView<const T>{}, beta, p.y.device().row(0));
        p.download(this->context);
        EXPECT_TRUE(exact(p));
        EXPECT_EQ(choice.kernel == GemvKernel::none, beta == 1);
    }
}

TYPED_TEST(SmallGemvSemantics, NoRowsIsNothing) {
    using T = TypeParam;
    for (const std::int64_t n : {0, 5}) {
        const GemvChoice choice =
            gemv(this->context, T(1), MatrixView<const T>{nullptr, 0, n, n, 1},
                 VectorView<const T>{nullptr, n, 1}, T(2), VectorView<T>{});
        EXPECT_EQ(choice.kernel, GemvKernel::none);
    }
    this->context.synchronize();
}

// Inf as the last product of each sum, and NaN in one place: no zero of a ragged edge meets the
// one, and the other spoils one element of y.
TYPED_TEST(SmallGemvSemantics, InfinityAndNaN) {
    using T = TypeParam;
    this->for_all([&](GemvProblem<T>& p, GemvOptions options) {
        p.fill([](Random& r) { return r.integer(1, 3); });
        const std::int64_t rows = p.op_a().rows, last = p.op_a().columns - 1;
        const auto op_a = [&](std::int64_t i, std::int64_t j) -> T& {
            return p.transposed ? p.a.before()(j, i) : p.a.before()(i, j);
        };
        p.x.before()(0, last) = infinity<T>;
        p.run(this->context, options);
        ASSERT_TRUE(judge(p, "Inf", [](auto, T y) { return y == infinity<T>; }));

        p.x.before()(0, last) = 1;
        op_a(rows - 1, last / 2) = -infinity<T>;
        op_a(0, last) = std::numeric_limits<T>::quiet_NaN();
        p.run(this->context, options);
        ASSERT_TRUE(judge(p, "NaN, finite or -Inf", [&](auto i, T y) {
            return i == 0 ? std::isnan(y) : i == rows - 1 ? y == -infinity<T> : std::isfinite(y);
        }));
    });
}

TYPED_TEST(SmallGemvSemantics, ScalarsPropagate) {
    using T = TypeParam;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    this->for_all([&](GemvProblem<T>& p, GemvOptions options) {
        p.fill([](Random& r) { return r.integer(1, 3); });
        for (const auto& [alpha, beta] : {std::pair{nan, T(0)}, {T(1), nan}, {infinity<T>, T(1)}}) {
            p.alpha = alpha;
            p.beta = beta;
            p.run(this->context, options);
            ASSERT_TRUE(judge(p, "Inf or NaN", [](auto, T y) { return !std::isfinite(y); }));
        }
    });
}

TYPED_TEST(SmallGemvSemantics, SubnormalsAreKeptAndSumsStartAtPlusZero) {
    using T = TypeParam;
    const T tiny = 7 * std::numeric_limits<T>::denorm_min();
    this->for_all([&](GemvProblem<T>& p, GemvOptions options) {
        p.a.fill([&] { return tiny; });
        p.x.fill([] { return T(1); });
        p.run(this->context, options);
        const T expected = static_cast<T>(p.op_a().columns) * tiny;
        ASSERT_TRUE(judge(p, "n times its term", [&](auto, T y) { return y == expected; }));

        p.a.fill([] { return T(-0.0); });
        p.run(this->context, options);
        ASSERT_TRUE(judge(p, "+0", [](auto, T y) { return bits(y) == 0; }));
    });
}

// Any strides: a matrix may show the same element many times, and x may be one element.
TYPED_TEST(SmallGemvSemantics, InputsMayBeBroadcast) {
    using T = TypeParam;
    GemvProblem<T> p(35, 40);
    p.fill_integers();
    p.upload(this->context);
    MatrixView<const T> a = p.a.device();
    a.row_stride = a.column_stride = 0;
    gemv(this->context, T(1), a, VectorView<const T>{p.x.device().data, 40, 0}, T(0),
         p.y.device().row(0));
    p.download(this->context);
    const T expected = 40 * p.a.before()(0, 0) * p.x.before()(0, 0);
    EXPECT_TRUE(judge(p, "40 times one product", [&](auto, T y) { return y == expected; }));
}

}  // namespace
}  // namespace tinyblas::test
