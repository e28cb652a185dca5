// SPDX-License-Identifier: MIT
// gemm's rung split, with its pre-pass: products from parts within the scheme's error bound, on
// ordinary and on graded data; and that of the kernels that stand in line, the one that is meant
// works and no other.
#include <gtest/gtest.h>

#include <array>

#include "needs_90.hpp"
#include "planes_model.hpp"
#if TINYBLAS_EMULATED
#include "device/emulation/fibers.hpp"
#endif

namespace tinyblas::test {
namespace {

constexpr GemmParts fp16x2 = GemmParts::fp16x2, bf16x3 = GemmParts::bf16x3;
constexpr unsigned no_verdict = 77;

/// C = alpha A B + beta C, each kind of parts with a C of its own.
class Product {
  public:
    Product(const Rows& a, const Rows& b, const PlanesLayout& a_layout = k_neighbours,
            const PlanesLayout& b_layout = row_neighbours)
        : a(a, a_layout), b(b, b_layout), c0(a.rows, b.rows), verdicts_(2) {
        Random random(99);
        c0.fill([&](auto, auto) { return random.normal(); });
    }

    float alpha = 1, beta = 0;
    Planes a, b;  // b's rows are the columns of B
    Rows c0;
    std::int64_t c_row_stride = 0, c_column_stride = 1;  // 0: as close as can be

    void run() {
        if (c_row_stride == 0) c_row_stride = c0.k;
        make_planes<fp16x2>(a, b);
        multiply<fp16x2>(0);
        make_planes<bf16x3>(a, b);
        multiply<bf16x3>(1);
    }

    std::vector<float> c[2];  // by kind, as they lie in memory
    /// What both kernels have left.
    unsigned verdict() {
        EXPECT_EQ(verdicts_[0], verdicts_[1]);
        return verdicts_[0];
    }
    float result(GemmParts kind, std::int64_t i, std::int64_t j) {
        return c[static_cast<int>(kind)][place(i, j)];
    }

    /// Whether this kind's kernel alone has worked, with every element within its bound and
    /// nothing else written.
    testing::AssertionResult good(GemmParts kind) {
        const GemmParts other = kind == fp16x2 ? bf16x3 : fp16x2;
        if (idle(kind)) return testing::AssertionFailure() << "it did not work";
        if (!idle(other)) return testing::AssertionFailure() << "the other kind worked, too";
        const double k = static_cast<double>(a.values().k), u = 0x1p-24;
        // Two splits, the product left out and roundings; then sums of 64 k and of chunks.
        const double bound = (k <= 8 ? 12 : 50 + k / 32) * u;
        for (std::int64_t i = 0; i < c0.rows; ++i)
            for (std::int64_t j = 0; j < c0.k; ++j) {
                double sum = 0, size = 0;
                for (std::int64_t p = 0; p < a.values().k; ++p) {
                    const double product = static_cast<double>(a.values()(i, p)) *
                                           static_cast<double>(b.values()(j, p));
                    sum += product;
                    size += std::fabs(product);
                }
                const double scaled =
                    beta == 0 ? 0 : static_cast<double>(beta) * static_cast<double>(c0(i, j));
                const double expected = static_cast<double>(alpha) * sum + scaled;
                const double error = std::fabs(static_cast<double>(result(kind, i, j)) - expected);
                const double most = bound * std::fabs(static_cast<double>(alpha)) * size +
                                    u * std::fabs(expected) + 2 * u * std::fabs(scaled) +
                                    (1 + std::fabs(static_cast<double>(alpha))) * 0x1p-149;
                if (!(error <= most))
                    return testing::AssertionFailure()
                           << "c(" << i << ", " << j << ") is " << result(kind, i, j) << ", not "
                           << expected << ": " << error / (u * size) << " units";
            }
        return only_elements_written(kind);
    }
    /// Whether this kind's kernel has written nothing.
    bool idle(GemmParts kind) {
        const std::vector<float> before = fresh(), &after = c[static_cast<int>(kind)];
        return std::memcmp(before.data(), after.data(), before.size() * sizeof(float)) == 0;
    }

  private:
    std::size_t place(std::int64_t i, std::int64_t j) const {
        return static_cast<std::size_t>(i * c_row_stride + j * c_column_stride);
    }
    std::vector<float> fresh() const {
        std::vector<float> all(place(c0.rows - 1, c0.k - 1) + 3, poison<float>());
        for (std::int64_t i = 0; i < c0.rows; ++i)
            for (std::int64_t j = 0; j < c0.k; ++j) all[place(i, j)] = c0(i, j);
        return all;
    }
    testing::AssertionResult only_elements_written(GemmParts kind) {
        std::vector<float> before = fresh(), after = c[static_cast<int>(kind)];
        for (std::int64_t i = 0; i < c0.rows; ++i)
            for (std::int64_t j = 0; j < c0.k; ++j) after[place(i, j)] = c0(i, j);
        if (std::memcmp(before.data(), after.data(), before.size() * sizeof(float)) != 0)
            return testing::AssertionFailure() << "something between C's elements was written";
        return testing::AssertionSuccess();
    }
    template <GemmParts kind>
    void multiply(std::size_t which) {
        const std::vector<float> before = fresh();
        Buffer<float> memory(before.size());
        std::copy(before.begin(), before.end(), memory.begin());
        verdicts_[which] = no_verdict;
        launch_gemm_split<kind>(nullptr, {alpha, beta, a.view(kind), b.view(kind),
                                          MatrixView<float>{memory.data(), c0.rows, c0.k,
                                                            c_row_stride, c_column_stride},
                                          &verdicts_[which]});
        device::synchronize(nullptr, "test");
        c[which].assign(memory.begin(), memory.end());
    }

    Buffer<unsigned> verdicts_;
};

template <class Make>
Rows rows(std::int64_t count, std::int64_t k, std::uint64_t seed, Make make) {
    Random random(seed);
    Rows x(count, k);
    x.fill([&](auto row, auto p) { return make(random, row, p); });
    return x;
}
Rows normal(std::int64_t count, std::int64_t k, std::uint64_t seed) {
    return rows(count, k, seed, [](Random& r, auto, auto) { return r.normal(); });
}
/// Normal numbers, graded along k: the first is 2^grade times as large as the last.
Rows graded(std::int64_t count, std::int64_t k, std::uint64_t seed, double grade) {
    return rows(count, k, seed, [=](Random& r, auto, auto p) {
        const double part = static_cast<double>(p) / static_cast<double>(k);
        return std::ldexp(r.normal(), static_cast<int>(std::lround(-grade * part)));
    });
}

TEST(GemmSplit, AllExtents) {
    std::uint64_t seed = 1;
    for (const std::array<int, 3> shape : {std::array{1, 1, 1},
                                           {1, 1, 8},
                                           {3, 5, 7},
                                           {31, 33, 63},
                                           {32, 32, 64},
                                           {33, 31, 65},
                                           {64, 64, 512},
                                           {65, 97, 513},
                                           {40, 70, 1025},
                                           {2, 130, 1600}}) {
        Product product(normal(shape[0], shape[2], seed), normal(shape[1], shape[2], seed + 1));
        product.run();
        EXPECT_TRUE(product.good(fp16x2)) << shape[0] << " x " << shape[1] << " x " << shape[2];
        EXPECT_EQ(product.verdict(), gemm_has_low);
        seed += 2;
    }
}

TEST(GemmSplit, OneLargerProduct) {
    Product product(normal(200, 1500, 3), normal(190, 1500, 4));
    product.run();
    EXPECT_TRUE(product.good(fp16x2));
}

TEST(GemmSplit, AllWaysToLieInMemory) {
    for (const PlanesLayout& a : planes_layouts) {
        Product product(normal(35, 530, 5), normal(37, 530, 6), a, a);
        product.alpha = -1.5f;
        product.beta = 0.75f;
        product.run();
        EXPECT_TRUE(product.good(fp16x2)) << a;
    }
    for (const auto& strides : {std::array<std::int64_t, 2>{1, 50}, {3, 200}, {90, 2}, {60, 1}}) {
        Product product(normal(35, 100, 7), normal(37, 100, 8));
        product.c_row_stride = strides[0];
        product.c_column_stride = strides[1];
        product.beta = 1;
        product.run();
        EXPECT_TRUE(product.good(fp16x2)) << strides[0] << ", " << strides[1];
    }
}

TEST(GemmSplit, BetaZeroDoesNotReadC) {
    for (const float beta : {0.0f, -0.0f})
        for (const int k : {40, 600}) {
            Product product(normal(33, k, 9), normal(40, k, 10));
            product.c0.fill([](auto, auto) { return std::nan(""); });
            product.beta = beta;
            product.run();
            EXPECT_TRUE(product.good(fp16x2));
        }
}

TEST(GemmSplit, OneProductWhereHighPartsSuffice) {
    // Integers: each part and each sum is exact.
    const auto integers = [](int count, int k, std::uint64_t seed) {
        return rows(count, k, seed, [](Random& r, auto, auto) { return r.integer(-31, 31); });
    };
    for (const int k : {5, 64, 700}) {
        Product product(integers(40, k, 11), integers(50, k, 12));
        product.c0 = integers(40, 50, 13);
        product.alpha = 2;
        product.beta = -3;
        product.run();
        ASSERT_TRUE(product.good(fp16x2));
        EXPECT_EQ(product.verdict(), 0u);
        int wrong = 0;
        for (int i = 0; i < 40; ++i)
            for (int j = 0; j < 50; ++j) {
                float sum = 0;
                for (int p = 0; p < k; ++p)
                    sum += product.a.values()(i, p) * product.b.values()(j, p);
                wrong += product.result(fp16x2, i, j) != 2 * sum - 3 * product.c0(i, j) ? 1 : 0;
            }
        EXPECT_EQ(wrong, 0);
    }
}

TEST(GemmSplit, LowPartsCount) {
    // 1 + 2^-12 has 13 bits; its square is off by 2^-11 without low parts, by 2^-24 without p1 p1.
    Product product(rows(1, 1, 1, [](Random&, auto, auto) { return 1 + 0x1p-12; }),
                    rows(1, 1, 1, [](Random&, auto, auto) { return 1 + 0x1p-12; }));
    product.run();
    EXPECT_EQ(product.verdict(), gemm_has_low);
    EXPECT_EQ(product.result(fp16x2, 0, 0), 1 + 0x1p-11f);
}

TEST(GemmSplit, GradedDataWithinFp16sRange) {
    for (const double grade : {16.0, 24.0, 28.0})
        for (const int k : {1024, 1500}) {
            Product product(graded(40, k, 14, grade), graded(40, k, 15, -grade));
            product.run();
            EXPECT_TRUE(product.good(fp16x2)) << grade << ", k " << k;
        }
    // More in all, no more in a group: each has a scale of its own.
    Product product(graded(40, 2048, 16, 42), graded(40, 2048, 17, -42));
    product.run();
    EXPECT_TRUE(product.good(fp16x2));
}

TEST(GemmSplit, GradedDataBeyondItGoToBf16) {
    // Without a distribution's tail, which might reach further down than bf16x3 allows.
    const auto flat = [](int count, int k, std::uint64_t seed, double grade) {
        return rows(count, k, seed, [=](Random& r, auto, auto p) {
            const double down = std::floor(grade * static_cast<double>(p) / k);
            const double size = std::ldexp(1 + r.uniform(), static_cast<int>(-down));
            return r.integer(0, 1) == 0 ? size : -size;
        });
    };
    for (const auto& [grade, k] : {std::pair{40.0, 256}, {44.0, 300}, {46.0, 200}, {56.0, 1024}}) {
        Product product(flat(40, k, 18, grade), flat(35, k, 19, -grade));
        product.alpha = 0.5f;
        product.beta = 1;
        product.run();
        EXPECT_TRUE(product.good(bf16x3)) << grade << ", k " << k;
        EXPECT_TRUE(product.verdict() & gemm_wide);
        EXPECT_FALSE(product.verdict() & gemm_strict);
    }
}

TEST(GemmSplit, EachProductOfBf16Counts) {
    // So short that a product left out would show: the bound for k up to 8 is 12 units.
    const auto far = [](Random& r, auto, auto p) {
        return std::ldexp(r.normal(), p == 0 ? 0 : -43);
    };
    for (const bool a_is_wide : {true, false}) {
        const Rows wide = rows(60, 2, 37, far), plain = normal(60, 2, 38);
        Product product(a_is_wide ? wide : plain, a_is_wide ? plain : wide);
        product.run();
        EXPECT_TRUE(product.good(bf16x3));
    }
}

TEST(GemmSplit, OneWideOperandTakesBoth) {
    Rows a = normal(33, 600, 20), b = normal(65, 600, 21);
    b(64, 599) = 0x1p-38f;
    Product product(a, b);
    product.run();
    EXPECT_TRUE(product.good(bf16x3));
    EXPECT_EQ(product.verdict(), gemm_has_low | gemm_wide);
}

TEST(GemmSplit, ScaledRowsAndColumns) {
    const auto scaled = [](int count, int k, std::uint64_t seed, int scale) {
        return rows(count, k, seed, [=](Random& r, auto row, auto) {
            return std::ldexp(r.normal(), row % 3 == 0 ? 0 : row % 3 == 1 ? scale : -scale);
        });
    };
    Product product(scaled(40, 1100, 22, 55), scaled(41, 1100, 23, 55));
    product.run();
    EXPECT_TRUE(product.good(fp16x2));
    Product far(scaled(40, 1100, 24, 100),
                rows(30, 1100, 25, [](Random& r, auto, auto) { return r.normal(); }));
    far.alpha = 0x1p-10f;
    far.run();
    EXPECT_TRUE(far.good(fp16x2));
}

TEST(GemmSplit, SubnormalOperandsAndResults) {
    for (const int scale : {-140, -130, -149}) {
        Product product(
            rows(33, 700, 26, [=](Random& r, auto, auto) { return std::ldexp(r.normal(), scale); }),
            normal(20, 700, 27));
        // Few bits are left, so that a result is off by its own rounding.
        product.run();
        EXPECT_TRUE(product.good(fp16x2)) << scale;
    }
    Product grown(
        rows(33, 700, 28, [](Random& r, auto, auto) { return std::ldexp(r.normal(), -145); }),
        rows(20, 700, 29, [](Random& r, auto, auto) { return std::ldexp(r.normal(), 120); }));
    grown.run();
    EXPECT_TRUE(grown.good(fp16x2));
}

TEST(GemmSplit, ZeroRowsAndZeroGroups) {
    Rows a = normal(40, 1600, 30), b = normal(40, 1600, 31);
    for (int p = 0; p < 1600; ++p) {
        a(3, p) = b(5, p) = 0;
        if (p < 512) a(7, p) = b(8, p) = 0;
        if (p >= 512 && p < 1024) a(9, p) = std::ldexp(b(9, p), 30);
        if (p >= 512) a(11, p) = 0;
        if (p >= 512 && p < 1536) b(12, p) = 0;
    }
    Product product(a, b);
    product.beta = 2;
    product.run();
    EXPECT_TRUE(product.good(fp16x2));
    for (int j = 0; j < 40; ++j) EXPECT_EQ(product.result(fp16x2, 3, j), 2 * product.c0(3, j));
}

TEST(GemmSplit, NothingIsDoneWhereStrictIsMeant) {
    Rows far = normal(40, 600, 32), nan = normal(40, 600, 32);
    far(39, 3) = std::ldexp(far(39, 3), -60);
    nan(39, 599) = std::nanf("");
    for (const Rows& a : {far, nan}) {
        Product product(a, normal(10, 600, 33));
        product.run();
        EXPECT_TRUE(product.idle(fp16x2));
        EXPECT_TRUE(product.idle(bf16x3));
        EXPECT_TRUE(product.verdict() & gemm_strict);
    }
    // One operand wide, the other strict.
    far = normal(40, 600, 34);
    far(0, 0) = 0x1p-40f;
    Product product(nan, far);
    product.run();
    EXPECT_TRUE(product.idle(fp16x2));
    EXPECT_TRUE(product.idle(bf16x3));
    EXPECT_EQ(product.verdict() & (gemm_wide | gemm_strict), gemm_wide | gemm_strict);
}

TEST(GemmSplit, SameBitsEachTime) {
    Product product(normal(70, 1100, 35), normal(90, 1100, 36));
    product.run();
    const std::vector<float> once = product.c[0];
    for (unsigned schedule = 0; schedule < (emulated ? 4 : 20); ++schedule) {
#if TINYBLAS_EMULATED
        device::set_schedule(schedule);
#endif
        product.a.forget();
        product.b.forget();
        product.run();
        EXPECT_TRUE(product.good(fp16x2));
        EXPECT_EQ(std::memcmp(product.c[0].data(), once.data(), once.size() * sizeof(float)), 0);
    }
#if TINYBLAS_EMULATED
    device::set_schedule(0);
#endif
}

}  // namespace
}  // namespace tinyblas::test
