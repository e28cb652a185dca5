// SPDX-License-Identifier: MIT
// gemm on every rung, beside cuBLAS in the same run: speed, ratio with its spread, share of the FMA
// peak, error against twice the precision. One Google Benchmark per case; each of its iterations is
// one round of ours, cuBLAS, cuBLAS, ours.
#include <cmath>

#include "gemm_shapes.hpp"
#include "program.hpp"
#include "race.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/gemm.hpp"

namespace tinyblas::bench {
namespace {

struct Options {
    std::vector<std::string> shapes;  // files of shapes instead of the built-in ones
    std::vector<GemmKernel> rungs;    // empty: every rung on the ladder's squares, best elsewhere
    bool sgemm = true, dgemm = true;
};

template <class T>
struct Case {
    Shape shape;
    GemmKernel rung;  // none: the reference against itself, which shows the noise
};

std::string shown(const GemmChoice& choice) {
    std::string text = to_string(choice.kernel);
    if (choice.entry >= 0) text += "(" + std::to_string(choice.entry) + ")";
    return text;
}

template <class T>
int rounds(const Session& session) {
    return emulated() || session.quick || sizeof(T) == sizeof(double) ? 5 : 9;
}

/// Rounding errors, in units, stay far below this for a product of depth k: more is a defect.
double error_bound(std::int64_t k) { return 4 * std::sqrt(static_cast<double>(k)) + 16; }

/// Whether the result was right.
template <class T>
bool measure(Session& session, const Case<T>& one, benchmark::State& state) {
    Context& context = session.context;
    Reference* const reference = session.reference.get();
    Operands<T> operands(context, one.shape);
    const auto a = operands.a(), b = operands.b();
    const auto c = operands.c();
    const bool control = one.rung == GemmKernel::none;

    GemmChoice choice;
    const Work theirs = reference ? Work([&] { reference->gemm(a, b, c); }) : Work();
    const Work ours =
        control ? theirs : [&] { choice = gemm(context, T(1), a, b, T(0), c, {one.rung}); };
    const auto error = [&](const Work& work) {
        operands.poison();
        work();
        return product_error<T>(context, a, b, c);
    };
    auto& counters = state.counters;
    const double own_error = error(ours);
    const bool wrong = !control && !(own_error <= error_bound(one.shape.k));
    counters["error"] = own_error;
    counters["wrong"] = wrong ? 1 : 0;
    counters["cublas_error"] = reference ? error(theirs) : 0;

    session.rest();
    const double seconds = session.regime.batch_seconds;
    // Double precision meets the power limit, cuBLAS's tensor cores most: there each contestant
    // starts its turns rested.
    const bool rested = sizeof(T) == sizeof(double);
    Race race(sized_batch(context, ours, seconds), sized_batch(context, theirs, seconds), nullptr,
              rested ? session.regime.idle : std::chrono::milliseconds(0));
    for (auto _ : state) state.SetIterationTime(race.round());

    const Race::Result result = race.result();
    const Shape& shape = one.shape;
    const double flop = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                        static_cast<double>(shape.k);
    const double peak = session.limits.flops<T>();
    counters["m"] = static_cast<double>(shape.m);
    counters["n"] = static_cast<double>(shape.n);
    counters["k"] = static_cast<double>(shape.k);
    counters["entry"] = choice.entry;
    counters["microseconds"] = 1e6 * result.ours;
    counters["tflops"] = 1e-12 * flop / result.ours;
    counters["peak_fraction"] = peak > 0 ? flop / result.ours / peak : 0;
    counters["cublas_tflops"] = reference ? 1e-12 * flop / result.reference : 0;
    counters["ratio"] = result.ratio;
    counters["ratio_p10"] = result.ratio_p10;
    counters["ratio_p90"] = result.ratio_p90;
    std::string detail = shape.name.empty() ? shape.layout() : shape.name;
    if (shape.pad > 0) detail += ", ld + " + std::to_string(shape.pad);
    state.SetLabel((control ? "cuBLAS" : shown(choice)) + "/" + detail);
    return !wrong;
}

template <class T>
void add(Session& session, Shape shape, GemmKernel rung) {
    const char* type = sizeof(T) == sizeof(float) ? "sgemm" : "dgemm";
    const bool control = rung == GemmKernel::none;
    if (control) shape.group = "control";
    std::string name = std::string(type) + "/" + shape.group + "/" + std::to_string(shape.m) + "x" +
                       std::to_string(shape.n) + "x" + std::to_string(shape.k) + "/" +
                       shape.layout() + "/" + (control ? "cublas" : to_string(rung));
    if (shape.pad > 0) name += "/pad" + std::to_string(shape.pad);
    if (!shape.name.empty()) name += "/" + shape.name;
    session.add(name, rounds<T>(session),
                [&session, one = Case<T>{shape, rung}](benchmark::State& state) {
                    return measure(session, one, state);
                });
}

template <class T>
void add_all(Session& session, const std::vector<Shape>& shapes, const Options& options) {
    for (const Shape& shape : shapes) {
        if (shape.float_only && sizeof(T) == sizeof(double)) continue;
        std::vector<GemmKernel> rungs = options.rungs;
        if (rungs.empty() && shape.ladder) rungs = {GemmKernel::naive, GemmKernel::tiled};
        if (options.rungs.empty()) rungs.push_back(GemmKernel::best);
        for (const GemmKernel rung : rungs) add<T>(session, shape, rung);
    }
    if (session.reference) add<T>(session, {"", "", 4096, 4096, 4096}, GemmKernel::none);
}

Facts set_up(Session& session, const Options& options) {
    std::vector<Shape> shapes;
    if (options.shapes.empty()) shapes = built_in_shapes(session.quick);
    for (const std::string& path : options.shapes)
        for (Shape& shape : read_shapes(path)) shapes.push_back(std::move(shape));
    if (!emulated()) session.regime.idle = std::chrono::milliseconds(300);
    session.measure_arithmetic();
    if (options.sgemm) add_all<float>(session, shapes, options);
    if (options.dgemm) add_all<double>(session, shapes, options);

    Facts facts = {{"rounds", std::to_string(rounds<float>(session)) + " (sgemm), " +
                                  std::to_string(rounds<double>(session)) + " (dgemm)"},
                   {"regime", session.regime.text() + " (sgemm) or turn (dgemm)"}};
    if (session.reference) facts.emplace_back("reference", session.reference->name());
    return facts;
}

std::vector<Flag> flags(Options& options) {
    const auto types = [&options](const std::string& list) {
        options.sgemm = options.dgemm = false;
        for (const std::string& word : words("types", list)) {
            if (word != "sgemm" && word != "dgemm")
                throw Error(
                    Status::invalid_argument,
                    "--types: '" + word + "' is not sgemm or dgemm; --help lists the flags");
            (word == "sgemm" ? options.sgemm : options.dgemm) = true;
        }
    };
    const auto rungs = [&options](const std::string& list) {
        for (const std::string& word : words("rungs", list))
            options.rungs.push_back(gemm_kernel(word));
    };
    return {
        {"shapes", "FILE",
         "the shapes of FILE instead: a line \"m,n,k,name\" each, '#' starts a comment;\n"
         "of several such flags, all",
         [&options](const std::string& path) { options.shapes.push_back(path); }},
        {"types", "LIST", "of sgemm,dgemm; default both", types},
        {"rungs", "LIST",
         "of naive,tiled,tuned,best; default every rung on some squares, best elsewhere", rungs}};
}

std::vector<Column> columns() {
    const std::vector<Column> shape = {detail_column(), number_column("m", 6, "m", 0),
                                       number_column("n", 6, "n", 0), number_column("k", 6, "k", 0),
                                       rung_column()};
    const std::vector<Column> on_cpu = {number_column("MFLOP/s", 7, "tflops", 0, 1e6),
                                        number_column("error", 6, "error", 2),
                                        bar_column(" to 2 GFLOP/s of the CPU", "tflops", 500)};
    const std::vector<Column> on_gpu = {number_column("TFLOP/s", 7, "tflops", 2),
                                        number_column("cuBLAS", 7, "cublas_tflops", 2),
                                        ratio_column(),
                                        spread_column(),
                                        percent_column("peak", "peak_fraction"),
                                        number_column("error", 6, "error", 2),
                                        number_column("cuBLAS", 6, "cublas_error", 2),
                                        bar_column(" to the peak", "peak_fraction")};
    std::vector<Column> all = shape;
    const std::vector<Column>& rest = emulated() ? on_cpu : on_gpu;
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

constexpr const char* legend =
    "ratio: cuBLAS's time / ours, median of the rounds. peak: of the measured FFMA (sgemm) or DFMA "
    "(dgemm) rate.\nerror: largest |c - AB| / (|A||B|) over 512 entries, in units of 2^-24 (sgemm) "
    "or 2^-53 (dgemm); then cuBLAS's.\n";

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    using namespace tinyblas::bench;
    Options options;
    return run_program(
        {"bench_gemm", "gemm on every rung of the ladder, beside cuBLAS where there is a GPU.",
         flags(options), columns(), legend,
         [&](Session& session) { return set_up(session, options); }},
        argc, argv);
}
