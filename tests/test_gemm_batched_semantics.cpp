// SPDX-License-Identifier: MIT
// gemm_strided_batched and gemm_batched: what BLAS says of special values, bits that depend on the
// product alone, matrices that are shared or run backwards, batches with nothing to do.
#include <utility>

#include "batched_problem.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class SmallGemmBatchedSemantics : public testing::Test {
  protected:
    static constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    static constexpr T inf = std::numeric_limits<T>::infinity();

    Context context;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallGemmBatchedSemantics, Types);

constexpr Given both_ways[] = {Given::by_strides, Given::by_pointers};

// beta = 0, and -0: NaN in C dies. Inf in the last k and in the last row and column meets no zero
// of a padded panel.
TYPED_TEST(SmallGemmBatchedSemantics, NanInCDiesAndInfMeetsNoPadding) {
    using T = TypeParam;
    for (const auto& [shape, count] : cases_of<T>())
        for (const Given given : both_ways) {
            BatchProblem<T> p(shape, count);
            p.given = given;
            p.alpha = 1;
            p.beta = given == Given::by_strides ? T(0) : T(-0.0);
            std::int64_t next = 0;
            p.a.fill([&, k = shape.k] { return ++next % k == 0 ? this->inf : T(1); });
            p.b.fill([] { return T(1); });
            p.c.fill([this] { return this->nan; });
            p.run(this->context);
            EXPECT_TRUE(judge(p, "Inf", [&](auto, auto, auto, T x) { return x == this->inf; }));

            // One Inf at the end of each operand: elsewhere sums stay finite.
            p.a.fill([] { return T(1); });
            for (std::int64_t e = 0; e < count; ++e) {
                p.a.before(e)(shape.m - 1, shape.k - 1) = this->inf;
                p.b.before(e)(shape.k - 1, shape.n - 1) = this->inf;
            }
            p.run(this->context);
            EXPECT_TRUE(judge(p, "as it was made", [&, s = shape](auto, auto i, auto j, T x) {
                const bool touched = i == s.m - 1 || j == s.n - 1;
                return x == (touched ? this->inf : static_cast<T>(s.k));
            }));
        }
}

// NaN in one element of A or B reaches its row, or column, of that product and nothing else.
TYPED_TEST(SmallGemmBatchedSemantics, NanStaysInItsRow) {
    using T = TypeParam;
    for (const auto& [shape, count] : cases_of<T>()) {
        BatchProblem<T> p(shape, count);
        p.fill([](Random&) { return 1; });
        const std::int64_t at = count / 2, row = shape.m / 2, column = shape.n / 3;
        p.a.before(at)(row, shape.k / 2) = this->nan;
        p.b.before(at - 1)(shape.k / 2, column) = this->nan;
        p.run(this->context);
        EXPECT_TRUE(judge(p, "NaN where it must be", [&](auto e, auto i, auto j, T x) {
            const bool expected = (e == at && i == row) || (e == at - 1 && j == column);
            return std::isnan(x) == expected;
        }));
    }
}

TYPED_TEST(SmallGemmBatchedSemantics, AlphaAndBeta) {
    using T = TypeParam;
    for (const auto& [shape, count] : cases_of<T>())
        for (const auto& [alpha, beta] : {std::pair(1, 0), {1, 1}, {-2, 3}, {0, 2}, {0, 0}}) {
            BatchProblem<T> p(shape, count);
            p.given = both_ways[alpha * alpha % 2];
            p.fill_integers();
            p.alpha = static_cast<T>(alpha), p.beta = static_cast<T>(beta);
            if (alpha == 0) {  // A and B are not read
                p.a.fill([this] { return this->nan; });
                p.b.fill([this] { return this->inf; });
            }
            p.run(this->context);
            EXPECT_TRUE(exact(p));
        }
}

// k = 0: C = beta C, and with beta = 0 zeros whatever C was.
TYPED_TEST(SmallGemmBatchedSemantics, NoProducts) {
    using T = TypeParam;
    for (const auto& [shape, count] : cases_of<T>())
        for (const Given given : both_ways)
            for (const T beta : {T(0), T(-3)}) {
                BatchProblem<T> p({shape.m, shape.n, 0}, count);
                p.given = given;
                p.beta = beta;
                p.c.fill([&] { return beta == 0 ? this->nan : T(5); });
                EXPECT_EQ(p.run(this->context).kernel, GemmKernel::batched);
                EXPECT_TRUE(judge(p, "beta C", [&](auto, auto, auto, T x) {
                    return x == (beta == 0 ? 0 : beta * 5);
                }));
            }
}

TYPED_TEST(SmallGemmBatchedSemantics, Subnormals) {
    using T = TypeParam;
    const T least = std::numeric_limits<T>::denorm_min();
    for (const auto& [shape, count] : cases_of<T>()) {
        BatchProblem<T> p(shape, count);
        p.alpha = 1, p.beta = 1;
        p.a.fill([&] { return least; });
        p.b.fill([] { return T(1); });
        p.c.fill([&] { return 7 * least; });
        p.run(this->context);
        const T sum = static_cast<T>(shape.k + 7) * least;
        EXPECT_TRUE(judge(p, "exact", [&](auto, auto, auto, T x) { return x == sum; }));
    }
}

/// Bits of C, product by product.
template <class T>
std::vector<std::vector<Bits<T>>> bits_of(BatchProblem<T>& p) {
    std::vector<std::vector<Bits<T>>> all(static_cast<std::size_t>(p.count()));
    for (std::int64_t e = 0; e < p.count(); ++e) {
        const MatrixView<T> c = p.c.after(p.c_of(e));
        for (std::int64_t i = 0; i < c.rows; ++i)
            for (std::int64_t j = 0; j < c.columns; ++j)
                all[static_cast<std::size_t>(e)].push_back(bits(c(i, j)));
    }
    return all;
}

// The same product many times over: the same bits wherever it is in a batch, whatever the size of
// the batch and the kernel that this picks, by strides, by pointers, in rows or columns.
TYPED_TEST(SmallGemmBatchedSemantics, BitsDependOnTheProductAlone) {
    using T = TypeParam;
    constexpr Shape shapes[] = {{4, 4, 4},    {8, 5, 7},    {16, 16, 16}, {32, 32, 32},
                                {33, 20, 41}, {64, 64, 64}, {70, 90, 50}, {129, 66, 130}};
    for (const Shape& shape : shapes) {
        std::vector<Bits<T>> first;
        for (const std::int64_t count : {2, 3, 70, 300, 600}) {
            if (count * shape.m * shape.n * shape.k > 10e6) continue;
            for (const Given given : both_ways)
                for (const Storage& storage : {storages[0], storages[1]}) {
                    BatchProblem<T> p(shape, count, {}, {storage, storages[0], storage});
                    p.given = given;
                    p.alpha = static_cast<T>(0.7), p.beta = static_cast<T>(-0.3);
                    for (BatchOperand<T>* operand : p.operands())
                        for (std::int64_t e = 0; e < count; ++e) {
                            Random same_each_time(9);
                            const MatrixView<T> x = operand->before(e);
                            for (std::int64_t i = 0; i < x.rows; ++i)
                                for (std::int64_t j = 0; j < x.columns; ++j)
                                    x(i, j) = static_cast<T>(same_each_time.normal());
                        }
                    ASSERT_EQ(p.run(this->context).kernel, GemmKernel::batched) << p;
                    const auto all = bits_of(p);
                    if (first.empty()) first = all.front();
                    for (const auto& one : all) ASSERT_EQ(one, first) << p;
                }
        }
    }
}

TYPED_TEST(SmallGemmBatchedSemantics, SameBitsEachTimeOnAnyStream) {
    using T = TypeParam;
    for (const auto& [shape, count] : cases_of<T>()) {
        BatchProblem<T> p(shape, count);
        p.fill_normal();
        p.run(this->context);
        const auto first = bits_of(p);
        for (int repeat = 0; repeat < (emulated ? 2 : 100); ++repeat) {
            Context other;
            p.given = both_ways[repeat % 2];
            if (p.by_pointers()) continue;  // its products are others
            p.run(other);
            ASSERT_EQ(bits_of(p), first) << p;
        }
    }
}

// a_stride or b_stride of 0: one matrix for all. Negative strides walk backwards.
TYPED_TEST(SmallGemmBatchedSemantics, SharedAndBackwards) {
    using T = TypeParam;
    for (const Shape s : {Shape{4, 6, 5}, Shape{17, 33, 20}, Shape{70, 40, 66}}) {
        Operand<T> a(s.m, s.k), b(3 * s.k, s.n), c(3 * s.m, s.n, storages[9]);
        Random random(3);
        for (Operand<T>* operand : {&a, &b, &c}) {
            operand->fill([&] { return static_cast<T>(random.integer(-3, 3)); });
            operand->upload(this->context);
        }
        const MatrixView<T> all_b = b.device(), all_c = c.device();
        gemm_strided_batched(this->context, T(1), a.device(), 0, all_b.block(2 * s.k, 0, s.k, s.n),
                             -s.k * all_b.row_stride, T(0), all_c.block(0, 0, s.m, s.n),
                             s.m * all_c.row_stride, 3);
        for (Operand<T>* operand : {&a, &b, &c}) operand->download(this->context);
        EXPECT_TRUE(a.intact());
        EXPECT_TRUE(b.intact());
        EXPECT_TRUE(c.intact(true));
        for (std::int64_t e = 0; e < 3; ++e)
            EXPECT_EQ(widen(c.after().block(s.m * e, 0, s.m, s.n)),
                      wide_product<T>(widen(a.before()),
                                      widen(b.before().block((2 - e) * s.k, 0, s.k, s.n))));
    }
}

// Inputs whose rows all lie at one place, and pointers that all point to one matrix.
TYPED_TEST(SmallGemmBatchedSemantics, InputsMayCoincide) {
    using T = TypeParam;
    const Storage& coincide = storages[input_storages - 1];
    for (const auto& [shape, count] : cases_of<T>()) {
        BatchProblem<T> p(shape, count, {}, {coincide, storages[0], storages[0]});
        p.fill_integers();
        // All rows of all A are one: as the last one was filled.
        p.run(this->context);
        EXPECT_TRUE(exact(p));

        BatchProblem<T> q(shape, 5);
        q.given = Given::by_pointers;
        q.fill_integers();
        for (BatchOperand<T>* operand : q.operands()) operand->upload(this->context);
        std::vector<T*> pointers = q.pointers();
        for (std::size_t e = 0; e < 5; ++e)
            pointers[e] = pointers[0], pointers[5 + e] = pointers[9];
        const Matrix<T*> array = on_device(this->context, pointers);
        q.enqueue(this->context, array.view().data);
        q.c.download(this->context);
        const WideMatrix<T> product =
            2 * wide_product<T>(widen(q.a.before(q.a_of(0))), widen(q.b.before(4)));
        for (std::int64_t e = 0; e < 5; ++e)
            EXPECT_EQ(widen(q.c.after(e)), (product - widen(q.c.before(e))).eval()) << q;
    }
}

TYPED_TEST(SmallGemmBatchedSemantics, NothingToDo) {
    using T = TypeParam;
    const auto null = [](std::int64_t rows, std::int64_t columns) {
        return MatrixView<T>::row_major(nullptr, rows, columns);
    };
    const auto strided = [&](Shape s, std::int64_t batch, T alpha, T beta) {
        return gemm_strided_batched(this->context, alpha, null(s.m, s.k), 1, null(s.k, s.n), 1,
                                    beta, null(s.m, s.n), s.m * s.n, batch)
            .kernel;
    };
    const auto by_pointers = [&](Shape s, std::int64_t batch, T alpha, T beta) {
        const auto array = [&](std::int64_t rows, std::int64_t columns) {
            return MatrixArray<T>::like(nullptr, null(rows, columns));
        };
        return gemm_batched(this->context, alpha, array(s.m, s.k), array(s.k, s.n), beta,
                            array(s.m, s.n), batch)
            .kernel;
    };
    const auto nothing = [&](Shape s, std::int64_t batch, T alpha, T beta) {
        EXPECT_EQ(strided(s, batch, alpha, beta), GemmKernel::none);
        EXPECT_EQ(by_pointers(s, batch, alpha, beta), GemmKernel::none);
    };
    nothing({4, 6, 5}, 0, 1, 1);
    nothing({0, 6, 5}, 3, 1, 0);
    nothing({4, 0, 5}, 3, 1, 0);
    nothing({4, 6, 0}, 3, 1, 1);
    nothing({4, 6, 5}, 3, 0, 1);
}

// C = beta C: A and B may be null, in any layout, and their strides anything.
TYPED_TEST(SmallGemmBatchedSemantics, UnreadOperandsMayBeNull) {
    using T = TypeParam;
    for (const auto& [shape, count] : cases_of<T>()) {
        BatchProblem<T> p(shape, count);
        p.c.fill([] { return T(5); });
        p.c.upload(this->context);
        const MatrixView<const T> a = {nullptr, shape.m, shape.k, INT64_MAX, INT64_MIN};
        const MatrixView<const T> b = {nullptr, shape.k, shape.n, INT64_MIN, INT64_MAX};
        gemm_strided_batched(this->context, T(0), a, INT64_MAX, b, INT64_MIN, T(2), p.c.device(0),
                             p.c.stride(), p.count());
        p.given = Given::by_pointers;
        const Matrix<T*> array = on_device(this->context, p.pointers());
        const auto none = [](MatrixView<const T> like) {
            return MatrixArray<const T>::like(nullptr, like);
        };
        gemm_batched(this->context, T(0), none(a), none(b), T(3),
                     MatrixArray<T>::like(array.view().data + 2 * p.count(), p.c.device(0)),
                     p.count());
        p.c.download(this->context);
        for (std::int64_t e = 0; e < p.count(); ++e)
            EXPECT_EQ(widen(p.c.after(e)), WideMatrix<T>::Constant(shape.m, shape.n, 30)) << p;
        EXPECT_TRUE(p.c.intact(true));
    }
}

}  // namespace
}  // namespace tinyblas::test
