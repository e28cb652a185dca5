// SPDX-License-Identifier: MIT
// Compiles the rung sliced of gemm, and enqueues it.
#include "gemm_sliced.hpp"

#include <utility>

#include "gemm_sliced_launchers.hpp"
#include "workspace.hpp"

namespace tinyblas {
namespace {

/// Whether the ranks of k are clusters. Elsewhere their sums go through memory, in the same order.
bool clusters_on(int compute_capability) {
    return device::has_clusters && compute_capability == 90;
}

/// Whether the elements of a tile come one by one.
bool is_slow(const MatrixView<const float>& operand) {
    return sliced_walk(operand) != SlicedWalk::vectors;
}

/// Whether transposed(C) is computed: as the plan says; or of squares, where only one operand is
/// slow and would lie along a side of the tiles that is twice as long as the other. If C is read,
/// too, its rows matter more.
bool exchanges(const GemmBatch<float>& x, const GemmSlicedPlan& plan) {
    const GemmTile& t = sliced_table[plan.entry].tile.tile;
    if (x.m() != x.n() || t.block_n < 2 * t.block_m || x.beta != 0) return plan.exchange;
    return !is_slow(x.a.first) && is_slow(x.b.first.transposed());
}

}  // namespace

GemmSlicedPlan plan_gemm_sliced(const GemmCall<float>& call, std::size_t most_scratch) {
    GemmSlicedPlan plan =
        plan_gemm_sliced(call.c.rows, call.c.columns, call.a.columns, most_scratch);
    // The times are those of one operand whose elements come one by one.
    if (is_slow(call.a) && is_slow(call.b.transposed())) plan.seconds *= 1.05;
    return plan;
}

void launch_gemm_sliced(device::Stream stream, int entry, const SlicedWork& work,
                        int compute_capability, const SlicedBatch* batch) {
    const SlicedKernel& kernel = sliced_table[entry].tile.tile.in_order()
                                     ? sliced_kernel_in_order(entry)
                                     : sliced_kernels<false>[static_cast<std::size_t>(entry)];
    launch_gemm_sliced(stream, kernel, entry, work, batch, compute_capability == 90);
}

void enqueue_gemm_sliced(Context& context, const GemmCall<float>& call,
                         const GemmSlicedPlan& plan) {
    const GemmBatch<float> one = {call.alpha, {call.a}, {call.b}, call.beta, {call.c}, 1};
    enqueue_gemm_sliced(context, one, plan);
}

void enqueue_gemm_sliced(Context& context, const GemmBatch<float>& given,
                         const GemmSlicedPlan& plan) {
    const GemmBatch<float> x = exchanges(given, plan) ? transposed(given) : given;
    SlicedWork work = {x.alpha, x.a.first, x.b.first, x.beta, x.c.first};
    work.a_walk = sliced_walk(x.a.first);
    work.b_walk = sliced_walk(x.b.first.transposed());
    work.cut = plan.cut;
    const int compute_capability = context.compute_capability();
    work.cluster = plan.cut.ranks_log2 > 0 && clusters_on(compute_capability);
    if (work.through_memory()) {
        work.partials = static_cast<float*>(context.scratch(plan.scratch_bytes));
        work.counters = static_cast<unsigned*>(
            context.workspace().counters(context.stream(), Workspace::CountersOf::gemm, "gemm"));
    }
    const SlicedBatch batch = {x.a, x.b, x.c, plan.products};
    launch_gemm_sliced(context.stream(), plan.entry, work, compute_capability,
                       plan.products > 1 ? &batch : nullptr);
}

}  // namespace tinyblas
