// SPDX-License-Identifier: MIT
// Batches of small products, beside cuBLAS and a plain copy of as many bytes in the same run: as
// many as a cache holds, in a CUDA graph, and as many as no cache holds.
#include <algorithm>

#include "gemm_case.hpp"
#include "gemm_columns.hpp"
#include "program.hpp"

namespace tinyblas::bench {
namespace {

struct Options {
    GemmKernel rung = GemmKernel::best;
};

/// `batch` products of n x n x n, one behind the other.
Shape squares(const char* group, std::int64_t n, std::int64_t batch) {
    Shape shape = {group, "", n, n, n};
    shape.batch = batch;
    shape.strides = {n * n, n * n, n * n};
    return shape;
}

/// So many that A, B and C take half a gigabyte.
std::int64_t many(std::int64_t n, std::size_t element_bytes) {
    constexpr std::int64_t bytes = std::int64_t{1} << 29;
    return bytes / (3 * n * n * static_cast<std::int64_t>(element_bytes));
}

std::vector<Shape> shapes_of(const Session& session, std::size_t element_bytes) {
    std::vector<Shape> shapes;
    const std::initializer_list<std::int64_t> small = {4, 8, 16, 32, 64};
    if (emulated()) {
        for (const std::int64_t n : small) shapes.push_back(squares("graph", n, 3));
        return shapes;
    }
    for (const std::int64_t n : small) shapes.push_back(squares("graph", n, 10000));
    for (const std::int64_t n : {4, 8, 16, 32, 64, 128, 256})
        shapes.push_back(squares("memory", n, many(n, element_bytes)));
    if (session.quick) return shapes;
    for (const std::int64_t n : {7, 12, 17, 31, 33, 48, 63, 65, 96})
        shapes.push_back(squares("odd", n, many(n, element_bytes)));
    for (const std::int64_t n : small) {
        shapes.push_back(squares("pointers", n, 10000));
        shapes.back().by_pointers = true;
    }
    for (const bool a : {false, true})
        for (const bool b : {false, true}) {
            shapes.push_back(squares("layout", 32, many(32, element_bytes)));
            shapes.back().transposed_a = a;
            shapes.back().transposed_b = b;
        }
    return shapes;
}

template <class T>
void add_all(Session& session, GemmSummary& summary, const Options& options) {
    for (Shape& shape : shapes_of(session, sizeof(T))) {
        if (options.rung != GemmKernel::best && shape.by_pointers) continue;
        add_gemm_case<T>(session, summary, {std::move(shape), options.rung});
    }
}

Facts set_up(Session& session, GemmSummary& summary, const Options& options) {
    if (!emulated()) session.regime.idle = std::chrono::milliseconds(100);
    session.measure_arithmetic();
    session.measure_memory();
    add_all<float>(session, summary, options);
    add_all<double>(session, summary, options);
    Facts facts = {
        {"rounds",
         std::to_string(gemm_regime<float>(session, Timing::burst).rounds) + " (float), " +
             std::to_string(gemm_regime<double>(session, Timing::burst).rounds) + " (double)"},
        {"regime", session.regime.text()}};
    if (session.reference) facts.emplace_back("reference", session.reference->name());
    return facts;
}

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    using namespace tinyblas::bench;
    using tinyblas::gemm_kernel;
    Options options;
    GemmSummary summary;
    return run_program(
        {"bench_batched",
         "Batches of small products, beside cuBLAS and a plain copy where there is a GPU.",
         {{"kernel", "RUNG", "one gemm after the other on this rung, instead of the best",
           [&](const std::string& name) { options.rung = gemm_kernel(name); }}},
         gemm_batch_columns(),
         gemm_legend,
         [&](Session& session) { return set_up(session, summary, options); },
         {},
         [&] { return summary.text(); }},
        argc, argv);
}
