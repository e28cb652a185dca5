// SPDX-License-Identifier: MIT
// asum, dot, nrm2 and sum on every rung: values, bits, special values, strides.
#include <gtest/gtest.h>

#include <thread>

#include <Eigen/Core>

#include "reduce_model.hpp"
#include "reference.hpp"
#include "tinyblas/reduce.hpp"

namespace tinyblas::test {
namespace {

constexpr ReduceKernel rungs[] = {ReduceKernel::naive, ReduceKernel::texture, ReduceKernel::tuned,
                                  ReduceKernel::best};

constexpr std::int64_t small_sizes[] = {0,  1,   2,   3,   4,   5,    7,    31,   32,   33,  63,
                                        65, 127, 128, 129, 511, 1000, 1023, 1024, 1025, 2050};
constexpr std::int64_t large_sizes[] = {4097, 8191, 8192, 8193, 65535, 131072, 131073, 400003};

/// What a vector's elements are like.
constexpr Storage vectors[] = {
    {.name = "side_by_side"},
    {.name = "off_by_1", .offset = 1},
    {.name = "off_by_3", .offset = 3},
    {.name = "increment_2", .element_stride = 2, .offset = 1},
    {.name = "increment_5", .element_stride = 5},
    {.name = "increment_-1", .flip_columns = true},
    {.name = "increment_-3", .element_stride = 3, .flip_columns = true},
};

/// x (and y) between guards, and their reference.
template <class T>
struct Vectors {
    Vectors(std::int64_t n, const Storage& of_x, const Storage& of_y, std::uint64_t seed = 1)
        : x(1, n, of_x), y(1, n, of_y) {
        Random random(seed);
        x.fill([&] { return static_cast<T>(random.normal()); });
        y.fill([&] { return static_cast<T>(random.normal()); });
        x.upload(context);
        y.upload(context);
    }
    VectorView<const T> device_x() { return x.device().row(0); }
    VectorView<const T> device_y() { return y.device().row(0); }
    T at_x(std::int64_t i) { return x.before()(0, i); }
    T at_y(std::int64_t i) { return y.before()(0, i); }

    Context context;
    Operand<T> x, y;
};

template <class T>
void expect_near(T value, Wide<T> exact, Wide<T> magnitude, std::int64_t n,
                 const std::string& what) {
    const Wide<T> error = std::abs(value - exact);
    EXPECT_TRUE(error <= tolerance<T>(n, magnitude, 0, exact))
        << what << " of " << n << ": " << value << ", not " << exact;
}

template <class T>
void expect_right(std::int64_t n, const Storage& of_x, const Storage& of_y) {
    Vectors<T> v(n, of_x, of_y);
    const auto x = widen(std::as_const(v.x).before()), y = widen(std::as_const(v.y).before());
    const Wide<T> absolute = x.cwiseAbs().sum();
    const Wide<T> product = x.cwiseProduct(y).sum();
    const Wide<T> products = x.cwiseProduct(y).cwiseAbs().sum();
    for (const ReduceKernel rung : rungs) {
        const std::string what = std::string(to_string(rung)) + ' ' + of_x.name + ' ' + of_y.name;
        const Wide<T> forward = of_x.flip_columns ? 0 : absolute;  // asum is 0 for increments < 1
        expect_near<T>(asum(v.context, v.device_x(), {rung}), forward, forward, n, "asum " + what);
        expect_near<T>(sum(v.context, v.device_x(), {rung}), x.sum(), absolute, n, "sum " + what);
        expect_near<T>(dot(v.context, v.device_x(), v.device_y(), {rung}), product, products, n,
                       "dot " + what);
        expect_near<T>(nrm2(v.context, v.device_x(), {rung}), x.norm(), x.norm(), n,
                       "nrm2 " + what);
    }
    v.x.download(v.context);
    v.y.download(v.context);
    EXPECT_TRUE(v.x.intact());
    EXPECT_TRUE(v.y.intact());
}

template <class T>
class ReduceSmall : public testing::Test {};
template <class T>
class Reduce : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ReduceSmall, Types);
TYPED_TEST_SUITE(Reduce, Types);

TYPED_TEST(ReduceSmall, EveryRungAndStorage) {
    for (const std::int64_t n : small_sizes)
        for (const Storage& storage : vectors) expect_right<TypeParam>(n, storage, vectors[0]);
    for (const Storage& storage : vectors) expect_right<TypeParam>(1025, vectors[3], storage);
    expect_right<TypeParam>(9001, vectors[0], vectors[0]);    // a cluster
    expect_right<TypeParam>(140001, vectors[0], vectors[1]);  // the last block
}

TYPED_TEST(Reduce, LargeEveryRung) {
    for (const std::int64_t n : large_sizes) {
        expect_right<TypeParam>(n, vectors[0], vectors[0]);
        if (!emulated || n % 2 == 0) expect_right<TypeParam>(n, vectors[2], vectors[3]);
    }
}

/// Squares in three ranges, as the library sums those of doubles.
struct Ranges {
    double small = 0, medium = 0, large = 0;
    Ranges operator+(const Ranges& other) const {
        return {small + other.small, medium + other.medium, large + other.large};
    }
};

/// nrm2 of n elements in the order of the model. Doubles must lie in the medium range.
template <class T, class At>
T modelled_norm(std::int64_t n, At at) {
    if constexpr (sizeof(T) == sizeof(float)) {
        const auto add = [&](double& sum, std::int64_t i) {
            sum = std::fma(static_cast<double>(at(i)), static_cast<double>(at(i)), sum);
        };
        return static_cast<T>(std::sqrt(reduce_model<T, double, double>(n, add)));
    } else {
        const auto add = [&](Ranges& sum, std::int64_t i) {
            sum.medium = std::fma(at(i), at(i), sum.medium);
        };
        return std::sqrt(reduce_model<T, Ranges, Ranges>(n, add).medium);
    }
}

/// The additions happen in the order of the model, on any machine, however the vector lies.
TYPED_TEST(Reduce, BitsAreTheModels) {
    using T = TypeParam;
    for (const std::int64_t n : {5, 1000, 1024, 1027, 8192, 8193, 100001, 131073, 800001})
        for (const Storage& storage : {vectors[0], vectors[2], vectors[3]}) {
            Vectors<T> v(n, storage, vectors[0]);
            const auto total = [&](auto add) {
                return static_cast<T>(reduce_model<T, T, double>(n, add));
            };
            const T absolute = total([&](T& s, std::int64_t i) { s += std::abs(v.at_x(i)); });
            const T plain = total([&](T& s, std::int64_t i) { s += v.at_x(i); });
            const T product =
                total([&](T& s, std::int64_t i) { s = std::fma(v.at_x(i), v.at_y(i), s); });
            const T norm = modelled_norm<T>(n, [&](std::int64_t i) { return v.at_x(i); });
            for (const auto rung : {ReduceKernel::texture, ReduceKernel::tuned}) {
                SCOPED_TRACE(std::to_string(n) + ' ' + storage.name + ' ' + to_string(rung));
                EXPECT_EQ(bits(asum(v.context, v.device_x(), {rung})), bits(absolute));
                EXPECT_EQ(bits(sum(v.context, v.device_x(), {rung})), bits(plain));
                EXPECT_EQ(bits(dot(v.context, v.device_x(), v.device_y(), {rung})), bits(product));
                EXPECT_EQ(bits(nrm2(v.context, v.device_x(), {rung})), bits(norm));
            }
        }
}

TYPED_TEST(Reduce, ContextsAndThreadsAgree) {
    using T = TypeParam;
    for (const std::int64_t n : {777, 20000, 150000}) {
        Vectors<T> v(n, vectors[0], vectors[0]);
        for (const auto rung : {ReduceKernel::texture, ReduceKernel::best}) {
            const auto all = [&](Context& context) {
                return std::array{bits(asum(context, v.device_x(), {rung})),
                                  bits(dot(context, v.device_x(), v.device_y(), {rung})),
                                  bits(nrm2(context, v.device_x(), {rung}))};
            };
            const auto first = all(v.context);
            std::array<int, 8> wrong{};
            std::vector<std::thread> threads;
            for (int& count : wrong)
                threads.emplace_back([&] {
                    Context context;
                    for (int repeat = 0; repeat < (emulated && n > 1000 ? 2 : 100); ++repeat)
                        if (all(context) != first) ++count;
                });
            for (std::thread& thread : threads) thread.join();
            EXPECT_EQ(wrong, (std::array<int, 8>{})) << n << ' ' << to_string(rung);
        }
    }
}

/// One context, four streams by turns: its memory is not used by two of them at once.
TYPED_TEST(Reduce, StreamsOfOneContextAgree) {
    using T = TypeParam;
    constexpr int repeats = emulated ? 8 : 100;
    Vectors<T> v(150000, vectors[0], vectors[0]);
    std::array<Context, 4> streams;
    Matrix<T> results(1, repeats, Memory::managed);
    Context context;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        context.set_stream(streams[static_cast<std::size_t>(repeat) % 4].stream());
        dot(context, v.device_x(), v.device_y(), &results(0, repeat));
    }
    for (Context& stream : streams) stream.synchronize();
    for (int repeat = 1; repeat < repeats; ++repeat)
        EXPECT_EQ(bits(results(0, repeat)), bits(results(0, 0))) << repeat;
}

TYPED_TEST(ReduceSmall, DeviceResults) {
    using T = TypeParam;
    for (const std::int64_t n : {0, 1, 100, 10000, 140000}) {
        Vectors<T> v(n, vectors[0], vectors[1]);
        for (const ReduceKernel rung : rungs) {
            Matrix<T> results(1, 6, Memory::managed);
            for (int i = 0; i < 6; ++i) results(0, i) = poison<T>();
            T* const to = results.view().data;
            const ReduceChoice choice = asum(v.context, v.device_x(), to + 1, {rung});
            sum(v.context, v.device_x(), to + 2, {rung});
            dot(v.context, v.device_x(), v.device_y(), to + 3, {rung});
            nrm2(v.context, v.device_x(), to + 4, {rung});
            v.context.synchronize();
            if (n > 0 && rung != ReduceKernel::best) {
                EXPECT_EQ(choice.kernel, rung);
            }
            EXPECT_EQ(to[1], asum(v.context, v.device_x(), {rung}));
            EXPECT_EQ(to[2], sum(v.context, v.device_x(), {rung}));
            EXPECT_EQ(to[3], dot(v.context, v.device_x(), v.device_y(), {rung}));
            EXPECT_EQ(to[4], nrm2(v.context, v.device_x(), {rung}));
            EXPECT_EQ(bits(to[0]), bits(poison<T>()));
            EXPECT_EQ(bits(to[5]), bits(poison<T>()));
        }
    }
}

/// x of these elements, on the device.
template <class T>
struct Few {
    explicit Few(std::vector<T> elements)
        : x(1, static_cast<std::int64_t>(elements.size()), Memory::managed) {
        std::copy(elements.begin(), elements.end(), x.view().data);
    }
    VectorView<const T> view() { return x.view().row(0); }
    Context context;
    Matrix<T> x;
};

TYPED_TEST(ReduceSmall, SpecialValues) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    const T inf = Limits::infinity(), nan = Limits::quiet_NaN(), tiny = Limits::denorm_min();
    const T huge = Limits::max();
    for (const ReduceKernel rung : rungs) {
        const ReduceOptions on{rung};
        Few<T> zeros({T(-0.0), T(-0.0)});
        EXPECT_EQ(bits(sum(zeros.context, zeros.view(), on)), bits(T(0)));  // sums start at +0
        EXPECT_EQ(bits(asum(zeros.context, zeros.view(), on)), bits(T(0)));
        EXPECT_EQ(bits(dot(zeros.context, zeros.view(), zeros.view(), on)), bits(T(0)));
        EXPECT_EQ(nrm2(zeros.context, zeros.view(), on), T(0));

        Few<T> infinite({T(1), -inf, T(2)});
        EXPECT_EQ(asum(infinite.context, infinite.view(), on), inf);
        EXPECT_EQ(sum(infinite.context, infinite.view(), on), -inf);
        EXPECT_EQ(nrm2(infinite.context, infinite.view(), on), inf);
        Few<T> both({inf, -inf});
        EXPECT_EQ(asum(both.context, both.view(), on), inf);
        EXPECT_TRUE(std::isnan(sum(both.context, both.view(), on)));

        for (const std::vector<T>& with_nan :
             {std::vector<T>{T(1), nan}, {nan, huge}, {nan, tiny}, {nan, inf}, {nan, T(0)}}) {
            Few<T> few(with_nan);
            EXPECT_TRUE(std::isnan(asum(few.context, few.view(), on)));
            EXPECT_TRUE(std::isnan(sum(few.context, few.view(), on)));
            EXPECT_TRUE(std::isnan(dot(few.context, few.view(), few.view(), on)));
            EXPECT_TRUE(std::isnan(nrm2(few.context, few.view(), on))) << with_nan[1];
        }

        Few<T> overflow({huge, huge});
        EXPECT_EQ(asum(overflow.context, overflow.view(), on), inf);
        EXPECT_EQ(dot(overflow.context, overflow.view(), overflow.view(), on), inf);

        Few<T> subnormal(std::vector<T>(1000, T(3) * tiny));
        EXPECT_EQ(asum(subnormal.context, subnormal.view(), on), T(3000) * tiny);
        EXPECT_EQ(sum(subnormal.context, subnormal.view(), on), T(3000) * tiny);
    }
}

TYPED_TEST(ReduceSmall, NormsNeitherOverflowNorUnderflow) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    const T huge = Limits::max() / 8, small = Limits::min(), tiny = Limits::denorm_min();
    for (const ReduceKernel rung : rungs) {
        const auto expect_norm = [&](std::vector<T> elements, T exact) {
            Few<T> few(std::move(elements));
            const T norm = nrm2(few.context, few.view(), {rung});
            EXPECT_LE(std::abs(norm - exact), 2 * Limits::epsilon() * exact + 0 * tiny)
                << norm << ", not " << exact << ", " << to_string(rung);
        };
        expect_norm({3 * huge, 4 * huge}, 5 * huge);
        expect_norm({3 * small, -4 * small}, 5 * small);
        expect_norm({300 * tiny, 400 * tiny}, 500 * tiny);
        expect_norm({tiny}, tiny);
        expect_norm({huge, tiny, T(1)}, huge);
        expect_norm({T(3), T(4), tiny}, T(5));
        expect_norm({-huge}, huge);
        expect_norm(std::vector<T>(10000, huge / 100), huge);
        expect_norm(std::vector<T>(10000, small), 100 * small);
        // Where the ranges of a double meet.
        const T low = static_cast<T>(0x1p-120), high = static_cast<T>(0x1p+120);
        expect_norm({3 * low, 4 * low}, 5 * low);
        expect_norm({3 * high, 4 * high}, 5 * high);
    }
}

TEST(ReduceSmall, NormsOfDoublesWhereTheRangesMeet) {
    for (const double edge : {0x1p-511, 0x1p+486, 0x1p-512, 0x1p+487, 0x1p-510, 0x1p-600, 0x1p+600})
        for (const double step : {1 - 0x1p-53, 1.0, 1 + 0x1p-52}) {
            const double x = edge * step;
            Few<double> few({3 * x, 4 * x, 12 * x});
            EXPECT_NEAR(nrm2(few.context, few.view()) / x, 13, 1e-14) << x;
        }
}

TEST(ReduceSmall, IncrementsAsBlasHasThem) {
    Few<float> few({1, 2, 3, 4, 5, 6});
    const auto at = [&](std::int64_t n, std::int64_t increment) {
        return VectorView<const float>{few.x.view().data, n, increment};
    };
    Context& context = few.context;
    EXPECT_EQ(asum(context, at(3, 2)), 9);   // 1 3 5
    EXPECT_EQ(asum(context, at(3, -2)), 0);  // nothing
    EXPECT_EQ(asum(context, at(3, 0)), 0);
    EXPECT_EQ(dot(context, at(3, 1), at(3, -2)), 1 * 5 + 2 * 3 + 3 * 1);
    EXPECT_EQ(dot(context, at(3, 0), at(3, 1)), 1 + 2 + 3);
    EXPECT_EQ(dot(context, at(3, -1), at(3, -1)), 14);
    EXPECT_EQ(sum(context, at(3, -1)), 6);
    EXPECT_EQ(nrm2(context, at(4, 0)), 2);
    EXPECT_EQ(nrm2(context, at(2, -3)), std::sqrt(17.0f));
}

TEST(ReduceSmall, NothingToAdd) {
    Context context;
    const VectorView<const float> nothing;
    EXPECT_EQ(asum(context, nothing), 0);
    EXPECT_EQ(dot(context, nothing, nothing), 0);
    EXPECT_EQ(nrm2(context, nothing), 0);
    EXPECT_EQ(sum(context, nothing), 0);
}

TEST(ReduceErrors, NameTheArgument) {
    Few<float> few({1, 2, 3});
    Context& context = few.context;
    const auto x = few.view();
    const VectorView<const float> negative{x.data, -3, 1}, null{nullptr, 3, 1}, two{x.data, 2, 1};
    float result = 7;
    EXPECT_TRUE(refuses([&] { asum(context, negative); }, {"asum: x has -3 elements"}));
    EXPECT_TRUE(refuses([&] { asum(context, null); }, {"asum: x is null", "3 elements"}));
    EXPECT_TRUE(refuses([&] { dot(context, x, null); }, {"dot: y is null", "3 elements"}));
    EXPECT_TRUE(refuses([&] { dot(context, x, two, &result); },
                        {"dot: y has 2 elements but x has 3: must be equal"}));
    EXPECT_TRUE(refuses([&] { nrm2(context, null, &result); }, {"nrm2: x is null"}));
    EXPECT_TRUE(
        refuses([&] { sum(context, x, static_cast<float*>(nullptr)); }, {"sum: result is null"}));
    EXPECT_TRUE(refuses([&] { asum(context, x, {static_cast<ReduceKernel>(9)}); },
                        {"asum: options.kernel is 9"}));
    EXPECT_TRUE(refuses([&] { reduce_kernel("fast"); }, {"'fast'", "naive, texture or tuned"}));
    EXPECT_EQ(result, 7);
    EXPECT_EQ(reduce_kernel("texture"), ReduceKernel::texture);
    EXPECT_EQ(sum(context, x), 6);
}

}  // namespace
}  // namespace tinyblas::test
