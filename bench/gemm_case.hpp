// SPDX-License-Identifier: MIT
// One timed case of gemm: a product on a rung, beside the reference.
#pragma once

#include <string>

#include "gemm_shapes.hpp"
#include "gemm_summary.hpp"
#include "session.hpp"
#include "tinyblas/gemm.hpp"

namespace tinyblas::bench {

enum class Timing { burst, sustained };

struct GemmCase {
    Shape shape;
    GemmKernel rung = GemmKernel::best;  // none: the reference against itself, for the noise
    Precision precision = Precision::fp32_strict;
    Timing timing = Timing::burst;
    int entry = -1;     // of the rung's table; -1: chosen
    int proposals = 0;  // at most so many of the reference's heuristics compete, too
};

/// "sgemm", "dgemm", "sgemm_fp32".
template <class T>
std::string type_name(Precision precision);

/// The regime of T's cases, and their rounds. `layer`: one of many.
template <class T>
Regime gemm_regime(const Session& session, Timing timing, bool layer = false);

/// Rounding errors, in units, of a product of depth k stay far below this: more is a defect.
double gemm_error_bound(std::int64_t k, Data data);

/// "tuned(3)", "hopper(three)": the rung, with its entry or the first word of the guard's
/// verdict.
std::string shown(const GemmChoice& choice, GemmVerdict verdict = GemmVerdict::none);

/// Registers the case. Its counters: m, n, k, checked_rows, microseconds, tflops, peak_fraction,
/// cublas_tflops, ratio, ratio_p10, ratio_p90, best_ratio (to the best proposal of cuBLAS's
/// heuristics), strict_ratio (of Precision::fp32), error, rms, cublas_error, cublas_rms (all with
/// alpha = 1, beta = 0), wrong, entry, layer; of a batch: batch, gbs, reference_microseconds,
/// reference_gbs, limit_share; with a goal: goal_ratio, goal_microseconds, goal_of_copy.
template <class T>
void add_gemm_case(Session& session, GemmSummary& summary, const GemmCase& one);

}  // namespace tinyblas::bench
