// SPDX-License-Identifier: MIT
// gemm on every rung, beside cuBLAS in the same run: speed, ratio with its spread, share of the FMA
// peak, error against twice the precision. One Google Benchmark per case; each of its iterations is
// one round of ours, cuBLAS, cuBLAS, ours.
#include <benchmark/benchmark.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "bench.hpp"
#include "options.hpp"
#include "report.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/gemm.hpp"

namespace tinyblas::bench {
namespace {

/// Whether two streams end in one place, so that the rows of the table already show how far the run
/// is.
bool same_place(int one, int other) {
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/// What all cases share.
struct Session {
    Context context;
    std::unique_ptr<Reference> reference = make_reference(context);
    Peak peak_float = fma_peak<float>(context), peak_double = fma_peak<double>(context);
    bool quick = false;
    bool progress = !same_place(STDOUT_FILENO, STDERR_FILENO);
    int cases = 0, started = 0, failed = 0;

    template <class T>
    const Peak& peak() const {
        return sizeof(T) == sizeof(float) ? peak_float : peak_double;
    }
    template <class T>
    int rounds() const {
        return emulated() || quick || sizeof(T) == sizeof(double) ? 5 : 9;
    }
    double batch_seconds() const { return emulated() || quick ? 0.01 : 0.02; }

    /// Rest before each case, which else pays for the power that the case before it drew.
    std::chrono::milliseconds idle() const {
        return std::chrono::milliseconds(emulated() ? 0 : 300);
    }
    /// Double precision meets the power limit, cuBLAS's tensor cores most: there each contestant
    /// starts its turns rested.
    template <class T>
    std::chrono::milliseconds rest() const {
        return sizeof(T) == sizeof(double) ? idle() : std::chrono::milliseconds(0);
    }
    std::string regime() const {
        const std::string pause = std::to_string(idle().count()) + " ms idle before each ";
        return "burst: " + std::to_string(std::lround(1e3 * batch_seconds())) + " ms batches, " +
               pause + "case (sgemm) or turn (dgemm)";
    }
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

/// Rounding errors, in units, stay far below this for a product of depth k: more is a defect.
double error_bound(std::int64_t k) { return 4 * std::sqrt(static_cast<double>(k)) + 16; }

/// Whether the result was right.
template <class T>
bool run_rounds(Session& session, const Case<T>& one, benchmark::State& state) {
    Context& context = session.context;
    Reference* const reference = session.reference.get();
    Operands<T> operands(context, one.shape);
    const auto a = operands.a(), b = operands.b();
    const auto c = operands.c();
    const bool control = one.rung == GemmKernel::none;

    GemmChoice choice;
    const Work theirs = [&] { reference->gemm(a, b, c); };
    const Work ours =
        control ? theirs : [&] { choice = gemm(context, T(1), a, b, T(0), c, {one.rung}); };
    const auto error = [&](const Work& work) {
        operands.poison();
        work();
        return worst_error<T>(context, a, b, c);
    };
    auto& counters = state.counters;
    const double own_error = error(ours);
    const bool wrong = !control && !(own_error <= error_bound(one.shape.k));
    counters["error"] = own_error;
    counters["wrong"] = wrong ? 1 : 0;
    counters["cublas_error"] = reference ? error(theirs) : 0;

    context.synchronize();
    std::this_thread::sleep_for(session.idle());
    Race race(context, ours, reference ? theirs : Work(), session.batch_seconds(),
              session.rest<T>());
    for (auto _ : state) state.SetIterationTime(race.round());

    const Race::Result result = race.result();
    const Shape& shape = one.shape;
    const double flop = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                        static_cast<double>(shape.k);
    const double peak = session.peak<T>().flops;
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
    ++session.cases;
    benchmark::RegisterBenchmark(
        name.c_str(),
        [&session, one = Case<T>{shape, rung}, name](benchmark::State& state) {
            ++session.started;
            if (session.progress)
                std::fprintf(stderr, "[%d/%d] %s\n", session.started, session.cases, name.c_str());
            try {
                if (run_rounds(session, one, state)) return;
                ++session.failed;
                std::fprintf(stderr, "WRONG: %s: an error of %.2f units, of which %.0f may be\n",
                             name.c_str(), state.counters["error"].value, error_bound(one.shape.k));
            } catch (const std::exception& error) {
                ++session.failed;
                std::fprintf(stderr, "FAILED: %s\n", error.what());
                state.SkipWithError("see the error stream");
            }
        })
        ->UseManualTime()
        ->Iterations(session.rounds<T>())
        ->Unit(benchmark::kMicrosecond);
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

/// The facts of the run, for the JSON's context and above the table.
Facts facts(const Session& session) {
    Facts facts = machine_facts();
    const char* commit = std::getenv("TINYBLAS_COMMIT");
    facts.emplace_back("tinyblas_commit", commit && *commit ? commit : "unknown");
    facts.emplace_back("rounds", std::to_string(session.rounds<float>()) + " (sgemm), " +
                                     std::to_string(session.rounds<double>()) + " (dgemm)");
    facts.emplace_back("regime", session.regime());
    if (session.reference) facts.emplace_back("reference", session.reference->name());
    const auto rounded = [](double value, const char* unit) {
        char text[32];
        std::snprintf(text, sizeof text, "%.2f %s", value, unit);
        return std::string(text);
    };
    if (session.peak_float.flops > 0) {
        facts.emplace_back("ffma_peak", rounded(session.peak_float.flops * 1e-12, "TFLOP/s"));
        facts.emplace_back("dfma_peak", rounded(session.peak_double.flops * 1e-12, "TFLOP/s"));
        facts.emplace_back("sm_clock_in_ffma", rounded(session.peak_float.hertz * 1e-9, "GHz"));
        facts.emplace_back("sm_clock_in_dfma", rounded(session.peak_double.hertz * 1e-9, "GHz"));
    }
    return facts;
}

std::string heading(const Facts& facts) {
    std::string lines;
    for (const auto& [name, value] : facts) lines += name + ": " + value + "\n";
    if (emulated())
        return lines +
               "\nTHESE ARE NOT GPU FIGURES: there is no GPU here, a CPU emulates one. The ladder "
               "even runs\n"
               "the other way: what spares a GPU's memory costs the emulator more switches of "
               "threads.\n";
    return lines +
           "\nratio: cuBLAS's time / ours, median of the rounds. peak: of the measured FFMA "
           "(sgemm) or DFMA "
           "(dgemm) rate.\nerror: largest |c - AB| / (|A||B|) over 512 entries, in units of 2^-24 "
           "(sgemm) or "
           "2^-53 (dgemm); then cuBLAS's.\n";
}

int main_of(int argc, char** argv) {
    const Request request = scan(argc, argv);
    benchmark::Initialize(&argc, argv);  // ends here if it met --help
    const Options options = parse_options(argc, argv);
    std::vector<Shape> shapes;
    if (options.shapes.empty()) shapes = built_in_shapes(options.quick);
    for (const std::string& path : options.shapes)
        for (Shape& shape : read_shapes(path)) shapes.push_back(std::move(shape));
    if (!emulated()) std::fprintf(stderr, "warming up, and measuring the peak\n");
    Session session;
    session.quick = options.quick;
    if (options.sgemm) add_all<float>(session, shapes, options);
    if (options.dgemm) add_all<double>(session, shapes, options);

    const Facts all = facts(session);
    for (const auto& [name, value] : all) benchmark::AddCustomContext(name, value);
    if (emulated()) std::fprintf(stderr, "These are not GPU figures: the CPU emulates one.\n");
    Table table(heading(all));
    if (request.machine || request.list)
        benchmark::RunSpecifiedBenchmarks();
    else
        benchmark::RunSpecifiedBenchmarks(&table);
    benchmark::Shutdown();
    return session.failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    try {
        return tinyblas::bench::main_of(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_gemm: %s\n", error.what());
        return 2;
    }
}
