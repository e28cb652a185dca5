// SPDX-License-Identifier: MIT
#include "gemm_slabs.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>

#include "gemm_batched.hpp"
#include "gemm_call.hpp"
#include "gemm_choice.hpp"
#include "gemm_elements.hpp"
#include "kernels/gemm/batched_plan.hpp"

namespace tinyblas {
namespace {

// Where that was faster: 900 products with a C of 4,000 to a million rows or columns, an H200. Of a
// large C that is not narrow, by the rung pipelined alone, which has no more to do there than
// tiles.
constexpr std::int64_t least_long = 4096, most_narrow = 400, longest_k = 512;
constexpr std::int64_t least_large = 16'000'000, longest_k_of_large = 128;

/// The product of `count` rows of C from `first` on, or of columns.
GemmCall<float> part_of(const GemmCall<float>& call, bool by_columns, std::int64_t first,
                        std::int64_t count) {
    GemmCall<float> part = call;
    if (by_columns) {
        part.b = call.b.block(0, first, call.b.rows, count);
        part.c = call.c.block(0, first, call.c.rows, count);
    } else {
        part.a = call.a.block(first, 0, count, call.a.columns);
        part.c = call.c.block(first, 0, count, call.c.columns);
    }
    return part;
}

GemmBatch<float> slabs_of(const GemmCall<float>& call, bool by_columns, std::int64_t size) {
    const GemmCall<float> first = part_of(call, by_columns, 0, size);
    const std::int64_t count = (by_columns ? call.c.columns : call.c.rows) / size;
    if (by_columns)
        return {call.alpha,
                {first.a},
                {first.b, size * call.b.column_stride},
                call.beta,
                {first.c, size * call.c.column_stride},
                count};
    return {call.alpha, {first.a, size * call.a.row_stride}, {first.b},
            call.beta,  {first.c, size * call.c.row_stride}, count};
}

/// Estimated microseconds, from what batches are estimated at, beside those of single products.
/// Pieces were fitted to squares: others take longer, and very narrow ones (30 of them, 17 %).
double microseconds(const GemmBatchPlan& plan, std::int64_t narrow, std::int64_t k) {
    const bool like_squares = std::max(narrow, k) <= 4 * std::min(narrow, k);
    const double time = (narrow <= 32 ? 1.17 : 1) * plan.microseconds;
    switch (plan.route) {
        case GemmBatchRoute::pieces: return (like_squares ? 1.12 : 1.45) * time;
        case GemmBatchRoute::skinny: return plan.microseconds;
        case GemmBatchRoute::pipelined: return time;
        case GemmBatchRoute::elements: return 1.04 * time;
        default: return 1.12 * time;
    }
}

bool has_lines(const MatrixView<const float>& x) {
    return x.row_stride == 1 || x.column_stride == 1;
}

/// All of C as one slab, by elements, which takes as long wherever lines begin; but not where
/// others cut k, to be as exact as cuBLAS. Or stream-k.
GemmSlabsPlan plan_by_elements(const GemmCall<float>& call, std::size_t memory, bool in_fours) {
    constexpr std::int64_t longest_chain = 256;
    GemmSlabsPlan plan;
    const std::int64_t m = call.c.rows, n = call.c.columns, k = call.a.columns;
    if (!has_lines(call.a) || !has_lines(call.b) || !elements_reach(call.a) ||
        !elements_reach(call.b.transposed()))
        return plan;
    if (k <= longest_chain && !in_fours) {
        GemmBatchFastest fastest;
        fastest.consider_elements({m, n, k, 1});
        const double seconds = 1.02e-6 * fastest.plan.microseconds;  // less readily
        if (seconds > 0) plan = {m, false, fastest.plan, seconds, gemm_whole_chain_weight(k), true};
    }
    const GemmStreamKPlan stream_k = plan_gemm_stream_k(m, n, k, memory);
    // Of a longer k than its times were fitted to, less readily, too.
    const double seconds = (k > 5000 ? 1.02e-6 : 1e-6) * stream_k.microseconds;
    if (stream_k.fits() && (!plan.fits || seconds < plan.seconds))
        plan = {m, false, {}, seconds, 1, true, stream_k};
    return plan;
}

/// All of C as one slab, by batched_outer.cuh; of floats as exact as cuBLAS.
template <class T>
GemmSlabsPlan plan_outer(const GemmCall<T>& call) {
    GemmBatchExtents x = {call.c.rows, call.c.columns, call.a.columns, 1};
    x.a_along_k = call.a.column_stride == 1;
    x.b_along_k = call.b.row_stride == 1;
    x.reads_c = call.beta != T(0);
    GemmBatchFastest fastest;
    fastest.consider_outer(gemm_scalar<T>, x);
    GemmBatchPlan& plan = fastest.plan;
    if (plan.microseconds == 0) return {};
    if (std::is_same_v<T, float> && gemm_ring_in_fours(x.m, x.n, x.k, x.a_along_k || x.b_along_k))
        plan.entry = 1;
    return {x.m, false, plan, 1e-6 * plan.microseconds, gemm_whole_chain_weight(x.k), true};
}

/// All of C as one slab, by threads that share k.
GemmSlabsPlan plan_skinny(const GemmCall<float>& call) {
    if (!has_lines(call.a) || !has_lines(call.b)) return {};
    const GemmBatchOperand<const float> a = {call.a}, b = {call.b};
    GemmBatchExtents x = {call.c.rows, call.c.columns, call.a.columns, 1};
    x.a_along_k = call.a.column_stride == 1;
    x.b_along_k = call.b.row_stride == 1;
    x.by_elements = (in_vectors(a) ? 0 : 1) + (in_vectors(b) ? 0 : 1);
    x.in_skinny_reach = skinny_batch_reaches(call.a) && skinny_batch_reaches(call.b.transposed());
    GemmBatchFastest fastest;
    fastest.consider_skinny(x);
    const GemmBatchPlan& plan = fastest.plan;
    if (plan.microseconds == 0) return {};
    const double weight = gemm_chain_weight(x.k / plan.parts);
    return {x.m, false, plan, 1e-6 * plan.microseconds, weight, true};
}

}  // namespace

GemmSlabsPlan plan_gemm_slabs(const Context& context, const GemmCall<float>& call,
                              std::size_t memory, bool in_fours) {
    constexpr double rest = 3;  // microseconds of a launch for what is left
    GemmSlabsPlan plan = plan_by_elements(call, memory, in_fours);
    const auto consider = [&](const GemmSlabsPlan& other) {
        if (other.fits && (!plan.fits || other.seconds * other.weight < plan.seconds * plan.weight))
            plan = other;
    };
    consider(plan_skinny(call));
    consider(plan_outer(call));
    const auto [along, narrow] = std::minmax(call.c.rows, call.c.columns, std::greater<>());
    const std::int64_t k = call.a.columns;
    const bool large = narrow > most_narrow;
    if (along < least_long || k > (large ? longest_k_of_large : longest_k) ||
        (large && narrow < (least_large + along - 1) / along))
        return plan;
    const bool by_columns = along == call.c.columns;
    for (const std::int64_t size : {48, 64, 80, 96, 128, 192}) {
        const GemmBatchPlan batch = plan_gemm_batch(context, slabs_of(call, by_columns, size));
        const double seconds =
            1e-6 * (microseconds(batch, narrow, k) + (along % size == 0 ? 0 : rest));
        if (large && batch.route != GemmBatchRoute::pipelined) continue;
        if (batch.microseconds > 0)
            consider({size, by_columns, batch, seconds, gemm_whole_chain_weight(k), true});
    }
    return plan;
}

GemmSlabsPlan plan_gemm_slabs(const GemmCall<double>& call) { return plan_outer(call); }

void enqueue_gemm_slabs(Context& context, const GemmCall<double>& call, const GemmSlabsPlan& plan) {
    enqueue_gemm_batch<double>(context, {call.alpha, {call.a}, {call.b}, call.beta, {call.c}, 1},
                               plan.batch);
}
void enqueue_gemm_slabs(Context& context, const GemmCall<float>& call, const GemmSlabsPlan& plan) {
    if (plan.stream_k.fits())
        return enqueue_stream_k(context, plan.stream_k.entry, plan.stream_k.cut,
                                {call.alpha, {call.a}, {call.b}, call.beta, {call.c}, 1});
    const GemmBatch<float> slabs = slabs_of(call, plan.by_columns, plan.size);
    const std::int64_t made = slabs.count * plan.size;
    const std::int64_t left = (plan.by_columns ? call.c.columns : call.c.rows) - made;
    GemmCall<float> rest = part_of(call, plan.by_columns, made, left);
    if (left > 0)  // both are sound before any is enqueued
        choose_gemm(context, rest, {GemmKernel::best, -1, Precision::fp32_strict});
    enqueue_gemm_batch(context, slabs, plan.batch);
    if (left > 0) enqueue_gemm(context, rest, false);
}

}  // namespace tinyblas
