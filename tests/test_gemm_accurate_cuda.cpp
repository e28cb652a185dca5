// SPDX-License-Identifier: MIT
// What only a GPU can show of gemm from parts: capture in CUDA graphs whose data change the route,
// no allocation, many streams and threads at once.
#include <thread>

#include "accurate_gemm.hpp"
#include "graph.hpp"
#include "kernels/gemm/hopper_plan.hpp"
#include "tinyblas/packed.hpp"

namespace tinyblas::test {
namespace {

/// A few multiply-adds in each form of the rung hopper: clusters that share k; pairs of blocks,
/// which signal to each other until they end; pairs that take tiles cut along k.
constexpr Shape sliced = {130, 200, 1100}, paired = {1409, 705, 65}, cut = {4225, 65, 1473};
constexpr HopperPlan plan_of(const Shape& s) { return {s.m, s.n, s.k}; }
static_assert(plan_of(sliced).form == HopperForm::sliced && plan_of(sliced).slices > 1);
static_assert(plan_of(paired).form == HopperForm::paired && plan_of(paired).slices == 1);
static_assert(plan_of(cut).form == HopperForm::paired && plan_of(cut).slices > 1);

class GemmAccurateCuda : public AccurateRungs {
  protected:
    void enqueue(GemmProblem<float>& p) { enqueue(context, p); }
    void enqueue(Context& where, GemmProblem<float>& p) {
        gemm(where, p.alpha, p.a.device(), p.b.device(), p.beta, p.c.device(), options);
    }
    void replay_routes(const Shape& shape, int rounds);
    void run_routes(const Shape& shape, int repeats);
    void run_on_four_streams(const Shape& shape);
};
TINYBLAS_FOR_EACH_ACCURATE_RUNG(GemmAccurateCuda);

/// Data for each route of the guard, and how to judge what comes out.
struct Route {
    void (*fill)(GemmProblem<float>&);
    testing::AssertionResult (*judge)(GemmProblem<float>&);
};
const Route routes[] = {
    {[](GemmProblem<float>& p) { p.fill(normal); }, close},
    {[](GemmProblem<float>& p) { p.fill_integers(); }, exact},
    {[](GemmProblem<float>& p) {
         p.fill(normal);
         p.a.before()(3, 5) = 0x1p-40f;
     },
     close},
    {[](GemmProblem<float>& p) {
         p.fill(normal);
         p.b.before()(5, 3) = std::numeric_limits<float>::quiet_NaN();
     },
     chained},
};

/// Captured as the first call of the context; every replay takes the route of its data. Other work
/// of the context goes on beside it.
void GemmAccurateCuda::replay_routes(const Shape& shape, int rounds) {
    GemmProblem<float> p(shape, 1), other(shape, 2);
    p.beta = other.beta = 2;
    Graph graph(context, [&] { enqueue(p); });
    for (int round = 0; round < rounds; ++round) {
        const Route& route = routes[round * 5 % std::size(routes)];
        route.fill(p);
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        graph.replay(context.stream());
        other.fill(normal);
        other.run(context, options);
        EXPECT_TRUE(close(other));
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
        EXPECT_TRUE(route.judge(p)) << "round " << round;
    }
}
TEST_P(GemmAccurateCuda, CapturedThenReplayed) { replay_routes(sliced, 12); }
TEST_P(GemmAccurateCuda, PairsCapturedThenReplayed) { replay_routes(paired, 8); }
TEST_P(GemmAccurateCuda, CutPairsCapturedThenReplayed) { replay_routes(cut, 4); }

TEST_P(GemmAccurateCuda, AGraphGivesTheSameBits) {
    for (const Shape& shape : {Shape{257, 300, 2000}, paired, cut}) {
        GemmProblem<float> p(shape, 3);
        p.fill(normal);
        p.run(context, options);
        const auto expected = bits_after(p);
        Graph graph(context, [&] { enqueue(p); });
        for (int repeat = 0; repeat < 20; ++repeat) {
            p.c.upload(context);
            graph.replay(context.stream());
            p.c.download(context);
            ASSERT_EQ(bits_after(p), expected) << "repeat " << repeat << "; " << p;
        }
    }
}

// With scratch memory of the caller's, a graph outlives its context.
TEST_P(GemmAccurateCuda, AGraphInGivenMemory) {
    GemmProblem<float> p({130, 200, 1100}, 4);
    p.fill(normal);
    const std::size_t bytes = gemm_scratch_bytes(130, 200, 1100);
    Matrix<std::byte> memory(1, static_cast<std::int64_t>(bytes));
    context.set_scratch(memory.view().data, bytes);
    Graph graph(context, [&] { enqueue(p); });
    for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
    graph.replay(context.stream());
    for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
    EXPECT_TRUE(close(p));
}

TEST_P(GemmAccurateCuda, PackedInAGraph) {
    GemmProblem<float> p({130, 200, 1100}, 5);
    p.fill(normal);
    for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
    const PackedMatrix packed = pack(context, p.b.device());
    Graph graph(context, [&] {
        gemm(context, p.alpha, p.a.device(), packed, p.beta, p.c.device(), options);
        EXPECT_TRUE(refuses([&] { pack(context, p.b.device()); }, {"pack: ", "captured"}));
        EXPECT_TRUE(refuses(
            [&] {
                explain(context, p.alpha, p.a.device(), p.b.device(), p.beta, p.c.device(),
                        options);
            },
            {"explain: ", "captured"}));
    });
    graph.replay(context.stream());
    for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
    EXPECT_TRUE(close(p));
}

TEST_P(GemmAccurateCuda, AWarmContextAllocatesNothing) {
    GemmProblem<float> p({300, 200, 1100}, 6);
    p.fill(normal);
    p.run(context, options);
    const std::size_t before = free_memory();
    for (int repeat = 0; repeat < 100; ++repeat) enqueue(p);
    EXPECT_EQ(free_memory(), before);
    context.synchronize();
    EXPECT_EQ(free_memory(), before);
}

/// All four are in flight at once, again and again, on the same inputs.
void GemmAccurateCuda::run_on_four_streams(const Shape& shape) {
    GemmProblem<float> p(shape, 7);
    p.fill(normal);
    p.run(context, options);
    ASSERT_TRUE(close(p));
    const WideMatrix<float> expected = widen(p.c.after());
    Context contexts[4];
    Matrix<float> outputs[4];
    for (Matrix<float>& output : outputs) output = Matrix<float>(shape.m, shape.n);
    for (int repeat = 0; repeat < 25; ++repeat) {
        for (int turn = 0; turn < 4; ++turn)
            for (int s = 0; s < 4; ++s)
                gemm(contexts[s], p.alpha, p.a.device(), p.b.device(), p.beta, outputs[s], options);
        for (int s = 0; s < 4; ++s) {
            Matrix<float> result(shape.m, shape.n, Memory::pinned);
            copy(contexts[s], outputs[s], result);
            contexts[s].synchronize();
            ASSERT_EQ(widen(result.view()), expected) << "stream " << s << ", repeat " << repeat;
        }
    }
}
TEST_P(GemmAccurateCuda, OnFourStreams) { run_on_four_streams({700, 500, 1500}); }
TEST_P(GemmAccurateCuda, PairsOnFourStreams) { run_on_four_streams(paired); }
TEST_P(GemmAccurateCuda, CutPairsOnFourStreams) { run_on_four_streams(cut); }

/// Each route on this shape, and then `repeats` calls, one right behind another.
void GemmAccurateCuda::run_routes(const Shape& shape, int repeats) {
    GemmProblem<float> p(shape, 9);
    for (const Route& route : routes) {
        route.fill(p);
        p.run(context, options);
        ASSERT_TRUE(route.judge(p)) << "route " << &route - routes;
        const auto expected = bits_after(p);
        for (int repeat = 0; repeat < repeats; ++repeat) enqueue(p);
        p.c.download(context);
        ASSERT_EQ(bits_after(p), expected) << "route " << &route - routes;
    }
}

// Little enough for compute-sanitizer.
TEST_P(GemmAccurateCuda, SmallPairs) { run_routes(paired, 2); }
TEST_P(GemmAccurateCuda, SmallCutPairs) { run_routes(cut, 2); }
TEST_P(GemmAccurateCuda, PairsInTwoTurns) {
    constexpr HopperPlan plan(2000, 2040, 130);
    static_assert(plan.form == HopperForm::paired && plan.units() > HopperPlan::blocks / 2);
    static_assert(plan.slices == 1);
    run_routes({2000, 2040, 130}, 100);
}

// Thousands of calls, each launched before the one ahead of it has ended: blocks of a pair must not
// end while their partner still signals to them.
TEST_P(GemmAccurateCuda, ThousandsOfPairs) {
    for (const Shape& shape : {paired, Shape{2048, 2048, 192}}) {
        GemmProblem<float> p(shape, 11);
        p.fill(normal);
        p.run(context, options);
        const auto expected = bits_after(p);
        for (int repeat = 0; repeat < 20; ++repeat) {
            for (int call = 0; call < 1000; ++call) enqueue(p);
            p.c.download(context);
            ASSERT_EQ(bits_after(p), expected) << "repeat " << repeat << "; " << p;
        }
    }
}

// Every storage of C, so that each way of storing a tile meets its edges.
TEST_P(GemmAccurateCuda, PairsAtEveryEdge) {
    for (int index = 0; index < 2 * output_storages; ++index) {
        const Shape shape = {1409 + index * 29 % 128, 705 + index * 17 % 64, 33 + index};
        GemmProblem<float> p(shape, 700 + index, storages[index % input_storages],
                             storages[index / 2 % input_storages],
                             storages[index % output_storages]);
        p.alpha = 2;
        p.beta = index < output_storages ? 0.0f : -3.0f;
        p.fill_integers();
        p.run(context, options);
        ASSERT_TRUE(exact(p));
    }
}

// More tiles than the GPU takes at once, and a long k: blocks wait for each other at the tiles'
// begin, but not for those whose place another product has.
TEST_P(GemmAccurateCuda, ManyTurnsBesideEachOther) {
    const Shape shape = {1300, 2900, 2200};
    GemmProblem<float> p(shape, 8);
    p.fill(normal);
    p.run(context, options);
    for (const std::int64_t i : {std::int64_t{0}, shape.m - 1})
        for (std::int64_t j = 0; j < shape.n; ++j) {
            double sum = 0, size = 0;
            for (std::int64_t q = 0; q < shape.k; ++q) {
                const double product = double{p.a.before()(i, q)} * p.b.before()(q, j);
                sum += product;
                size += std::abs(product);
            }
            ASSERT_NEAR(p.c.after()(i, j), p.alpha * sum, 8 * 0x1p-24 * size) << i << ", " << j;
        }
    const auto expected = bits_after(p);
    std::vector<Context> contexts(3);
    std::vector<GemmProblem<float>> others;
    for (Context& own : contexts) {
        GemmProblem<float>& other = others.emplace_back(shape, 8);
        other.fill(normal);
        other.run(own, options);
    }
    for (int repeat = 0; repeat < 20; ++repeat)
        for (std::size_t s = 0; s < contexts.size(); ++s) enqueue(contexts[s], others[s]);
    for (std::size_t s = 0; s < contexts.size(); ++s) {
        others[s].c.download(contexts[s]);
        EXPECT_EQ(bits_after(others[s]), expected) << "stream " << s;
    }
}

// 10,000 calls of all routes and extents, from eight threads. Each problem's bits are its own.
TEST_P(GemmAccurateCuda, MixedCallsFromEightThreads) {
    std::vector<testing::AssertionResult> results(8, testing::AssertionFailure() << "did not run");
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < results.size(); ++t)
        threads.emplace_back([&, t] {
            Context own;
            std::vector<GemmProblem<float>> problems;
            std::vector<std::vector<std::uint32_t>> expected;
            for (const Shape& s :
                 {Shape{64, 64, 512}, Shape{257, 130, 1000}, Shape{1, 300, 600}, paired, cut})
                for (const Route& route : routes) {
                    GemmProblem<float>& p = problems.emplace_back(s, 10 + t);
                    if (s.m > 5)
                        route.fill(p);
                    else
                        p.fill(normal);
                    p.run(own, options);
                    expected.push_back(bits_after(p));
                }
            for (int call = 0; call < 1250; ++call) {
                const std::size_t which = (call * 7 + t) % problems.size();
                enqueue(own, problems[which]);
                if (call % 25 != 0) continue;
                problems[which].c.download(own);
                results[t] = bits_after(problems[which]) == expected[which]
                                 ? testing::AssertionSuccess()
                                 : testing::AssertionFailure() << "call " << call;
                if (!results[t]) return;
            }
            own.synchronize();
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& result : results) EXPECT_TRUE(result);
}

// C in panels of rows and columns, with wide data in one of them.
TEST_P(GemmAccurateCuda, PanelsBothWays) {
    constexpr std::int64_t m = 130'000, n = 130'000, k = 3;
    Matrix<float> a(m, k), b(k, n), c(m, n);
    const auto pattern = [](std::int64_t index) { return static_cast<float>(index % 1021 - 510); };
    std::vector<float> host_a(m * k), host_b(k * n), back(n);
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t q = 0; q < k; ++q) host_a[i * k + q] = pattern(i * 3 + q);
    for (std::int64_t q = 0; q < k; ++q)
        for (std::int64_t j = 0; j < n; ++j) host_b[q * n + j] = pattern(j * 5 + q + 7);
    host_a[3 * k] = 0x1p-40f;
    copy(context, MatrixView<float>::row_major(host_a.data(), m, k), a);
    copy(context, MatrixView<float>::row_major(host_b.data(), k, n), b);
    gemm(context, 1.0f, a, b, 0.0f, c, options);
    for (const std::int64_t i :
         {std::int64_t{3}, std::int64_t{122'879}, std::int64_t{122'880}, m - 1}) {
        copy(context, c.view().block(i, 0, 1, n), MatrixView<float>::row_major(back.data(), 1, n));
        context.synchronize();
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0, size = 0;
            for (std::int64_t q = 0; q < k; ++q) {
                const double product = double{host_a[i * k + q]} * host_b[q * n + j];
                sum += product;
                size += std::abs(product);
            }
            ASSERT_NEAR(back[j], sum, 51 * 0x1p-24 * size) << i << ", " << j;
        }
    }
}

}  // namespace
}  // namespace tinyblas::test
