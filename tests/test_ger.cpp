// SPDX-License-Identifier: MIT
// ger: every element is a_ij + (alpha x_i) y_j with a fused multiply-add, bit for bit, whatever the
// strides; nothing else changes.
#include "gemv_problem.hpp"
#include "large_buffer.hpp"

namespace tinyblas::test {
namespace {

template <class T>
struct GerProblem {
    GerProblem(std::int64_t m, std::int64_t n, const Storage& of_a, const Storage& of_x,
               const Storage& of_y)
        : a(m, n, of_a), x(1, m, of_x), y(1, n, of_y) {
        Random random(5);
        for (Operand<T>* operand : {&a, &x, &y})
            operand->fill([&] { return static_cast<T>(random.normal()); });
    }
    void run(Context& context) {
        for (Operand<T>* operand : {&a, &x, &y}) operand->upload(context);
        ger(context, alpha, VectorView<const T>(x.device().row(0)),
            VectorView<const T>(y.device().row(0)), a.device());
        for (Operand<T>* operand : {&a, &x, &y}) operand->download(context);
    }
    testing::AssertionResult right() {
        for (std::int64_t i = 0; i < a.before().rows; ++i)
            for (std::int64_t j = 0; j < a.before().columns; ++j) {
                const T scaled = alpha * x.before()(0, i);
                const T expected = std::fma(scaled, y.before()(0, j), a.before()(i, j));
                if (!same(a.after()(i, j), alpha == 0 ? a.before()(i, j) : expected))
                    return testing::AssertionFailure()
                           << "a(" << i << ", " << j << ") = " << a.after()(i, j) << ", not "
                           << expected << "; " << a.before().rows << " x " << a.before().columns
                           << ' ' << a.name() << ", x " << x.name() << ", y " << y.name();
            }
        for (auto intact : {a.intact(true), x.intact(), y.intact()})
            if (!intact) return intact;
        return testing::AssertionSuccess();
    }

    Operand<T> a, x, y;
    T alpha = T(-0.7);
};

template <class T>
class GerSmall : public testing::Test {
  protected:
    Context context;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GerSmall, Types);

TYPED_TEST(GerSmall, EveryShape) {
    for (const std::int64_t m : {1, 2, 5, 33, 64, 130, 700})
        for (const std::int64_t n : {1, 2, 3, 4, 7, 31, 64, 129, 515}) {
            GerProblem<TypeParam> p(m, n, storages[0], vector_storages[0], vector_storages[0]);
            p.run(this->context);
            ASSERT_TRUE(p.right());
        }
}

TYPED_TEST(GerSmall, EveryStorage) {
    for (int storage = 0; storage < output_storages; ++storage)
        for (const Storage& x : vector_storages)
            for (const Storage& y : vector_storages) {
                GerProblem<TypeParam> p(37, 22, storages[storage], x, y);
                p.run(this->context);
                ASSERT_TRUE(p.right());
            }
}

TYPED_TEST(GerSmall, SpecialValues) {
    using T = TypeParam;
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    for (const Storage& storage : {storages[0], storages[1], storages[7]}) {
        GerProblem<T> p(13, 10, storage, vector_storages[0], vector_storages[0]);
        p.x.before()(0, 3) = inf;
        p.y.before()(0, 7) = 0;
        p.y.before()(0, 9) = nan;
        p.run(this->context);
        EXPECT_TRUE(p.right());
        EXPECT_TRUE(std::isnan(p.a.after()(3, 7)));  // Inf times 0
        EXPECT_TRUE(std::isnan(p.a.after()(12, 9)));
        EXPECT_TRUE(std::isfinite(p.a.after()(12, 8)));
    }
}

TYPED_TEST(GerSmall, AlphaZeroAndNoElementsAreNothing) {
    using T = TypeParam;
    GerProblem<T> p(9, 8, storages[0], vector_storages[0], vector_storages[0]);
    p.x.fill(poison<T>);
    p.alpha = 0;
    p.run(this->context);
    EXPECT_TRUE(p.right());
    using Vector = VectorView<const T>;
    ger(this->context, T(0), Vector{nullptr, 3, 1}, Vector{nullptr, 4, 1},
        MatrixView<T>{nullptr, 3, 4, 4, 1});
    ger(this->context, T(1), Vector{nullptr, 0, 1}, Vector{nullptr, 4, 1},
        MatrixView<T>{nullptr, 0, 4, 4, 1});
    ger(this->context, T(1), Vector{nullptr, 3, 1}, Vector{nullptr, 0, 1},
        MatrixView<T>{nullptr, 3, 0, 1, 1});
    this->context.synchronize();
}

TYPED_TEST(GerSmall, FarApart) {
    using T = TypeParam;
    constexpr std::int64_t far = (std::int64_t{1} << 26) + 1, extent = 33;
    constexpr std::int64_t elements = (extent - 1) * far + extent;
    LargeBuffer<T> buffer(elements);
    if (!buffer) GTEST_SKIP() << no_room<T>(1, elements);
    for (const bool by_column : {false, true}) {
        GerProblem<T> p(extent, extent, storages[0], vector_storages[0], vector_storages[0]);
        for (Operand<T>* operand : {&p.a, &p.x, &p.y}) operand->upload(this->context);
        const MatrixView<T> a = {buffer.data(), extent, extent, by_column ? 1 : far,
                                 by_column ? far : 1};
        copy(this->context, p.a.device(), a);
        ger(this->context, p.alpha, VectorView<const T>(p.x.device().row(0)),
            VectorView<const T>(p.y.device().row(0)), a);
        copy(this->context, a, p.a.device());
        for (Operand<T>* operand : {&p.a, &p.x, &p.y}) operand->download(this->context);
        EXPECT_TRUE(p.right());
    }
}

}  // namespace
}  // namespace tinyblas::test
