// SPDX-License-Identifier: MIT
// gemm's rung skinny: by every entry, however operands and C lie, one chain of multiply-adds an
// element; blocks that make several tiles, and tiles that C cuts; which products it takes.
#include <limits>
#include <utility>

#include "gemm_problem.hpp"
#include "gemm_skinny.hpp"
#include "kernels/gemm/skinny_plan.hpp"
#include "needs_90.hpp"

namespace tinyblas::test {
namespace {

constexpr GemmOptions skinny = {GemmKernel::skinny};

class SmallGemmSkinny : public testing::Test {
  protected:
    void expect_chain(Shape shape, int number, const Storage& a, const Storage& b,
                      const Storage& c) {
        GemmProblem<float> p(shape, 900 + static_cast<std::uint64_t>(number), a, b, c);
        constexpr float alphas[] = {1, -2, 0.7f}, betas[] = {0, 1, -0.3f};
        p.alpha = alphas[number % 3];
        p.beta = betas[number / 3 % 3];
        p.fill([](Random& r) { return 2 * r.uniform() - 1; });
        EXPECT_EQ(p.run(context, skinny).kernel, GemmKernel::skinny);
        EXPECT_TRUE(chained(p));
    }

    Context context;
};

TEST_F(SmallGemmSkinny, EveryStorage) {
    int number = 0;
    for (const Shape shape : {Shape{200, 12, 20}, Shape{20, 132, 33}, Shape{100, 52, 70}})
        for (int a = 0; a < input_storages; ++a)
            for (int b = 0; b < input_storages; ++b, ++number)
                expect_chain(shape, number, storages[a], storages[b],
                             storages[number % output_storages]);
}

TEST_F(SmallGemmSkinny, EveryEdge) {
    int number = 0;
    for (const std::int64_t columns : {1, 3, 15, 16, 17, 31, 32, 33, 63, 64})
        for (const std::int64_t k : {1, 4, 15, 16, 17, 32, 33, 64, 127, 128}) {
            const std::int64_t rows = columns + 13 * (number % 9);
            expect_chain({rows, columns, k}, number, storages[number % 2], storages[0],
                         storages[number / 2 % 2]);
            expect_chain({columns, rows, k}, number, storages[0], storages[number % 2],
                         storages[number / 2 % 2]);
            ++number;
        }
}

// B fills shared memory, which then holds one block.
TEST_F(SmallGemmSkinny, LongK) {
    int number = 0;
    for (const std::int64_t columns : {3, 16, 17, 32})
        for (const std::int64_t k : {129, 311, 512}) {
            expect_chain({columns + 150, columns, k}, number, storages[number % 2],
                         storages[number / 2 % 2], storages[0]);
            ++number;
        }
}

using GemmSkinny = SmallGemmSkinny;

// More tiles than warps that work at once: stages are used again and again.
TEST_F(GemmSkinny, ManyTilesAWarp) {
    int number = 0;
    for (const auto& [shape, storage] : {std::pair(Shape{300'001, 3, 5}, storages[0]),
                                         {Shape{300'001, 3, 5}, storages[1]},
                                         {Shape{20, 150'004, 40}, storages[5]},
                                         {Shape{110'000, 33, 3}, storages[0]},
                                         {Shape{110'000, 33, 3}, storages[5]}}) {
        GemmProblem<float> p(shape, 950 + static_cast<std::uint64_t>(number++), storage,
                             storages[1], storage);
        p.fill_integers();
        p.alpha = 2;
        p.beta = -1;
        EXPECT_EQ(p.run(context, skinny).kernel, GemmKernel::skinny);
        EXPECT_TRUE(exact(p));
    }
}

// Zero rows of A or B beyond k must not meet what lies there: NaN.
TEST_F(SmallGemmSkinny, WhatDoesNotExistDoesNotCount) {
    for (const std::int64_t k : {3, 18, 33, 65})
        for (const Storage& storage : {storages[0], storages[1], storages[5]}) {
            GemmProblem<float> p({70, 18, k}, 970, storage, storage, storage);
            p.fill_integers();
            EXPECT_EQ(p.run(context, skinny).kernel, GemmKernel::skinny);
            EXPECT_TRUE(exact(p));
        }
}

TEST_F(SmallGemmSkinny, BetaZeroDoesNotReadC) {
    for (const std::int64_t n : {9, 20, 60})
        for (const Storage& storage : {storages[0], storages[1], storages[5]}) {
            GemmProblem<float> p({100, n, 24}, 975, storages[0], storages[0], storage);
            p.fill_integers();
            p.c.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
            EXPECT_EQ(p.run(context, skinny).kernel, GemmKernel::skinny);
            EXPECT_TRUE(exact(p));
        }
}

TEST_F(SmallGemmSkinny, OthersAreRefused) {
    for (const Shape shape : {Shape{65, 65, 8}, Shape{500, 8, 513}, Shape{500, 33, 129}}) {
        GemmProblem<float> p(shape, 980);
        EXPECT_TRUE(refuses(
            [&] { p.run(context, skinny); },
            {"options.kernel is skinny", std::to_string(shape.m) + " x " + std::to_string(shape.n) +
                                             " x " + std::to_string(shape.k)}));
    }
}

TEST(SmallGemmSkinnyPlan, TakesNarrowProductsAlikeBothWays) {
    for (const std::int64_t n : {1, 16, 17, 32, 33, 64})
        for (const std::int64_t m : {64, 100, 4096, 1 << 20})
            for (const std::int64_t k : {1, 32, 128}) {
                const GemmSkinnyPlan tall = plan_gemm_skinny(m, n, k, {true, true});
                const GemmSkinnyPlan wide = plan_gemm_skinny(n, m, k, {true, true});
                ASSERT_TRUE(tall.fits && wide.fits);
                EXPECT_FALSE(tall.turned);
                EXPECT_EQ(wide.turned, n != m);
                EXPECT_EQ(tall.entry, wide.entry);
                EXPECT_GE(gemm_skinny_table[tall.entry].columns, n);
                EXPECT_EQ(tall.seconds, wide.seconds);
                EXPECT_GT(tall.seconds, 1e-6);
                for (const GemmSkinnyLayout slower :
                     {GemmSkinnyLayout{true, false}, GemmSkinnyLayout{true, true, false}})
                    EXPECT_GT(plan_gemm_skinny(m, n, k, slower).seconds, tall.seconds);
            }
    EXPECT_FALSE(plan_gemm_skinny(65, 65, 1, {true, true}).fits);
    EXPECT_FALSE(plan_gemm_skinny(100, 64, 129, {true, true}).fits);
    EXPECT_TRUE(plan_gemm_skinny(100, 32, 512, {true, true}).fits);
    EXPECT_FALSE(plan_gemm_skinny(100, 32, 513, {true, true}).fits);
    EXPECT_FALSE(plan_gemm_skinny((std::int64_t{1} << 35) + 1, 2, 1, {true, true}).fits);
}

/// How C lies does not count: it is supposed to lie as the operands do.
TEST(SmallGemmSkinnyPlan, SupposesHowCLies) {
    const auto seconds = [](std::int64_t of_a, std::int64_t of_b, std::int64_t of_c) {
        const MatrixView<const float> a{nullptr, 4096, 8, of_a, 1}, b{nullptr, 8, 12, of_b, 1};
        const MatrixView<float> c{nullptr, 4096, 12, of_c, 1};
        return plan_gemm_skinny(GemmCall<float>{1, a, b, 0, c}).seconds;
    };
    EXPECT_EQ(seconds(8, 12, 13), seconds(8, 12, 12));
    EXPECT_GT(seconds(8, 13, 12), seconds(8, 12, 12));
    EXPECT_EQ(seconds(8, 16, 12), seconds(8, 12, 12));
    EXPECT_GT(seconds(9, 13, 12), seconds(8, 13, 12));
}

}  // namespace
}  // namespace tinyblas::test
