// SPDX-License-Identifier: MIT
// What is not an operation: contexts, their options, names of kernels, sentences.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "operations.hpp"

namespace tinyblas::fuzz {
namespace {

/// A call without operands.
template <class Call>
void expect(const Verdict& verdict, const char* function, Call call) {
    const std::string wrong = verdict.compare(function, call());
    count_call(function, verdict.refused());
    if (!wrong.empty()) found(std::string(function) + ": " + wrong);
}

struct KernelNames {
    const char *setter, *getter;
    tinyblas_status (*set)(tinyblas_context, const char*);
    tinyblas_status (*get)(tinyblas_context, const char**);
    std::initializer_list<const char*> names;
};
const KernelNames all_kernels[] = {{"tinyblas_set_transpose_kernel",
                                    "tinyblas_get_transpose_kernel",
                                    tinyblas_set_transpose_kernel,
                                    tinyblas_get_transpose_kernel,
                                    {"best", "naive", "padded", "tuned"}},
                                   {"tinyblas_set_reduce_kernel",
                                    "tinyblas_get_reduce_kernel",
                                    tinyblas_set_reduce_kernel,
                                    tinyblas_get_reduce_kernel,
                                    {"best", "naive", "texture", "tuned"}},
                                   {"tinyblas_set_polyval_kernel",
                                    "tinyblas_get_polyval_kernel",
                                    tinyblas_set_polyval_kernel,
                                    tinyblas_get_polyval_kernel,
                                    {"best", "naive", "constant", "tuned"}},
                                   {"tinyblas_set_gemm_kernel",
                                    "tinyblas_get_gemm_kernel",
                                    tinyblas_set_gemm_kernel,
                                    tinyblas_get_gemm_kernel,
                                    {"best", "naive", "tiled", "tuned", "sliced", "pipelined",
                                     "skinny", "tensor", "gemv", "split", "hopper"}}};

/// Files to tune by, good ones and bad ones; there until the process ends.
struct TuningFile {
    TuningFile(const char* text, bool is_good) : good(is_good) {
        const int file = mkstemp(path);
        const std::size_t size = std::strlen(text);
        if (file < 0 || write(file, text, size) != static_cast<ssize_t>(size)) found("no file");
        close(file);
    }
    ~TuningFile() { unlink(path); }
    TuningFile(const TuningFile&) = delete;
    TuningFile& operator=(const TuningFile&) = delete;

    char path[32] = "/tmp/tinyblas_fuzz_XXXXXX";
    bool good;
};

}  // namespace

// A context of its own takes the file, and then multiplies.
void tuning(Draw& draw) {
    static const TuningFile files[] = {
        {"tinyblas-tuning 1\ngemm float any 1-* 1-* 1-* naive\nend 1\n", true},
        {"# none\n\ntinyblas-tuning 1\nend 0\n", true},
        {"tinyblas-tuning 1\ngemm float NN 2 2 2 sliced\ngemm double TT * * 2-9 tensor\nend 2\n",
         true},
        {"", false},
        {"tinyblas-tuning 2\nend 0\n", false},
        {"tinyblas-tuning 1\n", false},
        {"tinyblas-tuning 1\nend 1\n", false},
        {"tinyblas-tuning 1\nend 0\nend 0\n", false},
        {"tinyblas-tuning 1\ngemv float any * * * naive\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm half any * * * naive\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm float NX * * * naive\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm float any 0 * * naive\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm float any 9-3 * * naive\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm float any 99999999999999999999 * * naive\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm float any 5- * * naive\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm float any * * * tensor\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm float any * * * hopper\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm float any * * * tuned 100000\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm float any * * * naive 0 more\nend 1\n", false},
        {"tinyblas-tuning 1\ngemm float any * *\nend 1\n", false},
    };
    const tinyblas_context context = draw_context(draw);
    const auto number = static_cast<std::size_t>(draw.below(std::size(files) + 2));
    const char* path = nullptr;
    Verdict verdict;
    verdict.require(context, 1, "context");
    if (number < std::size(files)) {
        path = files[number].path;
        verdict.require_else(files[number].good, path);
    } else if (number == std::size(files)) {
        path = "/tmp/tinyblas_fuzz/no/such/file";
        verdict.require_else(false, path);
    }
    expect(verdict, "tinyblas_load_tuning", [&] { return tinyblas_load_tuning(context, path); });
    const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
    float c[] = {1, 1, 1, 1};
    Verdict of_product;
    of_product.require(context, 1, "context");
    tinyblas_set_gemm_kernel(the_context(), "best");
    expect(of_product, "tinyblas_sgemm", [&] {
        return tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, TINYBLAS_NO_TRANS, TINYBLAS_NO_TRANS, 2,
                              2, 2, 1, a, 2, b, 2, 0, c, 2);
    });
    if (context && !(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50))
        found("tinyblas_sgemm: a wrong result with a tuning file");
    tinyblas_load_tuning(the_context(), nullptr);
}

void kernels(Draw& draw) {
    const KernelNames& kernel = all_kernels[draw.byte() % std::size(all_kernels)];
    const tinyblas_context context = draw_context(draw);
    // Names that no operation has, or only another one.
    const char* name = kernel.names.begin()[draw.byte() % kernel.names.size()];
    if (draw.once_in(3))
        name = draw.one_of<const char*>({nullptr, "", "none", "Best", "best ", "batched", "naiv"});
    const bool known = name && std::any_of(kernel.names.begin(), kernel.names.end(),
                                           [&](auto one) { return std::strcmp(one, name) == 0; });
    Verdict of_set, of_get;
    of_set.require(context, 1, "context");
    of_set.require(known, 2, "name");
    expect(of_set, kernel.setter, [&] { return kernel.set(context, name); });

    const char* ran = nullptr;
    const bool has_place = !draw.once_in(16);
    of_get.require(context, 1, "context");
    of_get.require(has_place, 2, "name");
    expect(of_get, kernel.getter, [&] { return kernel.get(context, has_place ? &ran : nullptr); });
    if ((ran != nullptr) == of_get.refused()) found(std::string(kernel.getter) + ": a wrong name");
    kernel.set(the_context(), "best");
}

void context(Draw& draw) {
    tinyblas_context made = nullptr;
    const bool has_place = !draw.once_in(8);
    Verdict of_create, with_context;
    of_create.require(has_place, 1, "context");
    expect(of_create, "tinyblas_create",
           [&] { return tinyblas_create(has_place ? &made : nullptr); });
    if ((made != nullptr) != has_place) found("tinyblas_create: no context, or one too many");

    with_context.require(made, 1, "context");
    expect(with_context, "tinyblas_set_stream", [&] { return tinyblas_set_stream(made, nullptr); });
    const auto precision =
        static_cast<tinyblas_precision>(draw.one_of({201, 202, 200, 203, 0, 255, 201, 202}));
    Verdict of_precision = with_context, of_scratch = with_context;
    of_precision.require(precision == TINYBLAS_FP32 || precision == TINYBLAS_FP32_STRICT, 2,
                         "precision");
    expect(of_precision, "tinyblas_set_precision",
           [&] { return tinyblas_set_precision(made, precision); });

    alignas(256) std::byte memory[512];
    std::byte* const scratch = draw.once_in(2) ? nullptr : memory + draw.one_of({0, 256, 1, 128});
    const std::uint64_t bytes = draw.one_of<std::uint64_t>({0, 256, 1, ~std::uint64_t{0}});
    of_scratch.require(reinterpret_cast<std::uintptr_t>(scratch) % 256 == 0, 2, "memory");
    of_scratch.require(scratch || bytes == 0, 3, "bytes");
    expect(of_scratch, "tinyblas_set_scratch",
           [&] { return tinyblas_set_scratch(made, scratch, bytes); });

    float x[3] = {1, 2, -3}, result = 0;
    expect(with_context, "tinyblas_sasum", [&] { return tinyblas_sasum(made, 3, x, 1, &result); });
    if (made && result != 6) found("tinyblas_sasum: a wrong result");
    expect(with_context, "tinyblas_synchronize", [&] { return tinyblas_synchronize(made); });
    expect({}, "tinyblas_destroy", [&] { return tinyblas_destroy(made); });
    const std::string sentence = tinyblas_last_error();
    count_call("tinyblas_last_error", false);
    if (!sentence.empty() && sentence.compare(0, 9, "tinyblas_") != 0)
        found("tinyblas_last_error: a wrong sentence: " + sentence);

    const auto status = static_cast<tinyblas_status>(draw.byte() % 8);
    const char* const words = tinyblas_status_string(status);
    count_call("tinyblas_status_string", false);
    if (!words || (status > 6) != (std::strcmp(words, "unknown status") == 0))
        found("tinyblas_status_string: wrong words");
}

}  // namespace tinyblas::fuzz
