// SPDX-License-Identifier: MIT
// transpose where an index times a stride passes 2^31 elements. Far apart, on sparse memory, for
// both back ends; and whole matrices of more than 2^31 elements where a GPU moves them.
#include <algorithm>

#include "large_buffer.hpp"
#include "transpose_problem.hpp"

namespace tinyblas::test {
namespace {

class TransposeLarge : public TransposeVariants {
  protected:
    static constexpr std::int64_t extent = 36;
    static constexpr std::int64_t far = std::int64_t{1} << 26;  // 35 of them pass 2^31
    static constexpr std::int64_t elements = (extent - 1) * far + 4 * extent;

    /// A small problem whose operands lie where `a` and `b` say.
    template <class T>
    void check(MatrixView<T> a, MatrixView<T> b) {
        TransposeProblem<T> p(a.rows, a.columns, 7);
        copy(context, p.a.before(), a);
        transpose<T>(context, a, b, options);
        copy(context, b, p.b->after());
        context.synchronize();
        const MatrixView<T> from = p.a.before(), to = p.b->after();
        for (std::int64_t i = 0; i < from.rows; ++i)
            for (std::int64_t j = 0; j < from.columns; ++j)
                ASSERT_TRUE(BitOperand<T>::same_bits(from(i, j), to(j, i))) << p;
    }
};
TINYBLAS_FOR_EACH_TRANSPOSE_VARIANT(TransposeLarge);

TEST_P(TransposeLarge, RowsFarApart) {
    run([&]<class T>(T) {
        const std::int64_t m = is(TransposeForm::slim) ? 30 : extent;
        LargeBuffer<T> a(elements), b(elements);
        if (!a || !b) GTEST_SKIP() << no_room<T>(2, elements);
        if (is(TransposeForm::in_place)) {
            const MatrixView<T> view = {a.data(), extent, extent, far, 1};
            TransposeProblem<T> p(extent, extent, 8);
            copy(context, p.a.before(), view);
            transpose<T>(context, view, options);
            copy(context, view, p.b->after());
            context.synchronize();
            for (std::int64_t i = 0; i < extent; ++i)
                for (std::int64_t j = 0; j < extent; ++j)
                    ASSERT_TRUE(BitOperand<T>::same_bits(p.a.before()(i, j), p.b->after()(j, i)));
            return;
        }
        check<T>({a.data(), m, extent, far, 1}, {b.data(), extent, m, far, 1});
        check<T>({a.data(), extent, m, 1, far}, {b.data(), m, extent, 1, far});
        if (options.entry >= 0 && !is(TransposeForm::skewed)) return;
        check<T>({a.data() + 1, m, extent, far, 1}, {b.data() + 3, extent, m, far + 1, 1});
    });
}

// General strides, walked backwards: element (0, 0) lies past 2^31.
TEST_P(TransposeLarge, BackwardsFromFarAway) {
    if (options.entry >= 0) return;
    run([&]<class T>(T) {
        LargeBuffer<T> a(elements), b(elements);
        if (!a || !b) GTEST_SKIP() << no_room<T>(2, elements);
        const auto view = [](T* data) {
            return MatrixView<T>{data + (extent - 1) * (far + 2), extent, extent, -far, -2};
        };
        check<T>(view(a.data()), view(b.data()));
    });
}

// --- More than 2^31 elements: on a GPU only ------------------------------------------------------

/// Element `index` of a large operand: neighbours have little in common.
template <class T>
T element(std::int64_t index) {
    const std::uint64_t mixed = static_cast<std::uint64_t>(index) * 0x9E3779B97F4A7C15u;
    return static_cast<T>(mixed >> 48);
}

/// Packed m x n, transposed and compared in pieces.
template <class T>
void transpose_whole(std::int64_t m, std::int64_t n, TransposeOptions options) {
    constexpr std::int64_t piece = std::int64_t{1} << 26;
    const std::int64_t count = m * n;
    Context context;
    LargeBuffer<T> a(count), b(count);
    if (!a || !b) GTEST_SKIP() << no_room<T>(2, count);
    Matrix<T> host(1, piece, Memory::pinned);
    const auto part = [](T* whole, std::int64_t first, std::int64_t size) {
        return MatrixView<T>::row_major(whole + first, 1, size);
    };
    for (std::int64_t first = 0; first < count; first += piece) {
        const std::int64_t size = std::min(piece, count - first);
        for (std::int64_t e = 0; e < size; ++e) host(0, e) = element<T>(first + e);
        copy(context, part(host.view().data, 0, size), part(a.data(), first, size));
        context.synchronize();
    }
    transpose<T>(context, MatrixView<T>::row_major(a.data(), m, n),
                 MatrixView<T>::row_major(b.data(), n, m), options);
    for (std::int64_t first = 0; first < count; first += piece) {
        const std::int64_t size = std::min(piece, count - first);
        copy(context, part(b.data(), first, size), part(host.view().data, 0, size));
        context.synchronize();
        std::int64_t j = first / m, i = first % m;
        for (std::int64_t e = 0; e < size; ++e) {
            ASSERT_EQ(host(0, e), element<T>(i * n + j)) << "b(" << j << ", " << i << ")";
            if (++i == m) i = 0, ++j;
        }
    }
}

#if !TINYBLAS_EMULATED
class TransposeWhole : public testing::TestWithParam<TransposeKernel> {
  protected:
    TransposeOptions options = {GetParam(), -1};
};
INSTANTIATE_TEST_SUITE_P(, TransposeWhole,
                         testing::Values(TransposeKernel::best, TransposeKernel::naive,
                                         TransposeKernel::padded),
                         [](const auto& info) { return to_string(info.param); });

TEST_P(TransposeWhole, Square) { transpose_whole<std::uint16_t>(46342, 46341, options); }
TEST_P(TransposeWhole, AlignedSquare) { transpose_whole<std::uint16_t>(46400, 46400, options); }
TEST_P(TransposeWhole, Slim) { transpose_whole<std::uint16_t>(3, 715827990, options); }
TEST_P(TransposeWhole, SlimAndTall) { transpose_whole<std::uint16_t>(715827990, 4, options); }
TEST_P(TransposeWhole, Floats) { transpose_whole<float>(65537, 32771, options); }
TEST_P(TransposeWhole, Row) { transpose_whole<float>(1, (std::int64_t{1} << 31) + 7, options); }
TEST_P(TransposeWhole, Column) { transpose_whole<float>((std::int64_t{1} << 31) + 7, 1, options); }
#else
TEST(TransposeWhole, ComparesAsItDoesOnAGpu) {
    transpose_whole<std::uint16_t>(129, 67, {});
    transpose_whole<float>(1, 1000, {});
}
#endif

}  // namespace
}  // namespace tinyblas::test
