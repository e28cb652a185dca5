// SPDX-License-Identifier: MIT
// polyval where it is more than arithmetic: NaN, Inf, subnormals, signs of zero; and compensated
// Horner, which must be as good as twice the precision.
#include "polyval_problem.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class SmallPolyvalSemantics : public testing::Test {
  protected:
    using Limits = std::numeric_limits<T>;
    static std::vector<T> special_values() {
        std::vector<T> values = {Limits::quiet_NaN(), poison<T>()};
        for (const T x : {T(0), T(1), T(0.5), T(3), Limits::infinity(), Limits::max(),
                          Limits::min(), Limits::denorm_min(), 5 * Limits::denorm_min()}) {
            values.push_back(x);
            values.push_back(-x);
        }
        return values;
    }
    /// Every special value as an argument, in whole and in ragged blocks.
    static void take_special_arguments(PolyvalProblem<T>& p) {
        const std::vector<T> values = special_values();
        std::size_t next = 0;
        p.x.fill([&] { return values[next++ % values.size()]; });
    }
    Context context;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallPolyvalSemantics, Types);

TYPED_TEST(SmallPolyvalSemantics, SpecialArguments) {
    for (const PolyvalKernel kernel : polyval_rungs)
        for (const std::int64_t degree : {0, 1, 2, 3, 33, 63, 64, 70, 1100})
            for (const int storage : {0, 1}) {
                PolyvalProblem<TypeParam> p(300, degree, 1, vector_storages[storage]);
                this->take_special_arguments(p);
                p.run(this->context, {kernel});
                ASSERT_TRUE(chained(p)) << to_string(kernel);
            }
}

// Each coefficient in turn: steps that a short chain skips must not touch it.
TYPED_TEST(SmallPolyvalSemantics, SpecialCoefficients) {
    for (const PolyvalKernel kernel : polyval_rungs)
        for (const std::int64_t degree : {0, 1, 5, 66})
            for (std::size_t k = 0; k <= static_cast<std::size_t>(degree); ++k)
                for (const TypeParam special : this->special_values()) {
                    PolyvalProblem<TypeParam> p(5, degree, 2);
                    p.coefficients[k] = special;
                    p.run(this->context, {kernel});
                    ASSERT_TRUE(chained(p)) << to_string(kernel) << ", coefficient " << k;
                }
}

TYPED_TEST(SmallPolyvalSemantics, DegreeZeroDoesNotDependOnX) {
    using T = TypeParam;
    for (const bool compensated : {false, true})
        for (const PolyvalKernel kernel : polyval_rungs) {
            if (compensated && kernel != PolyvalKernel::tuned) continue;
            PolyvalProblem<T> p(45, 0, 3);
            this->take_special_arguments(p);
            p.coefficients = {T(7)};
            p.run(this->context, {kernel, compensated});
            for (std::int64_t i = 0; i < p.size(); ++i) ASSERT_EQ(p.result(i), T(7)) << i;
        }
}

TYPED_TEST(SmallPolyvalSemantics, SubnormalsAreKept) {
    using T = TypeParam;
    const T tiny = std::numeric_limits<T>::denorm_min();
    for (const bool compensated : {false, true})
        for (const PolyvalKernel kernel : polyval_rungs) {
            if (compensated && kernel != PolyvalKernel::tuned) continue;
            PolyvalProblem<T> p(40, 1, 4);
            T next = 0;
            p.x.fill([&] { return ++next * tiny; });
            p.coefficients = {3 * tiny, T(1)};
            p.run(this->context, {kernel, compensated});
            for (std::int64_t i = 0; i < p.size(); ++i)
                ASSERT_EQ(bits(p.result(i)), bits<T>(static_cast<T>(i + 4) * tiny)) << i;
        }
}

// (x - 1)^k near 1, from its exact coefficients: the value is a power of x - 1, exact too.
template <class T>
std::vector<T> power_of_x_minus_1(int k) {
    std::vector<T> coefficients = {T(1)};
    for (int factor = 0; factor < k; ++factor) {
        coefficients.insert(coefficients.begin(), T(0));
        for (std::size_t j = 0; j + 1 < coefficients.size(); ++j)
            coefficients[j] -= coefficients[j + 1];
    }
    return coefficients;
}

TYPED_TEST(SmallPolyvalSemantics, CompensatedNearAMultipleRoot) {
    using T = TypeParam;
    for (const int k : {3, 5, 8, 15, 26}) {
        PolyvalProblem<T> p(129, k, 5);
        p.coefficients = power_of_x_minus_1<T>(k);
        const T step = std::is_same_v<T, float> ? 0x1p-8f : 0x1p-12;
        T next = -64;
        p.x.fill([&] { return 1 + step * next++; });
        const auto errors_past = [&](auto allowed) {
            int count = 0;
            for (std::int64_t i = 0; i < p.size(); ++i) {
                const Wide<T> x = p.argument(i);
                const Wide<T> value = std::pow(x - 1, static_cast<Wide<T>>(k));
                const Wide<T> magnitude = std::pow(x + 1, static_cast<Wide<T>>(k));
                count += !(std::abs(p.result(i) - value) <= allowed(std::abs(value), magnitude));
            }
            return count;
        };
        p.run(this->context, {PolyvalKernel::best, true});
        const Wide<T> gamma = 2 * k * unit_roundoff<T> / (1 - 2 * k * unit_roundoff<T>);
        EXPECT_EQ(errors_past([&](Wide<T> value, Wide<T> magnitude) -> Wide<T> {
                      return (1 + 1e-3) * unit_roundoff<T> * value + gamma * gamma * magnitude +
                             2 * k * std::numeric_limits<T>::denorm_min();
                  }),
                  0)
            << k;
        EXPECT_TRUE(surroundings_intact(p));
        if (k < 8) continue;
        p.run(this->context);  // not compensated: no digit is right
        EXPECT_GT(errors_past([](Wide<T> value, Wide<T>) { return value; }), 5) << k;
    }
}

TYPED_TEST(SmallPolyvalSemantics, CompensatedAnywhere) {
    using T = TypeParam;
    for (const Storage& storage : vector_storages)
        for (const bool in_place : {false, true})
            for (const std::int64_t degree : {0, 1, 2, 31, 64, 9000})
                for (const std::int64_t size : {1, 7, 1200}) {
                    if (degree * size > 200000) continue;
                    PolyvalProblem<T> p(size, degree, 6, storage, storage);
                    p.in_place = in_place;
                    p.run(this->context, {PolyvalKernel::tuned, true});
                    const auto n = static_cast<Wide<T>>(degree);
                    const Wide<T> gamma = 2 * n * unit_roundoff<T>;
                    ASSERT_TRUE(within(p, [=](Wide<T> value, Wide<T> magnitude) -> Wide<T> {
                        return unit_roundoff<T> * std::abs(value) +
                               (2 * gamma * gamma + 2 * n * unit_roundoff<Wide<T>>)*magnitude +
                               2 * n * std::numeric_limits<T>::denorm_min();
                    }));
                }
}

// Where plain Horner gives NaN or Inf, so does the compensated one.
TYPED_TEST(SmallPolyvalSemantics, CompensatedSpecialValues) {
    using T = TypeParam;
    for (const std::int64_t degree : {1, 2, 3, 40}) {
        PolyvalProblem<T> p(45, degree, 7);
        this->take_special_arguments(p);
        p.run(this->context, {PolyvalKernel::best, true});
        for (std::int64_t i = 0; i < p.size(); ++i) {
            const T plain = horner(p.coefficients, p.argument(i));
            ASSERT_EQ(std::isfinite(p.result(i)), std::isfinite(plain)) << p.argument(i);
            if (!std::isfinite(plain)) {
                ASSERT_TRUE(same(p.result(i), plain)) << p.argument(i) << ", degree " << degree;
            }
        }
    }
}

}  // namespace
}  // namespace tinyblas::test
