// SPDX-License-Identifier: MIT
// Batches of matrices without gaps: every entry of the table, wherever the matrices begin and in
// every layout, one chain of multiply-adds an element; nothing beside C is written.
#include <limits>

#include "batched_problem.hpp"
#include "gemm_pieces.hpp"
#include "kernels/gemm/batched_pieces_plan.hpp"
#include "needs_90.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class SmallGemmPieces : public testing::Test {
  protected:
    static constexpr Scalar type = scalar_of<T>;

    /// Without gaps, from so many elements behind a multiple of 16 bytes on.
    static Storage storage(bool by_column, std::int64_t offset) {
        return {.name = by_column ? "columns" : "rows", .by_column = by_column, .offset = offset};
    }
    static Along along(bool by_column, std::int64_t gap) { return {by_column, gap}; }

    void check(BatchProblem<T>& p, int entry, GemmPieces expected) {
        p.fill_normal();
        run(p, entry, expected);
        EXPECT_TRUE(chained(p)) << p << ", entry " << entry;
    }
    void run(BatchProblem<T>& p, int entry, GemmPieces expected, bool one_b = false) {
        p.run(context, [&](T* const* pointers) {
            GemmBatch<T> batch = p.batch(pointers);
            if (one_b) batch.b.stride = 0;
            EXPECT_EQ(gemm_pieces(batch), expected) << p;
            pieces_launcher<T>(entry)(context.stream(), batch);
        });
    }

    Context context;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallGemmPieces, Types);

constexpr Shape shapes[] = {{17, 17, 17}, {5, 7, 6},   {33, 20, 9}, {6, 6, 6},   {1, 1, 1},
                            {8, 64, 3},   {65, 10, 2}, {12, 31, 5}, {2, 40, 24}, {9, 1, 13}};

// One product, a block that is not full, a full one, several.
TYPED_TEST(SmallGemmPieces, EveryCount) {
    using T = TypeParam;
    for (int entry = 0; entry < gemm_pieces_entries; ++entry) {
        if (gemm_pieces_table[entry].type != this->type) continue;
        for (const Shape& shape : shapes) {
            const int each = plan_gemm_pieces(entry, shape.m, shape.n, shape.k, true).each;
            for (const std::int64_t count : {1, each - 1, each, 2 * each + 1}) {
                if (count == 0) continue;
                BatchProblem<T> p(shape, count);
                p.alpha = static_cast<T>(0.7);
                p.beta = count % 2 == 0 ? 0 : static_cast<T>(-0.3);
                this->check(p, entry, GemmPieces::together);
            }
        }
    }
}

// The first B for all products, of which there are one, a block's and more.
TYPED_TEST(SmallGemmPieces, OneBForAll) {
    using T = TypeParam;
    for (int entry = 0; entry < gemm_pieces_entries; ++entry) {
        if (gemm_pieces_table[entry].type != this->type) continue;
        for (const Shape& shape : shapes) {
            const int each = plan_gemm_pieces(entry, shape.m, shape.n, shape.k, false, true).each;
            for (const std::int64_t count : {2, each, 2 * each + 1}) {
                const bool by_column = count % 2 == 1;
                BatchProblem<T> p(shape, count, {Along(), this->along(by_column, 0), Along()},
                                  {storages[0], this->storage(by_column, 3), storages[0]});
                p.beta = count % 2 == 0 ? 0 : static_cast<T>(-0.3);
                p.fill_normal();
                const MatrixView<T> first = p.b.before(0);
                for (std::int64_t e = 1; e < count; ++e)
                    for (std::int64_t i = 0; i < shape.k; ++i)
                        for (std::int64_t j = 0; j < shape.n; ++j)
                            p.b.before(e)(i, j) = first(i, j);
                if (count == 1 || shape.k * shape.n == 1) continue;
                this->run(p, entry, GemmPieces::apart, true);
                EXPECT_TRUE(chained(p)) << p << ", entry " << entry;
            }
        }
    }
}

// Rows or columns of A and B one after the other; without a gap from matrix to matrix, with one,
// or where pointers say; from every alignment on.
TYPED_TEST(SmallGemmPieces, WhereverMatricesLie) {
    using T = TypeParam;
    int number = 0;
    for (int entry = 0; entry < gemm_pieces_entries; ++entry) {
        if (gemm_pieces_table[entry].type != this->type) continue;
        for (const Shape& shape : shapes) {
            if (shape.m * shape.n * shape.k == 1) continue;  // a gap is a matrix
            for (const int by_column : {0, 1, 2, 3})
                for (const std::int64_t gap : {0, 1})
                    for (const Given given : {Given::by_strides, Given::by_pointers}) {
                        const auto offset = [&](int operand) -> std::int64_t {
                            return (++number + operand) % 4;
                        };
                        const bool a = by_column % 2 == 1, b = by_column / 2 == 1;
                        BatchProblem<T> p(
                            shape, 5,
                            {this->along(a, gap), this->along(b, gap), this->along(false, gap)},
                            {this->storage(a, offset(0)), this->storage(b, offset(1)),
                             this->storage(false, offset(2))});
                        p.given = given;
                        p.alpha = number % 5 == 0 ? T(1) : static_cast<T>(0.7);
                        p.beta = number / 3 % 3 == 0 ? T(0)
                                                     : static_cast<T>(-0.3);  // three offsets each
                        const bool together = gap == 0 && given == Given::by_strides;
                        this->check(p, entry, together ? GemmPieces::together : GemmPieces::apart);
                    }
        }
    }
}

// beta = 0: NaN in C dies. Inf at the end of A and of B stays in its row and column, although lines
// beyond C are read as the last ones.
TYPED_TEST(SmallGemmPieces, NanInCDiesAndInfStaysInItsLine) {
    using T = TypeParam;
    constexpr T inf = std::numeric_limits<T>::infinity();
    for (int entry = 0; entry < gemm_pieces_entries; ++entry) {
        if (gemm_pieces_table[entry].type != this->type) continue;
        for (const Shape& shape : shapes)
            for (const T beta : {T(0), T(-0.0), T(1)}) {
                BatchProblem<T> p(shape, 5);
                p.alpha = 1;
                p.beta = beta;
                p.a.fill([] { return T(1); });
                p.b.fill([] { return T(1); });
                p.c.fill([&] { return beta == T(0) ? std::numeric_limits<T>::quiet_NaN() : T(2); });
                for (std::int64_t e = 0; e < p.count(); e += 2) {
                    p.a.before(e)(shape.m - 1, shape.k - 1) = inf;
                    p.b.before(e)(shape.k - 1, shape.n - 1) = inf;
                }
                this->run(p, entry, GemmPieces::together);
                EXPECT_TRUE(judge(p, "as it was made", [&](auto e, auto i, auto j, T x) {
                    const bool touched = e % 2 == 0 && (i == shape.m - 1 || j == shape.n - 1);
                    return x == (touched ? inf : static_cast<T>(shape.k) + 2 * beta);
                }));
            }
    }
}

TYPED_TEST(SmallGemmPieces, WhatIsAPiece) {
    using T = TypeParam;
    T* const at = reinterpret_cast<T*>(std::uintptr_t{1} << 20);  // nothing is read
    const auto is = [&](MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                        std::int64_t a_stride = 35, std::int64_t b_stride = 42,
                        std::int64_t c_stride = 30) {
        return gemm_pieces<T>({1, {a, a_stride}, {b, b_stride}, 0, {c, c_stride}, 3});
    };
    const auto a = MatrixView<const T>::row_major(at, 5, 7);
    const auto b = MatrixView<const T>::row_major(at, 7, 6);
    const auto c = MatrixView<T>::row_major(at, 5, 6);
    using enum GemmPieces;
    EXPECT_EQ(is(a, b, c), together);
    EXPECT_EQ(is(MatrixView<const T>::column_major(at, 5, 7), b, c), together);
    EXPECT_EQ(is(a, MatrixView<const T>::column_major(at, 7, 6), c), together);
    EXPECT_EQ(is(a, b, c, 36), apart);
    EXPECT_EQ(is(a, b, c, 35, 0), apart);
    EXPECT_EQ(is(a, b, c, 35, 42, 31), apart);
    EXPECT_EQ(is(MatrixView<const T>::row_major(at, 5, 7, 8), b, c), none);
    EXPECT_EQ(is(a, MatrixView<const T>::row_major(at, 7, 6, 8), c), none);
    EXPECT_EQ(is(a, b, MatrixView<T>::row_major(at, 5, 6, 8)), none);
    EXPECT_EQ(is(a, b, MatrixView<T>::column_major(at, 5, 6)), none);
}

}  // namespace
}  // namespace tinyblas::test
