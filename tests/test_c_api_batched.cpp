// SPDX-License-Identifier: MIT
// tinyblas_sgemm_strided_batched, tinyblas_sgemm_batched and those of double: results in every
// layout and op, and what is refused. tinyblas_set_precision: what it changes.
#include <functional>
#include <string>
#include <vector>

#include "c_api_errors.hpp"
#include "tinyblas/gemm.hpp"

namespace tinyblas::test {
namespace {

/// The arguments of one call by name; good ones to start with: three times 4 x 6 x 5, one matrix
/// behind the other.
template <class T>
struct Batched {
    const char* name = "gemm_strided_batched";
    tinyblas_context context = nullptr;
    tinyblas_layout layout = TINYBLAS_ROW_MAJOR;
    tinyblas_op opa = TINYBLAS_NO_TRANS, opb = TINYBLAS_NO_TRANS;
    std::int64_t m = 4, n = 6, k = 5;
    T alpha = 1;
    const T* a = nullptr;
    std::int64_t lda = 5, stride_a = 20;
    const T* b = nullptr;
    std::int64_t ldb = 6, stride_b = 30;
    T beta = 1;
    T* c = nullptr;
    std::int64_t ldc = 6, stride_c = 24, batch = 3;

    tinyblas_status call() const {
        return pick<T>(tinyblas_sgemm_strided_batched, tinyblas_dgemm_strided_batched)(
            context, layout, opa, opb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
            ldc, stride_c, batch);
    }
};

/// The same, given by arrays of pointers.
template <class T>
struct BatchedArrays {
    const char* name = "gemm_batched";
    Batched<T> x;
    const T* const* a = nullptr;
    const T* const* b = nullptr;
    T* const* c = nullptr;

    tinyblas_status call() const {
        return pick<T>(tinyblas_sgemm_batched, tinyblas_dgemm_batched)(
            x.context, x.layout, x.opa, x.opb, x.m, x.n, x.k, x.alpha, a, x.lda, b, x.ldb, x.beta,
            c, x.ldc, x.batch);
    }
};

/// Where matrices of Batched lie, in device memory: all a, all b, all c.
template <class T>
Matrix<T*> pointers_of(Context& memory, const Batched<T>& x) {
    std::vector<T*> values;
    for (std::int64_t e = 0; e < x.batch; ++e)
        values.push_back(x.a ? const_cast<T*>(x.a) + e * x.stride_a : nullptr);
    for (std::int64_t e = 0; e < x.batch; ++e)
        values.push_back(x.b ? const_cast<T*>(x.b) + e * x.stride_b : nullptr);
    for (std::int64_t e = 0; e < x.batch; ++e) values.push_back(x.c + e * x.stride_c);
    Matrix<T*> pointers(1, 3 * x.batch);
    copy(memory, MatrixView<T*>::row_major(values.data(), 1, 3 * x.batch), pointers);
    memory.synchronize();
    return pointers;
}

template <class T>
class SmallCApiBatched : public CApiErrors<T> {
  protected:
    SmallCApiBatched() {
        good.context = this->context;
        good.a = this->operand(12, 5);
        good.b = this->operand(15, 6);
        good.c = this->operand(12, 6);
    }
    Batched<T> good;
    Context memory;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallCApiBatched, Types);

// From the last argument to the first, each spoilt in turn and left so: the sentence must name the
// newest.
TYPED_TEST(SmallCApiBatched, FirstBadArgumentWins) {
    using Args = Batched<TypeParam>;
    Args x = this->good;
    const auto then = [&](auto spoil, const std::string& words) {
        spoil(x);
        this->expect_refused(x, words);
    };
    then([](Args& x) { x.stride_c = 5; },
         "argument 18 (stride_c) is 5: must be a stride that keeps 3 matrices of c apart");
    then([](Args& x) { x.batch = -1; }, "argument 19 (batch) is -1: must be at least 0");
    then([](Args& x) { x.ldc = 3; }, "argument 17 (ldc) is 3: must be at least 6");
    then([](Args& x) { x.c = nullptr; }, "argument 16 (c) is null: must be a pointer");
    then([](Args& x) { x.ldb = 5; }, "argument 13 (ldb) is 5: must be at least 6");
    then([](Args& x) { x.b = nullptr; }, "argument 12 (b) is null: must be a pointer");
    then([](Args& x) { x.lda = 4; }, "argument 10 (lda) is 4: must be at least 5");
    then([](Args& x) { x.a = nullptr; }, "argument 9 (a) is null: must be a pointer");
    then([](Args& x) { x.k = -1; }, "argument 7 (k) is -1: must be at least 0");
    then([](Args& x) { x.n = -2; }, "argument 6 (n) is -2: must be at least 0");
    then([](Args& x) { x.m = -3; }, "argument 5 (m) is -3: must be at least 0");
    then([](Args& x) { x.opb = tinyblas_op(110); },
         "argument 4 (opb) is 110: must be 111, 112 or 113");
    then([](Args& x) { x.opa = tinyblas_op(114); },
         "argument 3 (opa) is 114: must be 111, 112 or 113");
    then([](Args& x) { x.layout = tinyblas_layout(100); },
         "argument 2 (layout) is 100: must be 101 or 102");
    then([](Args& x) { x.context = nullptr; }, "argument 1 (context) is null: must be a pointer");
}

TYPED_TEST(SmallCApiBatched, FirstBadArgumentOfArraysWins) {
    using Args = BatchedArrays<TypeParam>;
    Args y = {.x = this->good};
    TypeParam* const any[] = {nullptr};
    y.a = y.b = any;
    y.c = any;
    const auto then = [&](auto spoil, const std::string& words) {
        spoil(y);
        this->expect_refused(y, words);
    };
    then([](Args& y) { y.x.batch = -1; }, "argument 16 (batch) is -1: must be at least 0");
    then([](Args& y) { y.x.ldc = 3; }, "argument 15 (ldc) is 3: must be at least 6");
    then([](Args& y) { y.c = nullptr; }, "argument 14 (c) is null: must be a pointer");
    then([](Args& y) { y.x.ldb = 5; }, "argument 12 (ldb) is 5: must be at least 6");
    then([](Args& y) { y.b = nullptr; }, "argument 11 (b) is null: must be a pointer");
    then([](Args& y) { y.x.lda = 4; }, "argument 10 (lda) is 4: must be at least 5");
    then([](Args& y) { y.a = nullptr; }, "argument 9 (a) is null: must be a pointer");
    then([](Args& y) { y.x.k = (std::int64_t{1} << 34) + 1; },
         "argument 7 (k) is 17179869185: must be at most 17179869184");
    then([](Args& y) { y.x.k = -1; }, "argument 7 (k) is -1: must be at least 0");
    then([](Args& y) { y.x.opa = tinyblas_op(0); },
         "argument 3 (opa) is 0: must be 111, 112 or 113");
    then([](Args& y) { y.x.context = nullptr; }, "argument 1 (context) is null: must be a pointer");
}

TYPED_TEST(SmallCApiBatched, MatricesBeyondAllAddresses) {
    using Args = Batched<TypeParam>;
    const auto refused = [&](auto spoil, const std::string& words) {
        Args x = this->good;
        spoil(x);
        this->expect_refused(x, words +
                                    " is 9223372036854775807: must be such that 3 matrices lie "
                                    "within the address space");
    };
    refused([](Args& x) { x.stride_a = INT64_MAX; }, "argument 11 (stride_a)");
    refused([](Args& x) { x.stride_b = INT64_MAX; }, "argument 14 (stride_b)");
    refused([](Args& x) { x.stride_c = INT64_MAX; }, "argument 18 (stride_c)");
}

// What is chosen by name wants to look at addresses that only the device knows.
TYPED_TEST(SmallCApiBatched, ArraysWantTheBestKernel) {
    const Matrix<TypeParam*> pointers = pointers_of(this->memory, this->good);
    TypeParam* const* const first = pointers.view().data;
    const BatchedArrays<TypeParam> y = {.x = this->good, .a = first, .b = first + 3, .c = first};
    ASSERT_EQ(tinyblas_set_gemm_kernel(this->context, "tiled"), TINYBLAS_SUCCESS);
    EXPECT_EQ(y.call(), TINYBLAS_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tinyblas_last_error()).find("options.kernel is tiled"),
              std::string::npos);
    Batched<TypeParam> x = this->good;
    x.alpha = 0;  // leaves C as it is
    this->expect_accepted(x);
}

// alpha = 0 or k = 0: C = beta C, whatever a and b are; beta = 0 does not read C.
TYPED_TEST(SmallCApiBatched, UnreadOperandsMayBeNull) {
    using T = TypeParam;
    Context& memory = this->memory;
    for (const bool arrays : {false, true})
        for (const std::int64_t k : {0, 5})
            for (const T beta : {T(0), T(2)}) {
                Operand<T> c(12, 6);
                c.fill([&] { return beta == 0 ? poison<T>() : T(5); });
                c.upload(memory);
                memory.synchronize();
                Batched<T> x = this->good;
                x.a = x.b = nullptr;
                x.k = k, x.alpha = k == 0 ? T(1) : T(0), x.beta = beta, x.c = c.device().data;
                const Matrix<T*> pointers = pointers_of(memory, x);
                if (arrays)
                    this->expect_accepted(BatchedArrays<T>{.x = x, .c = pointers.view().data + 6});
                else
                    this->expect_accepted(x);
                EXPECT_EQ(tinyblas_synchronize(this->context), TINYBLAS_SUCCESS);
                c.download(memory);
                EXPECT_EQ(widen(c.after()), WideMatrix<T>::Constant(12, 6, beta == 0 ? 0 : 10));
                EXPECT_TRUE(c.intact(true));
            }
}

// The third matrix of C on the first of A, on the last of B.
TYPED_TEST(SmallCApiBatched, Overlap) {
    Batched<TypeParam> x = this->good;
    x.a = x.c + 2 * 24;
    x.stride_a = 1000;
    this->expect_refused(x, "argument 16 (c) is " + shown(x.c) + ": must be apart from a");
    x = this->good;
    x.b = x.c + 2 * 24 - 2 * 30;
    this->expect_refused(x, "argument 16 (c) is " + shown(x.c) + ": must be apart from b");
}

TYPED_TEST(SmallCApiBatched, NothingToDo) {
    Batched<TypeParam> x = this->good;
    x.a = x.b = x.c = nullptr;
    x.batch = 0;
    this->expect_accepted(x);
    x.stride_c = 0;
    this->expect_accepted(x);
    x.batch = 3;
    x.m = 0;
    this->expect_accepted(x);
    this->expect_accepted(BatchedArrays<TypeParam>{.x = x});
    x.m = 4;
    x.k = 0;
    this->expect_accepted(BatchedArrays<TypeParam>{.x = [&] {
        Batched<TypeParam> none = x;
        none.batch = 0;
        return none;
    }()});
    const char* ran = nullptr;
    EXPECT_EQ(tinyblas_get_gemm_kernel(this->context, &ran), TINYBLAS_SUCCESS);
    EXPECT_STREQ(ran, "none");
}

// Matrices of a batch interleaved: those of C row by row, A and B one behind the other.
TYPED_TEST(SmallCApiBatched, EveryLayoutAndOp) {
    using T = TypeParam;
    constexpr std::int64_t m = 5, n = 7, k = 9, batch = 3, ld = 30, size = ld * ld;
    Context& memory = this->memory;
    for (const tinyblas_layout layout : {TINYBLAS_ROW_MAJOR, TINYBLAS_COL_MAJOR})
        for (const tinyblas_op opa : {TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS})
            for (const tinyblas_op opb : {TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS})
                for (const bool arrays : {false, true}) {
                    Operand<T> a(1, size), b(1, size), c(1, size);
                    Random random(static_cast<std::uint64_t>(layout * 100 + opa * 10 + opb));
                    for (Operand<T>* operand : {&a, &b, &c}) {
                        operand->fill([&] { return static_cast<T>(random.integer(-3, 3)); });
                        operand->upload(memory);
                    }
                    memory.synchronize();
                    const std::int64_t between = 10;  // of C's matrices, in rows of 30
                    Batched<T> x = {.context = this->context,
                                    .layout = layout,
                                    .opa = opa,
                                    .opb = opb,
                                    .m = m,
                                    .n = n,
                                    .k = k,
                                    .alpha = 2,
                                    .a = a.device().data,
                                    .lda = 10,
                                    .stride_a = 100,
                                    .b = b.device().data,
                                    .ldb = 11,
                                    .stride_b = -110,
                                    .beta = -1,
                                    .c = c.device().data,
                                    .ldc = ld,
                                    .stride_c = between,
                                    .batch = batch};
                    x.b += 2 * 110;
                    if (arrays) {
                        const Matrix<T*> pointers = pointers_of(memory, x);
                        T* const* const first = pointers.view().data;
                        this->expect_accepted(BatchedArrays<T>{
                            .x = x, .a = first, .b = first + batch, .c = first + 2 * batch});
                        EXPECT_EQ(tinyblas_synchronize(this->context), TINYBLAS_SUCCESS);
                    } else {
                        this->expect_accepted(x);
                    }
                    EXPECT_EQ(tinyblas_synchronize(this->context), TINYBLAS_SUCCESS);
                    for (Operand<T>* operand : {&a, &b, &c}) operand->download(memory);
                    EXPECT_TRUE(a.intact());
                    EXPECT_TRUE(b.intact());
                    const auto at = [&](Operand<T>& operand, std::int64_t first, tinyblas_op op,
                                        std::int64_t i, std::int64_t j, std::int64_t lead) {
                        if (op != TINYBLAS_NO_TRANS) std::swap(i, j);
                        return &operand.before()(
                            0,
                            first + (layout == TINYBLAS_ROW_MAJOR ? i * lead + j : i + j * lead));
                    };
                    for (std::int64_t e = 0; e < batch; ++e)
                        for (std::int64_t i = 0; i < m; ++i)
                            for (std::int64_t j = 0; j < n; ++j) {
                                T sum = 0;
                                for (std::int64_t p = 0; p < k; ++p)
                                    sum += *at(a, e * 100, opa, i, p, 10) *
                                           *at(b, (2 - e) * 110, opb, p, j, 11);
                                T* const value = at(c, e * between, TINYBLAS_NO_TRANS, i, j, ld);
                                *value = 2 * sum - *value;
                            }
                    EXPECT_TRUE(c.intact());  // before() is what must have come out
                }
}

// Bit for bit what the C++ interface computes: strict at first, and from parts once that is asked.
TEST(SmallCApiPrecision, ChangesWhatSgemmComputes) {
    constexpr std::int64_t m = 640, n = 512, k = 768;
    tinyblas_context context = nullptr;
    ASSERT_EQ(tinyblas_create(&context), TINYBLAS_SUCCESS);
    Context memory;
    Random random(70);
    Operand<float> a(m, k), b(k, n), c(m, n);
    for (Operand<float>* operand : {&a, &b, &c}) {
        operand->fill([&] { return static_cast<float>(random.normal()); });
        operand->upload(memory);
    }
    memory.synchronize();
    const auto result = [&] {
        c.download(memory);
        std::vector<float> all;
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) all.push_back(c.after()(i, j));
        return all;
    };
    const auto in_cpp = [&](Precision precision, std::string& rung) {
        rung = to_string(
            gemm(memory, 1.0f, a.device(), b.device(), 0.0f, c.device(), {.precision = precision})
                .kernel);
        return result();
    };
    const auto in_c = [&](int expected_status) {
        const tinyblas_op no = TINYBLAS_NO_TRANS;
        EXPECT_EQ(tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, no, no, m, n, k, 1, a.device().data,
                                 k, b.device().data, n, 0, c.device().data, n),
                  expected_status)
            << tinyblas_last_error();
        EXPECT_EQ(tinyblas_synchronize(context), TINYBLAS_SUCCESS);
        return result();
    };
    const auto ran = [&] {
        const char* name = nullptr;
        EXPECT_EQ(tinyblas_get_gemm_kernel(context, &name), TINYBLAS_SUCCESS);
        return std::string(name);
    };
    std::string strict_rung, rung;
    const std::vector<float> strict = in_cpp(Precision::fp32_strict, strict_rung);
    const std::vector<float> from_parts = in_cpp(Precision::fp32, rung);
    const bool has_rung = emulated || memory.compute_capability() == 90;
    EXPECT_EQ(strict != from_parts, has_rung);
    EXPECT_EQ(rung, emulated ? "split" : has_rung ? "hopper" : strict_rung);

    EXPECT_EQ(in_c(TINYBLAS_SUCCESS), strict);
    EXPECT_EQ(ran(), strict_rung);
    ASSERT_EQ(tinyblas_set_precision(context, TINYBLAS_FP32), TINYBLAS_SUCCESS);
    EXPECT_EQ(in_c(TINYBLAS_SUCCESS), from_parts);
    EXPECT_EQ(ran(), rung);

    if (!has_rung) return;
    // With too little scratch memory: the rung asked for says so, a free choice is strict.
    ASSERT_EQ(tinyblas_set_gemm_kernel(context, "split"), TINYBLAS_SUCCESS);
    Matrix<float> scratch(1, 1024);
    ASSERT_EQ(tinyblas_set_scratch(context, scratch.view().data, 4096), TINYBLAS_SUCCESS);
    in_c(TINYBLAS_OUT_OF_MEMORY);
    EXPECT_NE(std::string(tinyblas_last_error()).find("4096 were given"), std::string::npos);
    ASSERT_EQ(tinyblas_set_gemm_kernel(context, "best"), TINYBLAS_SUCCESS);
    in_c(TINYBLAS_SUCCESS);
    EXPECT_NE(ran(), "split");
    EXPECT_NE(ran(), "hopper");
    std::uint64_t bytes = 0;
    ASSERT_EQ(tinyblas_sgemm_scratch_bytes(m, n, k, &bytes), TINYBLAS_SUCCESS);
    EXPECT_GE(bytes, std::uint64_t{6} * (m + n) * k);
    Matrix<std::byte> enough(1, static_cast<std::int64_t>(bytes));
    ASSERT_EQ(tinyblas_set_scratch(context, enough.view().data, bytes), TINYBLAS_SUCCESS);
    EXPECT_EQ(in_c(TINYBLAS_SUCCESS), from_parts);
    EXPECT_EQ(tinyblas_destroy(context), TINYBLAS_SUCCESS);
}

}  // namespace
}  // namespace tinyblas::test
