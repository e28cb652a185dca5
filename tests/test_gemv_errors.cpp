// SPDX-License-Identifier: MIT
// What gemv and ger refuse, with which sentence, and that a refused call writes nothing. What
// overlaps and what only interleaves.
#include <functional>

#include "gemv_problem.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class SmallGemvErrors : public testing::Test {
  protected:
    /// A good call: A is 4 x 6.
    struct Call {
        MatrixView<T> a;
        VectorView<T> x, y;  // ger: of 4 and 6 elements
        GemvOptions options;
    };
    using Spoil = std::function<void(Call&)>;

    /// The spoilt call must be refused with all of `words` and leave everything as it was.
    void expect_refused(bool is_ger, Spoil spoil, std::initializer_list<std::string> words) {
        GemvProblem<T> p(4, 6, storages[0], is_ger);
        p.fill_integers();
        p.upload(context);
        Call call = {p.a.device(), p.x.device().row(0), p.y.device().row(0), {}};
        spoil(call);
        EXPECT_TRUE(refuses(
            [&] {
                if (is_ger)
                    ger(context, T(1), VectorView<const T>(call.x), VectorView<const T>(call.y),
                        call.a);
                else
                    gemv(context, T(1), MatrixView<const T>(call.a), VectorView<const T>(call.x),
                         T(1), call.y, call.options);
            },
            words));
        p.download(context);
        for (Operand<T>* operand : {&p.a, &p.x, &p.y}) EXPECT_TRUE(operand->intact());
    }
    void gemv_refused(Spoil spoil, std::initializer_list<std::string> words) {
        expect_refused(false, spoil, words);
    }
    void ger_refused(Spoil spoil, std::initializer_list<std::string> words) {
        expect_refused(true, spoil, words);
    }

    Context context;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallGemvErrors, Types);

TYPED_TEST(SmallGemvErrors, Shapes) {
    this->gemv_refused([](auto& call) { call.x.size = 7; },
                       {"gemv: x has 7 elements", "a has 6 columns", "must be equal"});
    this->gemv_refused([](auto& call) { call.y.size = 3; },
                       {"gemv: y has 3 elements", "a has 4 rows"});
    this->gemv_refused([](auto& call) { call.a.rows = -4; }, {"gemv: a is -4 x 6", "at least 0"});
    this->gemv_refused([](auto& call) { call.a.columns = call.x.size = -6; },
                       {"gemv: a is 4 x -6", "at least 0"});
    this->ger_refused([](auto& call) { call.x.size = 3; },
                      {"ger: x has 3 elements", "a has 4 rows"});
    this->ger_refused([](auto& call) { call.y.size = 7; },
                      {"ger: y has 7 elements", "a has 6 columns"});
    this->ger_refused([](auto& call) { call.a.columns = -1; }, {"ger: a is 4 x -1", "at least 0"});
}

TYPED_TEST(SmallGemvErrors, NullPointers) {
    const auto no_a = [](auto& call) { call.a.data = nullptr; };
    const auto no_x = [](auto& call) { call.x.data = nullptr; };
    const auto no_y = [](auto& call) { call.y.data = nullptr; };
    this->gemv_refused(no_a, {"gemv: a is null", "4 x 6 elements"});
    this->gemv_refused(no_x, {"gemv: x is null", "6 elements"});
    this->gemv_refused(no_y, {"gemv: y is null", "4 elements"});
    this->ger_refused(no_a, {"ger: a is null", "4 x 6 elements"});
    this->ger_refused(no_x, {"ger: x is null", "4 elements"});
    this->ger_refused(no_y, {"ger: y is null", "6 elements"});
}

TYPED_TEST(SmallGemvErrors, StridesThatFoldTheOutput) {
    this->gemv_refused([](auto& call) { call.y.increment = 0; }, {"gemv: y has an increment of 0"});
    for (const auto& [row, column] : {std::pair{0, 1}, {5, 1}, {1, 3}, {-5, 1}})
        this->ger_refused(
            [row = row, column = column](auto& call) {
                call.a.row_stride = row;
                call.a.column_stride = column;
            },
            {"ger: a has strides of " + std::to_string(row) + " and " + std::to_string(column)});
}

TYPED_TEST(SmallGemvErrors, Options) {
    for (const int kernel : {-1, 3, 9})
        this->gemv_refused(
            [=](auto& call) { call.options.kernel = static_cast<GemvKernel>(kernel); },
            {"gemv: options.kernel is " + std::to_string(kernel), "best, naive or tuned"});
}

TYPED_TEST(SmallGemvErrors, Overlap) {
    using T = TypeParam;
    Operand<T> memory(12, 12);
    memory.fill([] { return T(1); });
    memory.upload(this->context);
    const MatrixView<T> all = memory.device();
    const MatrixView<T> a = all.block(3, 3, 4, 4);
    const auto run_gemv = [&](VectorView<T> x, VectorView<T> y) {
        gemv(this->context, T(1), MatrixView<const T>(a), VectorView<const T>(x), T(0), y);
    };
    const auto run_ger = [&](VectorView<T> x, VectorView<T> y) {
        ger(this->context, T(1), VectorView<const T>(x), VectorView<const T>(y), a);
    };
    const VectorView<T> apart = all.block(11, 0, 1, 4).row(0);
    const VectorView<T> overlapping[] = {a.row(1), a.column(2), all.block(6, 0, 1, 4).row(0),
                                         all.block(0, 6, 4, 1).column(0)};
    for (const VectorView<T>& other : overlapping) {
        EXPECT_TRUE(refuses([&] { run_gemv(apart, other); }, {"gemv: y overlaps a"}));
        EXPECT_TRUE(refuses([&] { run_ger(other, apart); }, {"ger: a overlaps x"}));
        EXPECT_TRUE(refuses([&] { run_ger(apart, other); }, {"ger: a overlaps y"}));
    }
    const VectorView<T> backwards = {apart.data + 3, 4, -2};
    EXPECT_TRUE(refuses([&] { run_gemv(apart, apart); }, {"gemv: y overlaps x"}));
    EXPECT_TRUE(refuses([&] { run_gemv(apart, backwards); }, {"gemv: y overlaps x"}));
    memory.download(this->context);
    EXPECT_TRUE(memory.intact());

    // Beside A, between its rows, between x's elements; inputs may overlap.
    run_gemv(apart, all.block(3, 7, 4, 1).column(0));
    run_gemv(a.row(0), all.block(3, 2, 4, 1).column(0));
    run_gemv({&all(10, 0), 4, 2}, {&all(10, 1), 4, 2});
    run_ger(apart, apart);
    this->context.synchronize();
}

}  // namespace
}  // namespace tinyblas::test
