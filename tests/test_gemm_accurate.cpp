// SPDX-License-Identifier: MIT
// gemm from parts: the tolerance and exactness at every edge, storage and scalar, what BLAS means,
// the guard's routes, and that the bits are the same on every run.
#include <array>

#include "accurate_gemm.hpp"

namespace tinyblas::test {
namespace {

class SmallGemmAccurate : public AccurateRungs {};
TINYBLAS_FOR_EACH_ACCURATE_RUNG(SmallGemmAccurate);
class GemmAccurate : public AccurateRungs {};
TINYBLAS_FOR_EACH_ACCURATE_RUNG(GemmAccurate);

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr int scalars[] = {0, 1, -2, 3};

void pick_scalars(GemmProblem<float>& p) {
    p.alpha = static_cast<float>(scalars[p.random.integer(0, 3)]);
    p.beta = static_cast<float>(scalars[p.random.integer(0, 3)]);
}

// Integers: every part, sum and scale is exact.

TEST_P(SmallGemmAccurate, EveryStorage) {
    for (int index = 0; index < output_storages; ++index) {
        const Storage& storage = storages[index];
        GemmProblem<float> p({37, 70, 67}, 100 + index, storage, storage, storage);
        pick_scalars(p);
        p.fill_integers();
        p.run(context, options);
        ASSERT_TRUE(exact(p));
    }
}

TEST_P(GemmAccurate, EveryPairOfStorages) {
    for (int pair = 0; pair < input_storages * input_storages; ++pair) {
        Random random(1000 + pair);
        const Shape shape = {random.integer(1, 70), random.integer(1, 70), random.integer(1, 140)};
        GemmProblem<float> p(shape, 1000 + pair, storages[pair % input_storages],
                             storages[pair / input_storages], storages[pair * 5 % output_storages]);
        pick_scalars(p);
        p.fill_integers();
        p.run(context, options);
        ASSERT_TRUE(exact(p));
    }
}

TEST_P(GemmAccurate, EveryPairOfScalars) {
    for (int alpha : scalars)
        for (int beta : scalars)
            for (const Storage& c_storage : {storages[0], storages[1], storages[4], storages[7]}) {
                GemmProblem<float> p({65, 34, 70}, 2000, storages[0], storages[1], c_storage);
                p.alpha = static_cast<float>(alpha);
                p.beta = static_cast<float>(beta);
                p.fill_integers();
                p.run(context, options);
                ASSERT_TRUE(exact(p));
            }
}

TEST_P(SmallGemmAccurate, EveryDepth) {
    for (const std::int64_t k : {1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129}) {
        GemmProblem<float> p({65, 33, k}, 2100 + k, storages[k % 4], storages[k / 4 % 4]);
        pick_scalars(p);
        p.fill_integers();
        p.run(context, options);
        ASSERT_TRUE(exact(p));
    }
}

TEST_P(GemmAccurate, RaggedShapes) {
    for (std::uint64_t seed = 3000; seed < 3300; ++seed) {
        Random random(seed);
        const Shape shape = {random.integer(1, 140), random.integer(1, 140),
                             random.integer(0, 150)};
        const auto any = [&](int count) { return storages[random.integer(0, count - 1)]; };
        GemmProblem<float> p(shape, seed, any(input_storages), any(input_storages),
                             any(output_storages));
        pick_scalars(p);
        p.fill_integers();
        p.run(context, options);
        ASSERT_TRUE(exact(p));
    }
}

// Many strips and tiles, so that their numbering matters.
TEST_P(GemmAccurate, ManyTiles) {
    for (const Shape shape : {Shape{1500, 70, 5}, Shape{70, 1500, 9}, Shape{390, 520, 65}}) {
        GemmProblem<float> p(shape, 3400);
        p.fill_integers();
        p.run(context, options);
        ASSERT_TRUE(exact(p));
    }
}

// C is made in panels.
TEST_P(GemmAccurate, Panels) {
    for (const Shape shape : {Shape{262200, 2, 1}, Shape{1, 262140, 2}}) {
        GemmProblem<float> p(shape, 3500);
        p.beta = 2;
        p.fill_integers();
        p.run(context, options);
        ASSERT_TRUE(exact(p));
    }
}

// Real numbers.

// k on both sides of chunks and groups, m and n of strips, bricks and tiles; all kinds of data.
TEST_P(GemmAccurate, EveryEdge) {
    constexpr std::int64_t depths[] = {255, 256, 257, 511, 512, 513, 1025};
    constexpr std::int64_t edges[] = {1, 31, 33, 63, 64, 65, 127, 128, 129};
    constexpr std::array draws = {normal, unit, symmetric, spread_out};
    std::uint64_t seed = 4000;
    for (const std::int64_t m : edges)
        for (const std::int64_t n : edges) {
            ++seed;
            GemmProblem<float> p(
                {m, n, depths[seed % std::size(depths)]}, seed, storages[seed % input_storages],
                storages[seed / 5 % input_storages], storages[seed / 3 % output_storages]);
            p.alpha = seed % 2 == 0 ? 1.0f : 1.7f;
            p.beta = seed % 3 == 0 ? 0.0f : -0.6f;
            p.fill(draws[seed % draws.size()]);
            p.run(context, options);
            ASSERT_TRUE(close(p));
            ASSERT_TRUE(promised(p));
        }
}

TEST_P(GemmAccurate, AllLayouts) {
    for (const Storage& of_a : {storages[0], storages[1]})
        for (const Storage& of_b : {storages[0], storages[1]})
            for (const Storage& of_c : {storages[0], storages[1]}) {
                GemmProblem<float> p({129, 66, 600}, 4200, of_a, of_b, of_c);
                p.alpha = -0.7f;
                p.beta = 0.3f;
                p.fill(normal);
                p.run(context, options);
                ASSERT_TRUE(close(p));
            }
}

// 1 + 2^-13 is the sum of what the low parts contribute: shorter inputs give 1.
TEST_P(SmallGemmAccurate, PrecisionProbe) {
    for (std::int64_t k = 1; k <= 8; ++k) {
        GemmProblem<float> p({17, 9, k}, 4300);
        p.a.fill([] { return 1 + 0x1p-12f; });
        p.b.fill([] { return 1 - 0x1p-13f; });
        p.run(context, options);
        ASSERT_TRUE(close(p));
        EXPECT_TRUE(k > 1 || p.c.after()(16, 8) == 1 + 0x1p-13f);
    }
}

TEST_P(SmallGemmAccurate, FullSignificands) {
    for (std::int64_t k = 1; k <= 8; ++k) {
        GemmProblem<float> p({19, 34, k}, 4400 + k, storages[k % input_storages]);
        p.alpha = 1.0f / 3;
        p.beta = -1.0f / 7;
        p.fill([](Random& r) { return r.integer(1 << 23, (1 << 24) - 1) | 1; });
        p.run(context, options);
        ASSERT_TRUE(promised(p));
    }
}

// Tensor cores truncate: an error of one sign, that must not grow with k.
TEST_P(GemmAccurate, BiasIsBounded) {
    for (const std::int64_t k : {512, 2048}) {
        GemmProblem<float> p({64, 64, k}, 4500);
        p.fill(unit);
        p.run(context, options);
        const WideMatrix<float> error = widen(p.c.after()) - wide_gemm(p);
        const double bias = error.cwiseQuotient(wide_gemm(p, true)).mean() * 0x1p24;
        EXPECT_LE(std::abs(bias), GetParam() == GemmKernel::hopper ? 4 : 1) << p;
    }
}

// It is not the strict kernel under another name.
TEST_P(SmallGemmAccurate, IsNotStrict) {
    GemmProblem<float> p({33, 34, 300}, 4600);
    p.fill(normal);
    EXPECT_EQ(p.run(context, options).kernel, GetParam());
    EXPECT_TRUE(close(p));
    EXPECT_FALSE(chained(p));
}

TEST_P(GemmAccurate, SameBitsOnEveryRunAndStream) {
    GemmProblem<float> p({130, 67, 700}, 4700);
    p.alpha = 1.7f;
    p.beta = -0.3f;
    p.fill(normal);
    p.run(context, options);
    const auto first = bits_after(p);
    for (int repeat = 0; repeat < (emulated ? 5 : 100); ++repeat) {
        Context other;
        if (repeat % 2 == 1) other.set_stream(nullptr);
        p.run(repeat % 3 == 0 ? other : context, options);
        ASSERT_EQ(bits_after(p), first) << "repeat " << repeat;
    }
}

// What BLAS means.

TEST_P(SmallGemmAccurate, BetaZeroDoesNotReadC) {
    for (const Shape shape : {Shape{64, 64, 64}, Shape{129, 65, 13}, Shape{1, 1, 1}})
        for (const float beta : {0.0f, -0.0f})
            for (const Storage& c_storage : {storages[0], storages[1], storages[7]}) {
                GemmProblem<float> p(shape, 5000, storages[0], storages[0], c_storage);
                p.beta = beta;
                p.fill_integers();
                p.c.fill(poison<float>);
                p.run(context, options);
                ASSERT_TRUE(exact(p));
            }
}

TEST_P(SmallGemmAccurate, AlphaZeroDoesNotReadAOrB) {
    for (const float beta : {0.0f, 1.0f, -2.0f}) {
        GemmProblem<float> p({33, 31, 300}, 5100);
        p.alpha = 0;
        p.beta = beta;
        p.fill_integers();
        MatrixView<float> a = p.a.device(), b = p.b.device();
        a.data = b.data = nullptr;
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        const GemmChoice choice = gemm(context, p.alpha, a, b, beta, p.c.device(), options);
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
        ASSERT_TRUE(exact(p));
        EXPECT_EQ(choice.kernel, beta == 1 ? GemmKernel::none : GemmKernel::tuned);
    }
}

TEST_P(SmallGemmAccurate, NothingToMultiply) {
    for (const float beta : {0.0f, 1.0f, 3.0f}) {
        GemmProblem<float> p({45, 70, 0}, 5200, storages[0], storages[0], storages[4]);
        p.beta = beta;
        p.fill_integers();
        p.run(context, options);
        ASSERT_TRUE(exact(p));
    }
    const auto none = [](std::int64_t rows, std::int64_t columns) {
        return MatrixView<float>::row_major(nullptr, rows, columns);
    };
    for (const Shape s : {Shape{0, 5, 300}, Shape{5, 0, 300}, Shape{0, 0, 0}}) {
        const GemmChoice choice =
            gemm(context, 1.0f, none(s.m, s.k), none(s.k, s.n), 2.0f, none(s.m, s.n), options);
        EXPECT_EQ(choice.kernel, GemmKernel::none);
    }
}

// One NaN or Inf, at the very edge too: the whole product is the strict kernel's, bit for bit.
TEST_P(SmallGemmAccurate, NaNAndInfinityAreStrict) {
    for (const float special : {nan, infinity, -infinity})
        for (const std::int64_t k : {1, 70, 513})
            for (const bool in_a : {true, false}) {
                GemmProblem<float> p({67, 37, k}, 5300, storages[in_a], storages[0],
                                     storages[k % 2]);
                p.beta = 0.5f;
                p.fill(normal);
                (in_a ? p.a.before()(66, k - 1) : p.b.before()(k - 1, 36)) = special;
                EXPECT_EQ(p.run(context, options).kernel, GetParam());
                ASSERT_TRUE(chained(p));
                for (std::int64_t i = 0; i < 67; ++i)
                    for (std::int64_t j = 0; j < 37; ++j)
                        ASSERT_EQ(std::isfinite(p.c.after()(i, j)), in_a ? i != 66 : j != 36);
            }
}

TEST_P(SmallGemmAccurate, ScalarsPropagate) {
    for (const auto& [alpha, beta] :
         {std::pair{nan, 0.0f}, {1.0f, nan}, {infinity, 1.0f}, {-infinity, 0.0f}}) {
        GemmProblem<float> p({34, 9, 70}, 5400);
        p.alpha = alpha;
        p.beta = beta;
        p.fill([](Random& r) { return r.integer(1, 3); });
        p.run(context, options);
        EXPECT_TRUE(chained(p));  // all sums are exact
        EXPECT_FALSE(std::isfinite(p.c.after()(33, 8)));
    }
}

/// A's rows and B's columns times powers of two, from -most to most.
void scale(GemmProblem<float>& p, int most) {
    const auto power = [&](std::int64_t index) {
        return static_cast<int>(index * 37 % (2 * most + 1)) - most;
    };
    const auto a = p.a.before(), b = p.b.before();
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t q = 0; q < a.columns; ++q) a(i, q) = std::ldexp(a(i, q), power(i));
    for (std::int64_t j = 0; j < b.columns; ++j)
        for (std::int64_t q = 0; q < b.rows; ++q) b(q, j) = std::ldexp(b(q, j), -power(j + 3));
}

// Rows and columns have scales of their own: how they differ costs nothing.
TEST_P(SmallGemmAccurate, ScaledRows) {
    for (const int most : {24, 60, 100})
        for (const std::int64_t k : {65, 600}) {
            GemmProblem<float> p({70, 66, k}, 5500 + most);
            p.fill(normal);
            scale(p, most);
            EXPECT_EQ(explain(p, context, options).verdict, GemmVerdict::three_products);
            p.run(context, options);
            ASSERT_TRUE(promised(p));
        }
}

// Every value tiny, subnormal or huge; products that underflow, gradually, and that overflow.
TEST_P(SmallGemmAccurate, TinyAndHuge) {
    for (const auto& [of_a, of_b] : {std::pair{-140, 100},
                                     {100, -140},
                                     {-126, 0},
                                     {-146, 127},
                                     {-100, -30},
                                     {-70, -70},
                                     {-75, -78},
                                     {126, -126},
                                     {60, 60},
                                     {120, -10}}) {
        GemmProblem<float> p({35, 40, 80}, 5600);
        p.alpha = 0.7f;
        p.fill(symmetric);
        const auto times = [](MatrixView<float> view, int power) {
            for (std::int64_t i = 0; i < view.rows; ++i)
                for (std::int64_t j = 0; j < view.columns; ++j)
                    view(i, j) = std::ldexp(view(i, j), power);
        };
        times(p.a.before(), of_a);
        times(p.b.before(), of_b);
        p.run(context, options);
        ASSERT_TRUE(close(p)) << of_a << ", " << of_b;
    }
    GemmProblem<float> p({35, 40, 80}, 5601);
    p.a.fill([&] { return static_cast<float>(0x1p100 * (1 + p.random.uniform())); });
    p.b.fill([&] { return static_cast<float>(0x1p30 * (1 + p.random.uniform())); });
    p.run(context, options);
    EXPECT_TRUE(judge(p, "Inf", [](auto, auto, float x) { return x == infinity; }));
}

TEST_P(SmallGemmAccurate, ZeroRowsAndColumns) {
    GemmProblem<float> p({70, 66, 1100}, 5700);
    p.fill(normal);
    const auto a = p.a.before(), b = p.b.before();
    for (std::int64_t q = 0; q < 1100; ++q) {
        a(3, q) = a(69, q) = b(q, 0) = b(q, 65) = 0;
        if (q < 600) a(4, q) = 0;                   // a whole group, the first
        if (q >= 512 && q < 1024) b(q, 5) = -0.0f;  // one in the middle
    }
    p.run(context, options);
    ASSERT_TRUE(close(p));
    for (std::int64_t j = 0; j < 66; ++j) {
        EXPECT_EQ(p.c.after()(3, j), 0);
        EXPECT_EQ(p.c.after()(j, 65), 0);
    }
    p.a.fill([] { return 0.0f; });
    EXPECT_EQ(explain(p, context, options).verdict, GemmVerdict::three_products);
    p.run(context, options);
    EXPECT_TRUE(exact(p));
}

TEST_P(SmallGemmAccurate, InputsMayBeBroadcast) {
    GemmProblem<float> p({35, 40, 70}, 5800);
    p.fill(normal);
    MatrixView<float> a = p.a.device(), b = p.b.device();
    a.row_stride = a.column_stride = b.row_stride = b.column_stride = 0;
    for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
    gemm(context, 1.0f, a, b, 0.0f, p.c.device(), options);
    for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
    const double expected = 70.0 * p.a.before()(0, 0) * p.b.before()(0, 0);
    EXPECT_TRUE(surroundings_intact(p));
    for (std::int64_t i = 0; i < 35; ++i)
        for (std::int64_t j = 0; j < 40; ++j)
            ASSERT_NEAR(p.c.after()(i, j), expected, std::abs(expected) * 0x1p-21);
}

}  // namespace
}  // namespace tinyblas::test
