// SPDX-License-Identifier: MIT
// What gemm refuses, with which sentence, and that a refused call writes nothing. What overlaps and
// what only interleaves.
#include <functional>

#include "gemm_problem.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class SmallGemmErrors : public testing::Test {
  protected:
    /// gemm on a good 4 x 6 x 5 problem after `spoil` must be refused with all of `words` and leave
    /// everything as it was.
    struct Call {
        MatrixView<const T> a, b;
        MatrixView<T> c;
        GemmOptions options;
    };
    void expect_refused(std::function<void(Call&)> spoil,
                        std::initializer_list<std::string> words) {
        GemmProblem<T> p({4, 6, 5}, 1);
        p.fill_integers();
        for (Operand<T>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        Call call = {p.a.device(), p.b.device(), p.c.device(), {}};
        spoil(call);
        EXPECT_TRUE(refuses(
            [&] { gemm(context, T(1), call.a, call.b, T(1), call.c, call.options); }, words));
        for (Operand<T>* operand : {&p.a, &p.b, &p.c}) {
            operand->download(context);
            EXPECT_TRUE(operand->intact());
        }
    }

    Context context;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallGemmErrors, Types);

TYPED_TEST(SmallGemmErrors, Shapes) {
    this->expect_refused([](auto& call) { call.b.rows = 7; },
                         {"gemm: b has 7 rows", "a has 5 columns"});
    this->expect_refused([](auto& call) { call.c.rows = 3; },
                         {"gemm: c has 3 rows", "a has 4 rows"});
    this->expect_refused([](auto& call) { call.c.columns = 8; },
                         {"gemm: c has 8 columns", "b has 6 columns"});
}

TYPED_TEST(SmallGemmErrors, NegativeExtents) {
    this->expect_refused([](auto& call) { call.a.rows = call.c.rows = -4; },
                         {"gemm: a is -4 x 5", "at least 0"});
    this->expect_refused([](auto& call) { call.b.columns = call.c.columns = -6; },
                         {"gemm: b is 5 x -6", "at least 0"});
    this->expect_refused([](auto& call) { call.a.columns = call.b.rows = -5; },
                         {"gemm: a is 4 x -5"});
    this->expect_refused([](auto& call) { call.c.rows = -4; }, {"gemm: c is -4 x 6", "at least 0"});
}

TYPED_TEST(SmallGemmErrors, NullPointers) {
    this->expect_refused([](auto& call) { call.a.data = nullptr; }, {"gemm: a is null", "4 x 5"});
    this->expect_refused([](auto& call) { call.b.data = nullptr; }, {"gemm: b is null", "5 x 6"});
    this->expect_refused([](auto& call) { call.c.data = nullptr; }, {"gemm: c is null", "4 x 6"});
}

TYPED_TEST(SmallGemmErrors, StridesThatFoldCOntoItself) {
    for (const auto& [row, column] :
         {std::pair{0, 1}, {6, 0}, {0, 0}, {5, 1}, {1, 3}, {2, 1}, {-5, 1}})
        this->expect_refused(
            [row = row, column = column](auto& call) {
                call.c.row_stride = row;
                call.c.column_stride = column;
            },
            {"gemm: c has strides of " + std::to_string(row) + " and " + std::to_string(column)});
}

TYPED_TEST(SmallGemmErrors, Options) {
    using Call = typename TestFixture::Call;
    const auto refused = [this](GemmKernel kernel, int entry,
                                std::initializer_list<std::string> words) {
        this->expect_refused([=](Call& call) { call.options = {kernel, entry}; }, words);
    };
    constexpr bool is_float = std::is_same_v<TypeParam, float>;
    constexpr Scalar scalar = is_float ? Scalar::float32 : Scalar::float64;
    const int other =
        choose_gemm_entry(is_float ? Scalar::float64 : Scalar::float32, 90, 132, 9, 9);
    refused(GemmKernel::tuned, gemm_entries,
            {"options.entry is " + std::to_string(gemm_entries), std::to_string(gemm_entries - 1)});
    refused(GemmKernel::best, -2, {"options.entry is -2", "-1"});
    refused(GemmKernel::tuned, other, {"options.entry is " + std::to_string(other), "type"});
    for (int entry = 0; entry < gemm_entries; ++entry)
        if (gemm_table[entry].type == scalar &&
            !runs_on(gemm_table[entry], this->context.compute_capability()))
            refused(GemmKernel::tuned, entry,
                    {"options.entry is " + std::to_string(entry), "compute capability"});
    refused(GemmKernel::naive, 0, {"options.entry is 0", "naive"});
    refused(GemmKernel::tiled, 0, {"options.entry is 0", "tiled"});
    if (is_float) refused(GemmKernel::split, 0, {"options.entry is 0", "split"});
    refused(GemmKernel::none, -1,
            {"options.kernel is " + std::to_string(static_cast<int>(GemmKernel::none)), "best",
             "naive", "tiled", "tuned", "split", "hopper"});
    refused(static_cast<GemmKernel>(99), -1,
            {"options.kernel is 99", "best", "naive", "tiled", "tuned"});
    refused(static_cast<GemmKernel>(-1), -1, {"options.kernel is -1"});
}

// The rungs from parts are for float, and hopper for its GPU.
TYPED_TEST(SmallGemmErrors, RungsFromParts) {
    using Call = typename TestFixture::Call;
    const bool is_double = std::is_same_v<TypeParam, double>;
    for (const GemmKernel kernel : {GemmKernel::split, GemmKernel::hopper}) {
        const bool is_90 = this->context.compute_capability() == 90;
        if (!is_double && is_90 && (kernel == GemmKernel::split || !emulated)) continue;
        this->expect_refused(
            [=](Call& call) { call.options.kernel = kernel; },
            {std::string("gemm: options.kernel is ") + to_string(kernel),
             is_double ? "must be best, naive, tiled, tuned, tensor or gemv for operands of type "
                         "double"
                       : "must be a rung that runs here"});
    }
}

TYPED_TEST(SmallGemmErrors, Precision) {
    this->expect_refused(
        [](auto& call) { call.options.precision = static_cast<tinyblas::Precision>(7); },
        {"gemm: options.precision is 7", "fp32_strict or fp32"});
}

TYPED_TEST(SmallGemmErrors, LongestKOfTheTunedRung) {
    this->expect_refused(
        [](auto& call) {
            call.a.columns = call.b.rows = gemm_tuned_longest_k + 1;
            call.a.column_stride = call.b.row_stride = 0;
            call.options.kernel = GemmKernel::tuned;
        },
        {"gemm: a has 17179869185 columns", "at most 17179869184", "tuned"});
}

// Rows that interleave, and strides that are never walked: no two elements meet.
TYPED_TEST(SmallGemmErrors, UnusualStridesOfCAreAccepted) {
    using T = TypeParam;
    Context context;
    const auto accepted = [&](MatrixView<T> c, std::int64_t offset, std::vector<T> expected) {
        Operand<T> a(c.rows, 1), b(1, c.columns), buffer(1, 12);
        T next = 0;
        a.fill([&] { return ++next; });
        b.fill([&] { return ++next; });
        buffer.fill([] { return T(0); });
        for (Operand<T>* operand : {&a, &b, &buffer}) operand->upload(context);
        c.data = &buffer.device()(0, offset);
        gemm(context, T(1), a.device(), b.device(), T(0), c);
        buffer.download(context);
        for (std::int64_t e = 0; e < 12; ++e)
            EXPECT_EQ(buffer.after()(0, e), expected[static_cast<std::size_t>(e)])
                << c.row_stride << ", " << c.column_stride << ", element " << e;
        EXPECT_TRUE(buffer.intact(true));
    };
    accepted({nullptr, 2, 3, 3, 2}, 0, {3, 0, 4, 6, 5, 8, 0, 10, 0, 0, 0, 0});
    accepted({nullptr, 3, 2, -2, -3}, 7, {15, 0, 10, 12, 5, 8, 0, 4, 0, 0, 0, 0});
    accepted({nullptr, 1, 3, 0, 2}, 1, {0, 2, 0, 3, 0, 4, 0, 0, 0, 0, 0, 0});
    accepted({nullptr, 3, 1, 2, 0}, 1, {0, 4, 0, 8, 0, 12, 0, 0, 0, 0, 0, 0});
    accepted({nullptr, 1, 1, 0, 0}, 4, {0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0});
}

// Blocks of one parent matrix, 12 x 12.

template <class T>
struct Blocks {
    Blocks() : parent(12, 12) {
        parent.fill([] { return T(1); });
        parent.upload(context);
    }
    MatrixView<T> at(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t columns) {
        return parent.device().block(i, j, rows, columns);
    }
    Context context;
    Operand<T> parent;
};

TYPED_TEST(SmallGemmErrors, Overlap) {
    using T = TypeParam;
    Blocks<T> blocks;
    Matrix<T> apart(4, 4);
    const auto refused = [&](MatrixView<T> a, MatrixView<T> b, MatrixView<T> c,
                             const char* sentence) {
        EXPECT_TRUE(refuses([&] { gemm(blocks.context, T(1), a, b, T(0), c); }, {sentence}));
    };
    const MatrixView<T> c = blocks.at(4, 4, 4, 4);
    for (const MatrixView<T>& other :
         {c, transposed(c), blocks.at(7, 7, 4, 4), blocks.at(1, 1, 4, 4), blocks.at(1, 7, 4, 4),
          blocks.at(7, 1, 4, 4), transposed(blocks.at(7, 7, 4, 4))}) {
        refused(other, apart, c, "gemm: c overlaps a");
        refused(apart, other, c, "gemm: c overlaps b");
    }
    MatrixView<T> backwards = {&c(3, 3), 4, 4, -12, -1};
    refused(apart, backwards, c, "gemm: c overlaps b");
    MatrixView<T> one_element = {&c(2, 2), 4, 4, 0, 0};
    refused(one_element, apart, c, "gemm: c overlaps a");
    blocks.parent.download(blocks.context);
    EXPECT_TRUE(blocks.parent.intact());
}

TYPED_TEST(SmallGemmErrors, InterleavedBlocksAreAccepted) {
    using T = TypeParam;
    const auto accepted = [](MatrixView<T> (*pick)(Blocks<T>&, int)) {
        Blocks<T> blocks;
        const MatrixView<T> c = pick(blocks, 2);
        gemm(blocks.context, T(1), pick(blocks, 0), pick(blocks, 1), T(0), c);
        Matrix<T> result(4, 4, Memory::pinned);
        copy(blocks.context, c, result);
        blocks.context.synchronize();
        for (int e = 0; e < 16; ++e) EXPECT_EQ(result(e / 4, e % 4), T(4));
    };
    // Side by side, one above the other, on a diagonal, and every third column or row.
    accepted([](Blocks<T>& blocks, int index) { return blocks.at(3, 4 * index, 4, 4); });
    accepted([](Blocks<T>& blocks, int index) { return blocks.at(4 * index, 3, 4, 4); });
    accepted([](Blocks<T>& blocks, int index) { return blocks.at(4 * index, 4 * index, 4, 4); });
    accepted([](Blocks<T>& blocks, int index) {
        return MatrixView<T>{&blocks.parent.device()(0, index), 4, 4, 12, 3};
    });
    accepted([](Blocks<T>& blocks, int index) {
        return MatrixView<T>{&blocks.parent.device()(index, 0), 4, 4, 36, 1};
    });
}

}  // namespace
}  // namespace tinyblas::test
