// SPDX-License-Identifier: MIT
// Which strict rung gemm takes where it may choose: by extents, layouts and memory; and that
// explain tells, without reading anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "gemm_problem.hpp"

namespace tinyblas::test {
namespace {

/// Of row-major operands that are never read: explain needs addresses alone.
template <class T>
GemmExplanation told(Context& context, Shape shape, GemmOptions options = {}) {
    const auto view = [](std::uintptr_t address, std::int64_t rows, std::int64_t columns) {
        return MatrixView<T>::row_major(reinterpret_cast<T*>(address << 40), rows, columns);
    };
    return explain(context, T(1), view(1, shape.m, shape.k), view(2, shape.k, shape.n), T(0),
                   view(3, shape.m, shape.n), options);
}
template <class T>
GemmKernel chosen(Context& context, Shape shape, GemmOptions options = {}) {
    return told<T>(context, shape, options).choice.kernel;
}

TEST(SmallGemmChoice, ByExtentsInFloat) {
    Context context;
    EXPECT_EQ(chosen<float>(context, {1, 4096, 4096}), GemmKernel::gemv);
    EXPECT_EQ(chosen<float>(context, {4096, 1, 4096}), GemmKernel::gemv);
    for (const Shape shape : {Shape{64, 64, 64},
                              {128, 128, 128},
                              {512, 512, 512},
                              {16, 4096, 4096},
                              {64, 64, 1 << 20},
                              {128, 128, 65'536},
                              {64, 4096, 4096},
                              {1000, 64, 1000}})
        EXPECT_EQ(chosen<float>(context, shape), GemmKernel::sliced) << shape.m << " " << shape.n;
    if (!runs_here(context, {GemmKernel::pipelined})) return;
    for (const std::int64_t n : {2048, 4096, 4097, 8192, 16'384})
        EXPECT_EQ(chosen<float>(context, {n, n, n}), GemmKernel::pipelined) << n;
    // Where the ring of the rung tuned takes nearly as long: packed, and with short k.
    EXPECT_EQ(chosen<float>(context, {1023, 1023, 1023}), GemmKernel::pipelined);
    EXPECT_EQ(chosen<float>(context, {1536, 1536, 512}), GemmKernel::pipelined);
}

TEST(SmallGemmChoice, ThinAndLong) {
    Context context;
    if (!runs_here(context, {GemmKernel::skinny})) return;
    constexpr GemmKernel skinny = GemmKernel::skinny;
    for (const Shape shape : {Shape{1 << 20, 32, 64}, Shape{64, 1 << 20, 64},
                              Shape{1 << 20, 32, 32}, Shape{100'000, 16, 16},
                              Shape{16, 100'000, 16}, Shape{200'000, 32, 100}, Shape{1000, 24, 8}})
        EXPECT_EQ(chosen<float>(context, shape), skinny) << shape.m << " " << shape.n;
    for (const Shape shape : {Shape{1 << 20, 65, 64}, Shape{1 << 20, 64, 129}, Shape{1024, 64, 64},
                              Shape{64, 64, 64}, Shape{256, 64, 32}, Shape{1000, 22, 8}})
        EXPECT_NE(chosen<float>(context, shape), skinny) << shape.m << " " << shape.n;
    EXPECT_THAT(told<float>(context, {64, 1 << 20, 64}).reason,
                testing::HasSubstr("the rung skinny is estimated at "));
}

TEST(SmallGemmChoice, ByExtentsInDouble) {
    Context context;
    EXPECT_EQ(chosen<double>(context, {1, 4096, 4096}), GemmKernel::gemv);
    const GemmKernel expected =
        runs_here(context, {GemmKernel::tensor}) ? GemmKernel::tensor : GemmKernel::tuned;
    for (const std::int64_t n : {64, 512, 1024, 4096, 4097, 8192})
        EXPECT_EQ(chosen<double>(context, {n, n, n}), expected) << n;
}

// The estimates that explain tells are those that the choice is made by.
TEST(SmallGemmChoice, TakesTheLeastEstimate) {
    Context context;
    for (const std::int64_t n : {64, 512, 1024, 1536, 4096}) {
        const std::string reason = told<float>(context, {n, n, n}).reason;
        double least = 0, tuned = 0;
        char rung[16] = {};
        ASSERT_EQ(std::sscanf(reason.c_str(),
                              "strict: the precision is fp32_strict; the rung %15s is estimated "
                              "at %lf us (tuned: %lf us)",
                              rung, &least, &tuned),
                  3)
            << reason;
        EXPECT_EQ(std::string(rung), to_string(chosen<float>(context, {n, n, n})));
        EXPECT_GT(least, 1);
        EXPECT_LT(least, tuned);
    }
    EXPECT_EQ(told<float>(context, {512, 512, 512}, {.kernel = GemmKernel::tuned}).reason,
              "strict: the options ask for this rung");
}

TEST(SmallGemmChoice, ARowIsForGemv) {
    Context context;
    GemmProblem<float> p({1, 37, 70}, 700);
    p.fill_integers();
    EXPECT_EQ(p.run(context).kernel, GemmKernel::gemv);
    EXPECT_TRUE(exact(p));
    EXPECT_THROW(chosen<float>(context, {2, 2, 2}, {.kernel = GemmKernel::gemv}), Error);
}

// Scratch memory of the caller's bounds what a rung may take; the product is right with any.
TEST(SmallGemmChoice, WithinTheMemoryGiven) {
    Context context;
    Matrix<std::byte> memory(1, 1024);
    context.set_scratch(memory.view().data, 1024);
    for (const Shape shape : {Shape{33, 35, 2000}, {128, 64, 512}, {70, 300, 90}}) {
        GemmProblem<float> p(shape, 710);
        p.fill_integers();
        p.run(context);
        EXPECT_TRUE(exact(p));
        GemmProblem<double> wide(shape, 711);
        wide.fill_integers();
        wide.run(context);
        EXPECT_TRUE(exact(wide));
    }
}

// Past what the other rungs can count, tiled goes on.
TEST(SmallGemmChoice, LongestK) {
    Context context;
    EXPECT_EQ(chosen<float>(context, {2, 2, gemm_tuned_longest_k + 1}), GemmKernel::tiled);
    EXPECT_EQ(chosen<double>(context, {2, 2, gemm_tuned_longest_k + 1}), GemmKernel::tiled);
    EXPECT_NE(chosen<float>(context, {2, 2, gemm_tuned_longest_k}), GemmKernel::tiled);
}

// Plans are remembered: calls in any order get the same choice and the same bits.
TEST(SmallGemmChoice, IsTheSameInEveryOrder) {
    Context context;
    std::vector<GemmChoice> first;
    for (int round = 0; round < 3; ++round)
        for (std::int64_t n = 16; n < 1600; n += 16) {
            const GemmChoice choice = told<float>(context, {n, 1616 - n, 96}).choice;
            if (round == 0) first.push_back(choice);
            EXPECT_EQ(choice.kernel, first[static_cast<std::size_t>(n / 16 - 1)].kernel) << n;
        }
}

// Nor does it depend on how C lies: plans are remembered without it. Each thread remembers its own.
TEST(SmallGemmChoice, DoesNotDependOnC) {
    const auto chosen_with = [](Shape shape, std::int64_t beyond) {
        GemmKernel kernel = GemmKernel::none;
        std::thread([&] {
            Context context;
            const auto view = [](std::uintptr_t address, std::int64_t rows, std::int64_t columns) {
                return MatrixView<float>::row_major(reinterpret_cast<float*>(address << 40), rows,
                                                    columns);
            };
            MatrixView<float> c = view(3, shape.m, shape.n);
            c.row_stride += beyond;
            kernel = explain(context, 1.0f, view(1, shape.m, shape.k), view(2, shape.k, shape.n),
                             0.0f, c)
                         .choice.kernel;
        }).join();
        return kernel;
    };
    for (std::int64_t m = 16; m < 100'000; m = m * 3 / 2)
        for (const std::int64_t n : {16, 28, 64})
            for (const std::int64_t k : {16, 48, 128}) {
                const Shape shape = {m, n, k};
                EXPECT_EQ(chosen_with(shape, 0), chosen_with(shape, 1))
                    << m << " " << n << " " << k;
            }
}

}  // namespace
}  // namespace tinyblas::test
