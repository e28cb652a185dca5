// SPDX-License-Identifier: MIT
// Compiles the rung pipelined of gemm, which needs compute capability 9.0a. This file is assembled
// with ptxas -O1, which keeps the main loop's multiply-adds in order (gemm_in_order.cu).
#include "gemm_pipelined.hpp"

#include <algorithm>
#include <limits>

#include "gemm_tuned_ring.hpp"
#include "kernels/gemm/5_pipelined.cuh"
#include "kernels/gemm/batch_maps.hpp"
#include "kernels/gemm/pipelined_pack.cuh"
#include "workspace.hpp"

namespace tinyblas {
namespace {

constexpr std::size_t most_cut_tiles = 2 * pipelined_multiprocessors;
static_assert((most_cut_tiles * pipelined_counters + 1) * sizeof(unsigned) <=
              Workspace::counter_bytes);

/// Where it begins, in elements from a multiple of 16 bytes.
int shift_of(const MatrixView<const float>& operand) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(operand.data) % 16 / sizeof(float));
}

constexpr std::int64_t longest_pitch = std::int64_t{1} << 37;  // that the copy engine takes
constexpr std::int64_t most_tiles = std::int64_t{1} << 30;     // of a batch

/// `operand`: rows are the index that it shares with C, columns are k.
PipelinedLayout layout_of(const MatrixView<const float>& operand) {
    const std::int64_t rows = operand.row_stride, columns = operand.column_stride;
    if (rows == 1 && columns % 4 == 0 && columns >= operand.rows && columns < longest_pitch)
        return shift_of(operand) == 0 ? PipelinedLayout::mapped : PipelinedLayout::shifted;
    if (columns != 1 || rows % 4 != 0) return PipelinedLayout::other;
    return rows >= operand.columns && rows < longest_pitch && shift_of(operand) == 0
               ? PipelinedLayout::by_rows
               : PipelinedLayout::along_k;
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

/// Takes the operand, whose neighbours lie along k, row by row.
PipelinedOperand prepare_rows(const MatrixView<const float>& operand, GemmTile tile) {
    PipelinedOperand prepared = {};
    prepared.map = device::map_tiles(operand.data, operand.rows, operand.columns,
                                     operand.row_stride, tile.block_m, tile.block_k, "gemm", true);
    return prepared;
}

PipelinedKernel kernel_of(PipelinedForm form) {
    if (form.sliced)
        return form.a_by_rows ? make_pipelined_kernel<PipelinedForm{4, true, true}>()
                              : make_pipelined_kernel<PipelinedForm{4, false, true}>();
    if (form.parts == 4)
        return form.a_by_rows ? make_pipelined_kernel<PipelinedForm{4, true}>()
                              : make_pipelined_kernel<PipelinedForm{4}>();
    if (form.parts == 2)
        return form.a_by_rows ? make_pipelined_kernel<PipelinedForm{2, true}>()
                              : make_pipelined_kernel<PipelinedForm{2}>();
    return form.in_place ? make_pipelined_kernel<PipelinedForm{.in_place = true}>()
                         : make_pipelined_kernel<PipelinedForm{}>();
}

/// The product of whole tiles.
void launch_tiles(device::Stream stream, const GemmCall<float>& call, const GemmPipelinedPlan& plan,
                  void* scratch, unsigned* counters) {
    auto* const memory = static_cast<std::byte*>(scratch);
    std::byte* const packed_b = memory + plan.pack_a_bytes;
    std::byte* const partials = packed_b + plan.pack_b_bytes;
    PipelinedPackTask pack_a = {}, pack_b = {};
    const GemmTile t = plan.form.tile();
    const bool packs = plan.pack_a || plan.pack_b;
    const bool alone = plan.edge_rows() + plan.edge_columns() == 0;  // no kernel runs beside
    const PipelinedWork work = {
        call.alpha,
        call.beta,
        plan.form.a_by_rows ? prepare_rows(call.a, t)
                            : prepare(call.a, plan.turn_a, plan.pack_a, memory, t.block_m, pack_a),
        prepare(call.b.transposed(), false, plan.pack_b, packed_b, t.block_n, pack_b),
        call.c,
        call.a.columns + plan.skip,
        plan.skip,
        plan.load,
        reinterpret_cast<float*>(partials),
        counters,
        0,
        1,
        !plan.sums_apart && !(packs && alone)};
    if (packs) enqueue_gemm_pack(stream, pack_a, pack_b, {.early = alone});
    launch_gemm_pipelined(stream, kernel_of(plan.form), work);
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

/// Of C (along.rows x across.rows), the columns at both ends, `head` of them and the others of
/// `count`. `packed`: along's copy, if there is one.
GemmEdge edge_of(const MatrixView<const float>& along, const MatrixView<const float>& across,
                 const MatrixView<float>& c, int head, int count,
                 const std::byte* packed = nullptr) {
    const auto size = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
    GemmEdge edge = {along, across, c, head, count};
    edge.along_k = size(along.column_stride) < size(along.row_stride);
    edge.vectors = along.row_stride == 1 && along.column_stride % 4 == 0 && along.rows % 4 == 0 &&
                   shift_of(along) == 0;
    if (packed) {  // up to a multiple of 16 bytes, too
        edge.vectors = true;
        edge.along = {reinterpret_cast<const float*>(packed), along.rows, along.columns, 1,
                      pipelined_pitch(along.rows)};
    }
    return edge;
}

/// What the tiles of C's inside leave. `scratch`: where packed operands are.
GemmEdgesWork edges_of(const GemmCall<float>& call, const GemmPipelinedPlan& plan,
                       const void* scratch, unsigned* counter) {
    const std::int64_t i = plan.lead_m, rows = call.c.rows - plan.edge_rows();
    const std::int64_t j = plan.lead_n, columns = call.c.columns - plan.edge_columns();
    const auto* const packed_a = static_cast<const std::byte*>(scratch);
    const std::byte* const packed_b = packed_a + plan.pack_a_bytes;
    const auto beside = [&](std::int64_t first, std::int64_t count, const std::byte* packed) {
        const GemmCall<float> part = part_of(call, first, 0, count, call.c.columns);
        return edge_of(part.a, part.b.transposed(), part.c, plan.lead_n, plan.edge_columns(),
                       packed);
    };
    const GemmCall<float> middle = part_of(call, 0, j, call.c.rows, columns);
    const GemmEdge below = edge_of(middle.b.transposed(), call.a, middle.c.transposed(),
                                   plan.lead_m, plan.edge_rows(), plan.pack_b ? packed_b : nullptr);
    GemmEdgesWork work = {call.alpha,
                          call.beta,
                          {below, beside(i, rows, plan.pack_a ? packed_a : nullptr),
                           beside(0, i, nullptr), beside(i + rows, plan.fringe_m, nullptr)}};
    for (const GemmEdge& edge : work.edges) work.items += edge.items();
    work.counter = counter;
    return work;
}

/// `plan` is for the call as it is.
void enqueue(Context& context, const GemmCall<float>& call, const GemmPipelinedPlan& plan) {
    const std::int64_t rows = call.c.rows - plan.edge_rows();
    const std::int64_t columns = call.c.columns - plan.edge_columns();
    void* const scratch = plan.scratch_bytes > 0 ? context.scratch(plan.scratch_bytes) : nullptr;
    const bool edges = plan.edge_rows() + plan.edge_columns() > 0;
    unsigned* counters = nullptr;
    if (edges || (plan.load.cut > 0 && !plan.sums_apart))
        counters = static_cast<unsigned*>(
            context.workspace().counters(context.stream(), Workspace::CountersOf::gemm, "gemm"));
    const GemmCall<float> tiles = part_of(call, plan.lead_m, plan.lead_n, rows, columns);
    launch_tiles(context.stream(), tiles, plan, scratch, plan.sums_apart ? nullptr : counters);
    if (edges)
        enqueue_gemm_edges(
            context.stream(),
            edges_of(call, plan, scratch, counters + most_cut_tiles * pipelined_counters));
}

/// How an operand of a batch lies; from product to product, how many k and rows of one matrix with
/// all of them; how many products a launch can take.
struct BatchOperand {
    PipelinedLayout layout = PipelinedLayout::other;
    std::int64_t k_apart = 0, rows_apart = 0, most = 0;

    MatrixView<const float> all(MatrixView<const float> first, std::int64_t count) const {
        first.columns += (count - 1) * k_apart;
        first.rows += (count - 1) * rows_apart;
        return first;
    }
};

/// `first`: rows are the index that it shares with C. `in_place`: even where neighbours lie along
/// k.
BatchOperand batch_operand(const MatrixView<const float>& first, std::int64_t stride,
                           bool in_place) {
    constexpr std::int64_t longest = std::numeric_limits<int>::max();
    BatchOperand operand = {layout_of(first)};
    if (operand.layout == PipelinedLayout::shifted) operand.layout = PipelinedLayout::other;
    if (operand.layout == PipelinedLayout::other || stride < 0 ||
        std::max(first.rows, first.columns) > longest)
        return operand;
    const bool mapped = operand.layout == PipelinedLayout::mapped;
    const auto most = [](std::int64_t extent, std::int64_t apart, std::int64_t end) {
        return apart == 0 ? longest : (end - extent) / apart + 1;
    };
    if (!mapped && !in_place) {
        // Packing reads what lies between: nothing may.
        if (stride != 0 && stride != first.rows * first.row_stride) return operand;
        operand.rows_apart = stride == 0 ? 0 : first.rows;
        if (operand.rows_apart % 4 == 0)
            operand.most = most(first.rows, operand.rows_apart, longest);
        return operand;
    }
    // A map's lines: k or rows; how many of them, and how much along them, products are apart.
    const std::int64_t pitch = mapped ? first.column_stride : first.row_stride;
    if (pitch < (mapped ? first.rows : first.columns) || pitch >= longest_pitch ||
        (!mapped && shift_of(first) != 0))
        return operand;
    const std::int64_t lines = stride / pitch, along = stride % pitch;
    if (along % 4 != 0) return operand;  // where the copy engine's tiles begin
    operand.k_apart = mapped ? lines : along;
    operand.rows_apart = mapped ? along : lines;
    operand.most =
        std::min(most(mapped ? first.columns : first.rows, lines, longest),
                 most(mapped ? first.rows : first.columns, along, std::min(pitch, longest)));
    return operand;
}

BatchOperand batch_a(const GemmBatch<float>& x) {
    return batch_operand(x.a.first, x.a.stride, true);
}
BatchOperand batch_b(const GemmBatch<float>& x) {
    return batch_operand(x.b.first.transposed(), x.b.stride, false);
}

/// How matrices lie, wherever each begins.
PipelinedLayout layout_anywhere(MatrixView<const float> operand) {
    operand.data = nullptr;
    return layout_of(operand);
}

}  // namespace

void enqueue_gemm_pack(device::Stream stream, const PipelinedPackTask& a,
                       const PipelinedPackTask& b, PipelinedPackOrder order) {
    launch_gemm_pipelined_pack(stream, a, b, order);
}

std::int64_t gemm_pipelined_most(const Context& context, const GemmBatch<float>& x) {
    // Beyond a product's k lies the next one's.
    if (x.alpha == 0 || x.c.pointers || x.k() == 0 || x.k() % pipelined_tile.block_k != 0) return 0;
    const BatchOperand a = batch_a(x), b = batch_b(x);
    const std::int64_t most =
        std::min({a.most, b.most, most_tiles / pipelined_tiles(x.m(), x.n(), 4)});
    if (b.layout == PipelinedLayout::mapped || most == 0) return most;
    constexpr std::size_t most_packed = 64 << 20;  // bytes
    const std::int64_t columns =
        static_cast<std::int64_t>(std::min(most_packed, context.scratch_limit()) / sizeof(float)) /
        x.k();
    const std::int64_t pitch = pipelined_pitch(x.n());
    if (b.rows_apart == 0) return pitch <= columns ? most : 0;
    return std::min(most, columns / pitch);
}

void enqueue_gemm_pipelined(Context& context, const GemmBatch<float>& x, int products) {
    const BatchOperand a = batch_a(x), b = batch_b(x);
    const MatrixView<const float> all_a = a.all(x.a.first, x.count);
    const MatrixView<const float> all_b = b.all(x.b.first.transposed(), x.count);
    const bool along_k = a.layout != PipelinedLayout::mapped;
    const PipelinedForm form = {products, along_k && products > 1};
    const GemmTile t = form.tile();
    const bool pack_b = b.layout != PipelinedLayout::mapped;
    void* packed = nullptr;
    if (pack_b) packed = context.scratch(pipelined_packed_bytes(all_b.rows, all_b.columns));
    PipelinedPackTask none = {}, pack = {};
    PipelinedWork work = {
        x.alpha,
        x.beta,
        form.a_by_rows
            ? prepare_rows(all_a, t)
            : prepare(along_k ? x.a.first : all_a, along_k, false, nullptr, t.block_m, none),
        prepare(all_b, false, pack_b, static_cast<std::byte*>(packed), t.block_n, pack),
        x.c.first,
        x.k(),
        0,
        plan_pipelined_batch(x.m(), x.n(), x.k(), x.count, products),
        nullptr,
        nullptr,
        x.c.stride,
        static_cast<unsigned>(x.count),
        true};
    work.a.k_apart = static_cast<int>(a.k_apart);
    work.a.rows_apart = static_cast<int>(a.rows_apart);
    work.a.apart = x.a.stride;
    work.b.k_apart = static_cast<int>(b.k_apart);
    work.b.rows_apart = static_cast<int>(b.rows_apart);
    if (pack_b) enqueue_gemm_pack(context.stream(), none, pack, {.early = false});
    launch_gemm_pipelined(context.stream(), kernel_of(form), work);
}

std::int64_t gemm_pipelined_most_in_place(const Context& context, const GemmBatch<float>& x) {
    constexpr std::int64_t longest = std::numeric_limits<int>::max();
    const MatrixView<const float>& a = x.a.first;
    if (x.alpha == 0 || x.k() == 0 || (a.column_stride != 1 && a.row_stride != 1) ||
        x.b.first.column_stride != 1 || std::max({x.m(), x.n(), x.k()}) > longest)
        return 0;
    const std::size_t maps = context.scratch_limit() / (2 * sizeof(device::TileMap));
    return std::min(most_tiles / pipelined_tiles(x.m(), x.n()), static_cast<std::int64_t>(maps));
}

void enqueue_gemm_pipelined_in_place(Context& context, const GemmBatch<float>& x) {
    constexpr PipelinedForm form = {.in_place = true};
    const GemmTile t = form.tile();
    const auto count = static_cast<unsigned>(x.count);
    auto* const memory =
        static_cast<device::TileMap*>(context.scratch(2 * count * sizeof(device::TileMap)));
    GemmBatchMaps maps = {{}, 0, count, memory};
    const auto operand = [&](const GemmBatchOperand<const float>& matrices, bool turned,
                             int block) {
        PipelinedOperand made = {};
        made.rows = matrices.first.rows;
        made.turned = turned;
        made.stride = turned ? matrices.first.row_stride : matrices.first.column_stride;
        if (layout_anywhere(matrices.first) != PipelinedLayout::mapped) return made;
        made.map = device::map_tiles(reinterpret_cast<const float*>(memory),  // of any matrix
                                     x.k(), made.rows, made.stride, t.block_k, block, "gemm");
        maps.operands[maps.operand_count++] = {matrices, made.map};
        return made;
    };
    const GemmBatchOperand<const float> b = x.b.transposed();
    const PipelinedLayout a_layout = layout_anywhere(x.a.first);
    const bool turned = a_layout != PipelinedLayout::mapped && x.a.first.column_stride == 1;
    PipelinedWork work = {x.alpha,
                          x.beta,
                          operand(x.a, turned, t.block_m),
                          operand(b, false, t.block_n),
                          x.c.first,
                          x.k(),
                          0,
                          plan_pipelined_batch(x.m(), x.n(), x.k(), x.count, 1),
                          nullptr,
                          nullptr,
                          0,
                          count,
                          true};
    const bool both = maps.operand_count == 2;
    work.in_place = {x.a,
                     b,
                     x.c,
                     a_layout != PipelinedLayout::other,
                     layout_anywhere(b.first) == PipelinedLayout::mapped,
                     memory,
                     memory + (both ? count : 0)};
    if (maps.operand_count > 0) enqueue_gemm_batch_maps(context.stream(), maps);
    launch_gemm_pipelined(context.stream(), kernel_of(form), work);
}

GemmPipelinedPlan plan_gemm_pipelined(const GemmCall<float>& call, std::size_t most_scratch,
                                      PipelinedForms forms, std::optional<bool> exchanged) {
    const std::int64_t k = call.a.columns;
    const auto plan = [&](const MatrixView<const float>& a, const MatrixView<const float>& b,
                          bool is_exchanged) {
        return plan_gemm_pipelined(a.rows, b.rows, k, layout_of(a), layout_of(b), most_scratch,
                                   shift_of(a), shift_of(b), forms, is_exchanged);
    };
    const MatrixView<const float> b = call.b.transposed();
    const GemmPipelinedPlan none, as_given = exchanged == true ? none : plan(call.a, b, false);
    if (exchanged == false || (!exchanged && call.beta != 0)) return as_given;
    const GemmPipelinedPlan other = plan(b, call.a, true);
    return as_given.fits && (!other.fits || as_given.seconds <= other.seconds) ? as_given : other;
}

void enqueue_gemm_pipelined(Context& context, const GemmCall<float>& call,
                            const GemmPipelinedPlan& plan) {
    if (!plan.exchanged) return enqueue(context, call, plan);
    GemmCall<float> other = call;
    exchange(other);
    enqueue(context, other, plan);
}

}  // namespace tinyblas
