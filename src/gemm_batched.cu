// SPDX-License-Identifier: MIT
// gemm_strided_batched, gemm_batched: checks of the batch as a whole, then one launch for all
// products, or one gemm after the other where each of them keeps the GPU busy.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "batch.hpp"
#include "check.hpp"
#include "gemm_batched.hpp"
#include "gemm_batched_gemv.hpp"
#include "gemm_batched_outer.hpp"
#include "gemm_batched_skinny.hpp"
#include "gemm_batched_tiles.hpp"
#include "gemm_choice.hpp"
#include "gemm_elements.hpp"
#include "gemm_pieces.hpp"
#include "gemm_pipelined.hpp"
#include "gemm_sliced.hpp"
#include "gemm_tensor.hpp"
#include "gemm_tuned_ring.hpp"
#include "kernels/gemm/3_tuned.cuh"
#include "kernels/gemm/batched_plan.hpp"
#include "kernels/gemm/batched_rows.cuh"
#include "kernels/gemm/batched_square.cuh"
#include "kernels/gemm/batched_tile.cuh"
#include "log.hpp"
#include "memo.hpp"

namespace tinyblas {
namespace {

/// The kernel of an entry, for operands that lie so. The portable ones turn both as they come.
template <class T>
GemmBatchTileKernel<T> tile_kernel(const GemmBatch<T>& batch, int entry) {
    static_assert(gemm_batch_table[0].turns && gemm_batch_table[4].turns);
    if constexpr (std::is_same_v<T, float>) {
        if (entry == 0) return make_gemm_batch_tile_kernel<float, 0, true, false>();
        if (entry == 4) return make_gemm_batch_tile_kernel<float, 4, true, false>();
    }
    return gemm_batch_tile_kernel_of_90(batch, entry);
}

template <class T, int entry>
constexpr BatchLauncher<T> tuned_launcher_of() {
    if constexpr (std::is_same_v<T, float> && gemm_table[entry].tile.is_ring())
        return nullptr;  // it is enqueued
    else
        return launch_gemm_tuned_batched<T, entry>;
}
template <class T>
BatchLauncher<T> tuned_launcher(int entry) {
    BatchLauncher<T> launcher = nullptr;
    [&]<std::size_t... number>(std::index_sequence<number...>) {
        const auto take = [&]<int e>(std::integral_constant<int, e>) {
            if constexpr (gemm_table[e].type == gemm_scalar<T>)
                if (e == entry) launcher = tuned_launcher_of<T, e>();
        };
        (take(std::integral_constant<int, gemm_batch_tuned[number]>()), ...);
    }
    (std::make_index_sequence<std::size(gemm_batch_tuned)>());
    return launcher;
}

constexpr BatchLauncher<float> square_launchers[] = {
    launch_gemm_batched_square<0>, launch_gemm_batched_square<1>, launch_gemm_batched_square<2>};
static_assert(std::size(square_launchers) == std::size(gemm_square_table));

template <class T>
BatchLauncher<T> launcher_of(const GemmBatchPlan& plan) {
    switch (plan.route) {
        case GemmBatchRoute::rows:
            return plan.entry == 4 ? launch_gemm_batched_rows<T, 4>
                                   : launch_gemm_batched_rows<T, 8>;
        case GemmBatchRoute::square:
            if constexpr (std::is_same_v<T, float>) return square_launchers[plan.entry];
            break;
        case GemmBatchRoute::gemv: return batched_gemv_launcher<T>();
        case GemmBatchRoute::skinny:
            if constexpr (std::is_same_v<T, float>) return batched_skinny_launcher(plan.entry);
            break;
        case GemmBatchRoute::outer: return batched_outer_launcher<T>(plan.entry == 1);
        case GemmBatchRoute::tuned: return tuned_launcher<T>(plan.entry);
        case GemmBatchRoute::pieces: return pieces_launcher<T>(plan.entry);
        case GemmBatchRoute::elements:
            if constexpr (std::is_same_v<T, float>) return elements_launcher(plan.entry);
            break;
        case GemmBatchRoute::tile:
        case GemmBatchRoute::pipelined:
        case GemmBatchRoute::sliced:
        case GemmBatchRoute::stream_k:
        case GemmBatchRoute::tensor:
        case GemmBatchRoute::one_by_one: break;
    }
    return nullptr;
}

/// Of the rung pipelined, in place if it cannot otherwise.
template <class T>
std::int64_t pipelined_most(const Context& context, const GemmBatch<T>& x, bool& in_place) {
    in_place = false;
    if constexpr (std::is_same_v<T, float>) {
        if (context.compute_capability() != 90) return 0;
        const std::int64_t most = gemm_pipelined_most(context, x);
        if (most > 0) return most;
        in_place = true;
        return gemm_pipelined_most_in_place(context, x);
    }
    return 0;
}

}  // namespace

template <class T>
void enqueue_gemm_batch(Context& context, const GemmBatch<T>& batch, const GemmBatchPlan& plan) {
    const BatchLauncher<T> launch = launcher_of<T>(plan);
    // Launches alike: who shares a sum may depend on how many products one has.
    const std::int64_t launches = (batch.count - 1) / plan.most + 1;
    const std::int64_t each = (batch.count - 1) / launches + 1;
    for (std::int64_t e = 0; e < batch.count; e += each) {
        const GemmBatch<T> part = batch.part(e, each);
        if constexpr (std::is_same_v<T, float>) {
            if (plan.route == GemmBatchRoute::pipelined) {
                if (plan.entry == 0)
                    enqueue_gemm_pipelined_in_place(context, part);
                else
                    enqueue_gemm_pipelined(context, part, plan.entry);
                continue;
            }
            if (plan.route == GemmBatchRoute::sliced) {
                const auto ranks_log2 = static_cast<unsigned>(std::countr_zero(plan.parts));
                enqueue_gemm_sliced(context, part,
                                    gemm_sliced_plan(plan.entry, part.m(), part.n(), part.k(),
                                                     ranks_log2, 1, part.count));
                continue;
            }
            if (plan.route == GemmBatchRoute::stream_k) {
                enqueue_stream_k(context, plan.entry,
                                 stream_k_alike(plan.entry, part.m(), part.n(), part.k(),
                                                part.count, plan.parts),
                                 part);
                continue;
            }
            if (plan.route == GemmBatchRoute::tuned && gemm_table[plan.entry].tile.is_ring()) {
                enqueue_gemm_tuned_ring(context, part);
                continue;
            }
        }
        if constexpr (std::is_same_v<T, double>)
            if (plan.route == GemmBatchRoute::tensor) {
                enqueue_gemm_tensor(context, part,
                                    gemm_tensor_plan_alike(plan.entry, part.m(), part.n(), part.k(),
                                                           plan.parts, part.count));
                continue;
            }
        if (plan.route == GemmBatchRoute::tile)
            launch_gemm_batched_tile(context.stream(), tile_kernel(part, plan.entry), plan.entry,
                                     part);
        else
            launch(context.stream(), part);
    }
}
template void enqueue_gemm_batch(Context&, const GemmBatch<float>&, const GemmBatchPlan&);
template void enqueue_gemm_batch(Context&, const GemmBatch<double>&, const GemmBatchPlan&);

template <class T>
GemmBatchPlan plan_gemm_batch(const Context& context, const GemmBatch<T>& x, double alone) {
    GemmBatchExtents extents = {x.m(),
                                x.n(),
                                x.k(),
                                x.count,
                                x.a.first.column_stride == 1,
                                x.b.first.row_stride == 1 && x.b.first.column_stride != 1,
                                !x.b.pointers && x.b.stride == 0};
    if constexpr (std::is_same_v<T, float>) {
        extents.loads = gemm_ring_loads(x, context.scratch_limit());
        extents.in_skinny_reach =
            skinny_batch_reaches(x.a.first) && skinny_batch_reaches(x.b.first.transposed());
    }
    if constexpr (std::is_same_v<T, double>) {
        extents.a_pitch = tensor_pitch(x.a.first);
        extents.b_pitch = tensor_pitch(x.b.first.transposed());
    }
    extents.scratch = context.scratch_limit();
    extents.alone = alone;
    extents.reads_c = x.beta != T(0);
    extents.pieces = gemm_pieces(x);
    extents.pointers = x.c.pointers != nullptr;
    extents.in_reach = elements_reach(x.a.first) && elements_reach(x.b.first.transposed());
    extents.by_elements = (in_vectors(x.a) ? 0 : 1) + (in_vectors(x.b) ? 0 : 1);
    const int compute_capability = context.compute_capability(), square = square_entry(x);
    const std::int64_t pipelined = pipelined_most(context, x, extents.in_place);
    const GemmBatchExtents& e = extents;
    thread_local Memo<19, GemmBatchPlan> recent;  // to estimate all kernels' times takes a while
    return recent(
        {e.m, e.n, e.k, e.count, e.a_along_k, e.b_along_k, e.b_shared, static_cast<int>(e.loads),
         static_cast<int>(e.pieces), e.pointers, e.by_elements,
         e.in_place + 2 * e.in_reach + 4 * e.in_skinny_reach + 8 * e.reads_c,
         static_cast<int>(e.a_pitch), static_cast<int>(e.b_pitch),
         static_cast<std::int64_t>(e.scratch), std::bit_cast<std::int64_t>(alone),
         compute_capability, square, pipelined},
        [&] { return plan_gemm_batch(gemm_scalar<T>, compute_capability, e, square, pipelined); });
}
template GemmBatchPlan plan_gemm_batch(const Context&, const GemmBatch<float>&, double);
template GemmBatchPlan plan_gemm_batch(const Context&, const GemmBatch<double>&, double);

namespace {

/// `exchanged`: the caller's batch is the transposed.
template <class T>
GemmChoice enqueue_batch(Context& context, const GemmBatch<T>& batch, const GemmBatchPlan& plan,
                         bool exchanged) {
    const device::Guard guard(context.device(), "gemm");
    context.note("gemm");
    constexpr GemmChoice choice = {GemmKernel::batched, -1};
    if (logs()) log_gemm_batch(exchanged ? transposed(batch) : batch, choice, &plan, false);
    enqueue_gemm_batch(context, batch, plan);
    return choice;
}

/// One gemm after the other. A choice depends on strides and on where matrices begin, to 16 bytes:
/// that repeats after as many products as 16 bytes have elements.
template <class T>
GemmChoice enqueue_one_by_one(Context& context, const GemmCall<T>& first, std::int64_t a_stride,
                              std::int64_t b_stride, std::int64_t c_stride, std::int64_t count,
                              const GemmOptions& options) {
    constexpr std::int64_t period = 16 / sizeof(T);
    const auto at = [&](GemmCall<T> call, std::int64_t e) {
        call.a.data += e * a_stride;
        call.b.data += e * b_stride;
        call.c.data += e * c_stride;
        return call;
    };
    std::vector<GemmCall<T>> calls = {first};  // all of them are sound before any is enqueued
    for (std::int64_t e = 1; e < std::min(count, period); ++e) {
        calls.push_back(at(first, e));
        choose_gemm(context, calls.back(), options);
    }
    for (std::int64_t e = 0; e < count; ++e)
        enqueue_gemm(context, at(calls[static_cast<std::size_t>(e % period)], e - e % period),
                     false);
    return first.choice;
}

/// "gemm_strided_batched: a_stride is 5: ..."
template <class T>
void check_stride(const char* name, MatrixView<T> first, std::int64_t stride, std::int64_t count) {
    require(has_addresses(first, stride, count), "gemm_strided_batched: ", name, "_stride is ",
            stride, ": ", count, " matrices of ", name, " must lie within the address space");
}

template <class T>
GemmChoice run(Context& context, T alpha, MatrixView<const T> a, std::int64_t a_stride,
               MatrixView<const T> b, std::int64_t b_stride, T beta, MatrixView<T> c,
               std::int64_t c_stride, std::int64_t count, const GemmOptions& options) {
    require(count >= 0, "gemm_strided_batched: batch is ", count, ": must be at least 0");
    if (count == 0) return {};
    GemmCall<T> call = prepare_gemm(context, alpha, a, b, beta, c, options);
    if (call.choice.kernel == GemmKernel::none) return {};
    if (count == 1) return enqueue_gemm(context, call);
    const bool reads = call.a.columns > 0;
    if (reads) {
        check_stride("a", a, a_stride, count);
        check_stride("b", b, b_stride, count);
    } else {
        a_stride = b_stride = 0;  // whatever they are
    }
    check_stride("c", c, c_stride, count);
    const Batch all_c(c, c_stride, count);
    require(elements_distinct(all_c), "gemm_strided_batched: c_stride is ", c_stride,
            ": must keep the ", count, " matrices of c apart");
    require(!reads || !overlap(all_c, Batch(a, a_stride, count)),
            "gemm_strided_batched: c overlaps a: all matrices must lie apart");
    require(!reads || !overlap(all_c, Batch(b, b_stride, count)),
            "gemm_strided_batched: c overlaps b: all matrices must lie apart");
    if (call.exchanged) std::swap(a_stride, b_stride);

    const GemmBatch<T> batch = {call.alpha, {call.a, a_stride}, {call.b, b_stride},
                                call.beta,  {call.c, c_stride}, count};
    if (options.kernel == GemmKernel::best && options.entry < 0 && !call.from_parts()) {
        const GemmBatchPlan plan =
            plan_gemm_batch(context, batch, 1e6 * call.plans.seconds(call.choice.kernel));
        if (plan.route != GemmBatchRoute::one_by_one)
            return enqueue_batch(context, batch, plan, call.exchanged);
    }
    const bool asked = options.kernel != GemmKernel::best || options.entry >= 0;
    if (logs())
        log_gemm_batch<T>(call.exchanged ? transposed(batch) : batch, call.choice, nullptr, asked);
    return enqueue_one_by_one(context, call, a_stride, b_stride, c_stride, count, options);
}

/// All that can be told of matrices whose addresses only the device knows.
template <class T>
void check_array(const char* name, const MatrixArray<T>& array, std::int64_t count) {
    require(array.data, "gemm_batched: ", name, " is null: must point to ", count, " pointers");
    const auto up = [](std::int64_t stride) { return std::abs(std::max(stride, -INT64_MAX)); };
    const MatrixView<T> from_null = {nullptr, array.rows, array.columns, up(array.row_stride),
                                     up(array.column_stride)};
    require(has_addresses(from_null), "gemm_batched: ", name, " has strides of ", array.row_stride,
            " and ", array.column_stride, ": ", array.rows, " x ", array.columns,
            " elements must lie within the address space");
}

template <class T>
GemmChoice run(Context& context, T alpha, const MatrixArray<const T>& a,
               const MatrixArray<const T>& b, T beta, const MatrixArray<T>& c, std::int64_t count,
               const GemmOptions& options) {
    require(count >= 0, "gemm_batched: batch is ", count, ": must be at least 0");
    require(options.kernel == GemmKernel::best && options.entry < 0,
            "gemm_batched: options.kernel is ", to_string(options.kernel), ", options.entry is ",
            options.entry, ": must be best and -1, for the pointers are on the device");
    check_gemm(context, a.view(nullptr), b.view(nullptr), c.view(nullptr), options);
    if (count == 0 || c.rows == 0 || c.columns == 0) return {};
    const bool reads = alpha != T(0) && a.columns > 0;
    if (!reads && beta == T(1)) return {};
    if (reads) {
        check_array("a", a, count);
        check_array("b", b, count);
        require(a.columns <= gemm_tuned_longest_k, "gemm_batched: a has ", a.columns,
                " columns: must be at most ", gemm_tuned_longest_k);
    }
    check_array("c", c, count);
    require(elements_distinct(Footprint(c.view(nullptr))), "gemm_batched: c has strides of ",
            c.row_stride, " and ", c.column_stride, ": its elements must not overlap");

    GemmBatch<T> batch = {reads ? alpha : T(0),
                          {a.view(nullptr), 0, reads ? a.data : nullptr},
                          {b.view(nullptr), 0, reads ? b.data : nullptr},
                          beta,
                          {c.view(nullptr), 0, c.data},
                          count};
    if (!reads) {  // of no elements; kernels compute addresses all the same
        const auto* const somewhere = reinterpret_cast<const T*>(c.data);
        batch.a.first = {somewhere, c.rows, 0, 0, 1};
        batch.b.first = {somewhere, 0, c.columns, 0, 1};
    }
    // Orient: every kernel writes C along rows.
    const bool exchanged = c.column_stride != 1 && (c.row_stride == 1 || c.columns == 1);
    if (exchanged) batch = transposed(batch);
    return enqueue_batch(context, batch, plan_gemm_batch(context, batch), exchanged);
}

}  // namespace

GemmChoice gemm_strided_batched(Context& context, float alpha, MatrixView<const float> a,
                                std::int64_t a_stride, MatrixView<const float> b,
                                std::int64_t b_stride, float beta, MatrixView<float> c,
                                std::int64_t c_stride, std::int64_t batch, GemmOptions options) {
    return run(context, alpha, a, a_stride, b, b_stride, beta, c, c_stride, batch, options);
}
GemmChoice gemm_strided_batched(Context& context, double alpha, MatrixView<const double> a,
                                std::int64_t a_stride, MatrixView<const double> b,
                                std::int64_t b_stride, double beta, MatrixView<double> c,
                                std::int64_t c_stride, std::int64_t batch, GemmOptions options) {
    return run(context, alpha, a, a_stride, b, b_stride, beta, c, c_stride, batch, options);
}

GemmChoice gemm_batched(Context& context, float alpha, MatrixArray<const float> a,
                        MatrixArray<const float> b, float beta, MatrixArray<float> c,
                        std::int64_t batch, GemmOptions options) {
    return run(context, alpha, a, b, beta, c, batch, options);
}
GemmChoice gemm_batched(Context& context, double alpha, MatrixArray<const double> a,
                        MatrixArray<const double> b, double beta, MatrixArray<double> c,
                        std::int64_t batch, GemmOptions options) {
    return run(context, alpha, a, b, beta, c, batch, options);
}

}  // namespace tinyblas
