// SPDX-License-Identifier: MIT
// gemv and ger: check, trivial cases, orient, choose, launch.
#include "gemv.hpp"

#include <cstdlib>
#include <utility>

#include "check.hpp"
#include "device/runtime.hpp"
#include "kernels/gemv/1_naive.cuh"
#include "kernels/gemv/2_tuned_columns.cuh"
#include "kernels/gemv/2_tuned_long.cuh"
#include "kernels/gemv/2_tuned_short.cuh"
#include "kernels/gemv/ger.cuh"
#include "log.hpp"
#include "workspace.hpp"

namespace tinyblas {
namespace {

template <class T>
void check_shapes(const char* operation, MatrixView<const T> a, const char* of_columns,
                  VectorView<const T> columns, const char* of_rows, VectorView<const T> rows) {
    require(a.rows >= 0 && a.columns >= 0, operation, ": a is ", a.rows, " x ", a.columns,
            ": extents must be at least 0");
    require(columns.size == a.columns, operation, ": ", of_columns, " has ", columns.size,
            " elements but a has ", a.columns, " columns: must be equal");
    require(rows.size == a.rows, operation, ": ", of_rows, " has ", rows.size,
            " elements but a has ", a.rows, " rows: must be equal");
}

template <class T>
void check_matrix(const char* operation, MatrixView<T> a) {
    require(a.data, operation, ": a is null: must point to ", a.rows, " x ", a.columns,
            " elements");
}

/// A vector that has elements, by the first of them.
template <class T>
GemvVector<T> from_first(VectorView<T> view) {
    return {&view(0), view.size > 1 ? view.increment : 1};
}

template <class T>
bool begins_at_vectors(const T* data) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

/// Whether A's rows can be read in groups of 16 bytes.
template <class T>
bool has_vector_rows(MatrixView<T> a) {
    return a.column_stride == 1 && begins_at_vectors(a.data) &&
           (a.rows == 1 || a.row_stride % group_size<T> == 0);
}

/// Whether a kernel that sees contiguous rows should be given transposed(A).
template <class T>
bool is_by_column(MatrixView<T> a) {
    if (a.rows == 1 || a.columns == 1) return a.rows != 1 && a.row_stride == 1;
    return a.row_stride == 1 && a.column_stride != 1;
}

template <class T>
GemvPieces<T> pieces_for(Context& context, const char* operation, const GemvPlan& plan,
                         std::int64_t outputs) {
    GemvPieces<T> pieces = {plan.pieces, plan.piece, nullptr, nullptr};
    if (plan.pieces == 1) return pieces;
    Workspace& workspace = context.workspace();
    pieces.parts = static_cast<T*>(workspace.scratch(
        context.stream(), plan.pieces * static_cast<std::size_t>(outputs) * sizeof(T), operation));
    pieces.counters = static_cast<unsigned*>(
        workspace.counters(context.stream(), Workspace::CountersOf::gemm, operation));
    return pieces;
}

template <class T, bool vectors>
void launch_tuned(Context& context, const char* operation, const GemvCall<T>& call,
                  const GemvPlan& plan) {
    const auto stream = context.stream();
    if (plan.form == GemvForm::short_rows)
        return launch_gemv_short_rows<T, vectors>(operation, stream, call, plan);
    const bool down = plan.form == GemvForm::columns;
    const auto pieces =
        pieces_for<T>(context, operation, plan, down ? call.a.columns : call.a.rows);
    if (!down) {
        // Without vectors, as many loads are of x as of A, unless they are for more than one row.
        // The bits are the same.
        const bool few_rows = call.a.rows < (call.a.columns > 4096 ? 256 : 4);
        const bool many_rows = plan.many_rows || (!vectors && !few_rows);
        const auto launch = many_rows ? launch_gemv_long_rows<T, vectors, group_size<T>>
                                      : launch_gemv_long_rows<T, vectors, 1>;
        return launch(operation, stream, call, plan, pieces);
    }
    // Without vectors, a few columns are not worth the loads of x that those kernels make.
    const int lanes = vectors || call.a.columns > 24 ? plan.lanes : 0;
    const GemvColumnsKernel<T> kernel = lanes == 4   ? gemv_columns<T, vectors, 4>
                                        : lanes == 8 ? gemv_columns<T, vectors, 8>
                                        : plan.lanes == gemv_lone_lanes
                                            ? gemv_columns<T, vectors, gemv_lone_lanes>
                                            : gemv_columns<T, vectors, 0>;
    launch_gemv_columns(operation, stream, kernel, call, plan, pieces);
}

template <class T>
void run_ger(Context& context, T alpha, VectorView<const T> x, VectorView<const T> y,
             MatrixView<T> a) {
    check_shapes<T>("ger", a, "y", y, "x", x);
    if (a.rows == 0 || a.columns == 0 || alpha == T(0)) return;
    check_vector("ger", "x", x);
    check_vector("ger", "y", y);
    check_matrix("ger", a);
    const Footprint elements(a);
    require(elements_distinct(elements), "ger: a has strides of ", a.row_stride, " and ",
            a.column_stride, ": its elements must not overlap");
    require(!overlap(elements, Footprint(x)), "ger: a overlaps x: must lie apart");
    require(!overlap(elements, Footprint(y)), "ger: a overlaps y: must lie apart");
    const device::Guard guard(context.device(), "ger");
    context.note("ger");
    if (logs()) log_matrix_vector<T>("ger", a, x, y, GemvKernel::none);
    GerVector<T> of_rows = {alpha, from_first(x)}, of_columns = {1, from_first(y)};
    if (is_by_column(a)) {
        std::swap(of_rows, of_columns);
        a = a.transposed();
    }
    if (has_vector_rows(a))
        launch_ger<T, true>(context.stream(), of_rows, of_columns, a);
    else
        launch_ger<T, false>(context.stream(), of_rows, of_columns, a);
}

template <class T>
GemvChoice run_gemv(Context& context, T alpha, MatrixView<const T> a, VectorView<const T> x, T beta,
                    VectorView<T> y, GemvKernel kernel) {
    check_shapes<T>("gemv", a, "x", x, "y", y);
    require(kernel >= GemvKernel::best && kernel <= GemvKernel::tuned, "gemv: options.kernel is ",
            static_cast<int>(kernel), ": must be best, naive or tuned");
    if (y.size == 0) return {};
    if (alpha == T(0) || a.columns == 0) {  // y = beta y: A and x are not read
        if (beta == T(1)) return {};
        alpha = 0;
        a.columns = x.size = 0;
    } else {
        check_matrix("gemv", a);
        check_vector("gemv", "x", x);
    }
    check_vector("gemv", "y", y);
    require(y.increment != 0 || y.size == 1,
            "gemv: y has an increment of 0: its elements must not overlap");
    if (a.columns > 0) {
        require(!overlap(Footprint(y), Footprint(a)), "gemv: y overlaps a: must lie apart");
        require(!overlap(Track(y), Track(x)), "gemv: y overlaps x: must lie apart");
    }
    const device::Guard guard(context.device(), "gemv");
    context.note("gemv");
    kernel = enqueue_gemv(context, "gemv", alpha, a, x, beta, y, kernel);
    if (logs()) log_matrix_vector<T>("gemv", a, x, y, kernel);
    return {kernel};
}

}  // namespace

template <class T>
GemvKernel enqueue_gemv(Context& context, const char* operation, T alpha, MatrixView<const T> a,
                        VectorView<const T> x, T beta, VectorView<T> y, GemvKernel kernel) {
    const GemvVector<const T> no_x = {nullptr, 1};
    GemvCall<T> call = {alpha, a, x.size > 0 ? from_first(x) : no_x, beta, from_first(y)};
    if (kernel == GemvKernel::naive || a.columns == 0) {
        launch_gemv_naive(operation, context.stream(), call);
        return GemvKernel::naive;
    }
    const bool down = is_by_column(a);
    if (down) call.a = a.transposed();
    const bool short_x = down || (call.x.increment == 1 && begins_at_vectors(call.x.first));
    const GemvPlan plan = plan_gemv(sizeof(T), down, call.a.rows, call.a.columns);
    if (has_vector_rows(call.a) && short_x)
        launch_tuned<T, true>(context, operation, call, plan);
    else
        launch_tuned<T, false>(context, operation, call, plan);
    return GemvKernel::tuned;
}

template GemvKernel enqueue_gemv(Context&, const char*, float, MatrixView<const float>,
                                 VectorView<const float>, float, VectorView<float>, GemvKernel);
template GemvKernel enqueue_gemv(Context&, const char*, double, MatrixView<const double>,
                                 VectorView<const double>, double, VectorView<double>, GemvKernel);

const char* to_string(GemvKernel kernel) noexcept {
    switch (kernel) {
        case GemvKernel::best: return "best";
        case GemvKernel::naive: return "naive";
        case GemvKernel::tuned: return "tuned";
        case GemvKernel::none: return "none";
    }
    return "unknown";
}

GemvKernel gemv_kernel(std::string_view name) {
    for (const auto kernel : {GemvKernel::best, GemvKernel::naive, GemvKernel::tuned})
        if (name == to_string(kernel)) return kernel;
    fail(Status::invalid_argument, "gemv: there is no rung '", name,
         "': must be best, naive or tuned");
}

GemvChoice gemv(Context& context, float alpha, MatrixView<const float> a, VectorView<const float> x,
                float beta, VectorView<float> y, GemvOptions options) {
    return run_gemv(context, alpha, a, x, beta, y, options.kernel);
}
GemvChoice gemv(Context& context, double alpha, MatrixView<const double> a,
                VectorView<const double> x, double beta, VectorView<double> y,
                GemvOptions options) {
    return run_gemv(context, alpha, a, x, beta, y, options.kernel);
}

void ger(Context& context, float alpha, VectorView<const float> x, VectorView<const float> y,
         MatrixView<float> a) {
    run_ger(context, alpha, x, y, a);
}
void ger(Context& context, double alpha, VectorView<const double> x, VectorView<const double> y,
         MatrixView<double> a) {
    run_ger(context, alpha, x, y, a);
}

}  // namespace tinyblas
