// SPDX-License-Identifier: MIT
// gemm: check, trivial cases, orient, choose, launch.
#include "tinyblas/gemm.hpp"

#include <type_traits>

#include "check.hpp"
#include "device/runtime.hpp"
#include "gemm_accurate.hpp"
#include "gemm_choice.hpp"
#include "gemm_launchers.hpp"
#include "gemm_pipelined.hpp"
#include "gemm_skinny.hpp"
#include "gemm_slabs.hpp"
#include "gemm_sliced.hpp"
#include "gemm_tensor.hpp"
#include "gemv.hpp"
#include "kernels/gemm/1_naive.cuh"
#include "kernels/gemm/2_tiled.cuh"
#include "log.hpp"

namespace tinyblas {
namespace {

template <class T>
void check_extents(const char* name, MatrixView<T> view) {
    require(view.rows >= 0 && view.columns >= 0, "gemm: ", name, " is ", view.rows, " x ",
            view.columns, ": extents must be at least 0");
}

template <class T>
void check_data(const char* name, MatrixView<T> view) {
    require(view.data, "gemm: ", name, " is null: must point to ", view.rows, " x ", view.columns,
            " elements");
    require(has_addresses(view), "gemm: ", name, " has strides of ", view.row_stride, " and ",
            view.column_stride, ": ", view.rows, " x ", view.columns,
            " elements must lie within the address space");
}

template <class T>
void check_shapes(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
    check_extents("a", a);
    check_extents("b", b);
    check_extents("c", c);
    require(a.columns == b.rows, "gemm: b has ", b.rows, " rows but a has ", a.columns,
            " columns: must be equal");
    require(c.rows == a.rows, "gemm: c has ", c.rows, " rows but a has ", a.rows,
            " rows: must be equal");
    require(c.columns == b.columns, "gemm: c has ", c.columns, " columns but b has ", b.columns,
            " columns: must be equal");
}

template <class T>
GemmLauncher<T> tuned_launcher(int entry) {
    if (gemm_entry_is<T, true>(entry)) return gemm_launcher_in_order<T>(entry);
    return gemm_tuned_launchers<T, false>[static_cast<std::size_t>(entry)];
}

/// C is a row or a column: what gemv computes.
template <class T>
void enqueue_as_gemv(Context& context, const GemmCall<T>& call) {
    if (call.c.columns == 1)
        enqueue_gemv(context, "gemm", call.alpha, call.a, call.b.column(0), call.beta,
                     call.c.column(0));
    else
        enqueue_gemv(context, "gemm", call.alpha, call.b.transposed(), call.a.row(0), call.beta,
                     call.c.row(0));
}

template <class T>
void enqueue_strict(Context& context, const GemmCall<T>& call) {
    const auto launch = [&](auto launcher, auto... gate) {
        launcher(context.stream(), call.alpha, call.a, call.b, call.beta, call.c, gate...);
    };
    switch (call.choice.kernel) {
        case GemmKernel::naive: return launch(launch_gemm_naive<T>);
        case GemmKernel::tiled: return launch(launch_gemm_tiled<T>);
        case GemmKernel::gemv: return enqueue_as_gemv(context, call);
        case GemmKernel::batched: return enqueue_gemm_slabs(context, call, call.plans.slabs);
        default: break;
    }
    if constexpr (std::is_same_v<T, float>) {
        if (call.choice.kernel == GemmKernel::sliced)
            return enqueue_gemm_sliced(context, call, call.plans.sliced);
        if (call.choice.kernel == GemmKernel::pipelined)
            return enqueue_gemm_pipelined(context, call, call.plans.pipelined);
        if (call.choice.kernel == GemmKernel::skinny)
            return enqueue_gemm_skinny(context, call, call.plans.skinny);
        if (gemm_table[call.choice.entry].tile.is_ring())
            return enqueue_gemm_tuned_ring(context, call);
    } else {
        if (call.choice.kernel == GemmKernel::tensor)
            return enqueue_gemm_tensor(context, call, call.plans.tensor);
    }
    launch(tuned_launcher<T>(call.choice.entry), GemmGate{});
}

}  // namespace

template <class T>
void check_gemm(const Context& context, MatrixView<const T> a, MatrixView<const T> b,
                MatrixView<T> c, const GemmOptions& options) {
    check_shapes(a, b, c);
    check_options(context, options, gemm_scalar<T>);
}

template <class T>
GemmCall<T> prepare_gemm(Context& context, T alpha, MatrixView<const T> a, MatrixView<const T> b,
                         T beta, MatrixView<T> c, const GemmOptions& options,
                         const GemmPlanes* packed_b) {
    check_gemm(context, a, b, c, options);
    GemmCall<T> call = {alpha, a, b, beta, c};
    if (c.rows == 0 || c.columns == 0) return call;
    if (alpha == T(0) || a.columns == 0) {  // C = beta C: A and B are not read
        call.alpha = 0;
        // Of no elements; kernels compute addresses all the same.
        call.a = {c.data, c.rows, 0, 1, 1};
        call.b = {c.data, 0, c.columns, 1, 1};
    } else {
        check_data("a", a);
        check_data("b", b);
        call.packed_b = packed_b;
    }
    if (call.a.columns == 0 && beta == T(1)) return call;
    check_data("c", c);
    const Footprint footprint(c);
    require(elements_distinct(footprint), "gemm: c has strides of ", c.row_stride, " and ",
            c.column_stride, ": its elements must not overlap");
    require(!overlap(footprint, Footprint(call.a)), "gemm: c overlaps a: must lie apart");
    require(!overlap(footprint, Footprint(call.b)), "gemm: c overlaps b: must lie apart");

    // Orient: every kernel writes C along rows.
    if (c.column_stride != 1 && (c.row_stride == 1 || c.columns == 1)) exchange(call);
    choose_gemm(context, call, options);
    return call;
}

template <class T>
GemmChoice enqueue_gemm(Context& context, const GemmCall<T>& call, bool alone) {
    if (call.choice.kernel == GemmKernel::none) return call.choice;
    if (alone && logs()) log_gemm(call);
    const device::Guard guard(context.device(), "gemm");
    context.note("gemm");
    if constexpr (std::is_same_v<T, float>) {
        if (call.from_parts()) {
            const int entry = tuned_entry(context, call);
            enqueue_gemm_accurate(context, call, tuned_launcher<float>(entry));
            return call.choice;
        }
    }
    enqueue_strict(context, call);
    return call.choice;
}

template void check_gemm(const Context&, MatrixView<const float>, MatrixView<const float>,
                         MatrixView<float>, const GemmOptions&);
template void check_gemm(const Context&, MatrixView<const double>, MatrixView<const double>,
                         MatrixView<double>, const GemmOptions&);
template GemmCall<float> prepare_gemm(Context&, float, MatrixView<const float>,
                                      MatrixView<const float>, float, MatrixView<float>,
                                      const GemmOptions&, const GemmPlanes*);
template GemmCall<double> prepare_gemm(Context&, double, MatrixView<const double>,
                                       MatrixView<const double>, double, MatrixView<double>,
                                       const GemmOptions&, const GemmPlanes*);
template GemmChoice enqueue_gemm(Context&, const GemmCall<float>&, bool);
template GemmChoice enqueue_gemm(Context&, const GemmCall<double>&, bool);

GemmChoice gemm(Context& context, float alpha, MatrixView<const float> a, MatrixView<const float> b,
                float beta, MatrixView<float> c, GemmOptions options) {
    return enqueue_gemm(context, prepare_gemm(context, alpha, a, b, beta, c, options));
}
GemmChoice gemm(Context& context, double alpha, MatrixView<const double> a,
                MatrixView<const double> b, double beta, MatrixView<double> c,
                GemmOptions options) {
    return enqueue_gemm(context, prepare_gemm(context, alpha, a, b, beta, c, options));
}

}  // namespace tinyblas
