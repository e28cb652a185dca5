// SPDX-License-Identifier: MIT
// Batches whose C are skinny: both entries of the table, wherever matrices lie and begin, each
// element the sharers' chains of multiply-adds, added up in order; nothing beside C is written,
// nothing beside A and B read.
#include <cmath>
#include <limits>
#include <vector>

#include "batched_problem.hpp"
#include "gemm_batched.hpp"
#include "gemm_batched_skinny.hpp"
#include "kernels/gemm/batched_skinny_plan.hpp"
#include "large_buffer.hpp"
#include "needs_90.hpp"

namespace tinyblas::test {
namespace {

SkinnyBatchPlan plan_of(const GemmBatch<float>& x, int entry) {
    const GemmBatch<float> upright = x.n() <= x.m() ? x : transposed(x);
    return plan_skinny_batch(skinny_batch_table[entry], upright.m(), upright.n(), x.k(), x.count,
                             upright.a.first.column_stride == 1, upright.b.first.row_stride == 1);
}

/// Bit for bit.
testing::AssertionResult shared(BatchProblem<float>& p, unsigned sharers_log2) {
    const std::int64_t sharers = std::int64_t{1} << sharers_log2;
    return judge(p, "the sum of the sharers' chains", [&](auto e, auto i, auto j, float x) {
        const MatrixView<float> a = p.a.before(p.a_of(e)), b = p.b.before(e);
        float sum = 0;
        for (std::int64_t place = 0; place < sharers; ++place) {
            float chain = 0;
            for (std::int64_t q = 0; q < a.columns; ++q)
                if (q / skinny_batch_edge % sharers == place)
                    chain = std::fma(a(i, q), b(q, j), chain);
            sum += chain;
        }
        float value = p.alpha * sum;
        if (p.beta != 0) value = std::fma(p.beta, p.c.before(p.c_of(e))(i, j), value);
        return same(x, value);
    });
}

class SmallGemmBatchedSkinny : public testing::Test {
  protected:
    void check(BatchProblem<float>& p, int entry) {
        p.fill_normal();
        const unsigned sharers_log2 = run(p, entry).sharers_log2();
        EXPECT_TRUE(shared(p, sharers_log2)) << p << ", entry " << entry;
    }
    SkinnyBatchPlan run(BatchProblem<float>& p, int entry) {
        SkinnyBatchPlan plan;
        p.run(context, [&](float* const* pointers) {
            const GemmBatch<float> batch = p.batch(pointers);
            plan = plan_of(batch, entry);
            batched_skinny_launcher(entry)(context.stream(), batch);
        });
        return plan;
    }

    Context context;
};

// One less, one more and the edge of a thread's, a block's and the widest C, as they are and
// transposed; k around a vector, and around what sharers have of it; in vectors and by elements.
TEST_F(SmallGemmBatchedSkinny, EveryEdge) {
    for (int entry = 0; entry < skinny_batch_entries; ++entry) {
        int number = 0;
        for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16})
            for (const std::int64_t k : {1, 3, 4, 5, 8, 13, 31, 60, 129, 260}) {
                constexpr std::int64_t rows[] = {16, 17, 19, 20, 33, 64, 255};
                const std::int64_t m = rows[number % 7];
                const bool lies = number % 2 == 0;
                const Storage a = storages[number % 2], b = storages[number / 2 % 2];
                BatchProblem<float> p(lies ? Shape{m, n, k} : Shape{n, m, k}, 2 + number % 3,
                                      {below, Along{number % 5 == 0, 1}}, {a, b, storages[0]});
                p.alpha = 0.7f;
                p.beta = number % 3 == 0 ? 0 : -0.3f;
                p.given = number % 4 < 2 ? Given::by_strides : Given::by_pointers;
                check(p, entry);
                ++number;
            }
    }
}

// Vectors along k, along rows and columns, and none; C by rows, by columns and with gaps.
TEST_F(SmallGemmBatchedSkinny, EveryStorage) {
    for (int entry = 0; entry < skinny_batch_entries; ++entry)
        for (const Shape shape : {Shape{40, 8, 19}, Shape{6, 37, 24}, Shape{12, 16, 90}})
            for (int index = 0; index < output_storages; ++index)
                for (const Given given : {Given::by_strides, Given::by_pointers}) {
                    BatchProblem<float> p(shape, 3, {},
                                          {storages[index], storages[(index + 3) % output_storages],
                                           storages[(index + 1) % output_storages]});
                    p.beta = index % 2 == 0 ? 1 : 0;
                    p.given = given;
                    check(p, entry);
                }
}

// Rows that begin at multiples of 16 bytes and end within one: what lies behind them is NaN.
TEST_F(SmallGemmBatchedSkinny, RaggedVectors) {
    constexpr Storage rows = {.name = "aligned_rows", .ld_factor = 16};
    constexpr Storage columns = {.name = "aligned_columns", .by_column = true, .ld_factor = 16};
    for (int entry = 0; entry < skinny_batch_entries; ++entry)
        for (const Shape shape : {Shape{41, 7, 19}, Shape{44, 8, 22}, Shape{5, 38, 21}})
            for (const int ops : {0, 1, 2, 3, 4, 7}) {
                const std::array storage = {ops & 1 ? columns : rows, ops & 2 ? columns : rows,
                                            ops & 4 ? columns : rows};
                const auto along = [&](std::size_t operand) {
                    return storage[operand].by_column ? beside : below;
                };
                BatchProblem<float> p(shape, 3, {along(0), along(1), along(2)}, storage);
                check(p, entry);
            }
}

// No sharers, those that are neighbours, those of other warps, and as many as there can be.
TEST_F(SmallGemmBatchedSkinny, AllNumbersOfSharers) {
    for (int entry = 0; entry < skinny_batch_entries; ++entry) {
        std::vector<unsigned> met;
        for (const BatchCase& one :
             {BatchCase{{37, 3, 5}, 6000}, BatchCase{{16, 2, 33}, 90}, BatchCase{{2, 20, 70}, 40},
              BatchCase{{23, 9, 400}, 3}, BatchCase{{3, 17, 1600}, 2}})
            for (int ops = 0; ops < 4; ++ops) {
                BatchProblem<float> p(one.shape, one.count, {},
                                      {storages[ops & 1], storages[ops >> 1], storages[0]});
                p.fill_integers();
                const SkinnyBatchPlan plan = run(p, entry);
                EXPECT_TRUE(exact(p)) << p;
                met.push_back(plan.near_log2 * 8 + plan.far_log2);
            }
        for (const unsigned near : {0, 1, 2, 3})
            EXPECT_TRUE(std::any_of(met.begin(), met.end(), [&](unsigned number) {
                return number / 8 == near;
            })) << near;
        for (const unsigned far : {0, 3})
            EXPECT_TRUE(std::any_of(met.begin(), met.end(), [&](unsigned number) {
                return number % 8 == far;
            })) << far;
    }
}

// The last group of the last product's block has no others behind it; a product's place does not
// show.
TEST_F(SmallGemmBatchedSkinny, AProductsPlaceDoesNotShow) {
    for (int entry = 0; entry < skinny_batch_entries; ++entry)
        for (const Along along : {below, Along{false, 1}, Along{true, 1}}) {
            BatchProblem<float> p({29, 6, 83}, 37, {along, along, below});
            p.beta = 0.5f;
            p.fill_normal_alike();
            run(p, entry);
            EXPECT_TRUE(alike(p));
        }
}

// beta = 0: C is not read. NaN and infinity of A and B reach the rows and columns they belong to,
// and no others: neither those beside them in a thread, nor what a thread reads instead of lines
// and k that are not there.
TEST_F(SmallGemmBatchedSkinny, NanAndInfinity) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (int entry = 0; entry < skinny_batch_entries; ++entry)
        for (const auto& [m, n] : {std::pair(46, 7), {48, 8}, {3, 45}})
            for (int ops = 0; ops < 4; ++ops) {
                BatchProblem<float> p({m, n, 14}, 2, {},
                                      {storages[ops & 1], storages[ops >> 1], storages[0]});
                p.beta = 0;
                p.fill_normal();
                p.c.fill([] { return nan; });
                p.a.before(0)(0, 13) = nan;
                p.b.before(1)(0, n - 1) = infinity;
                run(p, entry);
                for (std::int64_t e = 0; e < 2; ++e)
                    for (std::int64_t i = 0; i < m; ++i)
                        for (std::int64_t j = 0; j < n; ++j) {
                            const float c = p.c.after(e)(i, j);
                            const bool finite = !(e == 0 && i == 0) && !(e == 1 && j == n - 1);
                            ASSERT_EQ(std::isfinite(c), finite) << e << ", " << i << ", " << j;
                        }
            }
}

// A thread's elements are counted in 31 bits, in both directions, though matrices pass 2^31.
TEST(SkinnyBatchReach, ExactUpToItsEnd) {
    constexpr std::int64_t m = 37, n = 5, k = 11, count = 3;
    constexpr std::int64_t row = (std::int64_t{1} << 30) / m, apart = 101;
    constexpr std::int64_t elements = (m - 1) * row + (count - 1) * (row / 2) + k * apart;
    LargeBuffer<float> buffer(elements);
    if (!buffer) GTEST_SKIP() << no_room<float>(1, elements);
    Context context;
    Random random(7);
    std::vector<float> a(count * m * k), b(k * n), c(count * m * n);
    for (float& x : a) x = static_cast<float>(random.integer(-3, 3));
    for (float& x : b) x = static_cast<float>(random.integer(-3, 3));
    Matrix<float> b_there(k, n), c_there(count * m, n);
    copy(context, MatrixView<float>::row_major(b.data(), k, n), b_there);
    for (const int sign : {1, -1}) {
        float* const first = buffer.data() + (sign > 0 ? 0 : (m - 1) * row);
        const MatrixView<float> first_a = {first, m, k, sign * row, apart};
        for (std::int64_t e = 0; e < count; ++e) {
            MatrixView<float> to = first_a;
            to.data += e * (row / 2);
            copy(context, MatrixView<float>::row_major(a.data() + e * m * k, m, k), to);
        }
        const MatrixView<const float> read = first_a;
        ASSERT_TRUE(skinny_batch_reaches(read));
        for (int entry = 0; entry < skinny_batch_entries; ++entry) {
            const MatrixView<float> c_view = c_there.view().block(0, 0, m, n);
            batched_skinny_launcher(entry)(
                context.stream(),
                {1, {read, row / 2}, {b_there.view(), 0}, 0, {c_view, m * n}, count});
            copy(context, c_there, MatrixView<float>::row_major(c.data(), count * m, n));
            context.synchronize();
            for (std::int64_t i = 0; i < count * m; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                    float sum = 0;
                    for (std::int64_t q = 0; q < k; ++q)
                        sum += a[static_cast<std::size_t>(i * k + q)] *
                               b[static_cast<std::size_t>(q * n + j)];
                    ASSERT_EQ(c[static_cast<std::size_t>(i * n + j)], sum) << i << ", " << j;
                }
        }
    }
}

// Operands of the same extents: one plan is not remembered as the other's.
TEST(SkinnyBatchReach, PlansKnowIt) {
    const Context context;
    const auto route = [&](std::int64_t row_stride) {
        const MatrixView<const float> a = {nullptr, 720, 102, row_stride, 1};
        const MatrixView<const float> b = {nullptr, 102, 4, 4, 1};
        const MatrixView<float> c = {nullptr, 720, 4, 4, 1};
        const GemmBatch<float> x = {1, {a, 1}, {b, 408}, 0, {c, 2880}, 300};
        return plan_gemm_batch(context, x).route;
    };
    constexpr std::int64_t far = (std::int64_t{1} << 30) / 720;
    EXPECT_EQ(route(far), GemmBatchRoute::skinny);
    EXPECT_NE(route(far + 1), GemmBatchRoute::skinny);
    EXPECT_EQ(route(far), GemmBatchRoute::skinny);
}

}  // namespace
}  // namespace tinyblas::test
