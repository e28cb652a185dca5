// SPDX-License-Identifier: MIT
// gemm where an index times a stride passes 2^31 elements. The elements lie far apart in a buffer
// of which little is touched, so that emulation runs it too, on sparse memory.
#include "gemm_problem.hpp"
#include "large_buffer.hpp"

namespace tinyblas::test {
namespace {

class GemmLarge : public GemmVariants {
  protected:
    static constexpr std::int64_t far = (std::int64_t{1} << 26) + 1;  // 33 of them pass 2^31
    static constexpr std::int64_t extent = 33;
    static constexpr std::int64_t elements = (extent - 1) * far + extent;
    static_assert((extent - 1) * far > std::int64_t{1} << 31);

    /// Operands as in a small problem, but `a`, `b` and `c` say where they lie.
    template <class T>
    void check(MatrixView<T> a, MatrixView<T> b, MatrixView<T> c) {
        GemmProblem<T> p({extent, extent, extent}, 7);
        p.beta = 2;
        p.fill_integers();
        copy(context, p.a.before(), a);
        copy(context, p.b.before(), b);
        copy(context, p.c.before(), c);
        gemm(context, p.alpha, a, b, p.beta, c, options);
        std::vector<T> result(extent * extent);
        const auto host = MatrixView<T>::row_major(result.data(), extent, extent);
        copy(context, c, host);
        context.synchronize();
        const WideMatrix<T> expected = wide_gemm(p);
        for (std::int64_t i = 0; i < extent; ++i)
            for (std::int64_t j = 0; j < extent; ++j) ASSERT_EQ(host(i, j), expected(i, j)) << p;
    }
};
TINYBLAS_FOR_EACH_GEMM_VARIANT(GemmLarge);
INSTANTIATE_TEST_SUITE_P(Skinny, GemmLarge,
                         testing::Values(GemmVariant{Scalar::float32, {GemmKernel::skinny, -1}}));

TEST_P(GemmLarge, RowsFarApart) {
    run([&]<class T>(T) {
        LargeBuffer<T> a(elements), b(elements), c(elements);
        if (!a || !b || !c) GTEST_SKIP() << no_room<T>(3, elements);
        const auto view = [](T* data) { return MatrixView<T>{data, extent, extent, far, 1}; };
        check(view(a.data()), view(b.data()), view(c.data()));
    });
}

TEST_P(GemmLarge, ColumnsFarApart) {
    run([&]<class T>(T) {
        LargeBuffer<T> a(elements), b(elements), c(elements);
        if (!a || !b || !c) GTEST_SKIP() << no_room<T>(3, elements);
        const auto view = [](T* data) { return MatrixView<T>{data, extent, extent, 1, far}; };
        check(view(a.data()), view(b.data()), view(c.data()));
    });
}

// General strides, walked backwards: element (0, 0) lies past 2^31.
TEST_P(GemmLarge, BackwardsFromFarAway) {
    run([&]<class T>(T) {
        LargeBuffer<T> a(2 * elements), b(2 * elements), c(2 * elements);
        if (!a || !b || !c) GTEST_SKIP() << no_room<T>(3, 2 * elements);
        const auto view = [](T* data) {
            return MatrixView<T>{data + 2 * (elements - 1), extent, extent, -2 * far, -2};
        };
        check(view(a.data()), view(b.data()), view(c.data()));
    });
}

}  // namespace
}  // namespace tinyblas::test
