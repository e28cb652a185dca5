// SPDX-License-Identifier: MIT
// Context: whose stream it runs on, what it keeps, and that contexts on many threads and streams
// give the same bits.
#include <thread>
#include <type_traits>

#include "gemm_problem.hpp"

namespace tinyblas::test {
namespace {

static_assert(!std::is_copy_constructible_v<Context> && !std::is_copy_assignable_v<Context>);
static_assert(std::is_nothrow_move_constructible_v<Context>);
static_assert(std::is_nothrow_move_assignable_v<Context>);

/// Whether a gemm on `context` is right.
testing::AssertionResult works(Context& context) {
    GemmProblem<float> p({33, 34, 9}, 1);
    p.fill_integers();
    p.run(context);
    return exact(p);
}

TEST(SmallContext, DescribesItsDevice) {
    const Context context;
    EXPECT_GE(context.device(), 0);
    EXPECT_GE(context.compute_capability(), 80);
    EXPECT_GE(context.multiprocessors(), 1);
    EXPECT_GT(context.memory_speed(), 1e11);
    EXPECT_LT(context.memory_speed(), 1e14);
    EXPECT_TRUE(!emulated || context.compute_capability() == 90);
}

TEST(SmallContext, OwnsAStream) {
    Context one, two;
    EXPECT_NE(one.stream(), nullptr);
    EXPECT_NE(one.stream(), two.stream());
    EXPECT_TRUE(works(one));
    EXPECT_TRUE(works(two));
}

TEST(SmallContext, UsesTheCallersStream) {
    const Context owner;
    {
        Context borrower(owner.stream());
        EXPECT_EQ(borrower.stream(), owner.stream());
        EXPECT_TRUE(works(borrower));
    }
    Context next(owner.stream());  // the stream outlived its first borrower
    EXPECT_TRUE(works(next));
    Context on_default(nullptr);
    EXPECT_EQ(on_default.stream(), nullptr);
    EXPECT_TRUE(works(on_default));
}

TEST(SmallContext, SetStream) {
    const Context owner;
    Context context;
    context.set_stream(owner.stream());
    EXPECT_EQ(context.stream(), owner.stream());
    EXPECT_TRUE(works(context));
    context.set_stream(nullptr);
    EXPECT_EQ(context.stream(), nullptr);
    EXPECT_TRUE(works(context));
}

TEST(SmallContext, Moves) {
    Context first;
    CUstream_st* stream = first.stream();
    void* scratch = first.scratch(1000);
    Context second(std::move(first));
    EXPECT_EQ(second.stream(), stream);
    EXPECT_EQ(second.scratch(1000), scratch);
    Context third;
    third = std::move(second);
    EXPECT_EQ(third.stream(), stream);
    EXPECT_EQ(third.scratch(1000), scratch);
    EXPECT_TRUE(works(third));
    first = Context();
    EXPECT_NE(first.stream(), stream);
    EXPECT_TRUE(works(first));
}

TEST(SmallContext, ScratchIsKeptAndGrows) {
    Context context;
    void* scratch = context.scratch(1000);
    ASSERT_NE(scratch, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(scratch) % 256, 0u);
    EXPECT_EQ(context.scratch(1), scratch);
    EXPECT_EQ(context.scratch(1000), scratch);
    ASSERT_NE(context.scratch(1 << 20), nullptr);
    EXPECT_EQ(context.scratch(1000), context.scratch(1 << 20));
}

TEST(ContextErrors, TooMuchScratchIsRefusedAndHarmsNothing) {
    Context context;
    void* scratch = context.scratch(1000);
    constexpr std::size_t huge = std::size_t{1} << 60;
    EXPECT_TRUE(
        refuses([&] { context.scratch(huge); }, {std::to_string(huge)}, Status::out_of_memory));
    EXPECT_EQ(context.scratch(1000), scratch);
    EXPECT_TRUE(works(context));
}

TEST(SmallContext, ManyComeAndGo) {
    for (int repeat = 0; repeat < 100; ++repeat) {
        Context context;
        context.scratch(4096);
        ASSERT_TRUE(works(context)) << "repeat " << repeat;
    }
}

/// A problem whose every element has roundings in it.
GemmProblem<float> rounded_problem() {
    GemmProblem<float> p({70, 45, 61}, 2);
    p.alpha = 1.7f;
    p.beta = -0.3f;
    p.fill([](Random& r) { return r.normal(); });
    return p;
}

TEST(Contexts, OnEightThreads) {
    std::vector<testing::AssertionResult> results(8, testing::AssertionFailure() << "did not run");
    std::vector<std::thread> threads;
    for (auto& result : results)
        threads.emplace_back([&result] {
            Context context;
            for (int repeat = 0; repeat < 100; ++repeat) {
                GemmProblem<float> p = rounded_problem();
                result = strict(p, p.run(context));
                if (!result) return;
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& result : results) EXPECT_TRUE(result);
}

// All four are in flight at once, again and again, on the same inputs.
TEST(Contexts, OnFourStreams) {
    GemmProblem<float> p = rounded_problem();
    Context contexts[4];
    Matrix<float> outputs[4];
    ASSERT_TRUE(strict(p, p.run(contexts[0])));
    const WideMatrix<float> expected = widen(p.c.after());
    for (Matrix<float>& output : outputs) output = Matrix<float>(70, 45);
    for (int repeat = 0; repeat < 100; ++repeat) {
        for (int s = 0; s < 4; ++s) {
            copy(contexts[s], p.c.before(), outputs[s]);
            gemm(contexts[s], p.alpha, p.a.device(), p.b.device(), p.beta, outputs[s]);
        }
        for (int s = 0; s < 4; ++s) {
            Matrix<float> result(70, 45, Memory::pinned);
            copy(contexts[s], outputs[s], result);
            contexts[s].synchronize();
            ASSERT_EQ(widen(result.view()), expected) << "stream " << s << ", repeat " << repeat;
        }
    }
}

}  // namespace
}  // namespace tinyblas::test
