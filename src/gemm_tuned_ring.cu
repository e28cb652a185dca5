// SPDX-License-Identifier: MIT
// Compiles the tuned rung's entry that only machine code for compute capability 9.0a has.
#include "gemm_tuned_ring.hpp"

#include <algorithm>
#include <cstdint>

#include "gemm_pipelined.hpp"
#include "kernels/gemm/batch_maps.cuh"
#include "kernels/gemm/batched_plan.hpp"
#include "kernels/gemm/tuned_ring.cuh"

namespace tinyblas {
namespace {

using Operand = GemmBatchOperand<const float>;

/// An operand as lines of neighbours: rows are the index that it shares with C, columns are k, or
/// the other way round. Whether neighbours lie along k.
struct Lines {
    MatrixView<const float> first;
    bool along_k;

    explicit Lines(const MatrixView<const float>& operand)
        : first(operand), along_k(operand.column_stride == 1 && operand.row_stride != 1) {
        if (!along_k) first = operand.transposed();
    }
};

/// Whether the copy engine can read the operand's `count` matrices; by pointers, those that begin
/// at 16 bytes.
bool is_mapped(const Lines& lines, const Operand& operand, std::int64_t count) {
    constexpr std::int64_t longest = std::int64_t{1} << 31, longest_line = std::int64_t{1} << 37;
    const MatrixView<const float>& first = lines.first;
    const std::int64_t pitch = first.row_stride;
    if (!in_vectors(operand) || pitch < first.columns || pitch >= longest_line ||
        first.columns == 0 || first.rows == 0 || first.columns >= longest || first.rows >= longest)
        return false;
    // Beyond a product's lines lie the next one's: of k, none may be asked for.
    return count == 1 || operand.pointers ||
           (operand.stride >= 0 && operand.stride % pitch == 0 &&
            (lines.along_k || first.rows % gemm_ring_tile.block_k == 0) &&
            operand.stride / pitch <= (longest - first.rows) / count);
}

/// Whether it does. Of one product's short lines along k, elements that multiplying warps copy are
/// there sooner: measured to 20 k, 3.5 -> 3.0 us.
bool is_asked_for(const Lines& lines, const Operand& operand, std::int64_t count) {
    constexpr std::int64_t short_line = 20;
    return is_mapped(lines, operand, count) &&
           (count > 1 || !lines.along_k || lines.first.row_stride > short_line);
}

/// `maps`: where a kernel writes those of pointers, if it does.
GemmRingMap map_of(const Operand& operand, std::int64_t count, const device::TileMap* maps) {
    constexpr GemmTile t = gemm_ring_tile;
    const Lines lines(operand.first);
    if ((operand.pointers && !maps) || !is_asked_for(lines, operand, count)) return {};
    const std::int64_t apart = count > 1 ? operand.stride / lines.first.row_stride : 0;
    const float* const data = maps ? reinterpret_cast<const float*>(maps)  // of any matrix
                                   : lines.first.data;
    return {true, static_cast<int>(apart),
            device::map_tiles(data, lines.first.rows + (count - 1) * apart, lines.first.columns,
                              lines.first.row_stride, lines.along_k ? t.block_m : t.block_k,
                              lines.along_k ? t.block_k : t.block_m, "gemm", lines.along_k)};
}

/// `packed`: a kernel of other blocks runs before. `maps`: room for those of products by pointers,
/// which such a kernel writes, too. `plan`: its chains.
void launch(device::Stream stream, const GemmBatch<float>& x, GemmGate gate, bool packed = false,
            device::TileMap* maps = nullptr, const GemmRingPlan& plan = {}) {
    const Operand b = x.b.transposed();
    const std::int64_t tiles_m = (x.m() + gemm_ring_tile.block_m - 1) / gemm_ring_tile.block_m;
    // With three tiles for most multiprocessors, some have room for one more, others for none.
    const std::int64_t each = gemm_ring_tiles_each(x.m(), x.n(), x.count);
    GemmRingWork work = {x,
                         gate,
                         map_of(x.a, x.count, maps),
                         map_of(b, x.count, maps),
                         device::grid(tiles_m, "gemm"),
                         plan.chain,
                         plan.in_fours,
                         packed || maps || each == 3,
                         0,
                         maps};
    if (!work.all_mapped() && !maps && (x.count == 1 || each <= 2))
        work.shared_steps = gemm_ring_shared_steps(each);
    if (maps)
        launch_gemm_batch_maps(
            stream,
            {{{x.a, work.a.tiles}, {b, work.b.tiles}}, 2, static_cast<unsigned>(x.count), maps});
    constexpr decltype(&launch_gemm_tuned_ring<false, false>) launchers[2][2] = {
        {launch_gemm_tuned_ring<false, false>, launch_gemm_tuned_ring<false, true>},
        {launch_gemm_tuned_ring<true, false>, launch_gemm_tuned_ring<true, true>}};
    launchers[Lines(x.a.first).along_k ? 1 : 0][Lines(b.first).along_k ? 1 : 0](stream, work);
}

/// A packed operand, rows being the index that it shares with C.
MatrixView<const float> packed_view(const MatrixView<const float>& operand, const float* at) {
    return {at, operand.rows, operand.columns, 1, pipelined_pitch(operand.rows)};
}

double microseconds(const GemmBatch<float>& x, GemmRingLoads loads) {
    return gemm_ring_microseconds(x.m(), x.n(), x.k(), x.count, loads, Lines(x.a.first).along_k,
                                  Lines(x.b.first.transposed()).along_k);
}
/// Of one product.
double microseconds(const GemmBatch<float>& x, bool in_fours) {
    const auto way = [](const Operand& operand) {
        const Lines lines(operand.first);
        return GemmRingWay{lines.along_k, !is_asked_for(lines, operand, 1)};
    };
    return gemm_ring_microseconds(x.m(), x.n(), x.k(), way(x.a), way(x.b.transposed()), in_fours);
}

std::size_t bytes_of_maps(std::int64_t count) {
    return static_cast<std::size_t>(2 * count) * sizeof(device::TileMap);
}

}  // namespace

GemmRingLoads gemm_ring_loads(const GemmBatch<float>& x, std::size_t most_scratch) {
    const Operand operands[] = {x.a, x.b.transposed()};
    int in_elements = 0;
    bool all_mapped = true;
    for (const Operand& operand : operands) {
        const Lines lines(operand.first);
        if (!in_vectors(operand)) ++in_elements;
        if (!is_mapped(lines, operand, x.count)) all_mapped = false;
    }
    if (in_elements > 0)
        return in_elements == 1 ? GemmRingLoads::elements_of_one : GemmRingLoads::elements;
    constexpr auto vectors = GemmRingLoads::vectors, by_kernel = GemmRingLoads::mapped_by_kernel;
    if (!all_mapped) return vectors;
    if (!x.a.pointers && !x.b.pointers) return GemmRingLoads::mapped;
    return x.a.pointers && x.b.pointers &&
                   bytes_of_maps(std::min(x.count, gemm_batch_most)) <= most_scratch &&
                   microseconds(x, by_kernel) < microseconds(x, vectors)
               ? by_kernel
               : vectors;
}

GemmRingPlan plan_gemm_ring(const GemmCall<float>& call, std::size_t most_scratch) {
    const std::int64_t m = call.c.rows, n = call.c.columns, k = call.a.columns;
    const auto wants_pack = [](const MatrixView<const float>& operand) {
        return !in_vectors(Operand{operand});
    };
    const GemmBatch<float> x = {call.alpha, {call.a}, {call.b}, call.beta, {call.c}, 1};
    GemmRingPlan in_place, packed;
    in_place.chain = packed.chain = gemm_ring_chain(m, n, k);
    const auto estimate = [&](GemmRingPlan& plan, const GemmBatch<float>& way) {
        plan.in_fours = gemm_ring_in_fours(
            m, n, k, Lines(way.a.first).along_k || Lines(way.b.first.transposed()).along_k);
        plan.seconds =
            1e-6 * (microseconds(way, plan.in_fours) + gemm_ring_chains_microseconds(m, n, k));
    };
    estimate(in_place, x);
    constexpr std::int64_t longest = std::int64_t{1} << 30;  // whose bytes can be counted
    if (k == 0 || m > longest || n > longest || k > longest) return in_place;
    packed.pack_a = wants_pack(call.a);
    packed.pack_b = wants_pack(call.b.transposed());
    packed.scratch_bytes = (packed.pack_a ? pipelined_packed_bytes(m, k) : 0) +
                           (packed.pack_b ? pipelined_packed_bytes(n, k) : 0);
    if (packed.scratch_bytes == 0 || packed.scratch_bytes > most_scratch) return in_place;
    GemmBatch<float> copies = x;  // as they would lie, wherever that is
    if (packed.pack_a) copies.a.first = packed_view(call.a, nullptr);
    if (packed.pack_b) copies.b.first = packed_view(call.b.transposed(), nullptr).transposed();
    estimate(packed, copies);
    packed.seconds +=
        1e-6 * gemm_ring_pack_microseconds(packed.scratch_bytes,
                                           gemm_ring_tiles_follow(gemm_ring_tiles_each(m, n, 1)));
    return packed.seconds < in_place.seconds ? packed : in_place;
}

void enqueue_gemm_tuned_ring(Context& context, const GemmCall<float>& call) {
    const GemmRingPlan& plan = call.plans.ring;
    GemmBatch<float> x = {call.alpha, {call.a}, {call.b}, call.beta, {call.c}, 1};
    if (plan.scratch_bytes > 0) {
        auto* to = static_cast<float*>(context.scratch(plan.scratch_bytes));
        const auto task = [&](bool pack, const MatrixView<const float>& operand) {
            PipelinedPackTask made = {};
            if (!pack) return made;
            made = {operand, to, pipelined_pitch(operand.rows)};
            to += made.pitch * operand.columns;
            return made;
        };
        const PipelinedPackTask a = task(plan.pack_a, call.a);
        const PipelinedPackTask b = task(plan.pack_b, call.b.transposed());
        enqueue_gemm_pack(context.stream(), a, b, {.early = true});
        if (a.to) x.a.first = packed_view(call.a, a.to);
        if (b.to) x.b.first = packed_view(call.b.transposed(), b.to).transposed();
    }
    launch(context.stream(), x, {}, plan.scratch_bytes > 0, nullptr, plan);
}

void enqueue_gemm_tuned_ring(Context& context, const GemmBatch<float>& batch) {
    device::TileMap* maps = nullptr;
    if (gemm_ring_loads(batch, context.scratch_limit()) == GemmRingLoads::mapped_by_kernel)
        maps = static_cast<device::TileMap*>(context.scratch(bytes_of_maps(batch.count)));
    launch(context.stream(), batch, {}, false, maps);
}
void enqueue_gemm_batch_maps(device::Stream stream, const GemmBatchMaps& work) {
    launch_gemm_batch_maps(stream, work);
}
void launch_gemm_tuned_ring(device::Stream stream, float alpha, MatrixView<const float> a,
                            MatrixView<const float> b, float beta, MatrixView<float> c,
                            GemmGate gate) {
    launch(stream, {alpha, {a}, {b}, beta, {c}, 1}, gate);
}

}  // namespace tinyblas
