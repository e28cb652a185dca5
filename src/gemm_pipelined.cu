// SPDX-License-Identifier: MIT
// Compiles the rung pipelined of gemm, which needs compute capability 9.0a. This file is assembled
// with ptxas -O1, which keeps the main loop's loads where they are, in between its multiply-adds.
#include "gemm_pipelined.hpp"

#include "gemm_sliced.hpp"
#include "kernels/gemm/5_pipelined.cuh"
#include "kernels/gemm/pipelined_pack.cuh"
#include "workspace.hpp"

namespace tinyblas {
namespace {

constexpr std::size_t most_cut_tiles = 2 * pipelined_multiprocessors;
static_assert(most_cut_tiles * pipelined_counters * sizeof(unsigned) <= Workspace::counter_bytes);

/// `operand`: rows are the index that it shares with C, columns are k.
PipelinedLayout layout_of(const MatrixView<const float>& operand) {
    const std::int64_t rows = operand.row_stride, columns = operand.column_stride;
    if (reinterpret_cast<std::uintptr_t>(operand.data) % 16 != 0) return PipelinedLayout::other;
    constexpr std::int64_t longest = std::int64_t{1} << 37;  // stride that the copy engine takes
    if (rows == 1 && columns % 4 == 0 && columns >= operand.rows && columns < longest)
        return PipelinedLayout::mapped;
    return columns == 1 && rows % 4 == 0 ? PipelinedLayout::along_k : PipelinedLayout::other;
}

/// Takes the operand in place, or a copy of it that `task` makes at `packed`.
PipelinedOperand prepare(const MatrixView<const float>& operand, bool turned, bool pack,
                         std::byte* packed, int block, PipelinedPackTask& task) {
    PipelinedOperand prepared = {};
    prepared.data = operand.data;
    prepared.rows = operand.rows;
    prepared.stride = turned ? operand.row_stride : operand.column_stride;
    prepared.turned = turned;
    if (turned) return prepared;
    if (pack) {
        prepared.stride = pipelined_pitch(operand.rows);
        task = {operand, reinterpret_cast<float*>(packed), prepared.stride};
        prepared.data = task.to;
    }
    prepared.map = device::map_tiles(prepared.data, operand.columns, operand.rows, prepared.stride,
                                     pipelined_tile.block_k, block, "gemm");
    return prepared;
}

/// The product of whole tiles.
void launch_tiles(device::Stream stream, const GemmCall<float>& call, const GemmPipelinedPlan& plan,
                  void* scratch, unsigned* counters) {
    auto* const memory = static_cast<std::byte*>(scratch);
    std::byte* const packed_b = memory + plan.pack_a_bytes;
    std::byte* const partials = packed_b + plan.pack_b_bytes;
    PipelinedPackTask pack_a = {}, pack_b = {};
    const PipelinedWork work = {
        call.alpha,
        call.beta,
        prepare(call.a, plan.turn_a, plan.pack_a, memory, pipelined_tile.block_m, pack_a),
        prepare(call.b.transposed(), false, plan.pack_b, packed_b, pipelined_tile.block_n, pack_b),
        call.c,
        call.a.columns,
        plan.load,
        reinterpret_cast<float*>(partials),
        counters};
    if (plan.pack_a || plan.pack_b) launch_gemm_pipelined_pack(stream, pack_a, pack_b);
    launch_gemm_pipelined(stream, work);
}

/// `call` with these rows and columns of its C alone.
GemmCall<float> part_of(const GemmCall<float>& call, std::int64_t i, std::int64_t j,
                        std::int64_t rows, std::int64_t columns) {
    GemmCall<float> part = call;
    part.a = call.a.block(i, 0, rows, call.a.columns);
    part.b = call.b.block(0, j, call.b.rows, columns);
    part.c = call.c.block(i, j, rows, columns);
    return part;
}

}  // namespace

GemmPipelinedPlan plan_gemm_pipelined(const GemmCall<float>& call, std::size_t most_scratch) {
    return plan_gemm_pipelined(call.c.rows, call.c.columns, call.a.columns, layout_of(call.a),
                               layout_of(call.b.transposed()), most_scratch);
}

void enqueue_gemm_pipelined(Context& context, const GemmCall<float>& call,
                            const GemmPipelinedPlan& plan) {
    const std::int64_t rows = call.c.rows - plan.fringe_m, columns = call.c.columns - plan.fringe_n;
    void* const scratch = plan.scratch_bytes > 0 ? context.scratch(plan.scratch_bytes) : nullptr;
    void* counters = nullptr;
    if (plan.load.cut > 0)
        counters =
            context.workspace().counters(context.stream(), Workspace::CountersOf::gemm, "gemm");
    launch_tiles(context.stream(), part_of(call, 0, 0, rows, columns), plan, scratch,
                 static_cast<unsigned*>(counters));
    if (plan.fringe_m > 0)
        enqueue_gemm_sliced(context, part_of(call, rows, 0, plan.fringe_m, call.c.columns),
                            plan.below);
    if (plan.fringe_n > 0)
        enqueue_gemm_sliced(context, part_of(call, 0, columns, rows, plan.fringe_n), plan.beside);
}

}  // namespace tinyblas
