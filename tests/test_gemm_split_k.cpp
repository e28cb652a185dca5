// SPDX-License-Identifier: MIT
// Split-k: which products are made so, in how many parts, however operands and C lie, to the end
// and no further, in the order that is promised, with and without memory for it.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "gemm_call.hpp"
#include "gemm_problem.hpp"
#include "gemm_slabs.hpp"
#include "kernels/gemm/split_k_plan.hpp"
#include "needs_90.hpp"

namespace tinyblas::test {
namespace {

/// A part's sums, in chains that are added up in the order of k.
float sum_of_part(const MatrixView<float>& a, const MatrixView<float>& b, std::int64_t i,
                  std::int64_t j, std::int64_t from, std::int64_t to, std::int64_t chain) {
    float all = 0, sum = 0;
    for (std::int64_t q = from; q < to; ++q) {
        // The first chain and its first step take what is not whole.
        if (q > from && (to - q) % (8 * chain) == 0) all += std::exchange(sum, 0.0f);
        sum = std::fma(a(i, q), b(q, j), sum);
    }
    return all + sum;
}

/// alpha times the sum of parts, one after the other, + beta C, bit for bit: what up to eight parts
/// are of a small C.
testing::AssertionResult in_parts(GemmProblem<float>& p, const GemmSplitKPlan& plan) {
    const MatrixView<float> a = p.a.before(), b = p.b.before(), c = p.c.before();
    return judge(p, "the sum of parts", [&](auto i, auto j, float x) {
        float all = 0;
        for (std::int64_t q = 0; q < a.columns; q += plan.k) {
            const std::int64_t to = std::min(a.columns, q + plan.k);
            const float part = sum_of_part(a, b, i, j, q, to, plan.of_chain);
            all = q == 0 ? part : all + part;
        }
        const float value = p.alpha * all;
        return same(x, p.beta == 0 ? value : std::fma(p.beta, c(i, j), value));
    });
}

class SmallGemmSplitK : public testing::Test {
  protected:
    GemmCall<float> call_of(GemmProblem<float>& p) {
        return prepare_gemm<float>(context, p.alpha, p.a.device(), p.b.device(), p.beta,
                                   p.c.device(), {});
    }
    /// In so many parts, if gemm would choose that or not, in each entry's tiles in turn.
    GemmSplitKPlan run(GemmProblem<float>& p, int parts, int number) {
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        GemmSlabsPlan plan = {p.c.before().rows, false, {}, 1, true};
        plan.split_k = split_k_into(number % split_k_entries, parts, p.a.before().columns);
        EXPECT_EQ(plan.split_k.parts, parts) << p;
        enqueue_gemm_slabs(context, call_of(p), plan);
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
        return plan.split_k;
    }

    Context context;
};

// The last part has up to 8 k less, or is much shorter.
TEST_F(SmallGemmSplitK, HoweverOperandsLie) {
    int number = 0;
    for (int a = 0; a < input_storages; ++a)
        for (const int b : {a, (a + 5) % input_storages}) {
            const std::int64_t parts = 2 + number % 4;
            const std::int64_t of_part = 8 * (2 + number % 20);
            GemmProblem<float> p(
                {2 + number * 37 % 150, 2 + number * 53 % 140, parts * of_part - number % 9},
                800 + static_cast<std::uint64_t>(number), storages[a], storages[b],
                storages[number % output_storages]);
            constexpr float alphas[] = {1, -2, 3};
            p.alpha = alphas[number % 3];
            p.beta = static_cast<float>(number / 3 % 3 - 1);
            p.fill_integers();
            run(p, static_cast<int>(parts), number);
            ASSERT_TRUE(exact(p));
            ++number;
        }
}

// As many as one to eight warps share, of a C to the end of what a block adds up and beyond.
TEST_F(SmallGemmSplitK, InPartsOfEveryNumber) {
    int number = 0;
    const auto check = [&](std::int64_t m, std::int64_t n, int parts) {
        GemmProblem<float> p({m, n, 8 * parts - number % 8},
                             850 + static_cast<std::uint64_t>(number));
        p.beta = number % 2 == 0 ? 0.0f : 2.0f;
        p.fill_integers();
        run(p, parts, number);
        ASSERT_TRUE(exact(p));
        ++number;
    };
    for (const auto& [m, n] :
         {std::pair<std::int64_t, std::int64_t>(1, 1), {5, 3}, {32, 32}, {33, 31}, {130, 129}})
        for (const int parts : {2, 3, 4, 5, 8, 9, 16, 17, 33, 64}) check(m, n, parts);
    for (const int parts : {2, 4, 5}) check(601, 467, parts);  // a warp has all parts
}

TEST_F(SmallGemmSplitK, EachPartIsMadeOfChains) {
    int number = 0;
    for (const auto& [k, parts] :
         {std::pair<std::int64_t, int>(96, 2), {300, 4}, {1000, 3}, {611, 2}, {1277, 8}}) {
        GemmProblem<float> p({70, 67, k}, 900 + static_cast<std::uint64_t>(k));
        p.alpha = 0.7f;
        p.beta = number % 2 == 0 ? 0.0f : -0.3f;
        p.fill([](Random& r) { return 2 * r.uniform() - 1; });
        const GemmSplitKPlan plan = run(p, parts, number++);
        EXPECT_LE(plan.of_chain, split_k_longest_chain);
        EXPECT_TRUE(in_parts(p, plan));
    }
}

// Parts know no alpha: infinity times their sums, not the sum of infinities. C is not read.
TEST_F(SmallGemmSplitK, WithAnInfiniteAlpha) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    GemmProblem<float> p({3, 2, 17}, 880);
    p.alpha = infinity;
    p.a.fill([] { return 1.0f; });
    for (int q = 8; q < 17; ++q) p.a.before()(1, q) = -1;
    p.b.fill([] { return 1.0f; });
    p.c.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
    run(p, 3, 0);
    for (int j = 0; j < 2; ++j) {
        EXPECT_EQ(p.c.after()(0, j), infinity);
        EXPECT_EQ(p.c.after()(1, j), -infinity);
        EXPECT_EQ(p.c.after()(2, j), infinity);
    }
}

// As gemm chooses, with and without memory for all parts.
TEST_F(SmallGemmSplitK, WhereThereIsRoom) {
    GemmProblem<float> p({246, 35, 2613}, 890);
    p.fill([](Random& r) { return 2 * r.uniform() - 1; });
    const auto plan_of = [&] { return call_of(p).plans.slabs.split_k; };
    EXPECT_EQ(p.run(context).kernel, GemmKernel::batched);
    EXPECT_TRUE(close(p));
    const int parts = plan_of().parts;
    ASSERT_GT(parts, 4);
    for (const int room : {parts, parts - 1, 4, 1}) {
        const std::int64_t of_part = split_k_apart(246, 35);
        Matrix<float> memory(1, room * of_part);
        context.set_scratch(memory.view().data,
                            static_cast<std::size_t>(room * of_part) * sizeof(float));
        EXPECT_EQ(plan_of().parts == parts, room == parts);
        EXPECT_LE(plan_of().parts, room == 1 ? 0 : room);
        p.run(context);
        EXPECT_TRUE(close(p));
        context.set_scratch(nullptr, 0);
    }
}

TEST_F(SmallGemmSplitK, WhereThatIsEstimatedToBeFaster) {
    const auto told = [&](Shape s) {
        const auto view = [](std::uintptr_t address, std::int64_t rows, std::int64_t columns) {
            return MatrixView<float>::row_major(reinterpret_cast<float*>(address << 40), rows,
                                                columns);
        };
        return explain(context, 1.0f, view(1, s.m, s.k), view(2, s.k, s.n), 0.0f,
                       view(3, s.m, s.n));
    };
    EXPECT_EQ(told({246, 35, 2613}).choice.kernel, GemmKernel::batched);
    EXPECT_THAT(told({246, 35, 2613}).reason,
                testing::ContainsRegex("split-k, [0-9]+ parts which are added up, is estimated at "
                                       ".* us .tuned: "));
    for (const Shape shape : {Shape{1024, 1024, 1024}, Shape{128, 128, 65536}, Shape{246, 35, 90}})
        EXPECT_NE(told(shape).choice.kernel, GemmKernel::batched) << shape.m << " " << shape.n;
}

// However many parts and memory: none is empty, none longer than planned, none beyond its bounds.
TEST(SplitKPlan, PartsMakeAllOfK) {
    for (const std::int64_t k : {95, 96, 97, 640, 641, 1000, 5000, 40960, 40961, 1 << 30})
        for (const std::int64_t m : {1, 70, 3000})
            for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 20, SIZE_MAX}) {
                const GemmSplitKPlan plan = plan_gemm_split_k(m, 501, k, memory);
                if (plan.parts == 0) continue;
                EXPECT_GE(plan.parts, 2);
                EXPECT_LE(plan.parts, 64);
                EXPECT_LE(plan.k, 640);
                EXPECT_LT((plan.parts - 1) * plan.k, k);
                EXPECT_GE(plan.parts * plan.k, k);
                EXPECT_LE(static_cast<std::size_t>(plan.parts * split_k_apart(m, 501)) * 4, memory);
            }
    EXPECT_EQ(plan_gemm_split_k(70, 501, 95, SIZE_MAX).parts, 0);
    EXPECT_EQ(plan_gemm_split_k(70, 501, 40961, SIZE_MAX).parts, 0);
    EXPECT_GT(plan_gemm_split_k(70, 501, 2000, SIZE_MAX).parts, 0);
    EXPECT_EQ(plan_gemm_split_k(1 << 20, 1 << 20, 2000, SIZE_MAX).parts, 0);
    EXPECT_EQ(split_k_into(0, 3, 16).parts, 0);
}

}  // namespace
}  // namespace tinyblas::test
