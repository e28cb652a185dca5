// SPDX-License-Identifier: MIT
// gemm's rung tuned on compute capability 9.0: however the ring's loader brings the operands, and
// however they and C lie, one chain of multiply-adds an element, or some; of products and batches.
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "batched_problem.hpp"
#include "gemm_problem.hpp"
#include "gemm_tuned_ring.hpp"
#include "needs_90.hpp"

namespace tinyblas::test {
namespace {

constexpr GemmOptions ring = {.kernel = GemmKernel::best, .entry = 0};

class SmallGemmRing : public testing::Test {
  protected:
    Context context;
};

/// More steps than stages; k that ends within a step, and within 16 bytes. What the copy engine
/// cannot read is packed first, or where there is no memory for that, read as it lies.
TEST_F(SmallGemmRing, EveryStorage) {
    Matrix<float> little(1, 64, Memory::device);
    Context without;
    without.set_scratch(little.view().data, 64 * sizeof(float));
    std::set<GemmRingLoads> met;
    int number = 0;
    const Shape shapes[] = {{132, 68, 200}, {70, 130, 33}, {64, 64, 112}};
    for (int a = 0; a < input_storages; ++a)
        for (int b = 0; b < input_storages; ++b, ++number) {
            GemmProblem<float> p(shapes[(a + b) % 3], 500 + static_cast<std::uint64_t>(number),
                                 storages[a], storages[b], storages[number % output_storages]);
            constexpr float alphas[] = {1, -2, 0.7f}, betas[] = {0, 1, -0.3f};
            p.alpha = alphas[number % 3];
            p.beta = betas[number / 3 % 3];
            p.fill([](Random& r) { return 2 * r.uniform() - 1; });
            EXPECT_EQ(p.run(context, ring).kernel, GemmKernel::tuned);
            EXPECT_TRUE(chained(p)) << a << ", " << b;
            EXPECT_EQ(p.run(without, ring).kernel, GemmKernel::tuned);
            EXPECT_TRUE(chained(p)) << a << ", " << b << ", without memory";
            met.insert(gemm_ring_loads({1, {p.a.device()}, {p.b.device()}, 0, {}, 1}));
        }
    EXPECT_EQ(met.size(), 4u);
}

/// Of operands that are copied, warps share the first steps; one warp brings those that follow,
/// which with more than a tile for each multiprocessor begin sooner.
TEST_F(SmallGemmRing, StepsThatWarpsShare) {
    Matrix<float> little(1, 64, Memory::device);
    context.set_scratch(little.view().data, 64 * sizeof(float));
    const auto check = [&](Shape shape, int a, int b) {
        GemmProblem<float> p(shape, static_cast<std::uint64_t>(600 + shape.k + a + b), storages[a],
                             storages[b]);
        p.fill([](Random& r) { return 2 * r.uniform() - 1; });
        p.run(context, ring);
        EXPECT_TRUE(chained(p)) << shape.m << ", " << shape.n << ", " << shape.k << ": " << a
                                << ", " << b;
    };
    for (const int a : {0, 1})
        for (const int b : {0, 1}) {
            check({772, 641, 101 + 2 * a}, a, b);
            // The first operand alone by the copy engine, the second one, or neither.
            for (const Shape shape : {Shape{68, 65, 60}, Shape{66, 68, 112}, Shape{70, 63, 113}})
                check(shape, a, b);
            for (const std::int64_t k : {3, 15, 17, 20, 95, 97, 193}) check({67, 70, k}, a, b);
        }
}

/// As gemm makes it of a short k: of each four k a chain, in the order of k, where cuBLAS cuts k.
TEST_F(SmallGemmRing, ChainsOfFour) {
    EXPECT_TRUE(gemm_ring_in_fours(2000, 2000, 16, true));
    EXPECT_FALSE(gemm_ring_in_fours(2000, 2000, 17, true));
    EXPECT_TRUE(gemm_ring_in_fours(500, 460, 40, true));
    EXPECT_FALSE(gemm_ring_in_fours(500, 461, 40, true));
    EXPECT_FALSE(gemm_ring_in_fours(500, 460, 41, true));
    EXPECT_FALSE(gemm_ring_in_fours(64, 64, 16, false));
    EXPECT_TRUE(gemm_ring_in_fours(2000, 2000, 6, true));
    EXPECT_FALSE(gemm_ring_in_fours(64, 64, 5, true));
    for (const std::int64_t k : {3, 5, 6, 7, 16, 21, 40})
        for (const int layout : {0, 1, 2, 3}) {
            GemmProblem<float> p({70, 66, k}, static_cast<std::uint64_t>(650 + k + layout),
                                 storages[layout / 2], storages[layout % 2]);
            p.fill([](Random& r) { return r.normal(); });
            p.run(context, ring);
            EXPECT_TRUE(chained(p)) << k << ", " << layout;  // asked for by its name

            GemmCall<float> call = {p.alpha, p.a.device(), p.b.device(), p.beta, p.c.device()};
            call.plans.ring = plan_gemm_ring(call, context.scratch_limit());
            EXPECT_EQ(call.plans.ring.in_fours,
                      k > 5 && (call.a.column_stride == 1 || call.b.row_stride == 1))
                << k << ", " << layout;
            enqueue_gemm_tuned_ring(context, call);
            p.c.download(context);
            EXPECT_TRUE(in_chains(p, call.plans.ring.in_fours ? 4 : 0)) << k << ", " << layout;
        }
}

/// Of a long k, an element is some chains, added in order; asked for by its name, the rung makes
/// one.
TEST_F(SmallGemmRing, SumsSetAside) {
    for (const std::int64_t k : {257, 350, 1200})
        for (const int layout : {0, 1, 2, 3}) {
            GemmProblem<float> p({70, 66, k}, static_cast<std::uint64_t>(k + layout),
                                 storages[layout / 2], storages[layout % 2]);
            p.fill([](Random& r) { return r.normal(); });
            p.alpha = 1;
            p.beta = 0;
            p.run(context, ring);
            EXPECT_TRUE(chained(p)) << k;

            GemmCall<float> call = {p.alpha, p.a.device(), p.b.device(), p.beta, p.c.device()};
            call.plans.ring = plan_gemm_ring(call, context.scratch_limit());
            const std::int64_t chain =
                call.plans.ring.chain * std::int64_t{gemm_table[0].tile.block_k};
            ASSERT_LT(chain, k / 2);
            enqueue_gemm_tuned_ring(context, call);
            p.c.download(context);
            for (std::int64_t i = 0; i < p.c.after().rows; ++i)
                for (std::int64_t j = 0; j < p.c.after().columns; ++j) {
                    float sum = 0, aside = 0;
                    for (std::int64_t q = 0; q < k; ++q) {
                        if (q > 0 && q % chain == 0) aside += std::exchange(sum, 0.0f);
                        sum = std::fma(p.a.before()(i, q), p.b.before()(q, j), sum);
                    }
                    ASSERT_EQ(p.c.after()(i, j), sum + aside) << k << ": " << i << ", " << j;
                }
        }
}

/// Chains are as long as each other, and one is all of k where it is short or tiles are many.
TEST(GemmRingPlan, Chains) {
    EXPECT_EQ(gemm_ring_chain(100, 100, 256), gemm_ring_one_chain);
    EXPECT_EQ(gemm_ring_chain(100, 100, 257), 6u);   // of 17 steps
    EXPECT_EQ(gemm_ring_chain(100, 100, 350), 6u);   // of 22
    EXPECT_EQ(gemm_ring_chain(100, 100, 1200), 9u);  // of 75
    EXPECT_EQ(gemm_ring_chain(64 * 12, 64 * 22, 1200), 9u);
    EXPECT_EQ(gemm_ring_chain(64 * 12, 64 * 22 + 1, 1200), gemm_ring_one_chain);
}

TEST_F(SmallGemmRing, EveryEdge) {
    for (const std::int64_t extent : {1, 4, 63, 64, 65, 128, 130})
        for (const std::int64_t k : {1, 4, 15, 16, 17, 95, 96, 97}) {
            for (const Shape shape : {Shape{extent, 68, k}, Shape{68, extent, k}}) {
                GemmProblem<float> p(shape, static_cast<std::uint64_t>(extent + k));
                p.fill([](Random& r) { return 2 * r.uniform() - 1; });
                p.run(context, ring);
                EXPECT_TRUE(chained(p)) << shape.m << ", " << shape.n << ", " << k;
            }
        }
}

/// Of a batch, the copy engine reads matrices that follow each other in lines of one pitch, and
/// none of its tiles may reach from a product's k into the next one's.
TEST_F(SmallGemmRing, BatchesInEveryLayout) {
    std::set<GemmRingLoads> met;
    for (const Shape shape : {Shape{68, 72, 48}, Shape{100, 64, 52}, Shape{33, 70, 20}})
        for (const int a : {0, 1})
            for (const int b : {0, 1})
                for (const Along along : {below, beside, Along{false, 4}, Along{true, 3}}) {
                    BatchProblem<float> p(shape, 3, {along, along, below},
                                          {storages[a], storages[b], storages[0]});
                    p.fill_normal();
                    p.alpha = 0.7f;
                    p.beta = a == 0 ? 0 : -0.3f;
                    for (auto* operand : p.operands()) operand->upload(context);
                    const GemmBatch<float> batch = {
                        p.alpha, {p.a.device(0), p.a.stride()}, {p.b.device(0), p.b.stride()},
                        p.beta,  {p.c.device(0), p.c.stride()}, 3};
                    met.insert(gemm_ring_loads(batch));
                    enqueue_gemm_tuned_ring(context, batch);
                    for (auto* operand : p.operands()) operand->download(context);
                    EXPECT_TRUE(chained(p)) << p;
                }
    EXPECT_EQ(met.size(), 4u);
}

/// By pointers, the copy engine brings matrices that begin at 16 bytes, of a product one, both or
/// neither; where there is no memory for its maps, none.
TEST_F(SmallGemmRing, PointersToWhereverMatricesBegin) {
    Matrix<float> little(1, 64, Memory::device);
    Context without;
    without.set_scratch(little.view().data, 64 * sizeof(float));
    constexpr std::int64_t count = 4;
    int number = 0;
    for (const Shape shape : {Shape{68, 40, 272}, Shape{33, 70, 276}, Shape{64, 64, 282}})
        for (const int a : {0, 1})
            for (const int b : {0, 1})
                for (const int odd : {0, 1, 2, 3}) {
                    if ((odd + odd / 2 + a + b + shape.k / 2) % 2 == 1)
                        continue;  // another shape's
                    BatchProblem<float> p(shape, count,
                                          {across_lines(a == 1, shape.m, shape.k, odd % 2 == 1),
                                           across_lines(b == 1, shape.k, shape.n, odd / 2 == 1),
                                           Along{true, ++number % 2}},
                                          {storages[a], storages[b], storages[0]});
                    p.given = Given::by_pointers;
                    p.fill_normal();
                    p.alpha = 0.7f;
                    p.beta = number % 3 == 0 ? 0 : -0.3f;
                    const Matrix<float*> array = on_device(context, p.pointers());
                    float* const* const pointers = array.view().data;
                    const GemmBatch<float> batch = {p.alpha,
                                                    {p.a.device(0), 0, pointers},
                                                    {p.b.device(0), 0, pointers + count},
                                                    p.beta,
                                                    {p.c.device(0), 0, pointers + 2 * count},
                                                    count};
                    EXPECT_EQ(gemm_ring_loads(batch), GemmRingLoads::mapped_by_kernel);
                    for (Context* const one : {&context, &without}) {
                        if (one == &without && number / 2 % 2 == 0) continue;
                        for (auto* operand : p.operands()) operand->upload(*one);
                        enqueue_gemm_tuned_ring(*one, batch);
                        for (auto* operand : p.operands()) operand->download(*one);
                        EXPECT_TRUE(chained(p)) << p << ", odd " << odd;
                    }
                }
}

TEST_F(SmallGemmRing, HowOperandsAreBrought) {
    // Nothing is read.
    const auto* const somewhere = reinterpret_cast<const float*>(std::uintptr_t{1} << 20);
    const MatrixView<const float> a = {somewhere, 64, 40, 40, 1}, b = {somewhere, 40, 64, 64, 1};
    const auto loads = [](MatrixView<const float> a, std::int64_t a_stride,
                          MatrixView<const float> b, std::int64_t b_stride, std::int64_t count) {
        return gemm_ring_loads({1, {a, a_stride}, {b, b_stride}, 0, {}, count});
    };
    constexpr auto mapped = GemmRingLoads::mapped, vectors = GemmRingLoads::vectors,
                   of_one = GemmRingLoads::elements_of_one;
    EXPECT_EQ(loads(a, 0, b, 0, 1), mapped);
    EXPECT_EQ(loads(a, 64 * 40, b, 0, 10), vectors);  // 8 of B's k would be those of the next
    const MatrixView<const float> along_k = {somewhere, 40, 64, 1, 40};
    EXPECT_EQ(loads(a, 64 * 40, along_k, 64 * 40, 10), mapped);
    EXPECT_EQ(loads(a, 64 * 40 + 4, along_k, 64 * 40, 10), vectors);  // not in whole lines
    EXPECT_EQ(loads(a, 64 * 40 + 1, along_k, 64 * 40, 10), of_one);
    EXPECT_EQ(loads(a, -64 * 40, along_k, 64 * 40, 10), vectors);
    EXPECT_EQ(loads(a, 64 * 40, along_k, 64 * 40, std::int64_t{1} << 26), vectors);  // too many
    EXPECT_EQ(loads({somewhere + 1, 64, 40, 40, 1}, 0, b, 0, 1), of_one);
    EXPECT_EQ(loads({somewhere, 64, 40, 41, 1}, 0, b, 0, 1), of_one);
    EXPECT_EQ(loads({somewhere, 64, 40, 41, 1}, 0, {somewhere, 40, 64, 65, 1}, 0, 1),
              GemmRingLoads::elements);
    EXPECT_EQ(loads({somewhere, 64, 40, 0, 1}, 0, b, 0, 1), vectors);  // one row, again and again
    // By pointers: the copy engine's maps have to be written first.
    const auto by_pointers = [&](std::int64_t k, std::size_t most_scratch = 10 * 256) {
        return gemm_ring_loads({1,
                                {{nullptr, 64, k, k, 1}, 0, &somewhere},
                                {{nullptr, k, 64, 64, 1}, 0, &somewhere},
                                0,
                                {{nullptr, 64, 64, 64, 1}},
                                10},
                               most_scratch);
    };
    EXPECT_EQ(by_pointers(400), GemmRingLoads::mapped_by_kernel);
    EXPECT_EQ(by_pointers(400, 10 * 256 - 1), vectors);
    EXPECT_EQ(by_pointers(40), vectors);  // too short
    EXPECT_EQ(by_pointers(401), of_one);
}

TEST_F(SmallGemmRing, WhatIsPacked) {
    // Nothing is read.
    const auto* const somewhere = reinterpret_cast<const float*>(std::uintptr_t{1} << 20);
    const auto plan = [&](std::int64_t a_pitch, std::int64_t b_pitch, std::size_t most_scratch) {
        return plan_gemm_ring({1,
                               {somewhere, 435, 1025, a_pitch, 1},
                               {somewhere, 1025, 2686, b_pitch, 1},
                               0,
                               {nullptr, 435, 2686, 2686, 1}},
                              most_scratch);
    };
    constexpr std::size_t a_bytes = 448 * 1025 * 4, b_bytes = 2688 * 1025 * 4, any = 1u << 30;
    const GemmRingPlan neither = plan(1028, 2688, any), a = plan(1025, 2688, any),
                       b = plan(1028, 2687, any), both = plan(1025, 2687, any);
    EXPECT_FALSE(neither.pack_a || neither.pack_b);
    EXPECT_EQ(neither.scratch_bytes, 0);
    EXPECT_TRUE(a.pack_a && !a.pack_b);
    EXPECT_EQ(a.scratch_bytes, a_bytes);
    EXPECT_TRUE(!b.pack_a && b.pack_b);
    EXPECT_EQ(b.scratch_bytes, b_bytes);
    EXPECT_TRUE(both.pack_a && both.pack_b);
    EXPECT_EQ(both.scratch_bytes, a_bytes + b_bytes);
    EXPECT_LT(neither.seconds, both.seconds);
    const GemmRingPlan little = plan(1025, 2687, a_bytes + b_bytes - 1);
    EXPECT_FALSE(little.pack_a || little.pack_b);
    EXPECT_LT(both.seconds, little.seconds);
}

}  // namespace
}  // namespace tinyblas::test
