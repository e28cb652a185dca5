// SPDX-License-Identifier: MIT
// MatrixView and VectorView: which element lies where, which sub-views exist, what is refused.
#include <numeric>
#include <type_traits>

#include "reference.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas::test {
namespace {

static_assert(std::is_trivially_copyable_v<MatrixView<float>>);
static_assert(std::is_trivially_copyable_v<VectorView<double>>);
static_assert(std::is_convertible_v<MatrixView<float>, MatrixView<const float>>);
static_assert(!std::is_convertible_v<MatrixView<const float>, MatrixView<float>>);
static_assert(std::is_convertible_v<VectorView<float>, VectorView<const float>>);
static_assert(!std::is_convertible_v<VectorView<const float>, VectorView<float>>);

/// 100 elements that know their index.
class Views : public testing::Test {
  protected:
    Views() { std::iota(std::begin(data), std::end(data), 0); }
    int data[100];
};

TEST_F(Views, RowMajor) {
    const auto a = MatrixView<int>::row_major(data, 3, 4, 10);
    EXPECT_EQ(a.rows, 3);
    EXPECT_EQ(a.columns, 4);
    EXPECT_EQ(a(0, 0), 0);
    EXPECT_EQ(a(0, 3), 3);
    EXPECT_EQ(a(2, 1), 21);
    EXPECT_EQ(MatrixView<int>::row_major(data, 3, 4)(2, 1), 9);
}

TEST_F(Views, ColumnMajor) {
    const auto a = MatrixView<int>::column_major(data, 3, 4, 10);
    EXPECT_EQ(a.rows, 3);
    EXPECT_EQ(a.columns, 4);
    EXPECT_EQ(a(2, 0), 2);
    EXPECT_EQ(a(2, 3), 32);
    EXPECT_EQ(MatrixView<int>::column_major(data, 3, 4)(2, 3), 11);
}

TEST_F(Views, WritesGoThrough) {
    const auto a = MatrixView<int>::row_major(data, 3, 4, 10);
    a(1, 2) = -1;
    EXPECT_EQ(data[12], -1);
    a.column(3)(2) = -2;
    EXPECT_EQ(data[23], -2);
}

TEST_F(Views, Transposed) {
    const auto a = MatrixView<int>::row_major(data, 3, 4, 10);
    const auto t = transposed(a);
    EXPECT_EQ(t.rows, 4);
    EXPECT_EQ(t.columns, 3);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) EXPECT_EQ(&t(j, i), &a(i, j));
    EXPECT_EQ(&transposed(t)(2, 3), &a(2, 3));
}

TEST_F(Views, Block) {
    const auto a = MatrixView<int>::row_major(data, 10, 10);
    const auto block = a.block(2, 3, 4, 5);
    EXPECT_EQ(block.rows, 4);
    EXPECT_EQ(block.columns, 5);
    EXPECT_EQ(block(0, 0), 23);
    EXPECT_EQ(block(3, 4), 57);
    EXPECT_EQ(block.block(1, 1, 2, 2)(1, 1), 45);
    EXPECT_EQ(a.block(9, 9, 1, 1)(0, 0), 99);
    const auto nothing = a.block(10, 10, 0, 0);
    EXPECT_EQ(nothing.rows, 0);
    EXPECT_EQ(nothing.columns, 0);
}

TEST_F(Views, BlockOfABackwardsView) {
    const MatrixView<int> a = {data + 99, 10, 10, -10, -1};
    EXPECT_EQ(a(0, 0), 99);
    EXPECT_EQ(a.block(2, 3, 4, 5)(0, 0), 76);
    EXPECT_EQ(a.block(2, 3, 4, 5)(1, 2), 64);
}

TEST_F(Views, RowsAndColumns) {
    const auto a = MatrixView<int>::row_major(data, 3, 4, 10);
    const auto row = a.row(2), column = a.column(1);
    EXPECT_EQ(row.size, 4);
    EXPECT_EQ(column.size, 3);
    for (int j = 0; j < 4; ++j) EXPECT_EQ(&row(j), &a(2, j));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(&column(i), &a(i, 1));
}

// As in BLAS: data is the lowest address, element 0 the highest.
TEST_F(Views, NegativeIncrement) {
    const VectorView<int> x = {data + 5, 4, -3};
    EXPECT_EQ(x(0), 14);
    EXPECT_EQ(x(1), 11);
    EXPECT_EQ(x(3), 5);
    const VectorView<const int> read_only = x;
    EXPECT_EQ(read_only(2), 8);
}

TEST_F(Views, RowsAndColumnsOfABackwardsView) {
    const MatrixView<int> a = {data + 23, 3, 4, -10, -1};
    for (int j = 0; j < 4; ++j) EXPECT_EQ(&a.row(1)(j), &a(1, j));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(&a.column(2)(i), &a(i, 2));
}

TEST_F(Views, RefuseWhatDoesNotFit) {
    using View = MatrixView<int>;
    const auto a = View::row_major(data, 3, 4, 10);
    EXPECT_TRUE(refuses([&] { View::row_major(data, -1, 4, 4); }, {"rows is -1", "at least 0"}));
    EXPECT_TRUE(refuses([&] { View::row_major(data, 3, -2, 4); }, {"columns is -2", "at least 0"}));
    EXPECT_TRUE(refuses([&] { View::row_major(data, 3, 4, 3); }, {"ld is 3", "at least 4"}));
    EXPECT_TRUE(refuses([&] { View::row_major(data, 0, 0, 0); }, {"ld is 0", "at least 1"}));
    EXPECT_TRUE(refuses([&] { View::column_major(data, 5, 4, 4); }, {"ld is 4", "at least 5"}));
    EXPECT_TRUE(refuses([&] { View::column_major(data, -7, 4, 4); }, {"rows is -7"}));
    EXPECT_TRUE(refuses([&] { a.block(2, 0, 2, 1); }, {"block: rows from 2 number 2", "0 to 1"}));
    EXPECT_TRUE(
        refuses([&] { a.block(0, 3, 1, 2); }, {"block: columns from 3 number 2", "0 to 1"}));
    EXPECT_TRUE(refuses([&] { a.block(-1, 0, 1, 1); }, {"block: rows from -1", "0 to 3"}));
    EXPECT_TRUE(refuses([&] { a.block(0, 5, 0, 0); }, {"block: columns from 5", "0 to 4"}));
    EXPECT_TRUE(refuses([&] { a.block(0, 0, 1, -1); }, {"block: columns from 0 number -1"}));
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    EXPECT_TRUE(refuses([&] { a.block(1, 0, most, 1); }, {"block: rows", std::to_string(most)}));
    EXPECT_TRUE(refuses([&] { a.row(3); }, {"row from 3"}));
    EXPECT_TRUE(refuses([&] { a.row(-1); }, {"row from -1"}));
    EXPECT_TRUE(refuses([&] { a.column(4); }, {"column from 4"}));
}

}  // namespace
}  // namespace tinyblas::test
