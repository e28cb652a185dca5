// SPDX-License-Identifier: MIT
// Compiles the rung tensor of gemm, which needs compute capability 9.0a.
#include "gemm_tensor.hpp"

#include <array>
#include <utility>

#include "kernels/gemm/6_tensor.cuh"
#include "workspace.hpp"

namespace tinyblas {
namespace {

/// Of an entry, by which neighbours are close: along k in A, along k in B.
template <int entry>
constexpr std::array<GemmTensorKernel, 4> by_layout = {
    gemm_tensor_kernel<entry, false, false>, gemm_tensor_kernel<entry, false, true>,
    gemm_tensor_kernel<entry, true, false>, gemm_tensor_kernel<entry, true, true>};

constexpr auto kernels = []<int... entry>(std::integer_sequence<int, entry...>) {
    return std::array{by_layout<entry>...};
}
(std::make_integer_sequence<int, gemm_tensor_entries>());

constexpr std::size_t counters = Workspace::counter_bytes / sizeof(unsigned);
constexpr bool leaves_last_counter() {
    for (const GemmTensorTile& t : gemm_tensor_table)
        if (2 * t.at_once() * static_cast<unsigned>(t.warps()) >= counters) return false;
    return true;
}
static_assert(leaves_last_counter());  // for tiles begun

/// Whether the operand's neighbours in k lie closer than those in m or n.
bool along_k(const MatrixView<const double>& operand) {
    const auto size = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
    return size(operand.column_stride) <= size(operand.row_stride);
}

}  // namespace

TensorPitch tensor_pitch(const MatrixView<const double>& operand) {
    const bool is_along_k = along_k(operand);
    const std::int64_t stride = is_along_k ? operand.column_stride : operand.row_stride;
    const std::int64_t apart = is_along_k ? operand.row_stride : operand.column_stride;
    if (stride != 1 || apart % 2 != 0) return TensorPitch::elements;
    return apart % 4 != 0    ? TensorPitch::pairs
           : apart % 16 != 0 ? TensorPitch::sectors
                             : TensorPitch::lines;
}

GemmTensorPlan plan_gemm_tensor(const GemmCall<double>& call, std::size_t most_scratch) {
    return plan_gemm_tensor(call.c.rows, call.c.columns, call.a.columns, tensor_pitch(call.a),
                            tensor_pitch(call.b.transposed()), most_scratch);
}

void enqueue_gemm_tensor(Context& context, const GemmCall<double>& call,
                         const GemmTensorPlan& plan) {
    const GemmBatch<double> one = {call.alpha, {call.a}, {call.b}, call.beta, {call.c}, 1};
    enqueue_gemm_tensor(context, one, plan);
}

void enqueue_gemm_tensor(Context& context, const GemmBatch<double>& x, const GemmTensorPlan& plan) {
    GemmTensorWork work = {x.alpha, x.beta,  x.a,     x.b.transposed(), x.c,
                           plan,    nullptr, nullptr, nullptr};
    const double bytes = static_cast<double>(x.count) * gemm_tensor_bytes(x.m(), x.n(), x.k());
    work.plan.blocks = gemm_tensor_blocks(
        plan, bytes, gemm_tensor_bytes_in_microsecond_of(context.memory_speed()));
    work.ahead = gemm_tensor_reads_ahead(x.k(), bytes);
    // All must have a place at once.
    const bool together =
        plan.together && plan.blocks <= static_cast<unsigned>(context.multiprocessors());
    if ((plan.scratch_bytes > 0 && !plan.sums_apart) || together) {
        work.counters = static_cast<unsigned*>(
            context.workspace().counters(context.stream(), Workspace::CountersOf::gemm, "gemm"));
        if (together) work.begun = work.counters + counters - 1;
    }
    if (plan.scratch_bytes > 0)
        work.parts = static_cast<double*>(context.scratch(plan.scratch_bytes));
    const auto& layouts = kernels[static_cast<std::size_t>(plan.entry)];
    const unsigned layout = (along_k(work.a.first) ? 2u : 0u) + (along_k(work.b.first) ? 1u : 0u);
    launch_gemm_tensor(context.stream(), layouts[layout], work);
}

}  // namespace tinyblas
