// SPDX-License-Identifier: MIT
// Precision::fp32 as a choice: who asks, where it pays, what the guard decides and explain tells,
// and how little scratch memory will do.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "accurate_gemm.hpp"

namespace tinyblas::test {
namespace {

using testing::HasSubstr;

// Names and defaults.

TEST(PrecisionNames, RoundTrip) {
    for (const Precision one : {Precision::fp32_strict, Precision::fp32})
        EXPECT_EQ(precision(to_string(one)), one);
    EXPECT_TRUE(refuses([] { precision("fp64"); }, {"fp64", "fp32_strict", "fp32"}));
    EXPECT_STREQ(to_string(static_cast<Precision>(7)), "unknown");
}

TEST(SmallPrecision, OfAContext) {
    Context context;
    EXPECT_EQ(context.precision(), Precision::fp32_strict);
    context.set_precision(Precision::fp32);
    EXPECT_EQ(context.precision(), Precision::fp32);
    EXPECT_TRUE(refuses([&] { context.set_precision(static_cast<Precision>(2)); },
                        {"precision is 2", "fp32_strict or fp32"}));
    EXPECT_EQ(context.precision(), Precision::fp32);
    Context moved = std::move(context);
    EXPECT_EQ(moved.precision(), Precision::fp32);
}

// The model.

TEST(PrecisionModel, ByExtents) {
    EXPECT_FALSE(gemm_fp32_pays(4096, 4096, gemm_costs.least_k - 1));
    EXPECT_TRUE(gemm_fp32_pays(4096, 4096, gemm_costs.least_k));
    EXPECT_FALSE(gemm_fp32_pays(1, 1, 256));
    EXPECT_FALSE(gemm_fp32_pays(32, 32, 256));
    for (const std::int64_t n : {1024, 2048, 4096, 8192, 16384})
        EXPECT_TRUE(gemm_fp32_pays(n, n, n)) << n;
    // Extents beyond all memory do no harm.
    constexpr std::int64_t vast = std::int64_t{1} << 34;
    EXPECT_TRUE(gemm_fp32_pays(vast, vast, vast));
    EXPECT_FALSE(gemm_fp32_pays(vast, vast, vast + 1));  // the strict kernel must be able to follow
}

/// What float gemm does on this device with Precision::fp32 where that pays.
GemmKernel accurate_rung(const Context& context) {
    if (emulated) return GemmKernel::split;
    return runs_hopper(context) ? GemmKernel::hopper : GemmKernel::tuned;
}

TEST(SmallPrecision, WhoDecides) {
    Context context;
    const GemmKernel accurate = accurate_rung(context);
    const auto ran = [&](Shape shape, GemmOptions options) {
        GemmProblem<float> p(shape, 100);
        p.fill_integers();
        const GemmKernel told = explain(p, context, options).choice.kernel;
        if (shape.m > 100) return told;  // FallsBackToStrict runs one
        const GemmChoice choice = p.run(context, options);
        EXPECT_EQ(choice.kernel, told);
        EXPECT_TRUE(close(p));
        return choice.kernel;
    };
    const auto is_strict = [](GemmKernel kernel) {
        return kernel > GemmKernel::best && kernel < GemmKernel::split;
    };
    const Shape pays = paying_shape();
    EXPECT_TRUE(is_strict(ran(pays, {})));
    EXPECT_EQ(ran(pays, {.precision = Precision::fp32}), accurate);
    context.set_precision(Precision::fp32);
    EXPECT_EQ(ran(pays, {}), accurate);
    EXPECT_TRUE(is_strict(ran(pays, {.precision = Precision::fp32_strict})));
    EXPECT_TRUE(is_strict(ran({64, 64, 64}, {})));
    EXPECT_EQ(ran({1, 1, 300}, {}), GemmKernel::gemv);
    // A rung or an entry asked for by name goes first.
    EXPECT_EQ(ran(pays, {.kernel = GemmKernel::tiled}), GemmKernel::tiled);
    EXPECT_EQ(ran(pays, {.kernel = GemmKernel::tuned}), GemmKernel::tuned);
    EXPECT_EQ(ran(pays, {.entry = 2}), GemmKernel::tuned);
    if (runs_split(context)) {
        EXPECT_EQ(
            ran({5, 6, 7}, {.kernel = GemmKernel::split, .precision = Precision::fp32_strict}),
            GemmKernel::split);
    }
    GemmProblem<double> wide({64, 64, 512}, 101);
    wide.fill(normal);
    EXPECT_TRUE(strict(wide, wide.run(context)));
}

// explain.

TEST(SmallExplain, WhyStrict) {
    Context context;
    const auto reason = [&](Shape shape, GemmOptions options, float alpha = 1, float beta = 2) {
        GemmProblem<float> p(shape, 200);
        p.fill_integers();
        p.alpha = alpha;
        p.beta = beta;
        const GemmExplanation explanation = explain(p, context, options);
        EXPECT_EQ(explanation.verdict, GemmVerdict::none);
        if (shape.m < 100) {
            EXPECT_EQ(explanation.choice.kernel, p.run(context, options).kernel);
        }
        return explanation.reason;
    };
    const GemmOptions fp32 = {.precision = Precision::fp32};
    EXPECT_THAT(reason({5, 6, 300}, {}),
                testing::MatchesRegex("strict: the precision is fp32_strict; the rung .* is "
                                      "estimated at .* us.*"));
    EXPECT_THAT(reason({5, 1, 300}, {}), HasSubstr("the rung gemv: c is a row or a column"));
    EXPECT_EQ(reason({5, 6, 300}, {.kernel = GemmKernel::naive}),
              "strict: the options ask for this rung");
    EXPECT_EQ(reason({5, 6, 300}, {.entry = 2, .precision = Precision::fp32}),
              "strict: the options ask for this rung");
    for (const GemmKernel kernel : {GemmKernel::best, split_or_best(context)}) {
        const GemmOptions options = {.kernel = kernel, .precision = Precision::fp32};
        EXPECT_EQ(reason({5, 6, 0}, options), "strict: alpha or k is 0, so that C = beta C");
        EXPECT_EQ(reason({5, 6, 300}, options, 0), "strict: alpha or k is 0, so that C = beta C");
        EXPECT_EQ(reason({5, 6, 300}, options, 0, 1),
                  "nothing: c has no elements, or stays as it is");
        EXPECT_EQ(reason({0, 6, 300}, options), "nothing: c has no elements, or stays as it is");
    }
    if (accurate_rung(context) == GemmKernel::tuned) {
        EXPECT_THAT(reason(paying_shape(), fp32), HasSubstr("compute capability 9.0"));
        return;
    }
    EXPECT_THAT(reason({64, 64, 255}, fp32), HasSubstr("strict: k = 255 is below 256; the rung"));
    EXPECT_THAT(reason({5, 6, 300}, fp32),
                testing::MatchesRegex("strict: .* is estimated at .* us.*, from parts at .* us"));
}

TEST(SmallExplain, Precision) {
    Context context;
    GemmProblem<float> p({3, 4, 5}, 201);
    p.fill_integers();
    EXPECT_EQ(explain(p, context, {}).precision, Precision::fp32_strict);
    EXPECT_EQ(explain(p, context, {.precision = Precision::fp32}).precision, Precision::fp32);
    context.set_precision(Precision::fp32);
    EXPECT_EQ(explain(p, context, {}).precision, Precision::fp32);
}

TEST(SmallExplain, ChecksAsGemmDoes) {
    Context context;
    GemmProblem<float> p({4, 6, 5}, 202);
    MatrixView<float> a = p.a.device(), b = p.b.device(), c = p.c.device();
    const auto refused = [&](std::initializer_list<std::string> words, GemmOptions options = {}) {
        EXPECT_TRUE(refuses([&] { explain(context, 1, a, b, 0, c, options); }, words));
    };
    refused({"gemm: options.kernel is " + std::to_string(static_cast<int>(GemmKernel::none))},
            {.kernel = GemmKernel::none});
    a.data = nullptr;
    refused({"gemm: a is null"});
    b.rows = 7;
    refused({"gemm: b has 7 rows"});
}

TEST(GemmVerdictNames, AreDistinct) {
    const std::array all = {GemmVerdict::none, GemmVerdict::one_product,
                            GemmVerdict::three_products, GemmVerdict::six_products,
                            GemmVerdict::strict};
    for (const GemmVerdict one : all)
        for (const GemmVerdict other : all)
            EXPECT_EQ(one == other, std::string(to_string(one)) == to_string(other));
}

// The guard.

class SmallGemmGuard : public AccurateRungs {
  protected:
    /// explain's verdict, while gemm gives what that promises.
    GemmExplanation judged(GemmProblem<float>& p) {
        GemmExplanation explanation = explain(p, context, options);
        EXPECT_EQ(explanation.choice.kernel, GetParam());
        p.run(context, options);
        EXPECT_TRUE(explanation.verdict == GemmVerdict::strict ? chained(p) : close(p));
        return explanation;
    }
};
TINYBLAS_FOR_EACH_ACCURATE_RUNG(SmallGemmGuard);

TEST_P(SmallGemmGuard, OneProduct) {
    GemmProblem<float> p({70, 66, 600}, 300);
    p.fill([](Random& r) { return r.integer(-2047, 2047) * 0x1p-60; });  // 11 bits
    EXPECT_EQ(judged(p).verdict, GemmVerdict::one_product);
    p.b.before()(599, 65) = 2049;                       // 12 bits
    EXPECT_EQ(judged(p).verdict, GemmVerdict::strict);  // 2^71 above its neighbours
    p.b.before()(599, 65) = 2049 * 0x1p-60f;
    const GemmExplanation explanation = judged(p);
    EXPECT_EQ(explanation.verdict, GemmVerdict::three_products);
    EXPECT_THAT(explanation.reason, HasSubstr("three products of two fp16 parts"));
    EXPECT_THAT(explanation.reason, HasSubstr("2^28"));
}

// Data graded along k, by so many powers of two in all.
TEST_P(SmallGemmGuard, GradedData) {
    for (const auto& [span, verdict] : {std::pair{16, GemmVerdict::three_products},
                                        {30, GemmVerdict::six_products},
                                        {90, GemmVerdict::strict}}) {
        GemmProblem<float> p({66, 65, 256}, 310);
        fill_graded(p, span);
        EXPECT_EQ(judged(p).verdict, verdict) << span;
    }
    // Where groups have scales of their own, as much again will do.
    GemmProblem<float> p({66, 65, 1024}, 311);
    fill_graded(p, 40);
    EXPECT_EQ(judged(p).verdict, GemmVerdict::three_products);
}

/// Elements of 1 to 2, but for `count` in a row of A or column of B that are 2^-spread.
GemmProblem<float> with_small(bool in_a, int spread, int count, std::int64_t k = 300) {
    GemmProblem<float> p({70, 66, k}, 320);
    p.fill([](Random& r) { return 1 + r.uniform(); });
    for (int e = 0; e < count; ++e)
        (in_a ? p.a.before()(33, 7 * e) : p.b.before()(7 * e, 65)) = std::ldexp(1.0f, -spread);
    return p;
}

// The decision at its thresholds.
TEST_P(SmallGemmGuard, Thresholds) {
    struct Case {
        int spread, count;
        GemmVerdict verdict;
    };
    constexpr Case cases[] = {
        {gemm_fp16_spread, 40, GemmVerdict::three_products},
        {gemm_fp16_spread + 1, gemm_fp16_few, GemmVerdict::three_products},
        {gemm_fp16_spread + 1, gemm_fp16_few + 1, GemmVerdict::six_products},
        {gemm_fp16_most_spread, 1, GemmVerdict::three_products},
        {gemm_fp16_most_spread + 1, 1, GemmVerdict::six_products},
        {gemm_bf16_most_spread, 40, GemmVerdict::six_products},
        {gemm_bf16_most_spread + 1, 1, GemmVerdict::strict},
    };
    for (const bool in_a : {true, false})
        for (const Case& one : cases) {
            GemmProblem<float> p = with_small(in_a, one.spread, one.count);
            EXPECT_EQ(judged(p).verdict, one.verdict) << one.spread << ", " << one.count;
        }
}

// The same for the scales of a row's groups.
TEST_P(SmallGemmGuard, ThresholdsOfDrift) {
    for (const bool in_a : {true, false})
        for (const auto& [drift, verdict] :
             {std::pair{gemm_fp16_drift, GemmVerdict::three_products},
              {gemm_fp16_drift + 1, GemmVerdict::six_products},
              {gemm_bf16_drift, GemmVerdict::six_products},
              {gemm_bf16_drift + 1, GemmVerdict::strict}}) {
            GemmProblem<float> p({40, 36, 1536}, 330);
            p.fill([](Random& r) { return 1 + r.uniform(); });
            for (std::int64_t q = 512; q < 1024; ++q) {
                float& x = in_a ? p.a.before()(39, q) : p.b.before()(q, 35);
                x = std::ldexp(x, drift);
            }
            EXPECT_EQ(judged(p).verdict, verdict) << drift;
        }
}

// Names rows of A and columns of B, whichever way round C is written.
TEST_P(SmallGemmGuard, SaysWhere) {
    for (const Storage& c_storage : {storages[0], storages[1]})
        for (const bool in_a : {true, false}) {
            GemmProblem<float> p({70, 66, 80}, 340, storages[0], storages[0], c_storage);
            p.fill(normal);
            (in_a ? p.a.before()(40, 3) : p.b.before()(3, 65)) = 0x1p-38f;
            EXPECT_THAT(
                judged(p).reason,
                HasSubstr(in_a ? "six products of three bf16 parts: rows 32 to 63 of A"
                               : "six products of three bf16 parts: columns 64 to 65 of B"));
            (in_a ? p.a.before()(69, 79) : p.b.before()(79, 33)) =
                std::numeric_limits<float>::quiet_NaN();
            EXPECT_THAT(judged(p).reason,
                        HasSubstr(in_a ? "strict: rows 64 to 69 of A have NaN"
                                       : "strict: columns 32 to 63 of B have NaN"));
        }
}

// One call after the other on one context: no verdict outlives its call.
TEST_P(SmallGemmGuard, NothingIsLeftOver) {
    const auto check = [&](auto spoil, GemmVerdict verdict) {
        GemmProblem<float> p({70, 66, 600}, 350);
        p.fill(normal);
        spoil(p.a.before());
        EXPECT_EQ(judged(p).verdict, verdict);
    };
    for (int repeat = 0; repeat < 2; ++repeat) {
        check([](auto a) { a(1, 2) = std::numeric_limits<float>::infinity(); },
              GemmVerdict::strict);
        check([](auto) {}, GemmVerdict::three_products);
        check([](auto a) { a(1, 2) = 0x1p-40f; }, GemmVerdict::six_products);
    }
}

// Scratch memory.

TEST(SmallScratchMemory, IsCheckedAndForgotten) {
    Context context;
    Matrix<std::byte> memory(1, 4096);
    void* const buffer = memory.view().data;
    EXPECT_TRUE(
        refuses([&] { context.set_scratch(memory.view().data + 8, 100); }, {"multiple of 256"}));
    EXPECT_TRUE(refuses([&] { context.set_scratch(nullptr, 100); }, {"null", "100 bytes"}));
    context.set_scratch(buffer, 4096);
    EXPECT_EQ(context.scratch_limit(), 4096u);
    EXPECT_EQ(context.scratch(4096), buffer);
    EXPECT_TRUE(refuses([&] { context.scratch(4097); }, {"4097 bytes", "4096 were given"},
                        Status::out_of_memory));
    Context moved = std::move(context);
    EXPECT_EQ(moved.scratch(1), buffer);
    moved.set_scratch(nullptr, 0);
    EXPECT_NE(moved.scratch(1), buffer);
    EXPECT_NE(moved.scratch(8192), nullptr);
}

TEST(SmallScratchMemory, BytesByExtents) {
    EXPECT_EQ(gemm_scratch_bytes(5, 6, 0), 0u);
    EXPECT_EQ(gemm_scratch_bytes(5, 6, gemm_tuned_longest_k + 1), 0u);  // strict
    EXPECT_EQ(gemm_scratch_bytes(700, 300, 900), gemm_scratch_bytes(300, 700, 900));
    EXPECT_EQ(gemm_scratch_bytes(0, 6, 300), 0u);
    // Panels bound it.
    constexpr std::int64_t vast = std::int64_t{1} << 62;
    EXPECT_EQ(gemm_scratch_bytes(vast, vast, 600), gemm_scratch_bytes(vast / 2, vast / 4, 600));
    const auto elements = 2.0 * 8192 * 8192;
    EXPECT_NEAR(static_cast<double>(gemm_scratch_bytes(8192, 8192, 8192)), 6 * elements,
                0.5 * elements);
    for (const Shape s : {Shape{-1, 2, 3}, Shape{1, -2, 3}, Shape{1, 2, -3}})
        EXPECT_TRUE(refuses([&] { gemm_scratch_bytes(s.m, s.n, s.k); }, {"at least 0", "-"}));
}

class SmallScratch : public AccurateRungs {
  protected:
    static constexpr Shape shape = {200, 130, 700};
    GemmExplanation explained(GemmProblem<float>& p) { return explain(p, context, options); }
    static GemmProblem<float> problem(bool wide) {
        GemmProblem<float> p(shape, 400);
        p.fill(normal);
        if (wide) p.b.before()(3, 4) = 0x1p-40f;
        return p;
    }
    /// Whether `bytes` are enough for the rung at all.
    bool enough(std::size_t bytes) {
        context.set_scratch(buffer, bytes);
        GemmProblem<float> p = problem(false);
        try {
            explained(p);
            return true;
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::out_of_memory);
            EXPECT_THAT(error.what(), HasSubstr(std::to_string(bytes) + " were given"));
            EXPECT_THAT(error.what(), HasSubstr("the rung " + std::string(to_string(GetParam()))));
            return false;
        }
    }

    std::size_t full = gemm_scratch_bytes(shape.m, shape.n, shape.k);
    Matrix<std::byte> memory{1, static_cast<std::int64_t>(full)};
    void* const buffer = memory.view().data;
};
TINYBLAS_FOR_EACH_ACCURATE_RUNG(SmallScratch);

TEST_P(SmallScratch, Levels) {
    GemmProblem<float> narrow = problem(false), wide = problem(true);
    narrow.run(context, options);
    const auto expected = bits_after(narrow);
    wide.run(context, options);
    const auto expected_wide = bits_after(wide);

    context.set_scratch(buffer, full);
    narrow.run(context, options);
    EXPECT_EQ(bits_after(narrow), expected);
    wide.run(context, options);
    EXPECT_EQ(bits_after(wide), expected_wide);
    EXPECT_EQ(explained(wide).verdict, GemmVerdict::six_products);

    // The least that is enough for two parts.
    std::size_t less = 0, most = full;
    while (most - less > 256) {
        const std::size_t middle = (less + most) / 512 * 256;
        (enough(middle) ? most : less) = middle;
    }
    EXPECT_LT(static_cast<double>(most), 0.9 * static_cast<double>(full));
    EXPECT_FALSE(enough(most - 256));
    EXPECT_FALSE(enough(1));
    context.set_scratch(buffer, most);
    narrow.run(context, options);
    EXPECT_EQ(bits_after(narrow), expected);
    EXPECT_EQ(wide.run(context, options).kernel, GetParam());
    EXPECT_TRUE(chained(wide));
    const GemmExplanation explanation = explained(wide);
    EXPECT_EQ(explanation.verdict, GemmVerdict::strict);
    EXPECT_THAT(explanation.reason, HasSubstr("columns 0 to 31 of B span more"));
    EXPECT_THAT(explanation.reason, HasSubstr(std::to_string(most) + " were given"));
    EXPECT_TRUE(refuses(
        [&] {
            context.set_scratch(buffer, most - 256);
            narrow.run(context, options);
        },
        {"gemm: the rung", std::to_string(most) + " without", std::to_string(most - 256)},
        Status::out_of_memory));
}

// Free to choose, gemm makes do with less.
TEST(SmallScratchMemory, FallsBackToStrict) {
    Context context;
    context.set_precision(Precision::fp32);
    if (accurate_rung(context) == GemmKernel::tuned)
        GTEST_SKIP() << "this device has no rung for Precision::fp32";
    GemmProblem<float> p(paying_shape(), 410);
    p.fill(normal);
    Matrix<std::byte> memory(1, 4096);
    void* const buffer = memory.view().data;
    context.set_scratch(buffer, 4096);
    EXPECT_THAT(explain(p, context, {}).reason,
                HasSubstr("strict: 4096 bytes of scratch memory were given"));
    GemmProblem<float> strictly(paying_shape(), 410);
    strictly.fill(normal);
    strictly.run(context, {.precision = Precision::fp32_strict});
    EXPECT_NE(p.run(context).kernel, accurate_rung(context));
    EXPECT_TRUE(judge(p, "the strict product",
                      [&](auto i, auto j, float x) { return same(x, strictly.c.after()(i, j)); }));
    context.set_scratch(nullptr, 0);
    EXPECT_EQ(p.run(context).kernel, accurate_rung(context));
    EXPECT_TRUE(close(p));
}

// Nothing behind the memory that was given is touched.
TEST_P(SmallScratch, StaysInside) {
    const auto size = static_cast<std::int64_t>(full), guard = std::int64_t{1024};
    Matrix<std::byte> larger(1, size + guard), host(1, size + guard, Memory::pinned);
    for (const bool wide : {false, true}) {
        std::fill_n(&host(0, 0), size + guard, std::byte{0xab});
        copy(context, host, larger);
        context.set_scratch(larger.view().data, full);
        GemmProblem<float> p = problem(wide);
        p.run(context, options);
        EXPECT_TRUE(close(p));
        copy(context, larger, host);
        context.synchronize();
        const auto untouched = [](std::byte x) { return x == std::byte{0xab}; };
        EXPECT_TRUE(std::all_of(&host(0, size), &host(0, size) + guard, untouched));
        EXPECT_FALSE(std::all_of(&host(0, 0), &host(0, 0) + size, untouched));
    }
}

}  // namespace
}  // namespace tinyblas::test
