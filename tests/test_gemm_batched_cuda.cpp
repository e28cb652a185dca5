// SPDX-License-Identifier: MIT
// What only a GPU can show of batches: capture in CUDA graphs that outlive the context, pointers
// that change between replays, no allocation, more products than a grid holds by every kernel.
#include <algorithm>
#include <optional>

#include "batched_problem.hpp"
#include "graph.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class GemmBatchedGraph : public testing::Test {
  protected:
    Context context;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmBatchedGraph, Types);

// Captured as the first call of a context, which is gone when the graph runs, on inputs that
// changed in between. By pointers: which matrices are multiplied is read at each replay.
TYPED_TEST(GemmBatchedGraph, OutlivesItsContext) {
    using T = TypeParam;
    for (const auto& [shape, count] : cases_of<T>())
        for (const Given given : {Given::by_strides, Given::by_pointers}) {
            BatchProblem<T> p(shape, count);
            p.given = given;
            p.fill_integers();
            std::vector<T*> pointers = p.pointers();
            Matrix<T*> array = on_device(this->context, pointers);
            std::optional<Context> first(std::in_place);
            Graph graph(*first, [&] {
                EXPECT_EQ(p.enqueue(*first, array.view().data).kernel, GemmKernel::batched);
            });
            // Of floats and a k that may be cut: memory for pieces' sums, and what adds them up.
            EXPECT_GE(graph.nodes(), 1u);
            const bool in_pieces = std::is_same_v<T, float> && shape.k >= 160;
            EXPECT_LE(graph.nodes(), in_pieces ? 3u : 1u);
            first.reset();
            for (int round = 0; round < 3; ++round) {
                p.fill_integers();
                for (BatchOperand<T>* operand : p.operands()) operand->upload(this->context);
                graph.replay(this->context.stream());
                for (BatchOperand<T>* operand : p.operands()) operand->download(this->context);
                EXPECT_TRUE(exact(p)) << "round " << round;
            }
            if (!p.by_pointers()) continue;
            const auto end_of_a = pointers.begin() + static_cast<std::ptrdiff_t>(count);
            std::reverse(pointers.begin(), end_of_a);
            std::reverse(end_of_a, pointers.begin() + 2 * static_cast<std::ptrdiff_t>(count));
            copy(this->context, MatrixView<T*>::row_major(pointers.data(), 1, 3 * count), array);
            for (BatchOperand<T>* operand : p.operands()) operand->upload(this->context);
            graph.replay(this->context.stream());
            p.c.download(this->context);
            for (std::int64_t e = 0; e < count; ++e)
                ASSERT_EQ(
                    widen(p.c.after(p.c_of(e))),
                    (2 * wide_product<T>(widen(p.a.before(e)), widen(p.b.before(count - 1 - e))) -
                     widen(p.c.before(p.c_of(e))))
                        .eval())
                    << p;
        }
}

// Maps of the copy engine that a kernel writes, at each replay: in between, pointers move to other
// matrices, of which one of four begins at 16 bytes.
TEST(GemmBatchedGraphOfFloats, WritesMapsAtEachReplay) {
    Context context;
    if (context.compute_capability() != 90) GTEST_SKIP() << "needs compute capability 9.0a";
    constexpr std::int64_t count = 68;
    BatchProblem<float> p({64, 60, 276}, count, {Along{true, 1}, Along{true, 1}, below});
    p.given = Given::by_pointers;
    std::vector<float*> pointers = p.pointers();
    Matrix<float*> array = on_device(context, pointers);
    std::optional<Context> first(std::in_place);
    Graph graph(*first, [&] { p.enqueue(*first, array.view().data); });
    EXPECT_EQ(graph.nodes(), 2u);
    first.reset();
    for (std::int64_t turn = 0; turn < 5; ++turn) {
        p.fill_integers();
        for (BatchOperand<float>* operand : p.operands()) operand->upload(context);
        copy(context, MatrixView<float*>::row_major(pointers.data(), 1, 3 * count), array);
        graph.replay(context.stream());
        p.c.download(context);
        for (std::int64_t e = 0; e < count; ++e)
            ASSERT_EQ(widen(p.c.after(p.c_of(e))),
                      (2 * wide_product<float>(widen(p.a.before(p.a_of((e + turn) % count))),
                                               widen(p.b.before((e + 2 * turn) % count))) -
                       widen(p.c.before(p.c_of(e))))
                          .eval())
                << p << ", turn " << turn;
        const auto of_b = pointers.begin() + count;
        std::rotate(pointers.begin(), pointers.begin() + 1, of_b);
        std::rotate(of_b, of_b + 2, of_b + count);
    }
}

// One gemm after the other, by a rung that shares k: as many nodes at least.
TYPED_TEST(GemmBatchedGraph, OneByOne) {
    using T = TypeParam;
    BatchProblem<T> p({33, 100, 1300}, 2);
    const GemmKernel own = std::is_same_v<T, float> ? GemmKernel::sliced : GemmKernel::tensor;
    const bool is_90 = this->context.compute_capability() == 90;
    const GemmOptions by_name = {.kernel = is_90 ? own : GemmKernel::tuned};
    p.fill_integers();
    p.run(this->context, by_name);  // its scratch memory is there
    Graph graph(this->context, [&] { p.enqueue(this->context, nullptr, by_name); });
    EXPECT_GE(graph.nodes(), 2u);
    for (int round = 0; round < 3; ++round) {
        p.fill_integers();
        for (BatchOperand<T>* operand : p.operands()) operand->upload(this->context);
        graph.replay(this->context.stream());
        for (BatchOperand<T>* operand : p.operands()) operand->download(this->context);
        EXPECT_TRUE(exact(p)) << "round " << round;
    }
}

// Few tiles of a long k, in one launch whose tiles are cut: the graph has the scratch memory.
TYPED_TEST(GemmBatchedGraph, CutTiles) {
    using T = TypeParam;
    BatchProblem<T> p({40, 70, 2100}, 3);
    p.fill_integers();
    Graph graph(this->context, [&] { p.enqueue(this->context, nullptr); });
    for (int round = 0; round < 3; ++round) {
        p.fill_integers();
        for (BatchOperand<T>* operand : p.operands()) operand->upload(this->context);
        graph.replay(this->context.stream());
        for (BatchOperand<T>* operand : p.operands()) operand->download(this->context);
        EXPECT_TRUE(exact(p)) << "round " << round;
    }
}

TYPED_TEST(GemmBatchedGraph, AWarmContextAllocatesNothing) {
    using T = TypeParam;
    for (const auto& [shape, count] : cases_of<T>())
        for (const Given given : {Given::by_strides, Given::by_pointers}) {
            BatchProblem<T> p(shape, count);
            p.given = given;
            p.fill_integers();
            p.run(this->context);
            for (BatchOperand<T>* operand : p.operands()) operand->upload(this->context);
            const Matrix<T*> array = on_device(this->context, p.pointers());
            const std::size_t before = free_memory();
            for (int repeat = 0; repeat < 100; ++repeat)
                p.enqueue(this->context, array.view().data);
            EXPECT_EQ(free_memory(), before);
            this->context.synchronize();
            EXPECT_EQ(free_memory(), before);
        }
}

// 65,535 is the end of a grid's y and z: tiles, and the tuned kernel.
TYPED_TEST(GemmBatchedGraph, MoreProductsThanAGridHas) {
    using T = TypeParam;
    for (const Shape shape : {Shape{17, 9, 3}, Shape{33, 17, 2}, Shape{65, 66, 2}})
        for (const Given given : {Given::by_strides, Given::by_pointers}) {
            BatchProblem<T> p(shape, 65537);
            p.given = given;
            p.fill_integers();
            p.run(this->context);
            EXPECT_TRUE(exact(p));
        }
}

// More than 2^20 rows: a grid's y would end there, too.
TYPED_TEST(GemmBatchedGraph, MoreRowsThanAGridHas) {
    using T = TypeParam;
    for (const Given given : {Given::by_strides, Given::by_pointers}) {
        BatchProblem<T> p({(std::int64_t{65535} * 16) + 5, 3, 2}, 2);
        p.given = given;
        p.fill_integers();
        p.run(this->context);
        EXPECT_TRUE(exact(p));
    }
}

}  // namespace
}  // namespace tinyblas::test
