// SPDX-License-Identifier: MIT
// axpy and scal: values, strides, what stays untouched, bad arguments.
#include <gtest/gtest.h>

#include "reference.hpp"
#include "tinyblas/reduce.hpp"

namespace tinyblas::test {
namespace {

constexpr Storage vectors[] = {
    {.name = "side_by_side"},
    {.name = "off_by_1", .offset = 1},
    {.name = "increment_3", .element_stride = 3},
    {.name = "increment_-2", .element_stride = 2, .flip_columns = true},
};
constexpr std::int64_t sizes[] = {0, 1, 2, 3, 4, 5, 127, 128, 511, 512, 513, 2047, 2048, 5001};

template <class T>
class VectorSmall : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(VectorSmall, Types);

TYPED_TEST(VectorSmall, Axpy) {
    using T = TypeParam;
    Context context;
    Random random(3);
    const auto normal = [&] { return static_cast<T>(random.normal()); };
    for (const std::int64_t n : sizes)
        for (const Storage& of_x : vectors)
            for (const Storage& of_y : vectors) {
                Operand<T> x(1, n, of_x), y(1, n, of_y);
                x.fill(normal);
                y.fill(normal);
                x.upload(context);
                y.upload(context);
                axpy(context, T(-0.7), x.device().row(0), y.device().row(0));
                y.download(context);
                EXPECT_TRUE(y.intact(true));
                for (std::int64_t i = 0; i < n; ++i)
                    ASSERT_EQ(y.after()(0, i),
                              std::fma(T(-0.7), x.before()(0, i), y.before()(0, i)))
                        << i << " of " << n << ' ' << of_x.name << ' ' << of_y.name;
            }
}

TYPED_TEST(VectorSmall, Scal) {
    using T = TypeParam;
    Context context;
    Random random(4);
    for (const std::int64_t n : sizes)
        for (const Storage& storage : vectors) {
            Operand<T> x(1, n, storage);
            x.fill([&] { return static_cast<T>(random.normal()); });
            x.upload(context);
            scal(context, T(1.7), x.device().row(0));
            x.download(context);
            EXPECT_TRUE(x.intact(true));
            const bool nothing = storage.flip_columns && n > 0;  // an increment below 1
            for (std::int64_t i = 0; i < n; ++i)
                ASSERT_EQ(x.after()(0, i), nothing ? x.before()(0, i) : T(1.7) * x.before()(0, i))
                    << i << " of " << n << ' ' << storage.name;
        }
}

TEST(VectorSmall, SpecialCases) {
    Context context;
    Matrix<float> x(1, 4, Memory::managed);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto set = [&](float a, float b, float c, float d) {
        context.synchronize();
        x(0, 0) = a, x(0, 1) = b, x(0, 2) = c, x(0, 3) = d;
    };
    const auto row = x.view().row(0);
    set(1, 2, nan, 4);
    axpy(context, 0.0f, VectorView<const float>{nullptr, 0, 1}, VectorView<float>{});
    scal(context, 0.0f, row);
    context.synchronize();
    EXPECT_EQ(x(0, 0), 0);
    EXPECT_TRUE(std::isnan(x(0, 2)));
    set(1, 2, 3, 4);
    axpy(context, 2.0f, row, row);  // the same view
    context.synchronize();
    EXPECT_EQ(x(0, 3), 12);
    axpy(context, 1.0f, VectorView<const float>{row.data, 2, 0},
         VectorView<float>{row.data + 2, 2, 1});  // one element of x for all
    context.synchronize();
    EXPECT_EQ(x(0, 2), 12);
    EXPECT_EQ(x(0, 3), 15);
}

TEST(VectorErrors, NameTheArgument) {
    Context context;
    Matrix<float> data(1, 8, Memory::managed);
    float* const x = data.view().data;
    for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(i);
    using In = VectorView<const float>;
    using Out = VectorView<float>;
    EXPECT_TRUE(refuses(
        [&] {
            axpy(context, 1.0f, In{x, 3, 1}, Out{x + 4, 2, 1});
        },
        {"axpy: y has 2 elements but x has 3"}));
    EXPECT_TRUE(refuses(
        [&] {
            axpy(context, 1.0f, In{nullptr, 3, 1}, Out{x, 3, 1});
        },
        {"axpy: x is null"}));
    EXPECT_TRUE(refuses(
        [&] {
            axpy(context, 1.0f, In{x, -1, 1}, Out{x, -1, 1});
        },
        {"axpy: x has -1 elements"}));
    EXPECT_TRUE(refuses(
        [&] {
            axpy(context, 1.0f, In{x, 3, 1}, Out{x + 4, 3, 0});
        },
        {"axpy: y has an increment of 0"}));
    EXPECT_TRUE(refuses(
        [&] {
            axpy(context, 1.0f, In{x, 3, 1}, Out{x + 1, 3, 1});
        },
        {"axpy: y overlaps x"}));
    EXPECT_TRUE(refuses([&] { scal(context, 1.0f, Out{nullptr, 3, 1}); }, {"scal: x is null"}));
    context.synchronize();
    for (int i = 0; i < 8; ++i) EXPECT_EQ(x[i], static_cast<float>(i));
}

}  // namespace
}  // namespace tinyblas::test
