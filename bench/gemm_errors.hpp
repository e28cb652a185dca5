// SPDX-License-Identifier: MIT
// The errors of gemm in float over kinds of data and depths, without times.
#pragma once

#include <vector>

#include "data.hpp"
#include "report.hpp"
#include "session.hpp"
#include "tinyblas/gemm.hpp"

namespace tinyblas::bench {

/// Registers a case for each depth k of each kind: both precisions on `rung` (strict on best), and
/// the reference. Counters: m, n, k, entries; error, rms, strict_error, strict_rms, cublas_error,
/// cublas_rms, each over the whole of C; over_cublas and rms_over_cublas, quotients; wrong.
void add_gemm_errors(Session& session, const std::vector<Data>& kinds, GemmKernel rung);

Section gemm_errors_section();

}  // namespace tinyblas::bench
