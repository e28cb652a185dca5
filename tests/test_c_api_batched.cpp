// SPDX-License-Identifier: MIT
// tinyblas_sgemm_strided_batched and tinyblas_dgemm_strided_batched: results in every layout and
// op, and what is refused. tinyblas_set_precision: what it changes.
#include <functional>

#include "c_api_errors.hpp"

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
    const char* ran = nullptr;
    EXPECT_EQ(tinyblas_get_gemm_kernel(this->context, &ran), TINYBLAS_SUCCESS);
    EXPECT_STREQ(ran, "none");
}

// Matrices of a batch interleaved: those of C row by row, A and B one behind the other.
TYPED_TEST(SmallCApiBatched, EveryLayoutAndOp) {
    using T = TypeParam;
    constexpr std::int64_t m = 5, n = 7, k = 9, batch = 3, ld = 30, size = ld * ld;
    Context memory;
    for (const tinyblas_layout layout : {TINYBLAS_ROW_MAJOR, TINYBLAS_COL_MAJOR})
        for (const tinyblas_op opa : {TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS})
            for (const tinyblas_op opb : {TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS}) {
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
                this->expect_accepted(x);
                EXPECT_EQ(tinyblas_synchronize(this->context), TINYBLAS_SUCCESS);
                for (Operand<T>* operand : {&a, &b, &c}) operand->download(memory);
                EXPECT_TRUE(a.intact());
                EXPECT_TRUE(b.intact());
                const auto at = [&](Operand<T>& operand, std::int64_t first, tinyblas_op op,
                                    std::int64_t i, std::int64_t j, std::int64_t lead) {
                    if (op != TINYBLAS_NO_TRANS) std::swap(i, j);
                    return &operand.before()(
                        0, first + (layout == TINYBLAS_ROW_MAJOR ? i * lead + j : i + j * lead));
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

// A sum that only Precision::fp32 gets right: 2^24 + 1 + 1 ... one at a time is 2^24.
TEST(SmallCApiPrecision, ChangesWhatSgemmComputes) {
    constexpr std::int64_t m = 64, n = 64, k = 8192;
    tinyblas_context context = nullptr;
    ASSERT_EQ(tinyblas_create(&context), TINYBLAS_SUCCESS);
    Context memory;
    Operand<float> a(m, k), b(k, n), c(m, n);
    a.fill([] { return 1.0f; });
    b.fill([] { return 1.0f; });
    for (std::int64_t i = 0; i < m; ++i) a.before()(i, 0) = 0x1p24f;
    for (Operand<float>* operand : {&a, &b, &c}) operand->upload(memory);
    memory.synchronize();
    const auto sum = [&](int expected_sgemm) {
        const tinyblas_op no = TINYBLAS_NO_TRANS;
        EXPECT_EQ(tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, no, no, m, n, k, 1, a.device().data,
                                 k, b.device().data, n, 0, c.device().data, n),
                  expected_sgemm)
            << tinyblas_last_error();
        EXPECT_EQ(tinyblas_synchronize(context), TINYBLAS_SUCCESS);
        c.download(memory);
        return c.after()(m - 1, n - 1);
    };
    const auto ran = [&] {
        const char* name = nullptr;
        EXPECT_EQ(tinyblas_get_gemm_kernel(context, &name), TINYBLAS_SUCCESS);
        return std::string(name);
    };
    EXPECT_EQ(sum(TINYBLAS_SUCCESS), 0x1p24f);
    EXPECT_EQ(ran(), "tuned");
    ASSERT_EQ(tinyblas_set_precision(context, TINYBLAS_FP32), TINYBLAS_SUCCESS);
    const bool has_rung = emulated || memory.compute_capability() == 90;
    const float accurate = 0x1p24f + 8191;
    EXPECT_NEAR(sum(TINYBLAS_SUCCESS), has_rung ? accurate : 0x1p24f, has_rung ? 128 : 0);
    EXPECT_EQ(ran(), emulated ? "split" : has_rung ? "hopper" : "tuned");

    // By name, and with too little scratch memory.
    ASSERT_EQ(tinyblas_set_gemm_kernel(context, "split"), TINYBLAS_SUCCESS);
    EXPECT_NEAR(sum(TINYBLAS_SUCCESS), accurate, 128);
    Matrix<float> scratch(1, 1024);
    ASSERT_EQ(tinyblas_set_scratch(context, scratch.view().data, 4096), TINYBLAS_SUCCESS);
    sum(TINYBLAS_OUT_OF_MEMORY);
    EXPECT_NE(std::string(tinyblas_last_error()).find("4096 were given"), std::string::npos);
    ASSERT_EQ(tinyblas_set_gemm_kernel(context, "best"), TINYBLAS_SUCCESS);
    EXPECT_EQ(sum(TINYBLAS_SUCCESS), 0x1p24f);
    EXPECT_EQ(ran(), "tuned");
    std::uint64_t bytes = 0;
    ASSERT_EQ(tinyblas_sgemm_scratch_bytes(m, n, k, &bytes), TINYBLAS_SUCCESS);
    EXPECT_GE(bytes, std::uint64_t{6} * 2 * 64 * k);
    Matrix<std::byte> enough(1, static_cast<std::int64_t>(bytes));
    ASSERT_EQ(tinyblas_set_scratch(context, enough.view().data, bytes), TINYBLAS_SUCCESS);
    EXPECT_NEAR(sum(TINYBLAS_SUCCESS), has_rung ? accurate : 0x1p24f, has_rung ? 128 : 0);
    EXPECT_EQ(tinyblas_destroy(context), TINYBLAS_SUCCESS);
}

}  // namespace
}  // namespace tinyblas::test
