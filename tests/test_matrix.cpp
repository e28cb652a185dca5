// SPDX-License-Identifier: MIT
// Matrix<T> and copy: every kind of memory, between every two of them and the host's, whatever the
// strides.
#include "reference.hpp"
#include "tinyblas/eigen.hpp"

namespace tinyblas::test {
namespace {

constexpr Memory kinds[] = {Memory::device,          Memory::device_pitched, Memory::pinned,
                            Memory::pinned_portable, Memory::write_combined, Memory::mapped,
                            Memory::managed};
constexpr Layout layouts[] = {Layout::row_major, Layout::column_major};

bool host_can_reach(Memory kind) {
    return kind != Memory::device && kind != Memory::device_pitched;
}

/// A rows x columns Eigen matrix whose elements are all different.
template <class T = float>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> numbered(std::int64_t rows, std::int64_t columns) {
    return Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>::NullaryExpr(
        rows, columns, [](auto i, auto j) { return static_cast<T>(1 + i * 1000 + j); });
}

class SmallMatrix : public testing::Test {
  protected:
    /// What a matrix or view holds, brought to the host.
    template <class T>
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> contents(MatrixView<T> from) {
        Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> host(from.rows, from.columns);
        copy(context, from, as_view(host));
        context.synchronize();
        return host;
    }
    Context context;
};

TEST_F(SmallMatrix, KnowsItsExtentsKindAndLayout) {
    for (Memory kind : kinds)
        for (Layout layout : layouts) {
            Matrix<float> a(5, 7, kind, layout);
            EXPECT_EQ(a.rows(), 5);
            EXPECT_EQ(a.columns(), 7);
            EXPECT_EQ(a.memory(), kind);
            const MatrixView<float> view = a;
            const bool by_row = layout == Layout::row_major;
            EXPECT_EQ(by_row ? view.column_stride : view.row_stride, 1);
            const std::int64_t ld = by_row ? view.row_stride : view.column_stride;
            if (kind == Memory::device_pitched)
                EXPECT_EQ(ld * 4 % 32, 0) << "not an aligned pitch: " << ld;
            else
                EXPECT_EQ(ld, by_row ? 7 : 5);
        }
}

TEST_F(SmallMatrix, EmptyOnesHoldNothing) {
    for (Memory kind : kinds)
        for (const auto& [rows, columns] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
            Matrix<double> a(rows, columns, kind), b(rows, columns);
            EXPECT_EQ(a.view().data, nullptr);
            EXPECT_EQ(a.rows(), rows);
            EXPECT_EQ(a.columns(), columns);
            copy(context, a, b);
        }
    const Matrix<float> never;
    EXPECT_EQ(never.rows(), 0);
    EXPECT_EQ(never.columns(), 0);
}

TEST_F(SmallMatrix, HostElements) {
    for (Memory kind : kinds) {
        if (!emulated && !host_can_reach(kind)) continue;
        Matrix<float> a(3, 4, kind, Layout::column_major);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 4; ++j) a(i, j) = static_cast<float>(1 + i * 1000 + j);
        EXPECT_EQ(contents<float>(a), numbered(3, 4));
    }
}

TEST_F(SmallMatrix, MovesWithoutCopying) {
    const auto expected = numbered(6, 3);
    Matrix<float> a(6, 3);
    copy(context, as_view(expected), a);
    const float* data = a.view().data;
    Matrix<float> b(std::move(a));
    EXPECT_EQ(b.view().data, data);
    EXPECT_EQ(a.view().data, nullptr);
    Matrix<float> c(2, 2, Memory::pinned);
    c = std::move(b);
    EXPECT_EQ(c.view().data, data);
    EXPECT_EQ(c.memory(), Memory::device);
    EXPECT_EQ(contents<float>(c), expected);
}

// Host to kind, kind to kind, kind to host; four pairs of layouts, so that copies are straight and
// turned.
TEST_F(SmallMatrix, CopyBetweenEveryTwoKinds) {
    const auto expected = numbered(13, 21);
    for (Memory from_kind : kinds)
        for (Memory to_kind : kinds)
            for (Layout from_layout : layouts)
                for (Layout to_layout : layouts) {
                    Matrix<float> from(13, 21, from_kind, from_layout);
                    Matrix<float> to(13, 21, to_kind, to_layout);
                    copy(context, as_view(expected), from);
                    copy(context, from, to);
                    ASSERT_EQ(contents<float>(to), expected)
                        << "kind " << static_cast<int>(from_kind) << " to "
                        << static_cast<int>(to_kind);
                }
}

// Every storage to every storage: blocks, odd bases, general and negative strides; device to device
// and host to device.
TEST_F(SmallMatrix, CopyBetweenEveryTwoStorages) {
    for (const Storage& from_storage : storages)
        for (int s = 0; s < output_storages; ++s) {
            Operand<double> from(9, 14, from_storage), to(9, 14, storages[s]);
            int next = 0;
            from.fill([&] { return ++next; });
            from.upload(context);
            const auto expected = widen(from.before());
            for (const MatrixView<double>& source : {from.device(), from.before()}) {
                to.upload(context);
                copy(context, source, to.device());
                to.download(context);
                ASSERT_EQ(widen(to.after()), expected) << from.name() << " to " << to.name();
                ASSERT_TRUE(to.intact(true)) << from.name() << " to " << to.name();
            }
            Operand<double> back(9, 14, from_storage);
            if (&from_storage == &storages[input_storages - 1]) continue;
            copy(context, to.device(), back.after());
            context.synchronize();
            ASSERT_EQ(widen(back.after()), expected) << to.name() << " to host " << from.name();
            ASSERT_TRUE(back.intact(true)) << to.name() << " to host " << from.name();
        }
}

TEST_F(SmallMatrix, CopyOnTheHost) {
    const auto expected = numbered(4, 9);
    Eigen::MatrixXf straight(4, 9), turned(9, 4);
    copy(context, as_view(expected), as_view(straight));
    copy(context, as_view(expected), transposed(as_view(turned)));
    context.synchronize();
    EXPECT_EQ(straight, expected);
    EXPECT_EQ(turned.transpose(), expected);
}

// Elements of 1, 2, 3, 12, 16 and 24 bytes, straight and turned.
template <std::size_t size>
struct Bytes {
    unsigned char value[size];
    bool operator==(const Bytes&) const = default;
};
template <class T>
class SmallMatrixElements : public SmallMatrix {};
using ElementTypes = testing::Types<Bytes<1>, Bytes<2>, Bytes<3>, Bytes<12>, Bytes<16>, Bytes<24>>;
TYPED_TEST_SUITE(SmallMatrixElements, ElementTypes);

TYPED_TEST(SmallMatrixElements, Copy) {
    using T = TypeParam;
    std::vector<T> host(6 * 11), back(6 * 11);
    unsigned char next = 0;
    for (T& element : host)
        for (unsigned char& byte : element.value) byte = next += 7;
    for (Layout layout : layouts) {
        Matrix<T> a(6, 11, Memory::device, layout);
        Matrix<T> b(6, 11, Memory::device, Layout::row_major);
        copy(this->context, MatrixView<T>::row_major(host.data(), 6, 11), a);
        copy(this->context, a, b);
        copy(this->context, b, MatrixView<T>::row_major(back.data(), 6, 11));
        this->context.synchronize();
        EXPECT_TRUE(back == host);
    }
}

TEST(MatrixErrors, BadExtents) {
    using M = Matrix<float>;
    constexpr std::int64_t huge = std::int64_t{1} << 40;
    for (Memory kind : kinds) {
        EXPECT_TRUE(refuses([&] { M(-3, 5, kind); }, {"matrix", "-3", "5", "at least 0"}));
        EXPECT_TRUE(refuses([&] { M(5, -3, kind); }, {"matrix", "-3", "5", "at least 0"}));
        EXPECT_TRUE(
            refuses([&] { M(huge, huge, kind); }, {"matrix", std::to_string(huge), "4 bytes"}));
    }
    EXPECT_TRUE(
        refuses([&] { M(huge, 1024); }, {"matrix", std::to_string(huge)}, Status::out_of_memory));
    EXPECT_TRUE(
        refuses([&] { Matrix<Bytes<12>>(3, 5, Memory::device_pitched); }, {"12 bytes", "pitch"}));
}

TEST_F(SmallMatrix, CopyRefuses) {
    Operand<float> from(4, 5), to(4, 5);
    to.upload(context);
    const MatrixView<float> a = from.device(), b = to.device();
    const auto refused = [&](MatrixView<float> x, MatrixView<float> y,
                             std::initializer_list<std::string> words) {
        EXPECT_TRUE(refuses([&] { copy(context, x, y); }, words));
    };
    const auto null = MatrixView<float>::row_major(nullptr, 4, 5);
    refused(a, b.block(0, 0, 3, 5), {"copy: from is 4 x 5", "to is 3 x 5"});
    refused(a, b.transposed(), {"copy: from is 4 x 5", "to is 5 x 4"});
    refused({a.data, -1, 5, 5, 1}, {b.data, -1, 5, 5, 1}, {"copy: from is -1 x 5", "at least 0"});
    refused(null, b, {"copy: from is null", "4 x 5"});
    refused(a, null, {"copy: to is null", "4 x 5"});
    refused(b.block(0, 0, 3, 5), b.block(1, 0, 3, 5), {"copy: to overlaps from"});
    refused(a, {b.data, 4, 5, 0, 1}, {"copy: to has strides of 0 and 1"});
    to.download(context);
    EXPECT_TRUE(to.intact());
}

// The adapter.

TEST_F(SmallMatrix, EigenRoundTrip) {
    Eigen::MatrixXd columns = numbered<double>(5, 8);
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = columns;
    EXPECT_EQ(as_eigen(as_view(columns)), columns);
    EXPECT_EQ(as_eigen(as_view(rows)), columns);
    EXPECT_EQ(as_view(columns).row_stride, 1);
    EXPECT_EQ(as_view(rows).column_stride, 1);

    auto block = columns.block(1, 2, 3, 4);
    EXPECT_EQ(as_eigen(as_view(block)), block);
    EXPECT_EQ(as_eigen(as_view(block).transposed()), block.transpose());
    EXPECT_EQ(as_eigen(as_view(columns.transpose())), rows.transpose());
    as_eigen(as_view(block))(2, 3) = -1;
    EXPECT_EQ(columns(3, 5), -1);

    const Eigen::MatrixXd& read_only = columns;
    static_assert(std::is_same_v<decltype(as_view(read_only)), MatrixView<const double>>);
    EXPECT_EQ(as_eigen(as_view(read_only)), columns);
    Eigen::VectorXd vector = columns.col(2);
    EXPECT_EQ(as_view(vector).columns, 1);
    EXPECT_EQ(as_eigen(as_view(vector)), columns.col(2));
}

TEST_F(SmallMatrix, EigenMapsAndRefs) {
    Eigen::MatrixXf matrix = numbered(4, 6);
    Eigen::Map<const Eigen::MatrixXf> map(matrix.data(), 4, 6);
    static_assert(std::is_same_v<decltype(as_view(map)), MatrixView<const float>>);
    EXPECT_EQ(as_eigen(as_view(map)), matrix);
    Eigen::Ref<const Eigen::MatrixXf> read_only(matrix);
    EXPECT_EQ(as_eigen(as_view(read_only)), matrix);
    Eigen::Ref<Eigen::MatrixXf> ref(matrix);
    as_view(ref)(3, 5) = -1;
    EXPECT_EQ(matrix(3, 5), -1);
    Eigen::ArrayXXf array = matrix.array();
    EXPECT_EQ(as_eigen(as_view(array)), matrix);
}

TEST_F(SmallMatrix, EigenMapOfABackwardsView) {
    Operand<float> a(3, 4, storages[10]);
    int next = 0;
    a.fill([&] { return ++next; });
    const auto map = as_eigen(a.before());
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) EXPECT_EQ(map(i, j), 4 * i + j + 1);
}

}  // namespace
}  // namespace tinyblas::test
