// SPDX-License-Identifier: MIT
// What transpose refuses, with which sentence, and that a refused call writes nothing. What
// overlaps and what only interleaves.
#include <functional>

#include "transpose_problem.hpp"

namespace tinyblas::test {
namespace {

class SmallTransposeErrors : public testing::Test {
  protected:
    struct Call {
        MatrixView<const float> a;
        MatrixView<float> b;
        TransposeOptions options;
    };
    /// transpose of a good 4 x 5 problem after `spoil` must be refused with all of `words` and
    /// leave everything as it was.
    void expect_refused(std::function<void(Call&)> spoil,
                        std::initializer_list<std::string> words) {
        TransposeProblem<float> p(4, 5, 1);
        p.a.upload(context);
        p.b->upload(context);
        Call call = {p.a.device(), p.b->device(), {}};
        spoil(call);
        EXPECT_TRUE(
            refuses([&] { transpose<float>(context, call.a, call.b, call.options); }, words));
        for (BitOperand<float>* operand : {&p.a, &*p.b}) {
            operand->download(context);
            EXPECT_TRUE(operand->intact());
        }
    }
    void expect_refused(TransposeKernel kernel, int entry,
                        std::initializer_list<std::string> words) {
        expect_refused([=](Call& call) { call.options = {kernel, entry}; }, words);
    }

    Context context;
};

/// The first line of a form for floats.
int entry_of(TransposeForm form) {
    for (int entry = 0; entry < transpose_entries; ++entry)
        if (transpose_table[entry].form == form && transpose_table[entry].element_size == 4)
            return entry;
    ADD_FAILURE() << "no line of the form " << to_string(form);
    return 0;
}

TEST_F(SmallTransposeErrors, Shapes) {
    expect_refused([](Call& call) { call.b.rows = 7; },
                   {"transpose: b has 7 rows", "a has 5 columns", "equal"});
    expect_refused([](Call& call) { call.b.columns = 3; },
                   {"transpose: b has 3 columns", "a has 4 rows", "equal"});
    expect_refused([](Call& call) { call.a.columns = 0; },
                   {"transpose: b has 5 rows", "a has 0 columns"});
}

TEST_F(SmallTransposeErrors, NegativeExtents) {
    expect_refused([](Call& call) { call.a.rows = call.b.columns = -4; },
                   {"transpose: a is -4 x 5", "at least 0"});
    expect_refused([](Call& call) { call.a.columns = -5; }, {"transpose: a is 4 x -5"});
    expect_refused([](Call& call) { call.b.rows = -5; }, {"transpose: b is -5 x 4", "at least 0"});
}

TEST_F(SmallTransposeErrors, NullPointers) {
    expect_refused([](Call& call) { call.a.data = nullptr; }, {"transpose: a is null", "4 x 5"});
    expect_refused([](Call& call) { call.b.data = nullptr; }, {"transpose: b is null", "5 x 4"});
}

TEST_F(SmallTransposeErrors, StridesThatFoldBOntoItself) {
    for (const auto& [row, column] :
         {std::pair{0, 1}, {4, 0}, {0, 0}, {3, 1}, {1, 3}, {2, 1}, {-3, 1}})
        expect_refused(
            [row = row, column = column](Call& call) {
                call.b.row_stride = row;
                call.b.column_stride = column;
            },
            {"transpose: b has strides of " + std::to_string(row) + " and " +
             std::to_string(column)});
}

TEST_F(SmallTransposeErrors, Options) {
    const int slim = entry_of(TransposeForm::slim);
    expect_refused(TransposeKernel::tuned, transpose_entries,
                   {"options.entry is " + std::to_string(transpose_entries),
                    "-1 to " + std::to_string(transpose_entries - 1)});
    expect_refused(TransposeKernel::best, -2, {"options.entry is -2", "-1"});
    for (int entry = 0; entry < transpose_entries; ++entry)
        if (transpose_table[entry].element_size != 4)
            expect_refused(TransposeKernel::tuned, entry,
                           {"options.entry is " + std::to_string(entry), "4 bytes"});
    for (TransposeKernel kernel : {TransposeKernel::naive, TransposeKernel::padded})
        expect_refused(kernel, slim,
                       {"options.entry is " + std::to_string(slim), to_string(kernel)});
    expect_refused(TransposeKernel::none, -1,
                   {"options.kernel is 4", "best", "naive", "padded", "tuned"});
    expect_refused(static_cast<TransposeKernel>(99), -1, {"options.kernel is 99"});
    expect_refused(static_cast<TransposeKernel>(-1), -1, {"options.kernel is -1"});
}

TEST_F(SmallTransposeErrors, EntriesThatDoNotSuitTheOperands) {
    const auto refused = [&](TransposeForm form, std::function<void(Call&)> spoil,
                             const std::string& word) {
        const int entry = entry_of(form);
        expect_refused(
            [&](Call& call) {
                spoil(call);
                call.options = {TransposeKernel::tuned, entry};
            },
            {"options.entry is " + std::to_string(entry), to_string(form), word});
    };
    const auto good = [](Call&) {};
    const auto order = [](Call& call) { call.b = {call.b.data, 5, 4, 1, 5}; };
    refused(TransposeForm::in_place, good, "the same view");
    refused(TransposeForm::vectors, good, "16-byte aligned");  // rows of 5 floats
    for (const TransposeForm form :
         {TransposeForm::slim, TransposeForm::vectors, TransposeForm::skewed})
        refused(form, order, "contiguous");

    Matrix<float> a(64, 64), b(64, 64);
    const TransposeOptions options = {TransposeKernel::tuned, entry_of(TransposeForm::slim)};
    EXPECT_TRUE(refuses([&] { transpose(context, a, b, options); }, {"fewer than 32"}));
    for (const TransposeForm form : {TransposeForm::vectors, TransposeForm::skewed})
        EXPECT_TRUE(refuses(
            [&] {
                transpose(context, a, {TransposeKernel::tuned, entry_of(form)});
            },
            {"lie apart"}));
}

TEST_F(SmallTransposeErrors, ElementSize) {
    std::byte bytes[64] = {};
    const MatrixView<const std::byte> a = {bytes, 1, 1, 0, 0};
    const MatrixView<std::byte> b = {bytes + 32, 1, 1, 0, 0};
    for (const std::size_t size : {0, 1, 3, 12, 32})
        EXPECT_TRUE(refuses([&] { detail::transpose(context, size, a, b, {}); },
                            {"element_size is " + std::to_string(size), "2, 4, 8 or 16"}));
}

// Blocks of one parent matrix, 12 x 12.

struct Blocks {
    Blocks() : random(2), parent(12, 12, storages[0], random) { parent.upload(context); }
    MatrixView<float> at(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t columns) {
        return parent.device().block(i, j, rows, columns);
    }
    Random random;
    Context context;
    BitOperand<float> parent;
};

TEST(SmallTransposeOverlap, Refused) {
    Blocks blocks;
    const MatrixView<float> b = blocks.at(4, 4, 4, 4);
    const auto refused = [&](MatrixView<const float> a, MatrixView<float> target) {
        EXPECT_TRUE(refuses([&] { transpose<float>(blocks.context, a, target); },
                            {"transpose: b overlaps a", "same square view"}));
    };
    for (const MatrixView<float>& a :
         {transposed(b), blocks.at(7, 7, 4, 4), blocks.at(1, 1, 4, 4), blocks.at(1, 7, 4, 4),
          blocks.at(7, 1, 4, 4), blocks.at(4, 5, 4, 4), transposed(blocks.at(7, 7, 4, 4))})
        refused(a, b);
    refused(MatrixView<float>{&b(3, 3), 4, 4, -12, -1}, b);
    refused(MatrixView<float>{&b(2, 2), 4, 4, 0, 0}, b);
    refused(blocks.at(2, 3, 5, 4), blocks.at(2, 3, 4, 5));  // not square
    refused(blocks.at(2, 3, 1, 4), transposed(blocks.at(2, 3, 1, 4)));
    blocks.parent.download(blocks.context);
    EXPECT_TRUE(blocks.parent.intact());
}

TEST(SmallTransposeOverlap, NotSquareInPlaceIsRefused) {
    Context context;
    Matrix<float> a(4, 5);
    EXPECT_TRUE(
        refuses([&] { transpose(context, a); }, {"transpose: b has 4 rows but a has 5 columns"}));
}

TEST(SmallTransposeOverlap, InterleavedBlocksAreAccepted) {
    using Pick = MatrixView<float> (*)(Blocks&, int);
    const Pick picks[] = {
        // Side by side, one above the other, on a diagonal, and every third column or row.
        [](Blocks& blocks, int index) { return blocks.at(3, 4 * index, 4, 4); },
        [](Blocks& blocks, int index) { return blocks.at(4 * index, 3, 4, 4); },
        [](Blocks& blocks, int index) { return blocks.at(4 * index, 4 * index, 4, 4); },
        [](Blocks& blocks, int index) {
            return MatrixView<float>{&blocks.parent.device()(0, index), 4, 4, 12, 3};
        },
        [](Blocks& blocks, int index) {
            return MatrixView<float>{&blocks.parent.device()(index, 0), 4, 4, 36, 1};
        },
    };
    for (const Pick pick : picks) {
        Blocks blocks;
        const MatrixView<float> a = pick(blocks, 0), b = pick(blocks, 2);
        transpose<float>(blocks.context, a, b);
        blocks.parent.download(blocks.context);
        const MatrixView<float> before = blocks.parent.before(), after = blocks.parent.after();
        const float* device = blocks.parent.device().data;
        const auto same = [&](const float* x, const float* y) {
            return BitOperand<float>::same_bits(before.data[x - device], after.data[y - device]);
        };
        int moved = 0;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) {
                EXPECT_TRUE(same(&a(i, j), &b(j, i))) << i << ", " << j;
                ++moved;
            }
        for (int e = 0; e < 144; ++e) moved += same(device + e, device + e) ? 1 : 0;
        EXPECT_EQ(moved, 144);  // all but the 16 of b are where they were
    }
}

// Strides that are never walked do not count.
TEST(SmallTransposeOverlap, OneElementInPlace) {
    Context context;
    Random random(3);
    BitOperand<double> buffer(1, 1, storages[0], random);
    buffer.upload(context);
    double* data = buffer.device().data;
    const TransposeChoice choice = transpose<double>(context, MatrixView<double>{data, 1, 1, 7, -3},
                                                     MatrixView<double>{data, 1, 1, 0, 5});
    EXPECT_NE(choice.kernel, TransposeKernel::none);
    buffer.download(context);
    EXPECT_TRUE(buffer.intact());
}

}  // namespace
}  // namespace tinyblas::test
