// SPDX-License-Identifier: MIT
// The errors of gemm in float over kinds of data and depths, without times.
#include "gemm_errors.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "gemm_case.hpp"
#include "gemm_shapes.hpp"

namespace tinyblas::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::int64_t> depths() {
    if (emulated()) return {64, 576, 1024};
    return {256, 512, 1024, 2048, 4096, 8192, 16384};
}

Shape shape_of(Data data, std::int64_t k) {
    const std::int64_t n = emulated() ? 48 : 1024;
    Shape shape = {to_string(data), "", n, n, k};
    shape.data = data;
    return shape;
}

/// Sets the state's counters; whether both precisions were right.
bool compare(Session& session, const Shape& shape, GemmKernel rung, benchmark::State& state) {
    Context& context = session.context;
    Operands<float> operands(context, shape);
    const auto a = operands.a(), b = operands.b();
    const auto c = operands.c();
    const auto exact = exact_product<float>(context, a, b, shape.m);
    const auto error = [&](const Work& work) {
        operands.poison();
        if (work) work();
        return work ? product_error<float>(context, exact, c) : ProductError();
    };
    const GemmOptions strict = {GemmKernel::best, -1, Precision::fp32_strict};
    const GemmOptions fp32 = {rung, -1, Precision::fp32};
    const auto run = [&](const GemmOptions& options) {
        return error([&] { gemm(context, 1.0f, a, b, 0.0f, c, options); });
    };
    Reference* const reference = session.reference.get();
    const auto own = run(fp32), chain = run(strict);
    const auto cublas =
        error(reference ? Work([&] { reference->gemm(operands.product()); }) : Work());

    const double bound = gemm_error_bound(shape.k, shape.data);
    const bool wrong = !(std::max(own.max, chain.max) <= bound);
    auto& counters = state.counters;
    counters["m"] = static_cast<double>(shape.m);
    counters["n"] = static_cast<double>(shape.n);
    counters["k"] = static_cast<double>(shape.k);
    counters["entries"] = static_cast<double>(shape.m * shape.n);
    counters["error"] = own.max;
    counters["rms"] = own.rms;
    counters["strict_error"] = chain.max;
    counters["strict_rms"] = chain.rms;
    counters["cublas_error"] = cublas.max;
    counters["cublas_rms"] = cublas.rms;
    counters["over_cublas"] = reference ? own.max / cublas.max : 0;
    counters["rms_over_cublas"] = reference ? own.rms / cublas.rms : 0;
    counters["wrong"] = wrong ? 1 : 0;
    const GemmExplanation path = explain(context, 1, a, b, 0, c, fp32);
    state.SetLabel(shown(path.choice, path.verdict) + "/" + to_string(shape.data));
    return !wrong;
}

}  // namespace

void add_gemm_errors(Session& session, const std::vector<Data>& kinds, GemmKernel rung) {
    for (const Data data : kinds)
        for (const std::int64_t k : depths()) {
            const Shape shape = shape_of(data, k);
            const std::string name = "errors/" + shape.group + "/" + std::to_string(shape.m) + "x" +
                                     std::to_string(shape.n) + "x" + std::to_string(k) + "/" +
                                     shape.layout() + "/" + to_string(rung);
            session.add(name, 1, [&session, shape, rung](benchmark::State& state) {
                bool right = false;
                for (auto _ : state) {
                    const auto start = Clock::now();
                    right = compare(session, shape, rung, state);
                    state.SetIterationTime(
                        std::chrono::duration<double>(Clock::now() - start).count());
                }
                return right;
            });
        }
}

Section gemm_errors_section() {
    return {"errors",
            {detail_column(10), number_column("m = n", 6, "n", 0), number_column("k", 6, "k", 0),
             rung_column(16), number_column("fp32 max", 9, "error"), number_column("rms", 8, "rms"),
             number_column("strict max", 11, "strict_error"), number_column("rms", 8, "strict_rms"),
             number_column("cuBLAS max", 11, "cublas_error"), number_column("rms", 8, "cublas_rms"),
             number_column("fp32 / cuBLAS max", 18, "over_cublas", 3),
             number_column("rms", 8, "rms_over_cublas", 3)}};
}

}  // namespace tinyblas::bench
