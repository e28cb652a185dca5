// SPDX-License-Identifier: MIT
// gemm_strided_batched and gemm_batched: what is refused, in which words, before anything is
// enqueued; and what looks like it but is sound.
#include <functional>

#include "batched_problem.hpp"

namespace tinyblas::test {
namespace {

/// Three products of 4 x 6 x 5, one behind the other.
template <class T>
class SmallGemmBatchedErrors : public testing::Test {
  protected:
    struct Call {
        MatrixView<T> a, b, c;
        std::int64_t a_stride = 20, b_stride = 30, c_stride = 24, batch = 3;
        GemmOptions options = {};
    };
    /// use(call), which makes the good call after `spoil`.
    template <class Use>
    void with(std::function<void(Call&)> spoil, Use use) {
        p.fill([](Random&) { return 1; });
        for (BatchOperand<T>* operand : p.operands()) operand->upload(context);
        Call call = {p.a.device(0), p.b.device(0), p.c.device(0)};
        spoil(call);
        use([&] {
            gemm_strided_batched(context, T(1), call.a, call.a_stride, call.b, call.b_stride, T(1),
                                 call.c, call.c_stride, call.batch, call.options);
        });
        for (BatchOperand<T>* operand : p.operands()) operand->download(context);
    }
    void expect_refused(std::function<void(Call&)> spoil,
                        std::initializer_list<std::string> words) {
        with(spoil, [&](auto call) { EXPECT_TRUE(refuses(call, words)); });
        for (BatchOperand<T>* operand : p.operands()) EXPECT_TRUE(operand->intact());
    }

    Context context;
    BatchProblem<T> p{{4, 6, 5}, 3};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallGemmBatchedErrors, Types);

TYPED_TEST(SmallGemmBatchedErrors, Refused) {
    using Call = typename TestFixture::Call;
    this->expect_refused([](Call& x) { x.batch = -1; },
                         {"gemm_strided_batched: batch is -1: must be at least 0"});
    this->expect_refused([](Call& x) { x.b.rows = 4; }, {"gemm: b has 4 rows"});
    this->expect_refused([](Call& x) { x.c.columns = 7; }, {"gemm: c has 7 columns"});
    this->expect_refused([](Call& x) { x.a.rows = x.c.rows = -1; }, {"gemm: a is -1 x 5"});
    this->expect_refused([](Call& x) { x.a.data = nullptr; }, {"gemm: a is null"});
    this->expect_refused([](Call& x) { x.b.data = nullptr; }, {"gemm: b is null"});
    this->expect_refused([](Call& x) { x.c.data = nullptr; }, {"gemm: c is null"});
    this->expect_refused([](Call& x) { x.c.row_stride = 5; }, {"gemm: c has strides of 5 and 1"});
    this->expect_refused(
        [](Call& x) { x.options.kernel = GemmKernel::none; },
        {"gemm: options.kernel is " + std::to_string(static_cast<int>(GemmKernel::none))});
    this->expect_refused([](Call& x) { x.options.entry = 1000; }, {"gemm: options.entry is 1000"});
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

// No sum of strides passes the address space unnoticed.
TYPED_TEST(SmallGemmBatchedErrors, MatricesBeyondAllAddresses) {
    using Call = typename TestFixture::Call;
    for (const std::int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 4, INT64_MIN / 2,
                                      INT64_MAX / std::int64_t{2 * sizeof(TypeParam)}}) {
        const std::string value = std::to_string(stride);
        const auto refused = [&](const std::string& name, std::function<void(Call&)> spoil) {
            this->expect_refused(spoil,
                                 {"gemm_strided_batched: " + name + "_stride is " + value,
                                  "3 matrices of " + name, "must lie within the address space"});
        };
        refused("a", [=](Call& x) { x.a_stride = stride; });
        refused("b", [=](Call& x) { x.b_stride = stride; });
        refused("c", [=](Call& x) { x.c_stride = stride; });
    }
    this->expect_refused([](Call& x) { x.batch = INT64_MAX; }, {"a_stride is 20"});
}

TYPED_TEST(SmallGemmBatchedErrors, Accepted) {
    using Call = typename TestFixture::Call;
    const auto accepted = [&](std::function<void(Call&)> spoil) {
        this->with(spoil, [](auto call) { EXPECT_NO_THROW(call()); });
        EXPECT_EQ(this->p.c.after(0)(0, 0), 1 + 5);
    };
    accepted([](Call&) {});
    accepted([](Call& x) { x.batch = 1, x.c_stride = 0; });
    accepted([](Call& x) {  // a batch of one takes no step
        x.batch = 1, x.a_stride = INT64_MIN, x.b_stride = INT64_MAX, x.c_stride = INT64_MIN;
    });
    // Side by side in rows of 72.
    accepted([](Call& x) {
        x.c.rows = x.a.rows = 1;
        x.c.row_stride = 72;
        x.c_stride = 6;
        x.batch = 12;
        x.a_stride = x.b_stride = 0;
    });
    // From the last one on, towards the first.
    accepted([](Call& x) {
        x.a.data += 40, x.b.data += 60, x.c.data += 48;
        x.a_stride = -20, x.b_stride = -30, x.c_stride = -24;
    });
}

/// The same batch by pointers.
template <class T>
class SmallGemmArrayErrors : public testing::Test {
  protected:
    struct Call {
        MatrixArray<T> a, b, c;
        T alpha = 1, beta = 2;
        std::int64_t batch = 3;
        GemmOptions options = {};
    };
    template <class Use>
    void with(std::function<void(Call&)> spoil, Use use) {
        p.fill([](Random&) { return 1; });
        for (BatchOperand<T>* operand : p.operands()) operand->upload(context);
        const Matrix<T*> pointers = on_device(context, p.pointers());
        T* const* const first = pointers.view().data;
        Call call = {MatrixArray<T>::row_major(first, 4, 5, 5),
                     MatrixArray<T>::row_major(first + 3, 5, 6, 6),
                     MatrixArray<T>::row_major(first + 6, 4, 6, 6)};
        spoil(call);
        use([&] {
            return gemm_batched(context, call.alpha, MatrixArray<const T>(call.a),
                                MatrixArray<const T>(call.b), call.beta, call.c, call.batch,
                                call.options);
        });
        for (BatchOperand<T>* operand : p.operands()) operand->download(context);
    }
    void expect_refused(std::function<void(Call&)> spoil,
                        std::initializer_list<std::string> words) {
        with(spoil, [&](auto call) { EXPECT_TRUE(refuses(call, words)); });
        for (BatchOperand<T>* operand : p.operands()) EXPECT_TRUE(operand->intact());
    }

    Context context;
    BatchProblem<T> p{{4, 6, 5}, 3};
    Matrix<T*> backwards;
};
TYPED_TEST_SUITE(SmallGemmArrayErrors, Types);

TYPED_TEST(SmallGemmArrayErrors, Refused) {
    using Call = typename TestFixture::Call;
    this->expect_refused([](Call& x) { x.batch = -1; },
                         {"gemm_batched: batch is -1: must be at least 0"});
    this->expect_refused([](Call& x) { x.a.data = nullptr; },
                         {"gemm_batched: a is null: must point to 3 pointers"});
    this->expect_refused([](Call& x) { x.b.data = nullptr; },
                         {"gemm_batched: b is null: must point to 3 pointers"});
    this->expect_refused([](Call& x) { x.alpha = 0, x.c.data = nullptr; },
                         {"gemm_batched: c is null: must point to 3 pointers"});
    this->expect_refused([](Call& x) { x.b.rows = 4; }, {"gemm: b has 4 rows"});
    this->expect_refused([](Call& x) { x.c.row_stride = 5; },
                         {"gemm_batched: c has strides of 5 and 1", "must not overlap"});
    for (const std::int64_t stride : {INT64_MIN, INT64_MAX, INT64_MIN / 4, INT64_MAX / 4}) {
        const std::string value = std::to_string(stride);
        this->expect_refused([=](Call& x) { x.a.row_stride = stride; },
                             {"gemm_batched: a has strides of " + value + " and 1: 4 x 5 elements",
                              "must lie within the address space"});
        this->expect_refused([=](Call& x) { x.b.column_stride = stride; },
                             {"gemm_batched: b has strides of 6 and " + value});
        this->expect_refused([=](Call& x) { x.c.row_stride = stride; },
                             {"gemm_batched: c has strides of " + value + " and 1"});
    }
    this->expect_refused(
        [](Call& x) {
            x.a.columns = x.b.rows = (std::int64_t{1} << 34) + 1;
            x.a.column_stride = x.b.row_stride = 0;
        },
        {"gemm_batched: a has 17179869185 columns: must be at most 17179869184"});
    this->expect_refused([](Call& x) { x.options.kernel = GemmKernel::tiled; },
                         {"gemm_batched: options.kernel is tiled", "must be best and -1"});
    this->expect_refused([](Call& x) { x.options.entry = 2; },
                         {"options.entry is 2", "must be best and -1"});
}

// Strides in any direction: only the device can know that matrices begin where there is room.
TYPED_TEST(SmallGemmArrayErrors, Accepted) {
    using Call = typename TestFixture::Call;
    this->with([](Call& x) { x.batch = 0, x.a.data = x.b.data = x.c.data = nullptr; },
               [](auto call) { EXPECT_EQ(call().kernel, GemmKernel::none); });
    // Through the operands backwards, from each one's last element: the pointers say where.
    this->with(
        [this](Call& x) {
            std::vector<TypeParam*> ends = this->p.pointers();
            for (std::size_t e = 0; e < 3; ++e) ends[e] += 19, ends[3 + e] += 29, ends[6 + e] += 23;
            this->backwards = on_device(this->context, ends);
            TypeParam* const* const first = this->backwards.view().data;
            x.a = {first, 4, 5, -5, -1};
            x.b = {first + 3, 5, 6, -6, -1};
            x.c = {first + 6, 4, 6, -6, -1};
        },
        [](auto call) { EXPECT_EQ(call().kernel, GemmKernel::batched); });
    EXPECT_TRUE(judge(this->p, "2 + 5", [](auto, auto, auto, auto x) { return x == 7; }));
}

}  // namespace
}  // namespace tinyblas::test
