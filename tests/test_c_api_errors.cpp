// SPDX-License-Identifier: MIT
// What the functions of the C interface for contexts and rungs refuse; whose thread a sentence
// belongs to.
#include <string>
#include <thread>

#include "reference.hpp"
#include "tinyblas/tinyblas.h"

namespace tinyblas::test {
namespace {

void expect_error(tinyblas_status status, const std::string& words) {
    EXPECT_EQ(status, TINYBLAS_INVALID_ARGUMENT) << words;
    EXPECT_EQ(tinyblas_last_error(), words);
}

struct KernelChoice {
    const char* operation;
    tinyblas_status (*set)(tinyblas_context, const char*);
    tinyblas_status (*get)(tinyblas_context, const char**);
    const char* names;
};
constexpr KernelChoice choices[] = {
    {"gemm", tinyblas_set_gemm_kernel, tinyblas_get_gemm_kernel,
     "best, naive, tiled, tuned, sliced, pipelined, skinny, tensor, gemv, split or hopper"},
    {"transpose", tinyblas_set_transpose_kernel, tinyblas_get_transpose_kernel,
     "best, naive, padded or tuned"},
    {"reduce", tinyblas_set_reduce_kernel, tinyblas_get_reduce_kernel,
     "best, naive, texture or tuned"},
    {"polyval", tinyblas_set_polyval_kernel, tinyblas_get_polyval_kernel,
     "best, naive, constant or tuned"},
};

TEST(SmallCApi, NullPointersAreRefused) {
    tinyblas_context context = nullptr;
    const char* name = nullptr;
    const std::string no_context = ": argument 1 (context) is null: must be a pointer";
    expect_error(tinyblas_create(nullptr), "tinyblas_create" + no_context);
    expect_error(tinyblas_set_stream(nullptr, nullptr), "tinyblas_set_stream" + no_context);
    expect_error(tinyblas_synchronize(nullptr), "tinyblas_synchronize" + no_context);
    ASSERT_EQ(tinyblas_create(&context), TINYBLAS_SUCCESS);
    const std::string no_name = "_kernel: argument 2 (name) is null: must be a pointer";
    for (const auto& [operation, set, get, names] : choices) {
        const std::string set_this = std::string("tinyblas_set_") + operation;
        const std::string get_this = std::string("tinyblas_get_") + operation;
        expect_error(set(nullptr, "best"), set_this + "_kernel" + no_context);
        expect_error(get(nullptr, &name), get_this + "_kernel" + no_context);
        expect_error(set(context, nullptr), set_this + no_name);
        expect_error(get(context, nullptr), get_this + no_name);
    }
    EXPECT_EQ(tinyblas_destroy(context), TINYBLAS_SUCCESS);
    EXPECT_EQ(tinyblas_destroy(nullptr), TINYBLAS_SUCCESS);
}

// "none" is what ran, never what is asked for.
TEST(SmallCApi, UnknownKernelsAreRefused) {
    tinyblas_context context = nullptr;
    ASSERT_EQ(tinyblas_create(&context), TINYBLAS_SUCCESS);
    for (const auto& [operation, set, get, names] : choices) {
        for (const std::string unknown : {"fast", "none", "Tuned", ""})
            expect_error(set(context, unknown.c_str()), std::string("tinyblas_set_") + operation +
                                                            "_kernel: argument 2 (name) is " +
                                                            unknown + ": must be " + names);
        const char* ran = nullptr;
        EXPECT_EQ(get(context, &ran), TINYBLAS_SUCCESS);
        EXPECT_STREQ(ran, "none");
    }
    EXPECT_EQ(tinyblas_destroy(context), TINYBLAS_SUCCESS);
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

TEST(SmallCApi, PrecisionAndScratchAreChecked) {
    tinyblas_context context = nullptr;
    uint64_t bytes = 7;
    expect_error(tinyblas_set_precision(nullptr, TINYBLAS_FP32),
                 "tinyblas_set_precision: argument 1 (context) is null: must be a pointer");
    expect_error(tinyblas_set_scratch(nullptr, nullptr, 0),
                 "tinyblas_set_scratch: argument 1 (context) is null: must be a pointer");
    ASSERT_EQ(tinyblas_create(&context), TINYBLAS_SUCCESS);
    for (const int value : {0, 200, 203})
        expect_error(tinyblas_set_precision(context, static_cast<tinyblas_precision>(value)),
                     "tinyblas_set_precision: argument 2 (precision) is " + std::to_string(value) +
                         ": must be 201 or 202");
    expect_error(tinyblas_set_scratch(context, reinterpret_cast<void*>(0x1008), 4096),
                 "tinyblas_set_scratch: argument 2 (memory) is 0x1008: must be a multiple of 256");
    expect_error(tinyblas_set_scratch(context, nullptr, 256),
                 "tinyblas_set_scratch: argument 3 (bytes) is 256: must be 0 for no memory");
    EXPECT_EQ(tinyblas_set_scratch(context, nullptr, 0), TINYBLAS_SUCCESS);
    const std::string function = "tinyblas_sgemm_scratch_bytes: argument ";
    expect_error(tinyblas_sgemm_scratch_bytes(-1, -2, -3, nullptr),
                 function + "1 (m) is -1: must be at least 0");
    expect_error(tinyblas_sgemm_scratch_bytes(1, -2, -3, nullptr),
                 function + "2 (n) is -2: must be at least 0");
    expect_error(tinyblas_sgemm_scratch_bytes(1, 2, -3, nullptr),
                 function + "3 (k) is -3: must be at least 0");
    expect_error(tinyblas_sgemm_scratch_bytes(1, 2, 3, nullptr),
                 function + "4 (bytes) is null: must be a pointer");
    EXPECT_EQ(tinyblas_sgemm_scratch_bytes(1, 2, 0, &bytes), TINYBLAS_SUCCESS);
    EXPECT_EQ(bytes, 0u);
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
