// SPDX-License-Identifier: MIT
// Batches whose k is short: all shapes of a block's tile, wherever matrices lie and begin, each
// element one chain of multiply-adds, or one for each four k; nothing beside C is written.
#include <cmath>
#include <limits>
#include <set>

#include "batched_problem.hpp"
#include "gemm_batched.hpp"
#include "gemm_batched_outer.hpp"
#include "kernels/gemm/batched_plan.hpp"
#include "needs_90.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class SmallGemmBatchedOuter : public testing::Test {
  protected:
    void run(BatchProblem<T>& p, bool in_fours = false) {
        p.run(context, [&](T* const* pointers) {
            batched_outer_launcher<T>(in_fours)(context.stream(), p.batch(pointers));
        });
    }
    void check(BatchProblem<T>& p) {
        p.fill_normal();
        run(p);
        EXPECT_TRUE(chained(p)) << p;
    }

    Context context;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallGemmBatchedOuter, Types);

// One less, one more and the edge of tiles of every shape, with the last tile of a row and of a
// column; k around what a block has at once, and twice that.
TYPED_TEST(SmallGemmBatchedOuter, EveryEdge) {
    using T = TypeParam;
    constexpr std::int64_t depths[] = {1, 2, 4, 5, 8, 9, 15, 16, 17, 31, 33, 48};
    std::set<int> lanes;
    int number = 0;
    for (const auto& [m, n] : {std::pair(7, 255),
                               {8, 256},
                               {9, 257},
                               {3, 600},
                               {16, 130},
                               {17, 63},
                               {31, 65},
                               {64, 33},
                               {65, 31},
                               {129, 16},
                               {100, 12},
                               {257, 7},
                               {300, 3},
                               {1030, 1},
                               {1, 1},
                               {2, 520}})
        for (int more = 0; more < 3; ++more, ++number) {
            const std::int64_t k = depths[number % 12];
            BatchProblem<T> p({m, n, k}, 1 + number % 3, {below, Along{number % 5 == 0, 1}},
                              {storages[number % 2], storages[number / 2 % 2], storages[0]});
            p.alpha = static_cast<T>(0.7);
            p.beta = number % 3 == 0 ? T(0) : static_cast<T>(-0.3);
            p.given = number % 4 < 2 ? Given::by_strides : Given::by_pointers;
            this->check(p);
            lanes.insert(plan_outer_batch(outer_batch_times<T>, m, n, k).lanes_log2);
        }
    EXPECT_EQ(lanes.size(), sizeof(T) == sizeof(float) ? 5U : 6U);
}

// Neighbours along k, along rows and columns, and none; C by rows, by columns and with gaps.
TYPED_TEST(SmallGemmBatchedOuter, EveryStorage) {
    for (const Shape shape : {Shape{40, 9, 19}, Shape{6, 137, 3}})
        for (int index = 0; index < output_storages; ++index)
            for (const Given given : {Given::by_strides, Given::by_pointers}) {
                BatchProblem<TypeParam> p(shape, 3, {},
                                          {storages[index], storages[(index + 3) % output_storages],
                                           storages[(index + 1) % output_storages]});
                p.beta = index % 2 == 0 ? TypeParam(1) : TypeParam(0);
                p.given = given;
                this->check(p);
            }
}

// beta = 0: C is not read, and a product of -0 stays what it is. NaN and infinity of A and B reach
// the rows and columns that they belong to, and no others.
TYPED_TEST(SmallGemmBatchedOuter, NanInfinityAndSignedZero) {
    using T = TypeParam;
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    for (const auto& [m, n] : {std::pair(46, 7), {3, 145}})
        for (int ops = 0; ops < 4; ++ops) {
            BatchProblem<T> p({m, n, 14}, 2, {},
                              {storages[ops & 1], storages[ops >> 1], storages[0]});
            p.alpha = -1;
            p.beta = 0;
            p.fill_normal();
            p.c.fill([] { return nan; });
            for (std::int64_t q = 0; q < 14; ++q) p.a.before(0)(1, q) = 0;
            p.a.before(0)(0, 13) = nan;
            p.b.before(1)(0, n - 1) = std::numeric_limits<T>::infinity();
            this->run(p);
            for (std::int64_t e = 0; e < 2; ++e)
                for (std::int64_t i = 0; i < m; ++i)
                    for (std::int64_t j = 0; j < n; ++j) {
                        const T c = p.c.after(e)(i, j);
                        const bool finite = !(e == 0 && i == 0) && !(e == 1 && j == n - 1);
                        ASSERT_EQ(std::isfinite(c), finite) << e << ", " << i << ", " << j;
                        ASSERT_TRUE(e != 0 || i != 1 || (c == 0 && std::signbit(c))) << j;
                    }
        }
}

using SmallGemmBatchedOuterFours = SmallGemmBatchedOuter<float>;

// A chain for each four k, added up in order, also where a block brings k in several turns.
TEST_F(SmallGemmBatchedOuterFours, AChainForEachFour) {
    for (const std::int64_t k : {1, 3, 4, 5, 8, 11, 16, 17, 20, 40})
        for (const float beta : {0.0f, -0.3f}) {
            BatchProblem<float> p({37, 45, k}, 2);
            p.alpha = 0.7f;
            p.beta = beta;
            p.fill_normal();
            run(p, true);
            EXPECT_TRUE(judge(p, "the sum of chains", [&](auto e, auto i, auto j, float x) {
                const MatrixView<float> a = p.a.before(p.a_of(e)), b = p.b.before(e);
                float sum = 0;
                for (std::int64_t first = 0; first < k; first += 4) {
                    float chain = 0;
                    for (std::int64_t q = first; q < k && q < first + 4; ++q)
                        chain = std::fma(a(i, q), b(q, j), chain);
                    sum += chain;
                }
                float value = p.alpha * sum;
                if (beta != 0) value = std::fma(beta, p.c.before(p.c_of(e))(i, j), value);
                return same(x, value);
            })) << p;
        }
}

// Whether C is read is part of what a plan is remembered by.
TEST(OuterBatchPlan, KnowsBeta) {
    const Context context;
    const auto time = [&](float beta) {
        const MatrixView<const float> a = {nullptr, 500, 4, 4, 1}, b = {nullptr, 4, 400, 400, 1};
        const MatrixView<float> c = {nullptr, 500, 400, 400, 1};
        const GemmBatch<float> x = {1, {a, 2000}, {b, 1600}, beta, {c, 200000}, 30};
        const GemmBatchPlan plan = plan_gemm_batch(context, x);
        EXPECT_EQ(plan.route, GemmBatchRoute::outer);
        return plan.microseconds;
    };
    const double unread = time(0);
    EXPECT_LT(time(1), unread);
    EXPECT_EQ(time(0), unread);
}

}  // namespace
}  // namespace tinyblas::test
