// SPDX-License-Identifier: MIT
#include "gemm_slabs.hpp"

#include <algorithm>

#include "gemm_batched.hpp"
#include "gemm_call.hpp"
#include "gemm_choice.hpp"

namespace tinyblas {
namespace {

// Where that was faster: 850 products of 4,000 to a million rows at random, an H200.
constexpr std::int64_t least_rows = 4096, most_columns = 400, longest_k = 512;

GemmBatch<float> slabs_of(const GemmCall<float>& call, std::int64_t rows) {
    const auto first = [&](const auto& x) { return x.block(0, 0, rows, x.columns); };
    return {call.alpha, {first(call.a), rows * call.a.row_stride}, {call.b},
            call.beta,  {first(call.c), rows * call.c.row_stride}, call.c.rows / rows};
}

/// Estimated microseconds, from what batches are estimated at, beside those of single products.
/// Pieces were fitted to squares: others take longer.
double microseconds(const GemmBatchPlan& plan, std::int64_t n, std::int64_t k) {
    const bool like_squares = std::max(n, k) <= 4 * std::min(n, k);
    switch (plan.route) {
        case GemmBatchRoute::pieces: return (like_squares ? 1.12 : 1.45) * plan.microseconds;
        case GemmBatchRoute::pipelined: return plan.microseconds;
        default: return 1.08 * plan.microseconds;
    }
}

}  // namespace

GemmSlabsPlan plan_gemm_slabs(const Context& context, const GemmCall<float>& call) {
    constexpr double rest = 3;  // microseconds of a launch for the rows that are left
    GemmSlabsPlan plan;
    const std::int64_t n = call.c.columns, k = call.a.columns;
    if (call.c.rows < least_rows || n > most_columns || k > longest_k) return plan;
    for (const std::int64_t rows : {48, 64, 80, 96, 128, 192}) {
        const GemmBatchPlan batch = plan_gemm_batch(context, slabs_of(call, rows));
        const double seconds =
            1e-6 * (microseconds(batch, n, k) + (call.c.rows % rows == 0 ? 0 : rest));
        if (batch.microseconds > 0 && (!plan.fits || seconds < plan.seconds))
            plan = {rows, batch, seconds, true};
    }
    return plan;
}

void enqueue_gemm_slabs(Context& context, const GemmCall<float>& call, const GemmSlabsPlan& plan) {
    const GemmBatch<float> slabs = slabs_of(call, plan.rows);
    enqueue_gemm_batch(context, slabs, plan.batch);
    const std::int64_t made = slabs.count * plan.rows, left = call.c.rows - made;
    if (left == 0) return;
    GemmCall<float> rest = call;
    rest.a = call.a.block(made, 0, left, call.a.columns);
    rest.c = call.c.block(made, 0, left, call.c.columns);
    choose_gemm(context, rest, {GemmKernel::best, -1, Precision::fp32_strict});
    enqueue_gemm(context, rest, false);
}

}  // namespace tinyblas
