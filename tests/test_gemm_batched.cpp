// SPDX-License-Identifier: MIT
// gemm_strided_batched: every product of a batch, wherever its matrices lie, and what is refused.
#include <array>
#include <functional>

#include "gemm_problem.hpp"

namespace tinyblas::test {
namespace {

enum class Along { rows, columns };

/// The operand of a batch: `count` matrices of rows x columns in one matrix, one below the other or
/// side by side.
template <class T>
struct BatchOperand {
    BatchOperand(std::int64_t rows, std::int64_t columns, std::int64_t count, Along along,
                 const Storage& storage)
        : whole(along == Along::rows ? count * rows : rows,
                along == Along::columns ? count * columns : columns, storage),
          rows(rows),
          columns(columns),
          along(along) {}

    MatrixView<T> at(MatrixView<T> view, std::int64_t e) const {
        return along == Along::rows ? view.block(e * rows, 0, rows, columns)
                                    : view.block(0, e * columns, rows, columns);
    }
    std::int64_t stride() {
        const MatrixView<T> view = whole.before();
        return along == Along::rows ? rows * view.row_stride : columns * view.column_stride;
    }

    Operand<T> whole;
    std::int64_t rows, columns;
    Along along;
};

template <class T>
class SmallGemmBatched : public testing::Test {
  protected:
    struct Batch {
        BatchOperand<T> a, b, c;
        std::int64_t count;
    };

    /// One batch on integers; every element of every C, and what lies around, is compared.
    void check(Shape s, std::int64_t count, std::array<Along, 3> along,
               std::array<Storage, 3> storage, GemmOptions options = {}) {
        Random random(static_cast<std::uint64_t>(s.m * 7 + s.n * 5 + s.k * 3 + count));
        BatchOperand<T> a(s.m, s.k, count, along[0], storage[0]),
            b(s.k, s.n, count, along[1], storage[1]), c(s.m, s.n, count, along[2], storage[2]);
        for (BatchOperand<T>* operand : {&a, &b, &c}) {
            operand->whole.fill([&] { return static_cast<T>(random.integer(-3, 3)); });
            operand->whole.upload(context);
        }
        const GemmChoice choice = gemm_strided_batched(
            context, T(2), a.at(a.whole.device(), 0), a.stride(), b.at(b.whole.device(), 0),
            b.stride(), T(-1), c.at(c.whole.device(), 0), c.stride(), count, options);
        EXPECT_NE(choice.kernel, GemmKernel::none);
        for (BatchOperand<T>* operand : {&a, &b, &c}) operand->whole.download(context);
        EXPECT_TRUE(a.whole.intact());
        EXPECT_TRUE(b.whole.intact());
        EXPECT_TRUE(c.whole.intact(true));
        for (std::int64_t e = 0; e < count; ++e) {
            const WideMatrix<T> expected =
                2 * widen(a.at(a.whole.before(), e)) * widen(b.at(b.whole.before(), e)) -
                widen(c.at(c.whole.before(), e));
            EXPECT_EQ(widen(c.at(c.whole.after(), e)), expected)
                << "matrix " << e << " of " << count << ", c " << storage[2].name;
        }
    }

    Context context;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallGemmBatched, Types);

constexpr Along both[] = {Along::rows, Along::columns};

TYPED_TEST(SmallGemmBatched, WhereverMatricesLie) {
    for (const Along a : both)
        for (const Along b : both)
            for (const Along c : both)
                for (int index = 0; index < output_storages; ++index)
                    this->check({9, 6, 13}, 3, {a, b, c},
                                {storages[index], storages[(index + 1) % output_storages],
                                 storages[(index + 5) % output_storages]});
}

TYPED_TEST(SmallGemmBatched, LinesSideBySide) {
    for (const Storage& storage : {storages[0], storages[1], storages[7]})
        for (const Shape s : {Shape{1, 7, 5}, Shape{7, 1, 5}, Shape{1, 1, 5}})
            this->check(s, 5, {Along::columns, Along::rows, Along::columns},
                        {storage, storage, storage});
}

TYPED_TEST(SmallGemmBatched, ManyAndOne) {
    for (const std::int64_t count : {1, 2, 100})
        this->check({5, 6, 3}, count, {Along::rows, Along::rows, Along::rows},
                    {storages[0], storages[0], storages[0]});
}

// The rungs: those of gemm.
TYPED_TEST(SmallGemmBatched, EveryRung) {
    std::vector<GemmKernel> kernels = {GemmKernel::naive, GemmKernel::tiled, GemmKernel::tuned};
    if (std::is_same_v<TypeParam, float>) kernels.push_back(GemmKernel::split);
    if (std::is_same_v<TypeParam, float> && !emulated && this->context.compute_capability() == 90)
        kernels.push_back(GemmKernel::hopper);
    for (const GemmKernel kernel : kernels)
        for (const Storage& storage : {storages[0], storages[1]})
            this->check({40, 33, 70}, 4, {Along::rows, Along::columns, Along::rows},
                        {storage, storages[0], storage}, {.kernel = kernel});
}

// a_stride or b_stride of 0: one matrix for all. Negative strides walk backwards.
TYPED_TEST(SmallGemmBatched, SharedAndBackwards) {
    using T = TypeParam;
    Operand<T> a(4, 5), b(3 * 5, 6), c(3 * 4, 6, storages[9]);
    T next = 0;
    for (Operand<T>* operand : {&a, &b, &c}) {
        operand->fill([&] { return static_cast<T>(static_cast<int>(++next) % 7 - 3); });
        operand->upload(this->context);
    }
    const MatrixView<T> all_b = b.device(), all_c = c.device();
    gemm_strided_batched(this->context, T(1), a.device(), 0, all_b.block(10, 0, 5, 6),
                         -5 * all_b.row_stride, T(0), all_c.block(0, 0, 4, 6), 4 * all_c.row_stride,
                         3);
    for (Operand<T>* operand : {&a, &b, &c}) operand->download(this->context);
    EXPECT_TRUE(a.intact());
    EXPECT_TRUE(b.intact());
    EXPECT_TRUE(c.intact(true));
    for (std::int64_t e = 0; e < 3; ++e)
        EXPECT_EQ(widen(c.after().block(4 * e, 0, 4, 6)),
                  (widen(a.before()) * widen(b.before().block(10 - 5 * e, 0, 5, 6))).eval());
}

TYPED_TEST(SmallGemmBatched, NothingToDo) {
    using T = TypeParam;
    const auto null = [](std::int64_t rows, std::int64_t columns) {
        return MatrixView<T>::row_major(nullptr, rows, columns);
    };
    const auto kernel = [&](Shape s, std::int64_t batch, T alpha, T beta, MatrixView<T> c) {
        return gemm_strided_batched(this->context, alpha, null(s.m, s.k), 1, null(s.k, s.n), 1,
                                    beta, c, s.m * s.n, batch)
            .kernel;
    };
    EXPECT_EQ(kernel({4, 6, 5}, 0, 1, 1, null(4, 6)), GemmKernel::none);
    EXPECT_EQ(kernel({0, 6, 5}, 3, 1, 1, null(0, 6)), GemmKernel::none);
    EXPECT_EQ(kernel({4, 6, 0}, 3, 1, 1, null(4, 6)), GemmKernel::none);
    // C = beta C: A and B are not read.
    Operand<T> c(12, 6);
    c.fill([] { return T(5); });
    c.upload(this->context);
    EXPECT_EQ(kernel({4, 6, 5}, 3, 0, 2, c.device().block(0, 0, 4, 6)), GemmKernel::tuned);
    c.download(this->context);
    EXPECT_EQ(widen(c.after()), WideMatrix<T>::Constant(12, 6, 10));
}

template <class T>
class SmallGemmBatchedErrors : public testing::Test {
  protected:
    struct Call {
        MatrixView<T> a, b, c;
        std::int64_t a_stride, b_stride, c_stride, batch;
        GemmOptions options;
    };
    /// A good call after `spoil`: three products of 4 x 6 x 5 one below the other.
    template <class Use>
    void with(std::function<void(Call&)> spoil, Use use) {
        for (Operand<T>* operand : {&a, &b, &c}) {
            operand->fill([] { return T(1); });
            operand->upload(context);
        }
        Call call = {a.device().block(0, 0, 4, 5),
                     b.device().block(0, 0, 5, 6),
                     c.device().block(0, 0, 4, 6),
                     20,
                     30,
                     24,
                     3,
                     {}};
        spoil(call);
        use([&] {
            gemm_strided_batched(context, T(1), call.a, call.a_stride, call.b, call.b_stride, T(1),
                                 call.c, call.c_stride, call.batch, call.options);
        });
        for (Operand<T>* operand : {&a, &b, &c}) operand->download(context);
    }
    void expect_refused(std::function<void(Call&)> spoil,
                        std::initializer_list<std::string> words) {
        with(spoil, [&](auto call) { EXPECT_TRUE(refuses(call, words)); });
        for (Operand<T>* operand : {&a, &b, &c}) EXPECT_TRUE(operand->intact());
    }

    Context context;
    Operand<T> a{12, 5}, b{15, 6}, c{12, 6};
};
TYPED_TEST_SUITE(SmallGemmBatchedErrors, Types);

TYPED_TEST(SmallGemmBatchedErrors, Refused) {
    using Call = typename TestFixture::Call;
    this->expect_refused([](Call& x) { x.batch = -1; },
                         {"gemm_strided_batched: batch is -1: must be at least 0"});
    this->expect_refused([](Call& x) { x.b.rows = 4; }, {"gemm: b has 4 rows"});
    this->expect_refused([](Call& x) { x.a.data = nullptr; }, {"gemm: a is null"});
    this->expect_refused([](Call& x) { x.c.data = nullptr; }, {"gemm: c is null"});
    this->expect_refused([](Call& x) { x.options.kernel = GemmKernel::none; },
                         {"gemm: options.kernel is 6"});
    for (const std::int64_t stride : {0, 1, 5, 6, 12, 23, -23})
        this->expect_refused([=](Call& x) { x.c_stride = stride; },
                             {"gemm_strided_batched: c_stride is " + std::to_string(stride),
                              "must keep the 3 matrices of c apart"});
    // One matrix of C on the last of A, on any of B.
    this->expect_refused([](Call& x) { x.a.data = x.c.data + 71 - 2 * x.a_stride; },
                         {"gemm_strided_batched: c overlaps a"});
    this->expect_refused([](Call& x) { x.b.data = x.c.data - 29, x.b_stride = 0; },
                         {"c overlaps b"});
    this->expect_refused([](Call& x) { x.b.data = x.c.data + 71, x.b_stride = -30; },
                         {"c overlaps b"});
}

TYPED_TEST(SmallGemmBatchedErrors, Accepted) {
    using Call = typename TestFixture::Call;
    const auto accepted = [&](std::function<void(Call&)> spoil) {
        this->with(spoil, [](auto call) { EXPECT_NO_THROW(call()); });
        EXPECT_EQ(this->c.after()(0, 0), 1 + 5);
    };
    accepted([](Call&) {});
    accepted([](Call& x) { x.batch = 1, x.c_stride = 0; });
    // Side by side in rows of 72.
    accepted([](Call& x) {
        x.c.rows = x.a.rows = 1;
        x.c.row_stride = 72;
        x.c_stride = 6;
        x.batch = 12;
        x.a_stride = x.b_stride = 0;
    });
}

}  // namespace
}  // namespace tinyblas::test
