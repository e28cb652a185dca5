// SPDX-License-Identifier: MIT
// gemm: check, trivial cases, orient, choose, launch.
#include "tinyblas/gemm.hpp"

#include <type_traits>
#include <utility>

#include "check.hpp"
#include "device/runtime.hpp"
#include "gemm_accurate.hpp"
#include "gemm_call.hpp"
#include "gemm_launchers.hpp"
#include "kernels/gemm/1_naive.cuh"
#include "kernels/gemm/2_tiled.cuh"
#include "kernels/gemm/precision_choice.hpp"

namespace tinyblas {
namespace {

template <class T>
constexpr Scalar scalar = std::is_same_v<T, float> ? Scalar::float32 : Scalar::float64;

template <class T>
void check_extents(const char* name, MatrixView<T> view) {
    require(view.rows >= 0 && view.columns >= 0, "gemm: ", name, " is ", view.rows, " x ",
            view.columns, ": extents must be at least 0");
}

template <class T>
void check_data(const char* name, MatrixView<T> view) {
    require(view.data, "gemm: ", name, " is null: must point to ", view.rows, " x ", view.columns,
            " elements");
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

constexpr GemmKernel rungs[] = {GemmKernel::best,  GemmKernel::naive, GemmKernel::tiled,
                                GemmKernel::tuned, GemmKernel::split, GemmKernel::hopper};
constexpr const char* rung_names = "best, naive, tiled, tuned, split or hopper";

bool runs_hopper(const Context& context) {
    return device::has_wgmma && context.compute_capability() == 90;
}

void check_options(const Context& context, const GemmOptions& options, Scalar type) {
    const int compute_capability = context.compute_capability();
    require(options.kernel >= GemmKernel::best && options.kernel <= GemmKernel::hopper,
            "gemm: options.kernel is ", static_cast<int>(options.kernel), ": must be ", rung_names);
    require(type == Scalar::float32 || options.kernel <= GemmKernel::tuned,
            "gemm: options.kernel is ", to_string(options.kernel),
            ": must be best, naive, tiled or tuned for operands of type double");
    require(options.kernel != GemmKernel::hopper || runs_hopper(context),
            "gemm: options.kernel is hopper: must be a rung that runs here, ",
            device::has_wgmma ? "and hopper needs compute capability 9.0 and a library built for it"
                              : "and device emulation has no tensor cores");
    require(options.entry >= -1 && options.entry < gemm_entries, "gemm: options.entry is ",
            options.entry, ": must lie in -1 to ", gemm_entries - 1);
    const auto precision = options.precision.value_or(Precision::fp32);
    require(precision == Precision::fp32_strict || precision == Precision::fp32,
            "gemm: options.precision is ", static_cast<int>(precision),
            ": must be fp32_strict or fp32");
    if (options.entry < 0) return;
    require(options.kernel == GemmKernel::best || options.kernel == GemmKernel::tuned,
            "gemm: options.entry is ", options.entry, ": must be -1 for the rung ",
            to_string(options.kernel));
    require(gemm_table[options.entry].type == type, "gemm: options.entry is ", options.entry,
            ": must be an entry of the operands' type");
    require(runs_on(gemm_table[options.entry], compute_capability), "gemm: options.entry is ",
            options.entry, ": must be an entry for compute capability ", compute_capability / 10,
            ".", compute_capability % 10);
}

/// The strict rung for the call.
template <class T>
GemmChoice choose_strict(const Context& context, const GemmCall<T>& call,
                         const GemmOptions& options) {
    if (options.kernel == GemmKernel::naive || options.kernel == GemmKernel::tiled)
        return {options.kernel, -1};
    const std::int64_t k = call.a.columns;
    if (k > gemm_tuned_longest_k) {
        require(options.kernel == GemmKernel::best && options.entry < 0, "gemm: a has ", k,
                " columns: must be at most ", gemm_tuned_longest_k, " for the rung ",
                to_string(options.entry < 0 ? options.kernel : GemmKernel::tuned));
        return {GemmKernel::tiled, -1};
    }
    if (options.entry >= 0) return {GemmKernel::tuned, options.entry};
    return {GemmKernel::tuned,
            choose_gemm_entry(scalar<T>, context.compute_capability(), context.multiprocessors(),
                              call.c.rows, call.c.columns)};
}

/// Whether the product is made from parts, or why not.
GemmReason weigh(const Context& context, const GemmCall<float>& call, const GemmOptions& options) {
    const std::int64_t k = call.a.columns;
    if (k == 0) return GemmReason::no_products;
    if (options.kernel != GemmKernel::best || options.entry >= 0) return GemmReason::asked;
    if (options.precision.value_or(context.precision()) == Precision::fp32_strict)
        return GemmReason::strict_asked;
    if (device::has_wgmma && !runs_hopper(context)) return GemmReason::no_wgmma;
    if (k < gemm_costs.least_k) return GemmReason::short_k;
    // By the extents as the caller gave them: the layout of C makes no difference.
    const std::int64_t m = call.exchanged ? call.c.columns : call.c.rows;
    const std::int64_t n = call.exchanged ? call.c.rows : call.c.columns;
    if (!gemm_fp32_pays(m, n, k)) return GemmReason::slower;
    return gemm_accurate_bytes(call, GemmWideRoute::strict) <= context.scratch_limit()
               ? GemmReason::pays
               : GemmReason::scratch;
}

void choose(const Context& context, GemmCall<float>& call, const GemmOptions& options) {
    const std::int64_t k = call.a.columns;
    // First, as if it were from parts: then it can tell how much memory that takes.
    call.choice = {device::has_wgmma ? GemmKernel::hopper : GemmKernel::split, -1};
    call.reason = weigh(context, call, options);
    if (call.reason == GemmReason::pays) return;
    const bool named = options.kernel == GemmKernel::split || options.kernel == GemmKernel::hopper;
    if (!named || k == 0) {
        const GemmOptions strict = named ? GemmOptions{} : options;
        call.choice = choose_strict(context, call, strict);
        return;
    }
    require(k <= gemm_tuned_longest_k, "gemm: a has ", k, " columns: must be at most ",
            gemm_tuned_longest_k, " for the rung ", to_string(options.kernel));
    call.choice = {options.kernel, -1};
}
void choose(const Context& context, GemmCall<double>& call, const GemmOptions& options) {
    call.choice = choose_strict(context, call, options);
    call.reason = call.a.columns == 0 ? GemmReason::no_products : GemmReason::strict_asked;
}

template <class T>
GemmLauncher<T> tuned_launcher(int entry) {
    if (gemm_entry_is<T, true>(entry)) return gemm_launcher_in_order<T>(entry);
    return gemm_tuned_launchers<T, false>[static_cast<std::size_t>(entry)];
}

template <class T>
void launch_strict(device::Stream stream, const GemmCall<T>& call) {
    const auto launch = [&](auto launcher, auto... gate) {
        launcher(stream, call.alpha, call.a, call.b, call.beta, call.c, gate...);
    };
    switch (call.choice.kernel) {
        case GemmKernel::naive: return launch(launch_gemm_naive<T>);
        case GemmKernel::tiled: return launch(launch_gemm_tiled<T>);
        default: return launch(tuned_launcher<T>(call.choice.entry), GemmGate{});
    }
}

}  // namespace

template <class T>
GemmCall<T> prepare_gemm(Context& context, T alpha, MatrixView<const T> a, MatrixView<const T> b,
                         T beta, MatrixView<T> c, const GemmOptions& options,
                         const GemmPlanes* packed_b) {
    check_shapes(a, b, c);
    check_options(context, options, scalar<T>);
    GemmCall<T> call = {alpha, a, b, beta, c};
    if (c.rows == 0 || c.columns == 0) return call;
    if (alpha == T(0) || a.columns == 0) {  // C = beta C: A and B are not read
        call.alpha = 0;
        call.a.columns = call.b.rows = 0;
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

    // Orient: every kernel writes C along rows. transposed(C) = transposed(B) transposed(A).
    if (c.column_stride != 1 && (c.row_stride == 1 || c.columns == 1)) {
        call.a = std::exchange(call.b, call.a.transposed()).transposed();
        call.c = c.transposed();
        std::swap(call.packed_a, call.packed_b);
        call.exchanged = true;
    }
    choose(context, call, options);
    return call;
}

template <class T>
GemmChoice enqueue_gemm(Context& context, const GemmCall<T>& call) {
    if (call.choice.kernel == GemmKernel::none) return call.choice;
    const device::Guard guard(context.device());
    context.note("gemm");
    if constexpr (std::is_same_v<T, float>) {
        if (call.from_parts()) {
            const int entry = choose_strict(context, call, {}).entry;
            enqueue_gemm_accurate(context, call, tuned_launcher<float>(entry));
            return call.choice;
        }
    }
    launch_strict(context.stream(), call);
    return call.choice;
}

template GemmCall<float> prepare_gemm(Context&, float, MatrixView<const float>,
                                      MatrixView<const float>, float, MatrixView<float>,
                                      const GemmOptions&, const GemmPlanes*);
template GemmCall<double> prepare_gemm(Context&, double, MatrixView<const double>,
                                       MatrixView<const double>, double, MatrixView<double>,
                                       const GemmOptions&, const GemmPlanes*);
template GemmChoice enqueue_gemm(Context&, const GemmCall<float>&);
template GemmChoice enqueue_gemm(Context&, const GemmCall<double>&);

const char* to_string(GemmKernel kernel) noexcept {
    switch (kernel) {
        case GemmKernel::best: return "best";
        case GemmKernel::naive: return "naive";
        case GemmKernel::tiled: return "tiled";
        case GemmKernel::tuned: return "tuned";
        case GemmKernel::split: return "split";
        case GemmKernel::hopper: return "hopper";
        case GemmKernel::none: return "none";
    }
    return "unknown";
}

GemmKernel gemm_kernel(std::string_view name) {
    for (const auto kernel : rungs)
        if (name == to_string(kernel)) return kernel;
    fail(Status::invalid_argument, "gemm: there is no rung '", name, "': must be ", rung_names);
}

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
