// SPDX-License-Identifier: MIT
// Packed operands: the bits of the unpacked call on every route, from memory of their own, in any
// context.
#include <gmock/gmock.h>

#include <type_traits>

#include "accurate_gemm.hpp"
#include "tinyblas/packed.hpp"

namespace tinyblas::test {
namespace {

static_assert(!std::is_copy_constructible_v<PackedMatrix> &&
              !std::is_copy_assignable_v<PackedMatrix>);
static_assert(std::is_nothrow_move_constructible_v<PackedMatrix> &&
              std::is_nothrow_move_assignable_v<PackedMatrix>);

/// Runs p with B packed, after which nothing of B itself is left.
GemmChoice run_packed(GemmProblem<float>& p, Context& context, GemmOptions options) {
    for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
    const PackedMatrix packed = pack(context, p.b.device());
    EXPECT_EQ(packed.rows(), p.b.before().rows);
    EXPECT_EQ(packed.columns(), p.b.before().columns);
    Matrix<float> gone(p.b.before().rows, p.b.before().columns, Memory::pinned);
    for (std::int64_t i = 0; i < gone.rows(); ++i)
        for (std::int64_t j = 0; j < gone.columns(); ++j) gone(i, j) = poison<float>();
    copy(context, gone, p.b.device());
    const GemmChoice choice =
        gemm(context, p.alpha, p.a.device(), packed, p.beta, p.c.device(), options);
    context.synchronize();
    p.b.upload(context);
    for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
    return choice;
}

class SmallGemmPack : public AccurateRungs {
  protected:
    void expect_same(GemmProblem<float>& p) {
        const GemmChoice choice = p.run(context, options);
        const auto expected = bits_after(p);
        p.c.fill([&] { return p.beta == 0 ? poison<float>() : 3.0f; });
        if (p.beta != 0) {
            p.run(context, options);
            const auto with_c = bits_after(p);
            EXPECT_EQ(run_packed(p, context, options).kernel, choice.kernel);
            EXPECT_EQ(bits_after(p), with_c) << p;
        } else {
            EXPECT_EQ(run_packed(p, context, options).kernel, choice.kernel);
            EXPECT_EQ(bits_after(p), expected) << p;
        }
        EXPECT_TRUE(surroundings_intact(p));
    }
};
TINYBLAS_FOR_EACH_ACCURATE_RUNG(SmallGemmPack);

TEST_P(SmallGemmPack, EveryStorage) {
    for (int index = 0; index < output_storages; ++index) {
        GemmProblem<float> p({70, 65, 130}, 100 + index, storages[0],
                             storages[(index + 3) % output_storages], storages[index]);
        p.alpha = 0.7f;
        p.beta = index % 2 == 0 ? 0.0f : -2.0f;
        p.fill(normal);
        expect_same(p);
        EXPECT_TRUE(close(p));
    }
}

// Wide and unfit data of either operand: their parts are made anew, from the copy.
TEST_P(SmallGemmPack, EveryRouteOfTheGuard) {
    for (const float special : {0x1p-40f, std::numeric_limits<float>::quiet_NaN()})
        for (const bool in_a : {true, false})
            for (const Storage& c_storage : {storages[0], storages[1]}) {
                GemmProblem<float> p({70, 66, 600}, 200, storages[0], storages[4], c_storage);
                p.fill(normal);
                (in_a ? p.a.before()(69, 3) : p.b.before()(3, 65)) = special;
                expect_same(p);
            }
    GemmProblem<float> p({70, 66, 600}, 201);
    p.fill_integers();
    expect_same(p);
    EXPECT_TRUE(exact(p));
}

// Without the scratch memory for three parts, wide data go to the strict kernel, from the copy.
TEST_P(SmallGemmPack, LittleScratch) {
    GemmProblem<float> p({70, 66, 600}, 202);
    p.fill(normal);
    p.b.before()(3, 65) = 0x1p-40f;
    const std::size_t bytes = 800'000;  // enough for two parts of A, not for three of both
    EXPECT_LT(bytes, gemm_scratch_bytes(70, 66, 600));
    Matrix<std::byte> memory(1, static_cast<std::int64_t>(bytes));
    context.set_scratch(memory.view().data, bytes);
    EXPECT_EQ(run_packed(p, context, options).kernel, GetParam());
    EXPECT_TRUE(chained(p));
}

TEST(SmallPackedMatrix, StrictProductsAreStrict) {
    Context context;
    for (const GemmKernel kernel : {GemmKernel::best, GemmKernel::naive, GemmKernel::tiled}) {
        GemmProblem<float> p({37, 40, 300}, 300, storages[0], storages[7]);
        p.fill(normal);
        const GemmChoice choice = run_packed(p, context, {.kernel = kernel});
        EXPECT_NE(choice.kernel, GemmKernel::split);
        EXPECT_TRUE(strict(p, choice));
    }
    context.set_precision(Precision::fp32);
    GemmProblem<float> p(paying_shape(), 301);
    p.fill(normal);
    const GemmKernel kernel = p.run(context).kernel;
    const auto expected = bits_after(p);
    EXPECT_EQ(run_packed(p, context, {}).kernel, kernel);
    EXPECT_EQ(bits_after(p), expected);
}

TEST(SmallPackedMatrix, ServesOtherContextsAndMoves) {
    GemmProblem<float> p({33, 40, 70}, 310);
    p.fill_integers();
    PackedMatrix kept;
    EXPECT_EQ(kept.rows(), 0);
    EXPECT_EQ(kept.bytes(), 0u);
    {
        Context context;
        p.b.upload(context);
        PackedMatrix packed = pack(context, p.b.device());
        EXPECT_EQ(packed.device(), context.device());
        EXPECT_GE(packed.bytes(), (runs_split(context) ? 8u : 4u) * 40 * 70);
        PackedMatrix moved(std::move(packed));
        kept = std::move(moved);
    }
    for (int repeat = 0; repeat < 3; ++repeat) {
        Context context;
        p.a.upload(context);
        p.c.upload(context);
        gemm(context, 1, p.a.device(), kept, 0, p.c.device(), {.kernel = split_or_best(context)});
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
        EXPECT_TRUE(exact(p));
    }
}

TEST(SmallPackedMatrix, Empty) {
    Context context;
    for (const Shape s : {Shape{3, 0, 5}, Shape{3, 4, 0}, Shape{3, 0, 0}}) {
        GemmProblem<float> p(s, 320);
        p.beta = 2;
        p.fill_integers();
        const PackedMatrix packed = pack(context, MatrixView<float>::row_major(nullptr, s.k, s.n));
        EXPECT_EQ(packed.rows(), s.k);
        EXPECT_EQ(packed.columns(), s.n);
        for (const GemmKernel kernel : {GemmKernel::best, split_or_best(context)}) {
            p.c.upload(context);
            gemm(context, 1, p.a.device(), packed, 2, p.c.device(), {.kernel = kernel});
            p.c.download(context);
            p.a.upload(context), p.a.download(context);
            p.b.upload(context), p.b.download(context);
            EXPECT_TRUE(exact(p));
        }
    }
}

TEST(SmallPackedMatrix, AlphaZero) {
    Context context;
    GemmProblem<float> p({33, 40, 70}, 330);
    p.alpha = 0;
    p.beta = -3;
    p.fill_integers();
    run_packed(p, context, {.kernel = split_or_best(context)});
    EXPECT_TRUE(exact(p));
}

TEST(PackedMatrixErrors, AreClear) {
    Context context;
    Matrix<float> a(4, 5), b(5, 6), c(4, 6), zeros(5, 6, Memory::pinned);
    for (std::int64_t i = 0; i < zeros.rows(); ++i)
        for (std::int64_t j = 0; j < zeros.columns(); ++j) zeros(i, j) = 0;
    copy(context, zeros, b);
    const auto view = [](float* data, std::int64_t rows, std::int64_t columns) {
        return MatrixView<float>{data, rows, columns, 6, 1};
    };
    EXPECT_TRUE(refuses([&] { pack(context, view(nullptr, -1, 2)); }, {"pack: b is -1 x 2"}));
    EXPECT_TRUE(refuses([&] { pack(context, view(nullptr, 5, 6)); }, {"pack: b is null", "5 x 6"}));
    EXPECT_TRUE(refuses([&] { pack(context, view(b.view().data, gemm_tuned_longest_k + 1, 1)); },
                        {"pack: b has 17179869185 rows", "at most 17179869184"}));
    PackedMatrix packed = pack(context, b);
    const auto refused = [&](const PackedMatrix& b, MatrixView<float> a_view,
                             MatrixView<float> c_view, std::initializer_list<std::string> words) {
        EXPECT_TRUE(refuses([&] { gemm(context, 1, a_view, b, 0, c_view); }, words));
    };
    refused(packed, view(a.view().data, 4, 6), c, {"gemm: b has 5 rows but a has 6 columns"});
    refused(packed, a, view(c.view().data, 4, 5), {"gemm: c has 5 columns but b has 6 columns"});
    refused(packed, view(c.view().data, 4, 5), c, {"gemm: c overlaps a"});
    const PackedMatrix moved = std::move(packed);
    refused(packed, a, c, {"gemm: b is empty"});
    refused({}, a, c, {"gemm: b is empty"});
}

// B is packed, and C made, in panels.
TEST(PackedMatrixLarge, Panels) {
    Context context;
    GemmProblem<float> p({2, 262200, 1}, 340);
    p.fill_integers();
    run_packed(p, context, {.kernel = split_or_best(context)});
    EXPECT_TRUE(exact(p));
}

}  // namespace
}  // namespace tinyblas::test
