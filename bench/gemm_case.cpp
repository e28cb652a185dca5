// SPDX-License-Identifier: MIT
// One timed case of gemm: its name, its contestants, its counters. Each iteration is one round of
// ours, cuBLAS, cuBLAS, ours.
#include "gemm_case.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <thread>

#include "gemm_contestants.hpp"
#include "product_errors.hpp"
#include "race.hpp"

namespace tinyblas::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// "alpha 0.7 beta -0.3"
std::string scalars(const Shape& shape) {
    char text[64];
    std::snprintf(text, sizeof text, "alpha %g beta %g", shape.alpha, shape.beta);
    return text;
}

/// Layout or name, and what is not as usual.
std::string detail(const GemmCase& one) {
    const Shape& shape = one.shape;
    std::string text = shape.name.empty() ? shape.layout() : shape.name;
    if (shape.pad > 0) text += ", ld + " + std::to_string(shape.pad);
    if (shape.alpha != 1 || shape.beta != 0) text += ", " + scalars(shape);
    if (shape.data != Data::normal) text += std::string(", ") + to_string(shape.data);
    if (shape.packed) text += ", B packed";
    if (shape.batch > 0) text += ", batch of " + std::to_string(shape.batch);
    if (one.timing == Timing::sustained) text += ", sustained";
    return text;
}

template <class T>
std::string name(const GemmCase& one) {
    const Shape& shape = one.shape;
    const bool control = one.rung == GemmKernel::none;
    std::string text = type_name<T>(one.precision) + (shape.batch > 0 ? "_batched/" : "/") +
                       (control ? "control" : shape.group) + "/" + std::to_string(shape.m) + "x" +
                       std::to_string(shape.n) + "x" + std::to_string(shape.k) + "/" +
                       shape.layout() + "/" + (control ? "cublas" : to_string(one.rung));
    if (one.timing == Timing::sustained) text += "/sustained";
    if (shape.pad > 0) text += "/pad" + std::to_string(shape.pad);
    if (shape.alpha != 1 || shape.beta != 0) text += "/" + scalars(shape);
    if (shape.data != Data::normal) text += std::string("/") + to_string(shape.data);
    if (shape.batch > 0) text += "/batch" + std::to_string(shape.batch);
    if (!shape.name.empty()) text += "/" + shape.name;
    return text;
}

/// The contestants of a case; all but ours may be empty.
struct Contestants {
    Work ours, theirs, limit;
    std::chrono::milliseconds rest{0};  // before each turn
};

/// The rounds of a case, after what its regime wants ahead of them.
Race::Result run_rounds(Session& session, benchmark::State& state, const Regime& regime,
                        const Contestants& all) {
    const auto start = Clock::now();
    const double spin = session.seconds_to_steady(regime);
    if (regime.spin_seconds == 0) {
        session.context.synchronize();
        std::this_thread::sleep_for(regime.idle);
    }
    const auto batch = [&](const Work& work) {
        return sized_batch(session.context, work, regime.batch_seconds);
    };
    Race race(batch(all.ours), batch(all.theirs), batch(all.limit), all.rest);
    while (std::chrono::duration<double>(Clock::now() - start).count() < spin) race.round();
    race.forget();
    for (auto _ : state) state.SetIterationTime(race.round());
    return race.result();
}

/// The time of the best of the reference's proposals over ours, median of a few rounds; 0 if there
/// is no proposal, or it is not right.
template <class T>
double ratio_to_best(Session& session, const Product<T>& product, const GemmCase& one,
                     ErrorsOf<T>& errors, const Regime& regime, const Contestants& all) {
    if (!all.theirs || one.proposals == 0) return 0;
    const Work best = best_proposal(session, product, one.proposals);
    if (!best) return 0;
    const bool plain = product.alpha == T(1) && product.beta == T(0);
    const double error = plain ? errors.after(best).max : 0;
    if (!(error <= gemm_error_bound(one.shape.k, one.shape.data))) {
        std::fprintf(stderr, "no ratio to the best proposal: it has an error of %g\n", error);
        return 0;
    }
    Race race(sized_batch(session.context, all.ours, regime.batch_seconds),
              sized_batch(session.context, best, regime.batch_seconds), nullptr, all.rest);
    for (int round = 0; round < std::min(3, regime.rounds); ++round) race.round();
    return race.result().ratio;
}

/// Whether the result was right.
template <class T>
bool measure(Session& session, GemmSummary& summary, const GemmCase& one, benchmark::State& state) {
    Context& context = session.context;
    Reference* const reference = session.reference.get();
    const Shape& shape = one.shape;
    Operands<T> operands(context, shape);
    Product<T> product = operands.product();
    const bool control = one.rung == GemmKernel::none;
    const bool compared = reference && shape.is_for_blas();
    const Work theirs = compared ? Work([&] { reference->gemm(product); }) : Work();
    std::optional<Ours<T>> own;
    if (!control) own.emplace(context, product, one);
    const Work& ours = control ? theirs : own->work();

    auto& counters = state.counters;
    product.alpha = 1;
    product.beta = 0;
    ErrorsOf<T> errors(context, operands, shape, session.quick);
    const ProductError own_error = errors.after(ours);
    const ProductError cublas_error = compared ? errors.after(theirs) : ProductError();
    product.alpha = T(shape.alpha);
    product.beta = T(shape.beta);
    counters["checked_rows"] = static_cast<double>(errors.rows());
    const bool wrong = !control && !(own_error.max <= gemm_error_bound(shape.k, shape.data));
    counters["error"] = own_error.max;
    counters["rms"] = own_error.rms;
    counters["wrong"] = wrong ? 1 : 0;
    counters["cublas_error"] = cublas_error.max;
    counters["cublas_rms"] = cublas_error.rms;

    Regime regime = gemm_regime<T>(session, one.timing, shape.layer);
    // Double precision meets the power limit, cuBLAS's tensor cores most: there each contestant
    // starts its turns rested. What does little work draws little power.
    const bool draws_power = shape.flop() > 2e9;
    const bool rested = sizeof(T) == sizeof(double) && one.timing == Timing::burst && draws_power;
    if (!draws_power) regime.idle /= 5;
    const CopyOfAsMuch<T> copy(context, shape);
    const Contestants all = {ours, theirs, copy.work(),
                             rested ? regime.idle : std::chrono::milliseconds(0)};
    const Race::Result result = run_rounds(session, state, regime, all);
    const double best_ratio = ratio_to_best(session, product, one, errors, regime, all);
    if (own && own->strict()) {
        const auto strict =
            sized_batch(context, own->strict(), session.regime.batch_seconds)->seconds();
        counters["strict_ratio"] = strict / result.ours;
    }
    if (regime.spin_seconds > 0) session.loaded();

    const double flop = shape.flop();
    const double peak = session.limits.flops<T>();
    counters["m"] = static_cast<double>(shape.m);
    counters["n"] = static_cast<double>(shape.n);
    counters["k"] = static_cast<double>(shape.k);
    counters["layer"] = shape.layer ? 1 : 0;
    counters["entry"] = control ? -1 : own->choice().entry;
    counters["microseconds"] = 1e6 * result.ours;
    counters["tflops"] = 1e-12 * flop / result.ours;
    counters["peak_fraction"] = peak > 0 ? flop / result.ours / peak : 0;
    counters["cublas_tflops"] = compared ? 1e-12 * flop / result.reference : 0;
    counters["ratio"] = result.ratio;
    counters["ratio_p10"] = result.ratio_p10;
    counters["ratio_p90"] = result.ratio_p90;
    counters["best_ratio"] = best_ratio;
    if (shape.batch > 0) {
        counters["batch"] = static_cast<double>(shape.batch);
        counters["gbs"] = 1e-9 * copy.bytes() / result.ours;
        counters["reference_microseconds"] = 1e6 * result.reference;
        counters["reference_gbs"] = compared ? 1e-9 * copy.bytes() / result.reference : 0;
        counters["limit_share"] = result.share;
    }
    if (shape.goal.is_set()) {
        counters["goal_ratio"] = shape.goal.ratio;
        counters["goal_microseconds"] = shape.goal.microseconds;
        counters["goal_of_copy"] = shape.goal.of_copy;
    }
    state.SetLabel((control ? "cuBLAS" : own->label()) + "/" + detail(one));
    if (one.rung == GemmKernel::best)
        summary.add({type_name<T>(one.precision),
                     one.timing == Timing::burst ? "burst" : "sustained", shape, result.ratio,
                     counters["strict_ratio"].value, best_ratio, 1e6 * result.ours, result.share});
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
