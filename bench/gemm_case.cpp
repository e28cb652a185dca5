// SPDX-License-Identifier: MIT
// One timed case of gemm: its name, its contestants, its counters. Each iteration is one round of
// ours, cuBLAS, cuBLAS, ours.
#include "gemm_case.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <optional>
#include <type_traits>

#include "race.hpp"
#include "tinyblas/packed.hpp"

namespace tinyblas::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Rows of C whose errors are measured: all of them up to so many products.
template <class T>
std::int64_t checked_rows(const Shape& shape) {
    double products = 0x1p39;
    if (shape.layer || sizeof(T) == sizeof(double)) products = 0x1p36;
    if (emulated()) products = 0x1p22;
    const double row = static_cast<double>(shape.n) * static_cast<double>(shape.k);
    const double rows = std::clamp(products / row, 64.0, static_cast<double>(shape.m));
    return shape.m <= 64 ? shape.m : static_cast<std::int64_t>(rows);
}

/// Scratch memory for one product, the same in a graph as outside.
class OwnScratch {
  public:
    OwnScratch(Context& context, std::size_t bytes)
        : context_(context), memory_(1, static_cast<std::int64_t>(bytes)) {
        context.set_scratch(memory_.view().data, bytes);
    }
    OwnScratch(const OwnScratch&) = delete;
    OwnScratch& operator=(const OwnScratch&) = delete;
    ~OwnScratch() {
        try {
            context_.synchronize();
            context_.set_scratch(nullptr, 0);
        } catch (const std::exception& error) {  // what failed has been reported
            std::fprintf(stderr, "%s\n", error.what());
        }
    }

  private:
    Context& context_;
    Matrix<char> memory_;
};

/// A product, and what the library says of it.
template <class T>
class Ours {
  public:
    Ours(Context& context, Operands<T>& operands, const GemmCase& one) {
        const auto a = operands.a(), b = operands.b();
        const auto c = operands.c();
        const GemmOptions options = {one.rung, -1, one.precision};
        work_ = [=, this, &context] { choice_ = gemm(context, T(1), a, b, T(0), c, options); };
        if constexpr (std::is_same_v<T, float>) {
            if (one.precision == Precision::fp32_strict) return;
            const Shape& shape = one.shape;
            scratch_.emplace(context, gemm_scratch_bytes(shape.m, shape.n, shape.k));
            explanation_ = explain(context, 1, a, b, 0, c, options);
            strict_ = [=, &context] {
                gemm(context, 1.0f, a, b, 0.0f, c, {GemmKernel::best, -1, Precision::fp32_strict});
            };
            if (!shape.packed) return;
            packed_ = pack(context, b);
            work_ = [=, this, &context] {
                choice_ = gemm(context, 1.0f, a, packed_, 0.0f, c, options);
            };
        }
    }
    Ours(const Ours&) = delete;
    Ours& operator=(const Ours&) = delete;

    const Work& work() const { return work_; }
    const Work& strict() const { return strict_; }  // the same product; empty for strict ones
    const GemmChoice& choice() const { return choice_; }
    std::string label() const { return shown(choice_, explanation_.verdict); }

  private:
    std::optional<OwnScratch> scratch_;
    PackedMatrix packed_;
    Work work_, strict_;
    GemmChoice choice_;
    GemmExplanation explanation_;
};

/// Layout or name, and what is not as usual.
std::string detail(const GemmCase& one) {
    const Shape& shape = one.shape;
    std::string text = shape.name.empty() ? shape.layout() : shape.name;
    if (shape.pad > 0) text += ", ld + " + std::to_string(shape.pad);
    if (shape.data != Data::normal) text += std::string(", ") + to_string(shape.data);
    if (shape.packed) text += ", B packed";
    if (one.timing == Timing::sustained) text += ", sustained";
    return text;
}

template <class T>
std::string name(const GemmCase& one) {
    const Shape& shape = one.shape;
    const bool control = one.rung == GemmKernel::none;
    std::string text = type_name<T>(one.precision) + "/" + (control ? "control" : shape.group) +
                       "/" + std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" +
                       std::to_string(shape.k) + "/" + shape.layout() + "/" +
                       (control ? "cublas" : to_string(one.rung));
    if (one.timing == Timing::sustained) text += "/sustained";
    if (shape.pad > 0) text += "/pad" + std::to_string(shape.pad);
    if (shape.data != Data::normal) text += std::string("/") + to_string(shape.data);
    if (!shape.name.empty()) text += "/" + shape.name;
    return text;
}

/// The rounds of a case, after what its regime wants ahead of them.
Race::Result run_rounds(Session& session, benchmark::State& state, const Regime& regime,
                        const Work& ours, const Work& theirs, std::chrono::milliseconds rest) {
    const auto start = Clock::now();
    const double spin = session.seconds_to_steady(regime);
    if (regime.spin_seconds == 0) session.rest();
    Race race(sized_batch(session.context, ours, regime.batch_seconds),
              sized_batch(session.context, theirs, regime.batch_seconds), nullptr, rest);
    while (std::chrono::duration<double>(Clock::now() - start).count() < spin) race.round();
    race.forget();
    for (auto _ : state) state.SetIterationTime(race.round());
    return race.result();
}

/// Whether the result was right.
template <class T>
bool measure(Session& session, GemmSummary& summary, const GemmCase& one, benchmark::State& state) {
    Context& context = session.context;
    Reference* const reference = session.reference.get();
    const Shape& shape = one.shape;
    Operands<T> operands(context, shape);
    const auto a = operands.a(), b = operands.b();
    const auto c = operands.c();
    const bool control = one.rung == GemmKernel::none;
    const Work theirs = reference ? Work([=] { reference->gemm(a, b, c); }) : Work();
    std::optional<Ours<T>> own;
    if (!control) own.emplace(context, operands, one);
    const Work& ours = control ? theirs : own->work();

    auto& counters = state.counters;
    ProductError own_error, cublas_error = {};
    {
        const auto exact = exact_product<T>(context, a, b, checked_rows<T>(shape));
        const auto error = [&](const Work& work) {
            operands.poison();
            work();
            return product_error<T>(context, exact, c);
        };
        own_error = error(ours);
        if (reference) cublas_error = error(theirs);
        counters["checked_rows"] = static_cast<double>(exact.rows());
    }
    const bool wrong = !control && !(own_error.max <= gemm_error_bound(shape.k, shape.data));
    counters["error"] = own_error.max;
    counters["rms"] = own_error.rms;
    counters["wrong"] = wrong ? 1 : 0;
    counters["cublas_error"] = cublas_error.max;
    counters["cublas_rms"] = cublas_error.rms;

    const Regime regime = gemm_regime<T>(session, one.timing, shape.layer);
    // Double precision meets the power limit, cuBLAS's tensor cores most: there each contestant
    // starts its turns rested.
    const bool rested = sizeof(T) == sizeof(double) && one.timing == Timing::burst;
    const Race::Result result = run_rounds(session, state, regime, ours, theirs,
                                           rested ? regime.idle : std::chrono::milliseconds(0));
    if (own && own->strict()) {
        const auto strict =
            sized_batch(context, own->strict(), session.regime.batch_seconds)->seconds();
        counters["strict_ratio"] = strict / result.ours;
    }
    if (regime.spin_seconds > 0) session.loaded();

    const double flop = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                        static_cast<double>(shape.k);
    const double peak = session.limits.flops<T>();
    counters["m"] = static_cast<double>(shape.m);
    counters["n"] = static_cast<double>(shape.n);
    counters["k"] = static_cast<double>(shape.k);
    counters["layer"] = shape.layer ? 1 : 0;
    counters["entry"] = control ? -1 : own->choice().entry;
    counters["microseconds"] = 1e6 * result.ours;
    counters["tflops"] = 1e-12 * flop / result.ours;
    counters["peak_fraction"] = peak > 0 ? flop / result.ours / peak : 0;
    counters["cublas_tflops"] = reference ? 1e-12 * flop / result.reference : 0;
    counters["ratio"] = result.ratio;
    counters["ratio_p10"] = result.ratio_p10;
    counters["ratio_p90"] = result.ratio_p90;
    state.SetLabel((control ? "cuBLAS" : own->label()) + "/" + detail(one));
    if (one.rung == GemmKernel::best)
        summary.add({type_name<T>(one.precision),
                     one.timing == Timing::burst ? "burst" : "sustained", shape, result.ratio,
                     counters["strict_ratio"].value});
    return !wrong;
}

}  // namespace

template <class T>
std::string type_name(Precision precision) {
    if (sizeof(T) == sizeof(double)) return "dgemm";
    return precision == Precision::fp32_strict ? "sgemm" : "sgemm_fp32";
}

template <class T>
Regime gemm_regime(const Session& session, Timing timing, bool layer) {
    Regime regime = session.regime;
    regime.rounds = emulated() || session.quick || sizeof(T) == sizeof(double) ? 5 : 9;
    if (timing == Timing::burst) return regime;
    regime = {0.1, session.quick || layer ? 2 : 4, std::chrono::milliseconds(0), 1.0};
    if (emulated()) regime.batch_seconds = regime.spin_seconds = session.regime.batch_seconds;
    return regime;
}

double gemm_error_bound(std::int64_t k, Data data) {
    const double bound = 4 * std::sqrt(static_cast<double>(k)) + 16;
    // Sums of about 2^-135 k are rounded to a multiple of 2^-149 k times.
    return data == Data::subnormal ? bound + 2048 : bound;
}

std::string shown(const GemmChoice& choice, GemmVerdict verdict) {
    std::string text = to_string(choice.kernel);
    if (choice.entry >= 0) text += "(" + std::to_string(choice.entry) + ")";
    if (verdict == GemmVerdict::none) return text;
    const std::string words = to_string(verdict);
    return text + "(" + words.substr(0, words.find(' ')) + ")";
}

template <class T>
void add_gemm_case(Session& session, GemmSummary& summary, const GemmCase& one) {
    session.add(name<T>(one), gemm_regime<T>(session, one.timing, one.shape.layer).rounds,
                [&session, &summary, one](benchmark::State& state) {
                    return measure<T>(session, summary, one, state);
                });
}

template std::string type_name<float>(Precision);
template std::string type_name<double>(Precision);
template Regime gemm_regime<float>(const Session&, Timing, bool);
template Regime gemm_regime<double>(const Session&, Timing, bool);
template void add_gemm_case<float>(Session&, GemmSummary&, const GemmCase&);
template void add_gemm_case<double>(Session&, GemmSummary&, const GemmCase&);

}  // namespace tinyblas::bench
