// SPDX-License-Identifier: MIT
// Batches where offsets pass 2^31 elements, from one matrix to the next and within one, and where
// there are more products than a grid has blocks in one direction. The elements lie far apart in
// buffers of which little is touched, so that emulation runs it too, on sparse memory.
#include "batched_problem.hpp"
#include "large_buffer.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class GemmBatchedLarge : public testing::Test {
  protected:
    static constexpr std::int64_t count = 3;

    /// The matrices of `p`, compared when they have been multiplied where place(data, e, like) says
    /// that they lie in three buffers of `elements` elements.
    template <class Place>
    void check(Shape shape, std::int64_t elements, Place place) {
        LargeBuffer<T> buffers[] = {LargeBuffer<T>(elements), LargeBuffer<T>(elements),
                                    LargeBuffer<T>(elements)};
        for (LargeBuffer<T>& buffer : buffers)
            if (!buffer) GTEST_SKIP() << no_room<T>(3, elements);
        for (const Given given : {Given::by_strides, Given::by_pointers}) {
            BatchProblem<T> p(shape, count);
            p.given = given;
            p.fill_integers();
            for (BatchOperand<T>* operand : p.operands()) operand->upload(context);
            for (BatchOperand<T>* operand : p.operands()) operand->download(context);
            std::array<std::vector<MatrixView<T>>, 3> there;
            std::vector<T*> pointers;
            for (int operand = 0; operand < 3; ++operand)
                for (std::int64_t e = 0; e < count; ++e) {
                    const MatrixView<T> here = p.operands()[operand]->before(e);
                    there[operand].push_back(place(buffers[operand].data(), e, here));
                    copy(context, here, there[operand].back());
                }
            for (std::int64_t e = 0; e < count; ++e) pointers.push_back(there[0][p.a_of(e)].data);
            for (std::int64_t e = 0; e < count; ++e) pointers.push_back(there[1][e].data);
            for (std::int64_t e = 0; e < count; ++e) pointers.push_back(there[2][p.c_of(e)].data);
            const Matrix<T*> array = on_device(context, pointers);
            const auto stride = [&](int operand) {
                return there[operand][1].data - there[operand][0].data;
            };
            const auto first = [&](int operand) {
                return MatrixArray<T>::like(array.view().data + operand * count, there[operand][0]);
            };
            if (p.by_pointers())
                gemm_batched(context, p.alpha, first(0), first(1), p.beta, first(2), count);
            else
                gemm_strided_batched(context, p.alpha, there[0][0], stride(0), there[1][0],
                                     stride(1), p.beta, there[2][0], stride(2), count);
            for (std::int64_t e = 0; e < count; ++e) copy(context, there[2][e], p.c.after(e));
            context.synchronize();
            EXPECT_TRUE(exact(p));
        }
    }

    Context context;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmBatchedLarge, Types);

/// For kernels of their own: rows, tiles of several and of one matrix, tuned, cut along k, vectors,
/// skinny.
constexpr Shape shapes[] = {{3, 4, 2},     {8, 8, 8},   {9, 16, 21}, {30, 27, 35}, {66, 97, 150},
                            {66, 97, 257}, {1, 40, 90}, {50, 1, 33}, {97, 3, 75}};

TYPED_TEST(GemmBatchedLarge, MatricesFarApart) {
    constexpr std::int64_t far = (std::int64_t{1} << 30) + 7;  // two of them pass 2^31
    for (const Shape& shape : shapes)
        this->check(shape, 2 * far + 257 * 97, [](auto* data, std::int64_t e, auto like) {
            return decltype(like)::row_major(data + e * far, like.rows, like.columns);
        });
}

TYPED_TEST(GemmBatchedLarge, RowsFarApart) {
    constexpr std::int64_t far = (std::int64_t{1} << 28) + 3;  // of 9 rows, the last passes 2^31
    for (const Shape& shape : {Shape{9, 8, 9}, Shape{9, 9, 9}, Shape{9, 1, 9}, Shape{1, 9, 9}})
        this->check(shape, 9 * far, [](auto* data, std::int64_t e, auto like) {
            return decltype(like){data + e * 100, like.rows, like.columns, far, 1};
        });
}

// A grid's z ends at 65,535: a second launch makes the rest. With gaps between rows they are tiles,
// without them pieces, of which one launch makes all, as of columns.
TEST(GemmBatchedMany, MoreProductsThanAGridHas) {
    Context context;
    for (const auto& [shape, storage] : {std::pair(Shape{2, 1, 3}, storages[0]),
                                         {Shape{17, 18, 2}, storages[2]},
                                         {Shape{17, 18, 2}, storages[0]}})
        for (const Given given : {Given::by_strides, Given::by_pointers}) {
            BatchProblem<float> p(shape, 65538, {}, {storage, storage, storage});
            p.given = given;
            p.fill_integers();
            p.run(context);
            EXPECT_TRUE(exact(p));
        }
}

// A grid's y ends at 65,535, too: a kernel that numbers its tiles in one line.
template <class T>
using GemmBatchedLong = GemmBatchedLarge<T>;
TYPED_TEST_SUITE(GemmBatchedLong, Types);

TYPED_TEST(GemmBatchedLong, MoreRowsThanAGridHas) {
    for (const std::int64_t k : {0, 5}) {
        BatchProblem<TypeParam> p({65535 * 16 + 1, 3, k}, 1);
        p.given = Given::by_pointers;
        p.fill_integers();
        EXPECT_EQ(p.run(this->context).kernel, GemmKernel::batched);
        EXPECT_TRUE(exact(p));
    }
}

}  // namespace
}  // namespace tinyblas::test
