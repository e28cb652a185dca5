// SPDX-License-Identifier: MIT
// gemm: check, trivial cases, orient, choose, launch.
#include "tinyblas/gemm.hpp"

#include <type_traits>
#include <utility>

#include "check.hpp"
#include "device/runtime.hpp"
#include "gemm_launchers.hpp"
#include "kernels/gemm/1_naive.cuh"
#include "kernels/gemm/2_tiled.cuh"

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

void check_options(const GemmOptions& options, Scalar type, int compute_capability) {
    require(options.kernel >= GemmKernel::best && options.kernel <= GemmKernel::tuned,
            "gemm: options.kernel is ", static_cast<int>(options.kernel),
            ": must be best, naive, tiled or tuned");
    require(options.entry >= -1 && options.entry < gemm_entries, "gemm: options.entry is ",
            options.entry, ": must lie in -1 to ", gemm_entries - 1);
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

template <class T>
GemmChoice choose(const Context& context, MatrixView<T> c, std::int64_t k,
                  const GemmOptions& options) {
    if (options.kernel == GemmKernel::naive || options.kernel == GemmKernel::tiled)
        return {options.kernel, -1};
    if (k > gemm_tuned_longest_k) {
        require(options.kernel == GemmKernel::best && options.entry < 0, "gemm: a has ", k,
                " columns: must be at most ", gemm_tuned_longest_k, " for the rung tuned");
        return {GemmKernel::tiled, -1};
    }
    if (options.entry >= 0) return {GemmKernel::tuned, options.entry};
    return {GemmKernel::tuned, choose_gemm_entry(scalar<T>, context.compute_capability(),
                                                 context.multiprocessors(), c.rows, c.columns)};
}

template <class T>
GemmLauncher<T> launcher(const GemmChoice& choice) {
    switch (choice.kernel) {
        case GemmKernel::naive: return launch_gemm_naive<T>;
        case GemmKernel::tiled: return launch_gemm_tiled<T>;
        default: break;
    }
    if (gemm_entry_is<T, true>(choice.entry)) return gemm_launcher_in_order<T>(choice.entry);
    return gemm_tuned_launchers<T, false>[static_cast<std::size_t>(choice.entry)];
}

template <class T>
GemmChoice run(Context& context, T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta,
               MatrixView<T> c, const GemmOptions& options) {
    check_shapes(a, b, c);
    check_options(options, scalar<T>, context.compute_capability());
    if (c.rows == 0 || c.columns == 0) return {};
    if (alpha == T(0) || a.columns == 0) {  // C = beta C: A and B are not read
        alpha = 0;
        a.columns = b.rows = 0;
        if (beta == T(1)) return {};
    } else {
        check_data("a", a);
        check_data("b", b);
    }
    check_data("c", c);
    const Footprint footprint(c);
    require(elements_distinct(footprint), "gemm: c has strides of ", c.row_stride, " and ",
            c.column_stride, ": its elements must not overlap");
    require(!overlap(footprint, Footprint(a)), "gemm: c overlaps a: must lie apart");
    require(!overlap(footprint, Footprint(b)), "gemm: c overlaps b: must lie apart");

    // Orient: every kernel writes C along rows. transposed(C) = transposed(B) transposed(A).
    if (c.column_stride != 1 && (c.row_stride == 1 || c.columns == 1)) {
        a = std::exchange(b, a.transposed()).transposed();
        c = c.transposed();
    }
    const GemmChoice choice = choose(context, c, a.columns, options);
    const device::Guard guard(context.device());
    context.note("gemm");
    launcher<T>(choice)(context.stream(), alpha, a, b, beta, c);
    return choice;
}

}  // namespace

const char* to_string(GemmKernel kernel) noexcept {
    switch (kernel) {
        case GemmKernel::best: return "best";
        case GemmKernel::naive: return "naive";
        case GemmKernel::tiled: return "tiled";
        case GemmKernel::tuned: return "tuned";
        case GemmKernel::none: return "none";
    }
    return "unknown";
}

GemmKernel gemm_kernel(std::string_view name) {
    for (auto kernel : {GemmKernel::best, GemmKernel::naive, GemmKernel::tiled, GemmKernel::tuned})
        if (name == to_string(kernel)) return kernel;
    fail(Status::invalid_argument, "gemm: there is no rung '", name,
         "': must be best, naive, tiled or tuned");
}

GemmChoice gemm(Context& context, float alpha, MatrixView<const float> a, MatrixView<const float> b,
                float beta, MatrixView<float> c, GemmOptions options) {
    return run(context, alpha, a, b, beta, c, options);
}
GemmChoice gemm(Context& context, double alpha, MatrixView<const double> a,
                MatrixView<const double> b, double beta, MatrixView<double> c,
                GemmOptions options) {
    return run(context, alpha, a, b, beta, c, options);
}

}  // namespace tinyblas
