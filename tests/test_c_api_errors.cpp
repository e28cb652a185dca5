// SPDX-License-Identifier: MIT
// What the C interface refuses. The first bad argument in the order of the signature wins; the
// sentence has its number, name, value and bound; nothing is written; the sentence belongs to the
// thread.
#include <functional>
#include <thread>

#include "reference.hpp"
#include "tinyblas/tinyblas.h"

namespace tinyblas::test {
namespace {

tinyblas_status call_gemm(tinyblas_context context, tinyblas_layout layout, tinyblas_op opa,
                          tinyblas_op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                          float alpha, const float* a, std::int64_t lda, const float* b,
                          std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
    return tinyblas_sgemm(context, layout, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
tinyblas_status call_gemm(tinyblas_context context, tinyblas_layout layout, tinyblas_op opa,
                          tinyblas_op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                          double alpha, const double* a, std::int64_t lda, const double* b,
                          std::int64_t ldb, double beta, double* c, std::int64_t ldc) {
    return tinyblas_dgemm(context, layout, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/// The arguments of one call by name; good ones to start with: 4 x 6 x 5, every leading dimension
/// as small as it may be.
template <class T>
struct Arguments {
    tinyblas_context context = nullptr;
    tinyblas_layout layout = TINYBLAS_ROW_MAJOR;
    tinyblas_op opa = TINYBLAS_NO_TRANS, opb = TINYBLAS_NO_TRANS;
    std::int64_t m = 4, n = 6, k = 5;
    T alpha = 1;
    const T* a = nullptr;
    std::int64_t lda = 5;
    const T* b = nullptr;
    std::int64_t ldb = 6;
    T beta = 1;
    T* c = nullptr;
    std::int64_t ldc = 6;

    tinyblas_status call() const {
        return call_gemm(context, layout, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    }
};

template <class T>
class SmallCApiErrors : public testing::Test {
  protected:
    using Spoil = std::function<void(Arguments<T>&)>;

    SmallCApiErrors() : a(4, 5), b(5, 6), c(4, 6) {
        EXPECT_EQ(tinyblas_create(&good.context), TINYBLAS_SUCCESS);
        for (Operand<T>* operand : {&a, &b, &c}) {
            operand->fill([] { return T(1); });
            operand->upload(context);
        }
        good.a = a.device().data;
        good.b = b.device().data;
        good.c = c.device().data;
    }
    ~SmallCApiErrors() override {
        c.download(context);
        EXPECT_TRUE(c.intact());
        EXPECT_EQ(tinyblas_destroy(good.context), TINYBLAS_SUCCESS);
    }

    /// The call with these arguments must be refused in exactly these words.
    void expect_refused(const Arguments<T>& arguments, const std::string& words) {
        EXPECT_EQ(arguments.call(), TINYBLAS_INVALID_ARGUMENT) << words;
        const std::string function =
            std::is_same_v<T, float> ? "tinyblas_sgemm: " : "tinyblas_dgemm: ";
        EXPECT_EQ(tinyblas_last_error(), function + words);
    }
    void expect_refused(Spoil spoil, const std::string& words) {
        Arguments<T> arguments = good;
        spoil(arguments);
        expect_refused(arguments, words);
    }

    Context context;
    Operand<T> a, b, c;
    Arguments<T> good;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallCApiErrors, Types);

// From the last argument to the first, each spoilt in turn and left so: the sentence must name the
// newest.
TYPED_TEST(SmallCApiErrors, FirstBadArgumentWins) {
    using Args = Arguments<TypeParam>;
    Args x = this->good;
    const auto then = [&](auto spoil, const std::string& words) {
        spoil(x);
        this->expect_refused(x, words);
    };
    then([](Args& x) { x.ldc = 3; }, "argument 15 (ldc) is 3: must be at least 6");
    then([](Args& x) { x.c = nullptr; }, "argument 14 (c) is null: must be a pointer");
    then([](Args& x) { x.ldb = 5; }, "argument 12 (ldb) is 5: must be at least 6");
    then([](Args& x) { x.b = nullptr; }, "argument 11 (b) is null: must be a pointer");
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

// The bound of each leading dimension, by layout and op: good at the bound, refused below it.
TYPED_TEST(SmallCApiErrors, LeadingDimensions) {
    for (tinyblas_layout layout : {TINYBLAS_ROW_MAJOR, TINYBLAS_COL_MAJOR})
        for (tinyblas_op opa : {TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS})
            for (tinyblas_op opb : {TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS}) {
                Arguments<TypeParam> x = this->good;
                const bool by_row = layout == TINYBLAS_ROW_MAJOR;
                x.layout = layout;
                x.opa = opa;
                x.opb = opb;
                x.alpha = 0;
                x.lda = by_row == (opa == TINYBLAS_NO_TRANS) ? x.k : x.m;
                x.ldb = by_row == (opb == TINYBLAS_NO_TRANS) ? x.n : x.k;
                x.ldc = by_row ? x.n : x.m;
                EXPECT_EQ(x.call(), TINYBLAS_SUCCESS) << tinyblas_last_error();
                const auto bound = [](const char* which, std::int64_t ld) {
                    return std::string("argument ") + which + " is " + std::to_string(ld - 1) +
                           ": must be at least " + std::to_string(ld);
                };
                Arguments<TypeParam> y = x;
                --y.ldc;
                this->expect_refused(y, bound("15 (ldc)", x.ldc));
                --y.ldb;
                this->expect_refused(y, bound("12 (ldb)", x.ldb));
                --y.lda;
                this->expect_refused(y, bound("10 (lda)", x.lda));
            }
}

// Leading dimensions are checked where there is nothing to do, too; 0 never is one.
TYPED_TEST(SmallCApiErrors, EmptyProblems) {
    const auto empty = [](auto& x) {
        x.m = x.n = x.k = 0;
        x.lda = x.ldb = x.ldc = 1;
    };
    this->expect_refused(
        [&](auto& x) {
            empty(x);
            x.lda = 0;
        },
        "argument 10 (lda) is 0: must be at least 1");
    this->expect_refused(
        [&](auto& x) {
            empty(x);
            x.ldb = 0;
        },
        "argument 12 (ldb) is 0: must be at least 1");
    this->expect_refused(
        [&](auto& x) {
            empty(x);
            x.ldc = 0;
        },
        "argument 15 (ldc) is 0: must be at least 1");
    this->expect_refused(
        [](auto& x) {
            x.m = 0;
            x.ldc = 5;
        },
        "argument 15 (ldc) is 5: must be at least 6");
    this->expect_refused(
        [](auto& x) {
            x.alpha = 0;
            x.a = x.b = nullptr;
            x.lda = 4;
        },
        "argument 10 (lda) is 4: must be at least 5");
    this->expect_refused(
        [](auto& x) {
            x.k = 0;
            x.a = x.b = x.c = nullptr;
        },
        "argument 14 (c) is null: must be a pointer");
}

TYPED_TEST(SmallCApiErrors, Overlap) {
    for (const char* other : {"a", "b"}) {
        Arguments<TypeParam> x = this->good;
        (*other == 'a' ? x.a : x.b) = x.c + 1;
        EXPECT_EQ(x.call(), TINYBLAS_INVALID_ARGUMENT);
        const std::string sentence = tinyblas_last_error();
        EXPECT_NE(sentence.find("argument 14 (c) is "), std::string::npos) << sentence;
        EXPECT_NE(sentence.find(std::string("must be apart from ") + other), std::string::npos)
            << sentence;
    }
}

// The other functions.

void expect_error(tinyblas_status status, const std::string& words) {
    EXPECT_EQ(status, TINYBLAS_INVALID_ARGUMENT) << words;
    EXPECT_EQ(tinyblas_last_error(), words);
}

TEST(SmallCApi, NullPointersAreRefused) {
    tinyblas_context context = nullptr;
    const char* name = nullptr;
    const std::string no_context = ": argument 1 (context) is null: must be a pointer";
    expect_error(tinyblas_create(nullptr), "tinyblas_create" + no_context);
    expect_error(tinyblas_set_stream(nullptr, nullptr), "tinyblas_set_stream" + no_context);
    expect_error(tinyblas_synchronize(nullptr), "tinyblas_synchronize" + no_context);
    expect_error(tinyblas_set_gemm_kernel(nullptr, "best"),
                 "tinyblas_set_gemm_kernel" + no_context);
    expect_error(tinyblas_get_gemm_kernel(nullptr, &name), "tinyblas_get_gemm_kernel" + no_context);
    ASSERT_EQ(tinyblas_create(&context), TINYBLAS_SUCCESS);
    expect_error(tinyblas_set_gemm_kernel(context, nullptr),
                 "tinyblas_set_gemm_kernel: argument 2 (name) is null: must be a pointer");
    expect_error(tinyblas_get_gemm_kernel(context, nullptr),
                 "tinyblas_get_gemm_kernel: argument 2 (name) is null: must be a pointer");
    EXPECT_EQ(tinyblas_destroy(context), TINYBLAS_SUCCESS);
    EXPECT_EQ(tinyblas_destroy(nullptr), TINYBLAS_SUCCESS);
}

TEST(SmallCApi, UnknownKernelIsRefusedAndChangesNothing) {
    tinyblas_context context = nullptr;
    ASSERT_EQ(tinyblas_create(&context), TINYBLAS_SUCCESS);
    ASSERT_EQ(tinyblas_set_gemm_kernel(context, "naive"), TINYBLAS_SUCCESS);
    EXPECT_EQ(tinyblas_set_gemm_kernel(context, "fast"), TINYBLAS_INVALID_ARGUMENT);
    const std::string sentence = tinyblas_last_error();
    for (const char* word : {"tinyblas_set_gemm_kernel: argument 2 (name) is", "fast", "best",
                             "naive", "tiled", "tuned"})
        EXPECT_NE(sentence.find(word), std::string::npos) << "no '" << word << "' in: " << sentence;

    Context memory;
    Operand<float> c(1, 1);
    c.fill([] { return 3.0f; });
    c.upload(memory);
    const tinyblas_op no = TINYBLAS_NO_TRANS;
    EXPECT_EQ(tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, no, no, 1, 1, 0, 1, nullptr, 1, nullptr,
                             1, 2, c.device().data, 1),
              TINYBLAS_SUCCESS);
    const char* ran = nullptr;
    EXPECT_EQ(tinyblas_get_gemm_kernel(context, &ran), TINYBLAS_SUCCESS);
    EXPECT_STREQ(ran, "naive");
    EXPECT_EQ(tinyblas_synchronize(context), TINYBLAS_SUCCESS);
    c.download(memory);
    EXPECT_EQ(c.after()(0, 0), 6);
    EXPECT_EQ(tinyblas_destroy(context), TINYBLAS_SUCCESS);
}

TEST(SmallCApi, LastErrorBelongsToTheThread) {
    expect_error(tinyblas_synchronize(nullptr),
                 "tinyblas_synchronize: argument 1 (context) is null: must be a pointer");
    std::string before = "unset", after;
    std::thread([&] {
        before = tinyblas_last_error();
        tinyblas_create(nullptr);
        after = tinyblas_last_error();
    }).join();
    EXPECT_EQ(before, "");
    EXPECT_EQ(after, "tinyblas_create: argument 1 (context) is null: must be a pointer");
    EXPECT_STREQ(tinyblas_last_error(),
                 "tinyblas_synchronize: argument 1 (context) is null: must be a pointer");
}

}  // namespace
}  // namespace tinyblas::test
