// SPDX-License-Identifier: MIT
// explain: what gemm chose and what its guard finds, in a sentence.
#include <algorithm>
#include <sstream>

#include "check.hpp"
#include "gemm_accurate.hpp"
#include "gemm_call.hpp"
#include "kernels/gemm/precision_choice.hpp"

namespace tinyblas {
namespace {

template <class... Words>
std::string sentence(const Words&... words) {
    std::ostringstream text;
    (text << ... << words);
    return text.str();
}

std::string microseconds(double seconds) {
    std::ostringstream text;
    text.precision(3);
    text << seconds * 1e6 << " us";
    return text.str();
}

/// Why this strict rung: what it, and the one that runs everywhere, are estimated to take.
template <class T>
std::string rung_reason(const GemmCall<T>& call) {
    const GemmStrictPlans& plans = call.plans;
    if (call.tuning_line > 0)
        return sentence("the rung ", to_string(call.choice.kernel), ", by line ", call.tuning_line,
                        " of the tuning file");
    if (call.choice.kernel == GemmKernel::gemv) return "the rung gemv: c is a row or a column";
    if (call.choice.kernel == GemmKernel::tiled)
        return "the rung tiled: k is too long for the others";
    const bool one = !plans.slabs.by_columns && plans.slabs.size == call.c.rows;
    const std::string what =
        call.choice.kernel != GemmKernel::batched
            ? sentence("the rung ", to_string(call.choice.kernel))
        : plans.slabs.stream_k.fits()
            ? sentence("stream-k, by ", plans.slabs.stream_k.cut.blocks(), " blocks,")
        : one ? std::string("a batch of one")
              : sentence("a batch of slabs of ", plans.slabs.size,
                         call.exchanged != plans.slabs.by_columns ? " columns" : " rows");
    std::string estimate =
        sentence(what, " is estimated at ", microseconds(plans.seconds(call.choice.kernel)));
    if (call.choice.kernel == GemmKernel::tuned) return estimate;
    return estimate + sentence(" (tuned: ", microseconds(plans.tuned_seconds), ")");
}

/// Why the product is strict before any guard has seen its operands.
template <class T>
std::string strict_reason(const Context& context, const GemmCall<T>& call) {
    const std::int64_t m = call.exchanged ? call.c.columns : call.c.rows;
    const std::int64_t n = call.exchanged ? call.c.rows : call.c.columns;
    const std::int64_t k = call.a.columns;
    switch (call.reason) {
        case GemmReason::nothing: return "nothing: c has no elements, or stays as it is";
        case GemmReason::no_products: return "strict: alpha or k is 0, so that C = beta C";
        case GemmReason::asked: return "strict: the options ask for this rung";
        case GemmReason::strict_asked:
            return sentence(std::is_same_v<T, float> ? "strict: the precision is fp32_strict; "
                                                     : "strict: the operands are of type double; ",
                            rung_reason(call));
        case GemmReason::no_wgmma:
            return sentence(
                "strict: the rung hopper needs compute capability 9.0 and a library "
                "built for it, and this is ",
                context.compute_capability() / 10, ".", context.compute_capability() % 10, "; ",
                rung_reason(call));
        case GemmReason::short_k:
            return sentence("strict: k = ", k, " is below ", gemm_costs.least_k, "; ",
                            rung_reason(call));
        case GemmReason::slower:
            if (k > gemm_tuned_longest_k)
                return sentence("strict: k = ", k, " is above ", gemm_tuned_longest_k);
            return sentence("strict: ", rung_reason(call), ", from parts at ",
                            microseconds(gemm_fp32_seconds(m, n, k)));
        case GemmReason::scratch:
            return sentence("strict: ", context.scratch_limit(),
                            " bytes of scratch memory were "
                            "given, and parts of ",
                            m, " x ", n, " x ", k, " need more; ", rung_reason(call));
        case GemmReason::pays: break;
    }
    return "";
}

/// "rows 32 to 63 of A": where the guard found what made it choose.
std::string place(const GemmCall<float>& call, const GemmGuard& guard, unsigned finding) {
    const GemmFound& of_a = call.exchanged ? guard.b : guard.a;
    const GemmFound& of_b = call.exchanged ? guard.a : guard.b;
    const bool in_a = (of_a.findings & finding) != 0;
    const std::int64_t m = call.exchanged ? call.c.columns : call.c.rows;
    const std::int64_t n = call.exchanged ? call.c.rows : call.c.columns;
    const std::int64_t first = in_a ? of_a.row : of_b.row;
    const std::int64_t last = std::min(first + gemm_strip, in_a ? m : n) - 1;
    return sentence(in_a ? "rows " : "columns ", first, " to ", last, in_a ? " of A" : " of B");
}

void judge(const Context& context, const GemmCall<float>& call, const GemmGuard& guard,
           GemmExplanation& explanation) {
    const unsigned findings = guard.a.findings | guard.b.findings;
    const auto too_wide = [&] {
        return sentence(place(call, guard, gemm_wide), " span more than two fp16 parts hold (2^",
                        gemm_fp16_spread, " among ", gemm_group, " elements, 2^", gemm_fp16_drift,
                        " in all)");
    };
    if (findings & gemm_strict) {
        explanation.verdict = GemmVerdict::strict;
        explanation.reason =
            sentence("strict: ", place(call, guard, gemm_strict),
                     " have NaN or Inf, or span more than three bf16 parts hold (2^",
                     gemm_bf16_most_spread, ")");
    } else if (findings & gemm_wide && guard.route == GemmWideRoute::strict) {
        explanation.verdict = GemmVerdict::strict;
        explanation.reason = sentence(
            "strict: ", too_wide(), ", and for three bf16 parts ",
            gemm_accurate_bytes(call, GemmWideRoute::bf16x3),
            " bytes of scratch memory are needed: ", context.scratch_limit(), " were given");
    } else if (findings & gemm_wide) {
        explanation.verdict = GemmVerdict::six_products;
        explanation.reason = sentence("fp32: six products of three bf16 parts: ", too_wide());
    } else if (findings & gemm_has_low) {
        explanation.verdict = GemmVerdict::three_products;
        explanation.reason = sentence(
            "fp32: three products of two fp16 parts: rows of A and columns of B span no more than "
            "these hold (2^",
            gemm_fp16_spread, " among ", gemm_group, " elements)");
    } else {
        explanation.verdict = GemmVerdict::one_product;
        explanation.reason = "fp32: one product: single fp16 parts hold A and B exactly";
    }
}

}  // namespace

const char* to_string(GemmVerdict verdict) noexcept {
    switch (verdict) {
        case GemmVerdict::none: return "none";
        case GemmVerdict::one_product: return "one product";
        case GemmVerdict::three_products: return "three products";
        case GemmVerdict::six_products: return "six products";
        case GemmVerdict::strict: return "strict";
    }
    return "unknown";
}

GemmExplanation explain(Context& context, float alpha, MatrixView<const float> a,
                        MatrixView<const float> b, float beta, MatrixView<float> c,
                        GemmOptions options) {
    const GemmCall<float> call = prepare_gemm(context, alpha, a, b, beta, c, options);
    GemmExplanation explanation;
    explanation.choice = call.choice;
    explanation.precision = options.precision.value_or(context.precision());
    if (!call.from_parts()) {
        explanation.reason = strict_reason(context, call);
        return explanation;
    }
    const device::Guard guard(context.device(), "explain");
    require(!device::is_capturing(context.stream(), "explain"),
            "explain: the context's stream is being captured, where nothing can be waited for: "
            "must be called before");
    context.note("explain");
    const GemmGuard found = step_of("explain", [&] { return gemm_guard(context, call); });
    judge(context, call, found, explanation);
    return explanation;
}

GemmExplanation explain(Context& context, double alpha, MatrixView<const double> a,
                        MatrixView<const double> b, double beta, MatrixView<double> c,
                        GemmOptions options) {
    const GemmCall<double> call = prepare_gemm(context, alpha, a, b, beta, c, options);
    GemmExplanation explanation;
    explanation.choice = call.choice;
    explanation.precision = Precision::fp32_strict;
    explanation.reason = strict_reason(context, call);
    if (options.kernel != GemmKernel::best && call.reason == GemmReason::strict_asked)
        explanation.reason = "strict: the options ask for this rung";
    return explanation;
}

}  // namespace tinyblas
