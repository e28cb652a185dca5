// SPDX-License-Identifier: MIT
// A C of many rows or columns as a batch of slabs, or all of C as one: which products are made so,
// by which kernels, however operands and C lie, with and without rows or columns that are left.
#include <gmock/gmock.h>

#include <set>
#include <utility>

#include "gemm_batched.hpp"
#include "gemm_call.hpp"
#include "gemm_problem.hpp"
#include "kernels/gemm/batched_plan.hpp"
#include "needs_90.hpp"

namespace tinyblas::test {
namespace {

class SmallGemmSlabs : public testing::Test {
  protected:
    GemmCall<float> call_of(GemmProblem<float>& p) {
        return prepare_gemm<float>(context, p.alpha, p.a.device(), p.b.device(), p.beta,
                                   p.c.device(), {});
    }
    GemmSlabsPlan plan_of(GemmProblem<float>& p) { return call_of(p).plans.slabs; }

    /// By what gemm plans, if it would choose that or not; the plan.
    GemmSlabsPlan run(GemmProblem<float>& p) {
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        const GemmCall<float> call = call_of(p);
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
    for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>(33, 20), {5, 14}, {65, 16}})
        for (const std::int64_t m : {4096, 4097, 4799, 4800})
            for (const bool by_columns : {false, true}) {
                const Shape shape = by_columns ? Shape{n, m, k} : Shape{m, n, k};
                GemmProblem<float> p(shape, static_cast<std::uint64_t>(m + n));
                p.beta = m % 2 == 0 ? 0.0f : 2.0f;
                p.fill_integers();
                const GemmSlabsPlan plan = run(p);
                if (plan.batch.route == GemmBatchRoute::skinny ||
                    plan.batch.route == GemmBatchRoute::outer) {  // that take all at once
                    EXPECT_EQ(plan.size, call_of(p).c.rows) << p;
                } else {
                    EXPECT_EQ(plan.size % 16, 0) << p;
                    EXPECT_EQ(plan.by_columns, by_columns) << p;
                }
                routes.insert(plan.batch.route);
                ASSERT_TRUE(exact(p));
            }
    EXPECT_TRUE(routes.contains(GemmBatchRoute::pieces));
    EXPECT_TRUE(routes.contains(GemmBatchRoute::skinny));
}

// Slabs of 48 rows, or columns, which are too few to be chosen; the rows that they leave are a
// product of their own.
TEST_F(SmallGemmSlabs, RowsThatAreLeft) {
    for (const std::int64_t m : {96, 97, 143, 144})
        for (const bool by_columns : {false, true}) {
            const Shape shape = by_columns ? Shape{33, m, 20} : Shape{m, 33, 20};
            GemmProblem<float> p(shape, static_cast<std::uint64_t>(m));
            p.beta = m % 2 == 0 ? 0.0f : 2.0f;
            p.fill_integers();
            for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
            GemmSlabsPlan plan;
            plan.size = 48;
            plan.by_columns = by_columns;
            plan.batch = gemm_batch_tile(3);
            plan.fits = true;
            enqueue_gemm_slabs(context, call_of(p), plan);
            for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
            EXPECT_TRUE(exact(p));
        }
}

// Operands whose neighbours lie apart are for batched_outer.cuh alone.
TEST_F(SmallGemmSlabs, OneSlabHoweverLinesLie) {
    const auto has_lines = [](Operand<float>& x) {
        const auto view = x.device();
        return view.row_stride == 1 || view.column_stride == 1;
    };
    int number = 0;
    std::set<GemmBatchRoute> routes;
    for (int a = 0; a < input_storages; ++a)
        for (const int b : {a, (a + 5) % input_storages}) {
            const Shape shape = {2 + number * 37 % 150, 2 + number * 53 % 140, 40 + number % 9};
            GemmProblem<float> p(shape, 770 + static_cast<std::uint64_t>(number), storages[a],
                                 storages[b], storages[number % output_storages]);
            p.beta = static_cast<float>(number++ % 3 - 1);
            p.fill_integers();
            for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
            const GemmSlabsPlan plan = run(p);
            if (!has_lines(p.a) || !has_lines(p.b)) {
                EXPECT_EQ(plan.batch.route, GemmBatchRoute::outer) << p;
            }
            routes.insert(plan.batch.route);
            EXPECT_EQ(plan.size, call_of(p).c.rows) << p;
            ASSERT_TRUE(exact(p));
        }
    EXPECT_EQ(routes,
              (std::set{GemmBatchRoute::skinny, GemmBatchRoute::outer, GemmBatchRoute::elements}));
}

// Where others cut k, to be as exact as cuBLAS, one chain will not do; those of threads that
// share k will, or a chain for each four k.
TEST_F(SmallGemmSlabs, OneSlabOfOneChain) {
    const auto plan = [&](Shape shape, int a) {
        GemmProblem<float> p(shape, 1, storages[a]);
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        return plan_of(p);
    };
    const auto fits = [&](Shape shape, int a) {
        return plan(shape, a).fits && !plan(shape, a).stream_k.fits();
    };
    const auto in_fours = [&](Shape shape, int a) {
        const GemmBatchPlan made = plan(shape, a).batch;
        EXPECT_EQ(made.route, GemmBatchRoute::outer);
        return made.entry == 1;
    };
    EXPECT_TRUE(fits({3000, 2900, 256}, 0));
    EXPECT_FALSE(fits({3000, 2900, 257}, 0));
    EXPECT_TRUE(in_fours({100, 90, 40}, 0));
    EXPECT_TRUE(in_fours({3000, 2900, 16}, 0));
    EXPECT_FALSE(in_fours({3000, 2900, 16}, 1));
    EXPECT_TRUE(in_fours({3000, 2900, 6}, 0));
    EXPECT_FALSE(in_fours({3000, 2900, 5}, 0));
    EXPECT_TRUE(fits({100, 90, 41}, 0));
    EXPECT_TRUE(fits({100, 90, 40}, 1));  // neither A nor B lies along k
    EXPECT_TRUE(fits({300, 9, 40}, 0));
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
                              Shape{1 << 20, 401, 257}, Shape{1 << 20, 33, 513}})
        EXPECT_NE(told(shape).choice.kernel, batched) << shape.m << " " << shape.n;
    const auto words = testing::ContainsRegex(
        "a batch of slabs of [0-9]+ (rows|columns) is "
        "estimated at .* us .tuned: ");
    EXPECT_THAT(told({1 << 20, 33, 33}).reason, words);
    EXPECT_THAT(told({1 << 20, 33, 33}).reason, testing::HasSubstr(" rows "));
    EXPECT_THAT(told({1 << 20, 33, 33}, true).reason, testing::HasSubstr(" columns "));
    for (const bool by_column : {false, true}) {
        EXPECT_THAT(told({450, 1049, 67}, by_column).reason,
                    testing::HasSubstr("a batch of one is estimated at "));
        EXPECT_NE(told({448, 1048, 64}, by_column).choice.kernel, batched);
    }
}

// A plan that is remembered is that of a C that lies so.
TEST_F(SmallGemmSlabs, AsEachCLies) {
    for (const int c : {0, 2, 5, 0, 1, 2}) {
        GemmProblem<float> p({10'656, 35, 35}, 780, storages[0], storages[0], storages[c]);
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
