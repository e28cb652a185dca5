// SPDX-License-Identifier: MIT
// Compiles the rung sliced of gemm, and enqueues it.
#include "gemm_sliced.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "gemm_sliced_launchers.hpp"
#include "kernels/gemm/dots.cuh"
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

/// Whether its lines along k can be read 16 bytes at a time.
bool in_vectors_along_k(const MatrixView<const float>& operand) {
    return operand.row_stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(operand.data) % 16 == 0;
}

/// By dots.cuh, if the operands lie so and C has few rows or columns.
GemmSlicedPlan plan_gemm_dots(const GemmCall<float>& call) {
    GemmSlicedPlan plan;
    const MatrixView<const float> b = call.b.transposed();
    const std::int64_t rows = std::max(call.c.rows, call.c.columns);
    const std::int64_t columns = std::min(call.c.rows, call.c.columns);
    plan.fits = call.a.column_stride == 1 && b.column_stride == 1 &&
                columns <= gemm_dots_most_columns && rows <= std::int64_t{1} << 32;
    if (!plan.fits) return plan;
    plan.dots = true;
    plan.exchange = call.c.rows < call.c.columns;
    const bool vectors = in_vectors_along_k(call.a) && in_vectors_along_k(b);
    plan.seconds = 1e-6 * gemm_dots_microseconds(rows, columns, call.a.columns, vectors);
    return plan;
}

void enqueue_gemm_dots(Context& context, const GemmCall<float>& call, const GemmSlicedPlan& plan) {
    GemmDots x = {call.alpha, call.beta, call.a, call.b.transposed(), call.c};
    if (plan.exchange) {
        std::swap(x.a, x.b);
        x.c = call.c.transposed();
    }
    using Launcher = decltype(&launch_gemm_dots<0, true>);
    constexpr auto with = []<bool vectors>(std::bool_constant<vectors>) {
        return launcher_table<Launcher, gemm_dots_entries>(
            []<int e>(std::integral_constant<int, e>) { return launch_gemm_dots<e, vectors>; });
    };
    constexpr auto by_elements = with(std::false_type()), by_vectors = with(std::true_type());
    const bool vectors = in_vectors_along_k(x.a) && in_vectors_along_k(x.b);
    const auto entry = static_cast<std::size_t>(gemm_dots_entry(x.b.rows));
    (vectors ? by_vectors : by_elements)[entry](context.stream(), x);
}

}  // namespace

GemmSlicedPlan plan_gemm_sliced(const GemmCall<float>& call, std::size_t most_scratch) {
    const std::int64_t m = call.c.rows, n = call.c.columns;
    const SlicedLayout layout = {sliced_walk(call.a), sliced_walk(call.b.transposed()), true};
    GemmSlicedPlan plan = plan_gemm_sliced(m, n, call.a.columns, most_scratch, 1, layout);
    if (plan.fits && m == n) {
        const GemmBatch<float> one = {call.alpha, {call.a}, {call.b}, call.beta, {call.c}, 1};
        const SlicedEntry& entry = sliced_table[plan.entry];
        const std::int64_t tiles = SlicedTiles(entry.tile.tile, m, n).count();
        plan.seconds += 1e-6 * (sliced_microseconds(entry, tiles, plan.cut,
                                                    layout.exchanged(exchanges(one, plan))) -
                                sliced_microseconds(entry, tiles, plan.cut, {}));
    }
    const GemmSlicedPlan dots = plan_gemm_dots(call);
    return dots.fits && (!plan.fits || dots.weighed() < plan.weighed()) ? dots : plan;
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
    if (plan.dots) return enqueue_gemm_dots(context, call, plan);
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
