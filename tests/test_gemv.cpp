// SPDX-License-Identifier: MIT
// gemv on every rung: values over shapes, orientations, strides and increments; bits.
#include <thread>

#include "gemv_model.hpp"
#include "gemv_problem.hpp"
#include "large_buffer.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class GemvSmall : public testing::Test {
  protected:
    Context context;
};
template <class T>
class Gemv : public GemvSmall<T> {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GemvSmall, Types);
TYPED_TEST_SUITE(Gemv, Types);

constexpr std::int64_t extents[] = {1, 2, 3, 4, 5, 8, 31, 32, 33, 64, 65, 127, 130};

TYPED_TEST(GemvSmall, EveryShape) {
    for (const std::int64_t m : extents)
        for (const std::int64_t n : extents)
            for (const bool transposed : {false, true}) {
                GemvProblem<TypeParam> p(m, n, storages[0], transposed);
                p.alpha = 2;
                p.beta = -3;
                p.fill_integers();
                for (const GemvKernel rung : {GemvKernel::naive, GemvKernel::tuned}) {
                    ASSERT_EQ(p.run(this->context, {rung}).kernel, rung);
                    ASSERT_TRUE(exact(p)) << to_string(rung);
                }
            }
}

// Shapes that the plan treats differently: narrow, wide, few rows, few columns, square; ragged.
constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {
    {300, 7},   {300, 64},  {211, 96},  {129, 257}, {70, 1000},  {3, 5000},
    {1, 9001},  {17, 2100}, {5000, 3},  {2047, 33}, {1030, 129}, {512, 512},
    {2, 40000}, {40000, 2}, {35000, 5}, {600, 1100}};

TYPED_TEST(GemvSmall, EveryStorageOfA) {
    for (const auto& [m, n] : {std::pair{37, 21}, {21, 70}, {150, 9}, {9, 150}})
        for (const Storage& storage : storages)
            for (const bool transposed : {false, true})
                for (const GemvKernel rung : gemv_rungs) {
                    GemvProblem<TypeParam> p(m, n, storage, transposed);
                    p.beta = 1;
                    p.fill_integers();
                    p.run(this->context, {rung});
                    ASSERT_TRUE(exact(p)) << to_string(rung);
                }
}

TYPED_TEST(GemvSmall, EveryIncrement) {
    for (const auto& [m, n] : {std::pair{45, 19}, {19, 300}})
        for (const Storage& a : {storages[0], storages[1], storages[4]})
            for (const Storage& x : vector_storages)
                for (const Storage& y : vector_storages)
                    for (const bool transposed : {false, true}) {
                        GemvProblem<TypeParam> p(m, n, a, transposed, x, y);
                        p.alpha = -1;
                        p.beta = 2;
                        p.fill_integers();
                        p.run(this->context);
                        ASSERT_TRUE(exact(p));
                    }
}

TYPED_TEST(Gemv, LargerShapesAreClose) {
    for (const auto& [m, n] : shapes)
        for (const Storage& storage : {storages[0], storages[1], storages[4]})
            for (const bool transposed : {false, true}) {
                GemvProblem<TypeParam> p(m, n, storage, transposed);
                p.alpha = TypeParam(0.7);
                p.beta = TypeParam(-0.3);
                p.fill_normal();
                p.run(this->context);
                ASSERT_TRUE(close(p));
            }
}

template <class T>
testing::AssertionResult has_bits_of_model(Context& context, GemvProblem<T>& p) {
    p.fill_normal();
    p.run(context);
    const std::vector<T> expected =
        gemv_model<T>(MatrixView<const T>(p.op_a()), p.x.before().row(0));
    return judge(p, "the model's", [&](auto i, T result) {
        return bits(result) == bits(expected[static_cast<std::size_t>(i)]);
    });
}

/// The additions happen in the order of the model, on any machine, whatever the alignment, the
/// leading dimension and the increments.
TYPED_TEST(Gemv, BitsAreTheModels) {
    for (const auto& [m, n] : shapes)
        for (const bool transposed : {false, true})
            for (const int variant : {0, 1, 2}) {
                const Storage& a = storages[variant == 0 ? 0 : variant == 1 ? 4 : 2];
                GemvProblem<TypeParam> p(m, n, a, transposed, vector_storages[variant == 2 ? 3 : 0],
                                         vector_storages[variant]);
                ASSERT_TRUE(has_bits_of_model(this->context, p));
            }
}

/// Thin and high matrices have plans of their own: by 1 to 32 lanes, and pieces of long rows.
TYPED_TEST(Gemv, BitsOfThinOnesAreTheModels) {
    constexpr std::int64_t size = 16 / sizeof(TypeParam);
    struct Case {
        std::int64_t m, n;
        bool transposed;
        int lanes;
        unsigned pieces;
    };
    for (const Case& one : {Case{540000, 4 * size - 1, true, 4, 132},
                            {540000, size, true, 1, 211},
                            {270000, 8 * size - 1, true, 8, 132},
                            {45000, 49 * size - 1, true, 32, 64},
                            {40000, 25 * size - 1, true, 8, 63},
                            {5000, 16 * size, true, 4, 16},
                            {4000, 60 * size - 1, true, 8, 16},
                            {12000, 70 * size - 1, true, 8, 24},
                            {3000, 200 * size - 1, true, 8, 16},
                            {5000, 300 * size - 1, true, 32, 13},
                            {5 * size, 400000, false, 0, 52}}) {
        const GemvPlan plan = plan_gemv(sizeof(TypeParam), one.transposed, one.m, one.n);
        EXPECT_EQ(plan.lanes, one.lanes) << one.m;
        EXPECT_EQ(plan.pieces, one.pieces) << one.m;
        GemvProblem<TypeParam> p(one.m, one.n, storages[0], one.transposed);
        ASSERT_TRUE(has_bits_of_model(this->context, p));
    }
}

/// Eight threads with a context each, four streams of one context: the same bits every time.
TYPED_TEST(Gemv, ContextsThreadsAndStreamsAgree) {
    using T = TypeParam;
    for (const auto& [m, n] : {std::pair{40000, 4}, {3, 50000}, {700, 700}})
        for (const bool transposed : {false, true}) {
            GemvProblem<T> p(m, n, storages[0], transposed);
            p.fill_normal();
            p.run(this->context);
            const std::vector<T> first = p.result();
            const auto op = transposed ? p.a.device().transposed() : p.a.device();
            const auto agrees = [&](Context& context, Matrix<T>& y) {
                gemv(context, T(1), op, p.x.device().row(0), T(0), y.view().row(0));
                context.synchronize();
                for (std::size_t i = 0; i < first.size(); ++i)
                    if (bits(y(0, static_cast<std::int64_t>(i))) != bits(first[i])) return false;
                return true;
            };
            std::array<int, 8> wrong{};
            std::vector<std::thread> threads;
            for (int& count : wrong)
                threads.emplace_back([&] {
                    Context context;
                    Matrix<T> y(1, p.y.before().columns, Memory::managed);
                    for (int repeat = 0; repeat < (emulated ? 1 : 100); ++repeat)
                        if (!agrees(context, y)) ++count;
                });
            for (std::thread& thread : threads) thread.join();
            EXPECT_EQ(wrong, (std::array<int, 8>{})) << p;

            std::array<Context, 4> streams;
            Matrix<T> y(1, p.y.before().columns, Memory::managed);
            for (Context& stream : streams) {
                this->context.set_stream(stream.stream());
                EXPECT_TRUE(agrees(this->context, y)) << p;
            }
            this->context = Context();
        }
}

/// Elements that lie past 2^31 elements, and with them the steps between rows and columns.
TYPED_TEST(Gemv, FarApart) {
    using T = TypeParam;
    constexpr std::int64_t far = (std::int64_t{1} << 26) + 1, extent = 33;
    constexpr std::int64_t elements = (extent - 1) * far + extent;
    static_assert(elements > std::int64_t{1} << 31);
    LargeBuffer<T> buffer(elements);
    if (!buffer) GTEST_SKIP() << no_room<T>(1, elements);
    for (const bool by_column : {false, true})
        for (const bool transposed : {false, true}) {
            GemvProblem<T> p(extent, extent, storages[0], transposed);
            p.fill_integers();
            p.upload(this->context);
            MatrixView<T> a = {buffer.data(), extent, extent, by_column ? 1 : far,
                               by_column ? far : 1};
            copy(this->context, p.a.device(), a);
            if (transposed) a = a.transposed();
            gemv(this->context, p.alpha, a, p.x.device().row(0), p.beta, p.y.device().row(0));
            p.download(this->context);
            EXPECT_TRUE(exact(p)) << by_column;
        }
}

TEST(GemvRungs, HaveNames) {
    for (const GemvKernel rung : gemv_rungs) EXPECT_EQ(gemv_kernel(to_string(rung)), rung);
    EXPECT_TRUE(refuses([] { gemv_kernel("fast"); }, {"no rung 'fast'", "best, naive or tuned"}));
    EXPECT_STREQ(to_string(GemvKernel::none), "none");
    EXPECT_STREQ(to_string(static_cast<GemvKernel>(9)), "unknown");
}

}  // namespace
}  // namespace tinyblas::test
