// SPDX-License-Identifier: MIT
// A C of many rows or columns as a batch of slabs: which products are made so, by which kernels,
// however operands and C lie, with and without rows or columns that are left.
#include <gmock/gmock.h>

#include <set>
#include <utility>

#include "gemm_batched.hpp"
#include "gemm_call.hpp"
#include "gemm_problem.hpp"
#include "needs_90.hpp"

namespace tinyblas::test {
namespace {

class SmallGemmSlabs : public testing::Test {
  protected:
    /// By what gemm plans, if it would choose that or not; the plan.
    GemmSlabsPlan run(GemmProblem<float>& p) {
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        const GemmCall<float> call = prepare_gemm<float>(context, p.alpha, p.a.device(),
                                                         p.b.device(), p.beta, p.c.device(), {});
        const GemmSlabsPlan& plan = call.plans.slabs;
        EXPECT_TRUE(plan.fits) << p;
        if (plan.fits) enqueue_gemm_slabs(context, call, plan);
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
        return plan;
    }

    Context context;
};

TEST_F(SmallGemmSlabs, EveryRowIsMadeOnceHoweverOperandsLie) {
    std::set<GemmBatchRoute> routes;
    int number = 0;
    for (const Shape shape : {Shape{4300, 9, 13}, Shape{4416, 40, 21}, Shape{4100, 72, 8},
                              Shape{13, 4300, 9}, Shape{70, 4416, 24}})
        for (int a = 0; a < input_storages; ++a)
            for (const int b : {number % input_storages, (number + 5) % input_storages}) {
                GemmProblem<float> p(shape, 700 + static_cast<std::uint64_t>(number), storages[a],
                                     storages[b], storages[number % output_storages]);
                constexpr float alphas[] = {1, -2, 0.7f}, betas[] = {0, 1, -0.3f};
                p.alpha = alphas[number % 3];
                p.beta = betas[number / 3 % 3];
                ++number;
                p.fill([](Random& r) { return 2 * r.uniform() - 1; });
                routes.insert(run(p).batch.route);
                ASSERT_TRUE(close(p));  // of the rows that are left, k may be shared
            }
    EXPECT_GE(routes.size(), 2u);
}

// A and B are read, and C is written, to the end and no further; the rows that are left, too.
TEST_F(SmallGemmSlabs, WithAndWithoutRowsThatAreLeft) {
    std::set<GemmBatchRoute> routes;
    for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>(17, 17), {5, 30}, {65, 40}})
        for (const std::int64_t m : {4096, 4097, 4799, 4800})
            for (const bool by_columns : {false, true}) {
                const Shape shape = by_columns ? Shape{n, m, k} : Shape{m, n, k};
                GemmProblem<float> p(shape, static_cast<std::uint64_t>(m + n));
                p.beta = m % 2 == 0 ? 0.0f : 2.0f;
                p.fill_integers();
                const GemmSlabsPlan plan = run(p);
                EXPECT_EQ(plan.size % 16, 0) << p;
                EXPECT_EQ(plan.by_columns, by_columns) << p;
                routes.insert(plan.batch.route);
                ASSERT_TRUE(exact(p));
            }
    EXPECT_TRUE(routes.contains(GemmBatchRoute::pieces));
}

TEST_F(SmallGemmSlabs, WhereThatIsEstimatedToBeFaster) {
    const auto told = [&](Shape s, bool by_column = false) {
        const auto view = [](std::uintptr_t address, std::int64_t rows, std::int64_t columns) {
            return MatrixView<float>::row_major(reinterpret_cast<float*>(address << 40), rows,
                                                columns);
        };
        if (!by_column)
            return explain(context, 1.0f, view(1, s.m, s.k), view(2, s.k, s.n), 0.0f,
                           view(3, s.m, s.n));
        return explain(context, 1.0f, view(2, s.n, s.k).transposed().transposed(),
                       view(1, s.m, s.k).transposed(), 0.0f, view(3, s.m, s.n).transposed());
    };
    constexpr GemmKernel batched = GemmKernel::batched;
    for (const Shape shape :
         {Shape{1 << 20, 33, 33}, Shape{1 << 20, 128, 128}, Shape{408'171, 73, 73},
          Shape{100'000, 17, 17}, Shape{8192, 8192, 32}}) {
        EXPECT_EQ(told(shape).choice.kernel, batched) << shape.m << " " << shape.n;
        EXPECT_EQ(told(shape, true).choice.kernel, batched) << shape.m << " " << shape.n;
    }
    for (const Shape shape : {Shape{1 << 20, 32, 32}, Shape{100'000, 16, 16}, Shape{4095, 33, 33},
                              Shape{1 << 20, 401, 129}, Shape{1 << 20, 33, 513}})
        EXPECT_NE(told(shape).choice.kernel, batched) << shape.m << " " << shape.n;
    const auto words = testing::ContainsRegex(
        "a batch of slabs of [0-9]+ (rows|columns) is "
        "estimated at .* us .tuned: ");
    EXPECT_THAT(told({1 << 20, 33, 33}).reason, words);
    EXPECT_THAT(told({1 << 20, 33, 33}).reason, testing::HasSubstr(" rows "));
    EXPECT_THAT(told({1 << 20, 33, 33}, true).reason, testing::HasSubstr(" columns "));
}

// A plan that is remembered is that of a C that lies so.
TEST_F(SmallGemmSlabs, AsEachCLies) {
    for (const int c : {0, 2, 5, 0, 1, 2}) {
        GemmProblem<float> p({10'656, 82, 39}, 780, storages[0], storages[0], storages[c]);
        p.fill_integers();
        p.beta = 2;
        p.run(context);
        EXPECT_TRUE(exact(p));
    }
}

TEST_F(SmallGemmSlabs, AsGemmChooses) {
    for (const Shape shape : {Shape{9920, 33, 33}, Shape{10'656, 82, 39}, Shape{6000, 69, 65}}) {
        GemmProblem<float> p(shape, 790);
        p.fill([](Random& r) { return 2 * r.uniform() - 1; });
        EXPECT_EQ(p.run(context).kernel, GemmKernel::batched) << shape.m;
        EXPECT_TRUE(close(p));
    }
}

}  // namespace
}  // namespace tinyblas::test
