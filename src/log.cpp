// SPDX-License-Identifier: MIT
// The lines of TINYBLAS_LOG: "tinyblas: sgemm 96 x 64 x 33, a 33:1, ...: tuned, entry 2; bench_gemm
// --shape=...". Strides are row:column, an operand that does not start at a multiple of 16 bytes
// has "+elements" behind them; in batches "every" is from one matrix to the next.
#include "log.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tinyblas {
namespace {

template <class... Words>
std::string joined(const Words&... words) {
    std::ostringstream text;
    (text << ... << words);
    return text.str();
}

/// One write, so that the lines of several threads stay whole.
template <class... Words>
void print(const Words&... words) {
    const std::string line = joined("tinyblas: ", words..., "\n");
    std::fwrite(line.data(), 1, line.size(), stderr);
}

template <class Body>
void quietly(Body body) noexcept {
    try {
        body();
    } catch (...) {  // no memory for the line: the call matters more
    }
}

template <class T>
constexpr char letter = std::is_same_v<std::remove_const_t<T>, float> ? 's' : 'd';

/// Elements from a multiple of 16 bytes to `data`.
std::string shift_of(const void* data, std::size_t element_size) {
    const auto bytes = reinterpret_cast<std::uintptr_t>(data) % 16;
    return bytes < element_size ? "" : "+" + std::to_string(bytes / element_size);
}
template <class T>
std::string place(const MatrixView<T>& view) {
    return joined(view.row_stride, ":", view.column_stride, shift_of(view.data, sizeof(T)));
}
template <class T>
std::string place(const VectorView<T>& view) {
    return joined(view.increment, shift_of(view.data, sizeof(T)));
}

std::string entry_words(int entry) { return entry < 0 ? "" : ", entry " + std::to_string(entry); }
std::string entry_flag(int entry) { return entry < 0 ? "" : " --entry=" + std::to_string(entry); }

/// Of the rung's table: as the choice has it, or as the rung plans, which no flag is needed for.
template <class T>
int entry_that_runs(const GemmCall<T>& call) {
    switch (call.choice.kernel) {
        case GemmKernel::sliced: return call.plans.sliced.entry;
        case GemmKernel::tensor: return call.plans.tensor.entry;
        default: return call.choice.entry;
    }
}

/// What repeats a product, but for its rung.
template <class T>
std::string gemm_bench(bool fp32, MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
    return joined("bench_gemm --types=", letter<T>, "gemm --precision=", fp32 ? "fp32" : "strict",
                  " --shape=", c.rows, ",", c.columns, ",", a.columns, ",", place(a), ",", place(b),
                  ",", place(c));
}
const char* route_name(GemmBatchRoute route) {
    switch (route) {
        case GemmBatchRoute::one_by_one: return "one by one";
        case GemmBatchRoute::rows: return "rows";
        case GemmBatchRoute::square: return "square";
        case GemmBatchRoute::gemv: return "gemv";
        case GemmBatchRoute::skinny: return "skinny";
        case GemmBatchRoute::outer: return "outer";
        case GemmBatchRoute::pieces: return "pieces";
        case GemmBatchRoute::tile: return "tile";
        case GemmBatchRoute::tuned: return "tuned";
        case GemmBatchRoute::elements: return "elements";
        case GemmBatchRoute::stream_k: return "stream-k";
        case GemmBatchRoute::pipelined: return "pipelined";
        case GemmBatchRoute::sliced: return "sliced";
        case GemmBatchRoute::tensor: return "tensor";
    }
    return "unknown";
}

/// Strides of a view of bytes, in elements.
template <class Byte>
std::string place(const MatrixView<Byte>& view, std::size_t element_size) {
    const auto size = static_cast<std::int64_t>(element_size);
    return joined(view.row_stride / size, ":", view.column_stride / size,
                  shift_of(view.data, element_size));
}
bool is_aligned(const void* data, std::size_t element_size) {
    return reinterpret_cast<std::uintptr_t>(data) % element_size == 0;
}

}  // namespace

bool logs() noexcept {
    static const bool asked = [] {
        const char* const value = std::getenv("TINYBLAS_LOG");
        return value && std::string_view(value) == "1";
    }();
    return asked;
}

template <class T>
void log_gemm(const GemmCall<T>& call) noexcept {
    quietly([&] {
        auto [a, b] = std::pair(call.a, call.b);
        auto c = call.c;
        if (call.exchanged) {  // as the caller gave them
            a = std::exchange(b, a.transposed()).transposed();
            c = c.transposed();
        }
        const auto [kernel, entry] = call.choice;
        const bool fp32 = call.from_parts();
        std::string bench = "no benchmark has k = 0";
        if (a.columns > 0)
            bench = joined(gemm_bench<T>(fp32, a, b, c),
                           " --rungs=", kernel == GemmKernel::batched ? "best" : to_string(kernel),
                           entry_flag(entry), call.packed_a || call.packed_b ? " --packed" : "");
        print(letter<T>, "gemm ", c.rows, " x ", c.columns, " x ", a.columns, ", a ", place(a),
              ", b ", place(b), call.packed_a || call.packed_b ? " packed" : "", ", c ", place(c),
              ", alpha ", call.alpha, ", beta ", call.beta,
              fp32 ? ", fp32: " : ", fp32_strict: ", to_string(kernel),
              entry_words(entry_that_runs(call)), "; ", bench);
    });
}

template <class T>
void log_gemm_batch(const GemmBatch<T>& batch, const GemmChoice& choice, const GemmBatchPlan* plan,
                    bool asked) noexcept {
    quietly([&] {
        const auto words = [](const auto& operand) {
            return place(operand.first) +
                   (operand.pointers ? " each" : " every " + std::to_string(operand.stride));
        };
        const auto& [alpha, a, b, beta, c, count] = batch;
        const bool fp32 = is_from_parts(choice.kernel);
        std::string bench = "no benchmark has k = 0";
        if (batch.k() > 0)
            bench = joined(gemm_bench<T>(fp32, a.first, b.first, c.first), " --batch=", count,
                           c.pointers ? "" : joined(",", a.stride, ",", b.stride, ",", c.stride),
                           " --rungs=", asked ? to_string(choice.kernel) : "best",
                           asked ? entry_flag(choice.entry) : "");
        print(letter<T>, "gemm, batch of ", count, ": ", batch.m(), " x ", batch.n(), " x ",
              batch.k(), ", a ", words(a), ", b ", words(b), ", c ", words(c), ", alpha ", alpha,
              ", beta ", beta, fp32 ? ", fp32: " : ", fp32_strict: ", to_string(choice.kernel),
              plan ? joined(", ", route_name(plan->route), entry_words(plan->entry))
                   : entry_words(choice.entry),
              "; ", bench);
    });
}

template <class T>
void log_reduction(const char* operation, VectorView<const T> x, const VectorView<const T>* y,
                   ReduceKernel rung) noexcept {
    quietly([&] {
        const std::string of_y = y ? ", y " + place(*y) : "";
        std::string bench = "no benchmark has n = 0";
        if (x.size > 0)
            bench = joined("bench_reduce --case=", letter<T>, operation, ",", x.size, ",", place(x),
                           y ? "," + place(*y) : "", " --kernel=", to_string(rung));
        print(letter<T>, operation, " ", x.size, ", x ", place(x), of_y, ": ", to_string(rung),
              "; ", bench);
    });
}

void log_transpose(std::size_t element_size, const MatrixView<const std::byte>& a,
                   const MatrixView<std::byte>& b, const TransposeChoice& choice) noexcept {
    quietly([&] {
        const std::string of_a = place(a, element_size);
        const std::string of_b = a.data == b.data ? "in_place" : place(b, element_size);
        std::string bench = "no benchmark has elements that are not aligned to their size";
        if (is_aligned(a.data, element_size) && is_aligned(b.data, element_size))
            bench = joined("bench_transpose --shape=", a.rows, ",", a.columns, ",", element_size,
                           ",", of_a, ",", of_b,
                           choice.entry < 0 ? joined(" --kernel=", to_string(choice.kernel))
                                            : entry_flag(choice.entry));
        print("transpose ", a.rows, " x ", a.columns, " of ", element_size, " bytes, a ", of_a,
              ", b ", of_b, ": ", to_string(choice.kernel), entry_words(choice.entry), "; ", bench);
    });
}

void log_copy(const char* operation, std::size_t element_size,
              const MatrixView<const std::byte>& from, const MatrixView<std::byte>& to) noexcept {
    quietly([&] {
        print(operation, " ", from.rows, " x ", from.columns, " of ", element_size, " bytes, from ",
              place(from, element_size), ", to ", place(to, element_size),
              "; no benchmark repeats it");
    });
}

template <class T>
void log_polyval(std::size_t coefficients, VectorView<const T> x, VectorView<T> y,
                 const PolyvalOptions& options, PolyvalKernel rung) noexcept {
    quietly([&] {
        const std::string of_y = x.data == y.data ? "in_place" : place(y);
        print(letter<T>, "polyval ", x.size, ", degree ", coefficients - 1, ", x ", place(x),
              ", y ", of_y, options.compensated ? ", compensated: " : ": ", to_string(rung),
              "; bench_polyval --case=", letter<T>, "polyval,", coefficients - 1, ",", x.size, ",",
              place(x), ",", of_y, " --kernel=", to_string(rung),
              options.compensated ? " --compensated" : "");
    });
}

template <class T>
void log_update(const char* operation, VectorView<const T> x, const VectorView<T>* y) noexcept {
    quietly([&] {
        print(letter<T>, operation, " ", x.size, ", x ", place(x), y ? ", y " + place(*y) : "",
              "; bench_vector --case=", letter<T>, operation, ",", x.size, ",", place(x),
              y ? "," + (x.data == y->data ? "in_place" : place(*y)) : "");
    });
}

template <class T>
void log_matrix_vector(const char* operation, MatrixView<const T> a, VectorView<const T> x,
                       VectorView<const T> y, GemvKernel rung) noexcept {
    quietly([&] {
        const char* const of_rung = rung == GemvKernel::none ? "" : to_string(rung);
        std::string bench = "no benchmark has n = 0";
        if (a.columns > 0)
            bench = joined("bench_gemv --case=", letter<T>, operation, ",", a.rows, ",", a.columns,
                           ",", place(a), ",", place(x), ",", place(y),
                           *of_rung ? joined(" --kernel=", of_rung) : "");
        print(letter<T>, operation, " ", a.rows, " x ", a.columns, ", a ", place(a), ", x ",
              place(x), ", y ", place(y), *of_rung ? ": " : "", of_rung, "; ", bench);
    });
}

template void log_gemm(const GemmCall<float>&) noexcept;
template void log_gemm(const GemmCall<double>&) noexcept;
template void log_gemm_batch(const GemmBatch<float>&, const GemmChoice&, const GemmBatchPlan*,
                             bool) noexcept;
template void log_gemm_batch(const GemmBatch<double>&, const GemmChoice&, const GemmBatchPlan*,
                             bool) noexcept;
template void log_reduction(const char*, VectorView<const float>, const VectorView<const float>*,
                            ReduceKernel) noexcept;
template void log_reduction(const char*, VectorView<const double>, const VectorView<const double>*,
                            ReduceKernel) noexcept;
template void log_polyval(std::size_t, VectorView<const float>, VectorView<float>,
                          const PolyvalOptions&, PolyvalKernel) noexcept;
template void log_polyval(std::size_t, VectorView<const double>, VectorView<double>,
                          const PolyvalOptions&, PolyvalKernel) noexcept;
template void log_update(const char*, VectorView<const float>, const VectorView<float>*) noexcept;
template void log_update(const char*, VectorView<const double>, const VectorView<double>*) noexcept;
template void log_matrix_vector(const char*, MatrixView<const float>, VectorView<const float>,
                                VectorView<const float>, GemvKernel) noexcept;
template void log_matrix_vector(const char*, MatrixView<const double>, VectorView<const double>,
                                VectorView<const double>, GemvKernel) noexcept;

}  // namespace tinyblas
