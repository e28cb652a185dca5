// SPDX-License-Identifier: MIT
// gemm_strided_batched and gemm_batched: every product of a batch, by every kernel and around every
// extent at which another one takes over, wherever its matrices lie.
#include <set>
#include <utility>

#include "batched_problem.hpp"
#include "kernels/gemm/batched_plan.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class SmallGemmBatched : public testing::Test {
  protected:
    void check(BatchProblem<T>& p, Given given) {
        p.given = given;
        p.fill_integers();
        p.run(context);
        EXPECT_TRUE(exact(p));
    }
    /// Given both ways.
    void check(Shape shape, std::int64_t count, std::array<Along, 3> along = {},
               std::array<Storage, 3> storage = {storages[0], storages[0], storages[0]}) {
        BatchProblem<T> p(shape, count, along, storage);
        for (const Given given : {Given::by_strides, Given::by_pointers}) check(p, given);
    }

    Context context;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallGemmBatched, Types);

/// Larger ones: many tiles, many stages; too many for one kernel; left to gemm.
constexpr BatchCase large_cases[] = {
    {{96, 100, 23}, 100}, {{50, 200, 33}, 50},  {{90, 33, 9}, 128},   {{140, 129, 64}, 2},
    {{33, 97, 33}, 65},   {{97, 18, 130}, 130}, {{1, 35, 1030}, 2},   {{1, 4100, 1030}, 2},
    {{16, 35, 1030}, 2},  {{97, 98, 97}, 8},    {{200, 200, 9}, 128}, {{60, 60, 5}, 100},
    {{130, 33, 48}, 50},  {{17, 18, 20}, 1005}, {{15, 15, 6}, 4001},  {{66, 65, 7}, 251},
    {{5, 7, 3}, 8001},    {{96, 96, 32}, 128},  {{78, 16, 3}, 2000},  {{40, 40, 40}, 132},
    {{289, 97, 5}, 128},  {{40, 110, 33}, 50},  {{300, 18, 40}, 33},  {{97, 113, 40}, 100},
    {{17, 302, 33}, 33},  {{97, 225, 30}, 128}, {{161, 17, 24}, 133}, {{97, 65, 17}, 66},
    {{129, 49, 33}, 128}, {{161, 33, 24}, 67},  {{65, 113, 17}, 80},  {{65, 257, 20}, 50},
    {{257, 9, 40}, 150},  {{97, 97, 17}, 100},  {{320, 17, 20}, 80},  {{70, 97, 1}, 528},
    {{33, 5, 100}, 100}};

template <class T>
std::vector<BatchCase> all_cases() {
    std::vector<BatchCase> all = cases_of<T>();
    all.insert(all.end(), std::begin(large_cases), std::end(large_cases));
    return all;
}

GemmBatchPlan plan_of(Scalar type, int compute_capability, const BatchCase& one, bool pointers,
                      GemmRingLoads loads = GemmRingLoads::mapped) {
    const auto [m, n, k] = one.shape;
    int square = -1;
    if (type == Scalar::float32 && !pointers && m == n && n == k)
        square = n == 16 ? 0 : n == 32 ? 1 : n == 64 ? 2 : -1;
    const GemmPieces pieces = pointers ? GemmPieces::apart : GemmPieces::together;
    const int by_elements = loads == GemmRingLoads::elements          ? 2
                            : loads == GemmRingLoads::elements_of_one ? 1
                                                                      : 0;
    const GemmBatchExtents extents = {m,     n,     k,      one.count, true,       false,
                                      false, loads, pieces, pointers,  by_elements};
    return plan_gemm_batch(type, compute_capability, extents, square);
}

// The cases meet all there is on a GPU of compute capability 9.0, and under emulation.
TYPED_TEST(SmallGemmBatched, CasesMeetEveryKernel) {
    std::set<std::pair<GemmBatchRoute, int>> met, all;
    constexpr Scalar type = scalar_of<TypeParam>;
    for (const BatchCase& one : all_cases<TypeParam>()) {
        for (const auto loads :
             {GemmRingLoads::mapped, GemmRingLoads::elements_of_one, GemmRingLoads::elements}) {
            const GemmBatchPlan plan = plan_of(type, 90, one, false, loads);
            met.emplace(plan.route, plan.entry);
        }
    }
    all = {{GemmBatchRoute::one_by_one, -1},
           {GemmBatchRoute::rows, 4},
           {GemmBatchRoute::rows, 8},
           {GemmBatchRoute::gemv, -1},
           {GemmBatchRoute::outer, 0}};
    for (int entry = 0; entry < gemm_batch_entries; ++entry)
        if (gemm_batch_table[entry].type == type) all.emplace(GemmBatchRoute::tile, entry);
    if (type == Scalar::float32) {
        for (const int entry : {0, 1, 2}) all.emplace(GemmBatchRoute::square, entry);
        all.emplace(GemmBatchRoute::tuned, 0);
        for (int entry = 0; entry < gemm_elements_entries; ++entry)
            all.emplace(GemmBatchRoute::elements, entry);
        for (int entry = 0; entry < sliced_entries; ++entry)
            if (sliced_batches(entry)) all.emplace(GemmBatchRoute::sliced, entry);
        all.emplace(GemmBatchRoute::stream_k, 0);
        for (int entry = 0; entry < skinny_batch_entries; ++entry)
            all.emplace(GemmBatchRoute::skinny, entry);
    } else {
        // But the largest tiles, which only batches that take long here are made in
        // (test_gemm_tensor.cpp has some).
        for (int e = 1; e < gemm_tensor_entries; ++e) all.emplace(GemmBatchRoute::tensor, e);
    }
    for (int e = 0; e < gemm_pieces_entries; ++e)
        if (gemm_pieces_table[e].type == type) all.emplace(GemmBatchRoute::pieces, e);
    EXPECT_EQ(met, all);
}

// Each sum is one chain of multiply-adds in the order of k, with one rounding for alpha and one for
// beta, where one launch makes the batch and its tiles are not cut; elsewhere each product has
// gemm's bits.
TYPED_TEST(SmallGemmBatched, BitsOfEveryKernel) {
    using T = TypeParam;
    const auto planned = [&](const BatchCase& one, bool pointers) {
        return plan_of(scalar_of<T>, this->context.compute_capability(), one, pointers);
    };
    int number = 0;
    for (const BatchCase& one : all_cases<T>()) {
        const GemmBatchPlan by_strides = planned(one, false);
        ++number;
        for (const Given given : {Given::by_strides, Given::by_pointers}) {
            BatchProblem<T> p(one.shape, one.count);
            p.alpha = static_cast<T>(0.7);
            p.beta = one.count % 2 == 0 ? 0 : static_cast<T>(-0.3);
            p.given = given;
            const GemmBatchPlan plan = planned(one, p.by_pointers());
            // Where pointers go to the same kernel as strides, every other case has them.
            if (p.by_pointers() && number % 2 == 0 && plan.route == by_strides.route &&
                plan.entry == by_strides.entry)
                continue;
            p.fill_normal();
            const GemmChoice choice = p.run(this->context);
            if (plan.route != GemmBatchRoute::one_by_one) {
                EXPECT_EQ(choice.kernel, GemmKernel::batched) << p;
                const bool cut = plan.route == GemmBatchRoute::sliced ||
                                 plan.route == GemmBatchRoute::stream_k ||
                                 plan.route == GemmBatchRoute::gemv || plan.parts > 1;
                EXPECT_TRUE(cut ? close(p) : chained(p));
                continue;
            }
            // What a product takes by itself, which is not told here, may speak for one launch.
            if (one.shape.m > 1 && choice.kernel == GemmKernel::batched) {
                EXPECT_TRUE(close(p));
                continue;
            }
            EXPECT_NE(choice.kernel, GemmKernel::batched) << p;
            for (std::int64_t e = 0; e < one.count; ++e) {
                GemmProblem<T> alone(one.shape, 1);
                alone.alpha = p.alpha, alone.beta = p.beta;
                const auto copied = [](MatrixView<T> from, MatrixView<T> to) {
                    for (std::int64_t i = 0; i < to.rows; ++i)
                        for (std::int64_t j = 0; j < to.columns; ++j) to(i, j) = from(i, j);
                };
                copied(p.a.before(e), alone.a.before());
                copied(p.b.before(e), alone.b.before());
                copied(p.c.before(e), alone.c.before());
                alone.run(this->context);
                EXPECT_TRUE(judge(alone, "the product of the batch", [&](auto i, auto j, T x) {
                    return bits(x) == bits(p.c.after(e)(i, j));
                })) << p;
            }
        }
    }
}

// One less, one more and the extent itself, for each bound and the edge of each tile, as squares
// and not.
TYPED_TEST(SmallGemmBatched, AroundEveryBound) {
    for (const std::int64_t n : {4, 8, 16, 32, 48, 64, 96, 128}) {
        const std::int64_t count = n <= 16 ? 35 : n <= 64 ? 6 : 2;
        const Shape shapes[] = {{n, n, n},         {n - 1, n - 1, n - 1}, {n + 1, n + 1, n + 1},
                                {n - 1, n, n + 1}, {n, n + 1, n - 1},     {n + 1, n - 1, n},
                                {1, n, n},         {n, 1, n + 1},         {n, n + 1, 1}};
        for (const Shape& shape : shapes) this->check(shape, count, {below, Along{false, 1}});
    }
}

// Numbers of products at which another kernel, or another grid, takes over.
TYPED_TEST(SmallGemmBatched, AroundEveryCount) {
    for (const auto& [n, count] : {std::pair(16, 512), {32, 264}, {48, 64}, {64, 64}})
        for (const std::int64_t more : {0, 1}) this->check({n, n, 5}, count + more);
    for (const auto& [n, count] : {std::pair(16, 512), {32, 512}, {64, 100}})
        for (const std::int64_t more : {-1, 0}) {
            if (sizeof(TypeParam) == sizeof(double)) break;
            BatchProblem<TypeParam> p({n, n, n}, count + more);
            this->check(p, Given::by_strides);
        }
    for (const std::int64_t count : {1, 2, 7, 31, 32, 33})
        for (const Shape shape : {Shape{4, 4, 4}, Shape{3, 2, 4}, Shape{8, 8, 8}, Shape{16, 9, 16}})
            this->check(shape, count);
}

// All layouts of operands, sub-blocks, steps in both directions and odd leading dimensions, so that
// every way to bring and to store a panel is met.
TYPED_TEST(SmallGemmBatched, EveryStorage) {
    for (const auto& [shape, count] : batch_cases)
        for (int index = 0; index < output_storages; ++index) {
            BatchProblem<TypeParam> p(shape, count, {},
                                      {storages[index], storages[(index + 3) % output_storages],
                                       storages[(index + 1) % output_storages]});
            this->check(p, index % 2 == 0 ? Given::by_strides : Given::by_pointers);
        }
}

TYPED_TEST(SmallGemmBatched, EveryOp) {
    for (const auto& [shape, count] : batch_cases)
        for (int ops = 0; ops < 8; ++ops) {
            BatchProblem<TypeParam> p(
                shape, count, {}, {storages[ops & 1], storages[ops >> 1 & 1], storages[ops >> 2]});
            this->check(p, (ops + shape.m) % 2 == 0 ? Given::by_strides : Given::by_pointers);
        }
}

// Rows that begin at multiples of 16 bytes and end within one: what lies behind them is NaN.
TYPED_TEST(SmallGemmBatched, RaggedVectors) {
    constexpr Storage rows = {.name = "aligned_rows", .ld_factor = 16};
    constexpr Storage columns = {.name = "aligned_columns", .by_column = true, .ld_factor = 16};
    for (const auto& [shape, count] : batch_cases)
        for (const int ops : {0, 3, 5, 6}) {
            const std::array storage = {ops & 1 ? columns : rows, ops & 2 ? columns : rows,
                                        ops & 4 ? columns : rows};
            const auto along = [&](int operand) {
                return storage[static_cast<std::size_t>(operand)].by_column ? beside : below;
            };
            BatchProblem<TypeParam> p(shape, count, {along(0), along(1), along(2)}, storage);
            this->check(p, (ops + shape.m) % 2 == 0 ? Given::by_strides : Given::by_pointers);
        }
}

// Side by side or one below the other, so that matrices begin at any alignment, whatever the first
// one does; and so far apart that they interleave with nothing.
TYPED_TEST(SmallGemmBatched, WhereverMatricesLie) {
    constexpr Along all[] = {below, beside, {false, 2}, {true, 3}};
    for (const Shape shape : {Shape{4, 3, 4}, Shape{9, 6, 13}, Shape{33, 35, 18}})
        for (const Along a : all)
            for (const Along b : all)
                for (const Along c : all) {
                    const std::size_t at = static_cast<std::size_t>(a.gap + 2 * b.gap + 3 * c.gap);
                    this->check(
                        shape, 3, {a, b, c},
                        {storages[at % output_storages], storages[(at + 1) % output_storages],
                         storages[(at + 5) % output_storages]});
                }
}

// By pointers: all begin at 16 bytes, or of one operand some do not.
TEST(SmallGemmBatchedOfFloats, PointersToWhereverMatricesBegin) {
    Context context;
    for (const auto& [a, b] : {std::pair(0, 0), {1, 0}, {0, 1}}) {
        BatchProblem<float> p({64, 60, 276}, 68, {Along{true, a}, Along{true, b}, below});
        p.given = Given::by_pointers;
        p.fill_integers();
        p.run(context);
        EXPECT_TRUE(exact(p));
    }
}

// The largest tile of doubles: a thread asks for many old vectors, not all of which are there.
TEST(SmallGemmBatchedOfDoubles, ManyOldVectors) {
    constexpr Storage rows = {.name = "aligned_rows", .ld_factor = 16};
    const BatchCase one = {{42, 38, 33}, 132};
    const GemmBatchPlan plan = plan_of(Scalar::float64, 90, one, false);
    ASSERT_EQ(plan.route, GemmBatchRoute::tile);
    ASSERT_EQ(gemm_batch_table[plan.entry].edge, 48);
    Context context;
    BatchProblem<double> p(one.shape, one.count, {}, {rows, rows, rows});
    p.given = Given::by_strides;
    p.fill_integers();
    ASSERT_NE(p.beta, 0);
    p.run(context);
    EXPECT_TRUE(exact(p));
}

TYPED_TEST(SmallGemmBatched, LinesSideBySide) {
    for (const Storage& storage : {storages[0], storages[1], storages[7]})
        for (const Shape shape : {Shape{1, 7, 5}, Shape{7, 1, 5}, Shape{1, 1, 5}})
            this->check(shape, 5, {beside, below, beside}, {storage, storage, storage});
}

// C of one row or column: a sum by one thread, by some of a warp, by all of a block; and a long k
// of few elements.
TYPED_TEST(SmallGemmBatched, VectorsHoweverTheyLie) {
    for (const Shape shape : {Shape{1, 19, 6}, Shape{300, 1, 13}, Shape{1, 45, 67},
                              Shape{21, 1, 300}, Shape{1, 3, 2900}, Shape{2, 1, 9001}})
        for (int index = 0, apart = shape.k > 1000 ? 3 : 1; index < output_storages;
             index += apart) {
            const Storage& other = storages[(index + 2) % output_storages];
            this->check(shape, 3, {index % 2 == 0 ? below : beside, {index % 3 == 0, 1}, {}},
                        {storages[index], other, other});
        }
}

// A rung by name: that of gemm, for each product. An odd stride makes them begin at all alignments.
TYPED_TEST(SmallGemmBatched, EveryRung) {
    using T = TypeParam;
    constexpr bool single = std::is_same_v<T, float>;
    std::vector<GemmKernel> kernels = {GemmKernel::naive, GemmKernel::tiled, GemmKernel::tuned};
    if (this->context.compute_capability() == 90) {
        if (single) kernels.insert(kernels.end(), {GemmKernel::sliced, GemmKernel::split});
        kernels.push_back(single ? GemmKernel::pipelined : GemmKernel::tensor);
        if (single && !emulated) kernels.push_back(GemmKernel::hopper);
    }
    for (const GemmKernel kernel : kernels)
        for (const Storage& storage : {storages[0], storages[1]})
            for (const Along along : {below, beside, Along{true, 1}}) {
                BatchProblem<T> p({40, 33, 70}, 6, {along, beside, along},
                                  {storage, storages[0], storage});
                p.fill_integers();
                EXPECT_EQ(p.run(this->context, {.kernel = kernel}).kernel, kernel);
                EXPECT_TRUE(exact(p)) << to_string(kernel);
            }
    // The first ones at a multiple of 16 bytes with rows that are, the next ones not.
    for (const GemmKernel kernel : kernels) {
        BatchProblem<T> p({40, 36, 72}, 4, {Along{true, 1}, Along{true, 1}, Along{true, 1}});
        p.fill_integers();
        EXPECT_EQ(p.run(this->context, {.kernel = kernel}).kernel, kernel);
        EXPECT_TRUE(exact(p)) << to_string(kernel);
    }
}

// Precision::fp32 makes one product after the other where it pays, and else changes nothing.
TEST(SmallGemmBatchedPrecision, Fp32) {
    Context context;
    for (const BatchCase& one : {BatchCase{{8, 8, 8}, 5}, BatchCase{{70, 66, 300}, 2}}) {
        BatchProblem<float> p(one.shape, one.count);
        p.fill_integers();
        const GemmChoice choice = p.run(context, {.precision = Precision::fp32});
        EXPECT_EQ(choice.kernel, GemmKernel::batched);
        EXPECT_TRUE(exact(p));
    }
    if (emulated) return;  // where it pays, emulation takes half a minute
    BatchProblem<float> p({640, 512, 768}, 3);
    p.fill_integers();
    const GemmChoice choice = p.run(context, {.precision = Precision::fp32});
    EXPECT_EQ(choice.kernel == GemmKernel::hopper, context.compute_capability() == 90);
    EXPECT_TRUE(exact(p));
}

}  // namespace
}  // namespace tinyblas::test
