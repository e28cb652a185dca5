// SPDX-License-Identifier: MIT
// The fuzzer of the C interface, under device emulation: bytes become calls, good and bad ones.
// Each must be accepted exactly if an oracle that knows the header accepts it; the first bad
// argument must be named; results must be exact; nothing else may change. Ends with the number of
// calls.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "operations.hpp"

namespace tinyblas::fuzz {
namespace {

void all_else(Draw& draw) {
    // Contexts and files take their time.
    const unsigned kind = draw.byte();
    kind < 8 ? context(draw) : kind < 10 ? tuning(draw) : kernels(draw);
}

struct Operation {
    const char* name;
    void (*run)(Draw& draw);
};

// Every function of tinyblas.h is called by one of these.
constexpr Operation operations[] = {
    {"sgemm", gemm<float>},
    {"dgemm", gemm<double>},
    {"sgemm_strided_batched", gemm_strided_batched<float>},
    {"dgemm_strided_batched", gemm_strided_batched<double>},
    {"sgemm_batched", gemm_batched<float>},
    {"dgemm_batched", gemm_batched<double>},
    {"sgemm with scratch memory", gemm_with_scratch},
    {"sgemv", gemv<float>},
    {"dgemv", gemv<double>},
    {"sger", ger<float>},
    {"dger", ger<double>},
    {"stranspose", transpose<float>},
    {"dtranspose", transpose<double>},
    {"float reductions", reduce<float>},
    {"double reductions", reduce<double>},
    {"saxpy", axpy<float>},
    {"daxpy", axpy<double>},
    {"sscal", scal<float>},
    {"dscal", scal<double>},
    {"spolyval", polyval<float>},
    {"dpolyval", polyval<double>},
    {"all else", all_else},
};

/// Tells what has been done: every ten seconds, and of each function when the process ends.
class Counts {
  public:
    ~Counts() {
        tell();
        for (const auto& [function, calls] : of_)
            std::fprintf(stderr, "fuzz_c_api: %s: %ld accepted, %ld refused\n",
                         std::string(function).c_str(), calls.accepted, calls.refused);
    }
    void add(std::string_view function, bool refused) {
        Calls& of_function = of_[function];
        for (Calls* calls : {&of_function, &all_}) ++(refused ? calls->refused : calls->accepted);
        if (made() % 1024 == 0 && Clock::now() >= next_) {
            next_ = Clock::now() + std::chrono::seconds(10);
            tell();
        }
    }
    long made() const { return all_.accepted + all_.refused; }

  private:
    using Clock = std::chrono::steady_clock;
    struct Calls {
        long accepted = 0, refused = 0;
    };

    void tell() const {
        const std::chrono::duration<double> time = Clock::now() - start_;
        std::fprintf(stderr,
                     "fuzz_c_api: %ld calls, %ld accepted, %ld refused, in %.0f s: %.0f calls/s\n",
                     made(), all_.accepted, all_.refused, time.count(),
                     static_cast<double>(made()) / time.count());
    }

    Calls all_;
    std::map<std::string_view, Calls> of_;
    Clock::time_point start_ = Clock::now(), next_ = start_ + std::chrono::seconds(10);
} counts;

}  // namespace

void found(const std::string& sentence) {
    std::fprintf(stderr, "FOUND after %ld calls: %s\n", calls_made(), sentence.c_str());
    std::abort();
}
void count_call(const char* function, bool refused) { counts.add(function, refused); }
long calls_made() { return counts.made(); }
bool shows_calls() {
    static const bool shown = std::getenv("TINYBLAS_FUZZ_SHOW") != nullptr;
    return shown;
}

std::string Verdict::compare(const char* function, tinyblas_status status) const {
    const auto expected = refused() ? TINYBLAS_INVALID_ARGUMENT : TINYBLAS_SUCCESS;
    const std::string sentence = tinyblas_last_error();
    const std::string words =
        std::string(function) + ": " +
        (number_ == 0 ? words_ : "argument " + std::to_string(number_) + " (" + name_ + ") is ");
    if (status != expected)
        return "status " + std::to_string(status) + ", expected " + std::to_string(expected) +
               (refused() ? ", " + words : ": " + sentence);
    if (refused() && sentence.compare(0, words.size(), words) != 0)
        return "'" + sentence + "', expected '" + words + "...'";
    return "";
}

tinyblas_context the_context() {
    static const tinyblas_context one = [] {
        tinyblas_context made = nullptr;
        if (tinyblas_create(&made) != TINYBLAS_SUCCESS) found(tinyblas_last_error());
        std::atexit([] { tinyblas_destroy(the_context()); });
        return made;
    }();
    return one;
}
tinyblas_context draw_context(Draw& draw) { return draw.bad(64) ? nullptr : the_context(); }

tinyblas_layout draw_layout(Draw& draw) {
    if (draw.bad(50)) return static_cast<tinyblas_layout>(draw.one_of({0, 100, 103, 111, 127}));
    return draw.one_of({TINYBLAS_ROW_MAJOR, TINYBLAS_COL_MAJOR});
}
tinyblas_op draw_op(Draw& draw) {
    if (draw.bad(50)) return static_cast<tinyblas_op>(draw.one_of({0, 110, 114, 101, 127}));
    return draw.one_of({TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS});
}

}  // namespace tinyblas::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tinyblas::fuzz;
    Draw draw(data, size);
    for (int call = 0; call < 100 || !draw.empty(); ++call) {
        draw.begin_call();
        operations[draw.byte() % std::size(operations)].run(draw);
    }
    return 0;
}
