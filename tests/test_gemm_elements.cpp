// SPDX-License-Identifier: MIT
// Batches whose operands come by elements: every entry of the table, wherever matrices lie and
// begin, one chain of multiply-adds an element; nothing beside C is written, nothing beside A and B
// read.
#include <cmath>
#include <limits>
#include <vector>

#include "batched_problem.hpp"
#include "gemm_batched.hpp"
#include "gemm_elements.hpp"
#include "kernels/gemm/batched_table.hpp"
#include "large_buffer.hpp"
#include "needs_90.hpp"

namespace tinyblas::test {
namespace {

class SmallGemmElements : public testing::Test {
  protected:
    void check(BatchProblem<float>& p, int entry) {
        p.fill_normal();
        run(p, entry);
        EXPECT_TRUE(chained(p)) << p << ", entry " << entry;
    }
    void run(BatchProblem<float>& p, int entry) {
        p.run(context, [&](float* const* pointers) {
            elements_launcher(entry)(context.stream(), p.batch(pointers));
        });
    }

    Context context;
};

// One less, one more and the tile itself, in m and n; k around a stage, and around all of them.
TEST_F(SmallGemmElements, EveryEdge) {
    for (int entry = 0; entry < gemm_elements_entries; ++entry) {
        const GemmTile& t = gemm_elements_table[entry].tile;
        int number = 0;
        for (const std::int64_t k : {1, 7, 8, 9, 16, 17, 24, 25, 31, 40})
            for (const int more : {-1, 0, 1}) {
                const std::int64_t m = t.block_m + (number % 3 == 0 ? more : -5);
                const std::int64_t n = t.block_n + (number % 3 == 1 ? more : 3);
                BatchProblem<float> p({m, n, k}, 2, {below, Along{false, 1}});
                p.alpha = 0.7f;
                p.beta = number % 2 == 0 ? 0 : -0.3f;
                p.given = number % 4 < 2 ? Given::by_strides : Given::by_pointers;
                check(p, entry);
                ++number;
            }
        for (const Shape shape :
             {Shape{1, 1, 1}, Shape{1, 70, 5}, Shape{70, 1, 12}, Shape{3, 5, 0}}) {
            BatchProblem<float> p(shape, 3);
            p.beta = 0.5f;
            check(p, entry);
        }
    }
}

// All layouts, sub-blocks, steps in both directions; C by rows, by columns and with gaps.
TEST_F(SmallGemmElements, EveryStorage) {
    for (int entry = 0; entry < gemm_elements_entries; ++entry)
        for (int index = 0; index < output_storages; ++index) {
            BatchProblem<float> p({70, 45, 19}, 2, {},
                                  {storages[index], storages[(index + 3) % output_storages],
                                   storages[(index + 1) % output_storages]});
            p.beta = index % 2 == 0 ? 1 : 0;
            p.given = index % 3 == 0 ? Given::by_pointers : Given::by_strides;
            check(p, entry);
        }
}

// A tile's elements are counted from its first one in 32 bits: 159 rows and 7 k.
TEST(ElementsReach, AsFarAsATileGoes) {
    constexpr std::int64_t row = std::int64_t{1} << 22, column = std::int64_t{1} << 27;
    static_assert(159 * row + 7 * column <= INT32_MAX);
    for (const int sign : {1, -1}) {
        EXPECT_TRUE(elements_reach(MatrixView<float>{nullptr, 9, 9, sign * row, sign * column}));
        EXPECT_FALSE(elements_reach(MatrixView<float>{nullptr, 9, 9, sign * (row + 1), 1}));
        EXPECT_FALSE(elements_reach(MatrixView<float>{nullptr, 9, 9, 1, sign * (column + 1)}));
    }
}

// There, in both directions: the matrices pass 2^31 elements, what tiles count comes close to it.
TEST(ElementsReach, ExactUpToItsEnd) {
    constexpr std::int64_t row = std::int64_t{1} << 22, column = std::int64_t{1} << 27;
    constexpr std::int64_t m = 165, n = 163, k = 19, apart = column / row;
    constexpr std::int64_t values = m + apart * (k - 1), elements = values * row;
    static_assert(elements > std::int64_t{1} << 31);
    LargeBuffer<float> buffer(elements);
    if (!buffer) GTEST_SKIP() << no_room<float>(1, elements);
    Context context;
    std::vector<float> all;
    for (std::int64_t v = 0; v < values; ++v) all.push_back(static_cast<float>(v * v % 11 - 5));
    copy(context, MatrixView<float>::row_major(all.data(), 1, values),
         MatrixView<float>{buffer.data(), 1, values, elements, row});
    for (const std::int64_t sign : {1, -1}) {
        const auto value = [&](std::int64_t i, std::int64_t p) {
            const std::int64_t v = i + apart * p;
            return all[static_cast<std::size_t>(sign > 0 ? v : values - 1 - v)];
        };
        const float* const first = buffer.data() + (sign > 0 ? 0 : (values - 1) * row);
        const MatrixView<const float> a = {first, m, k, sign * row, sign * column};
        const MatrixView<const float> b = {first, k, n, sign * column, sign * row};
        ASSERT_TRUE(elements_reach(a) && elements_reach(b.transposed()));
        for (int entry = 0; entry < gemm_elements_entries; ++entry) {
            Matrix<float> c(m, n);
            elements_launcher(entry)(context.stream(), {1, {a}, {b}, 0, {c.view()}, 1});
            std::vector<float> result(m * n);
            copy(context, c, MatrixView<float>::row_major(result.data(), m, n));
            context.synchronize();
            for (std::int64_t i = 0; i < m; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                    float sum = 0;
                    for (std::int64_t p = 0; p < k; ++p) sum += value(i, p) * value(j, p);
                    ASSERT_EQ(result[static_cast<std::size_t>(i * n + j)], sum)
                        << "entry " << entry << ", " << i << ", " << j;
                }
        }
    }
}

// Operands of the same extents: one plan is not remembered as the other's.
TEST(ElementsReach, PlansKnowIt) {
    const Context context;
    const auto route = [&](std::int64_t row_stride) {
        const MatrixView<const float> a = {nullptr, 150, 150, row_stride, 1};
        const MatrixView<float> c = {nullptr, 150, 150, 151, 1};
        const GemmBatch<float> x = {1, {a, 1}, {a, 1}, 0, {c, 150 * 151}, 1000};
        return plan_gemm_batch(context, x).route;
    };
    constexpr std::int64_t far = (std::int64_t{1} << 22) + 1;
    EXPECT_EQ(route(151), GemmBatchRoute::elements);
    EXPECT_NE(route(far), GemmBatchRoute::elements);
    EXPECT_EQ(route(151), GemmBatchRoute::elements);
}

// beta = 0: C is not read. NaN and infinity of A and B reach the rows and columns they belong to,
// and no others.
TEST_F(SmallGemmElements, NanAndInfinity) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (int entry = 0; entry < gemm_elements_entries; ++entry) {
        BatchProblem<float> p({45, 67, 13}, 2);
        p.beta = 0;
        p.fill_normal();
        p.c.fill([] { return nan; });
        p.a.before(0)(44, 12) = nan;
        p.b.before(1)(0, 66) = infinity;
        run(p, entry);
        for (std::int64_t e = 0; e < 2; ++e)
            for (std::int64_t i = 0; i < 45; ++i)
                for (std::int64_t j = 0; j < 67; ++j) {
                    const float c = p.c.after(e)(i, j);
                    const bool finite = !(e == 0 && i == 44) && !(e == 1 && j == 66);
                    ASSERT_EQ(std::isfinite(c), finite) << e << ", " << i << ", " << j;
                }
    }
}

}  // namespace
}  // namespace tinyblas::test
