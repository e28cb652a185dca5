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

}  // namespace

GemmSlicedPlan plan_gemm_sliced(const GemmCall<float>& call, std::size_t most_scratch) {
    const std::int64_t m = call.c.rows, n = call.c.columns;
    GemmSlicedPlan plan = plan_gemm_sliced(m, n, call.a.columns, most_scratch);
    // The times are those of one operand whose elements come one by one.
    const bool a_slow = sliced_walk(call.a) != SlicedWalk::vectors;
    const bool b_slow = sliced_walk(call.b.transposed()) != SlicedWalk::vectors;
    if (a_slow && b_slow) plan.seconds *= 1.05;
    if (!plan.fits || a_slow == b_slow) return plan;
    // That one should not lie along the longer side of a tile, where there is twice as much of it.
    const GemmTile& t = sliced_table[plan.entry].tile.tile;
    const auto tiles = [&](std::int64_t along_m, std::int64_t along_n) {
        return (along_m + t.block_m - 1) / t.block_m * ((along_n + t.block_n - 1) / t.block_n);
    };
    if (t.block_n >= 2 * t.block_m && tiles(m, n) == tiles(n, m)) plan.exchange = b_slow;
    return plan;
}

void launch_gemm_sliced(device::Stream stream, int entry, const SlicedWork& work,
                        int compute_capability) {
    const auto launcher = sliced_table[entry].tile.tile.loads_together > 0
                              ? sliced_launcher_in_order(entry)
                              : sliced_launchers<false>[static_cast<std::size_t>(entry)];
    launcher(stream, work, compute_capability == 90);
}

void enqueue_gemm_sliced(Context& context, const GemmCall<float>& call,
                         const GemmSlicedPlan& plan) {
    SlicedWork work = {};
    work.alpha = call.alpha;
    work.a = plan.exchange ? call.b.transposed() : call.a;
    work.b = plan.exchange ? call.a.transposed() : call.b;
    work.beta = call.beta;
    work.c = plan.exchange ? call.c.transposed() : call.c;
    work.a_walk = sliced_walk(work.a);
    work.b_walk = sliced_walk(work.b.transposed());
    work.cut = plan.cut;
    const int compute_capability = context.compute_capability();
    work.cluster = plan.cut.ranks_log2 > 0 && clusters_on(compute_capability);
    if (work.through_memory()) {
        work.partials = static_cast<float*>(context.scratch(plan.scratch_bytes));
        work.counters = static_cast<unsigned*>(
            context.workspace().counters(context.stream(), Workspace::CountersOf::gemm, "gemm"));
    }
    launch_gemm_sliced(context.stream(), plan.entry, work, compute_capability);
}

}  // namespace tinyblas
