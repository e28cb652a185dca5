// SPDX-License-Identifier: MIT
// axpy and scal: check, launch.
#include "check.hpp"
#include "device/runtime.hpp"
#include "kernels/vector/update.cuh"
#include "log.hpp"
#include "tinyblas/reduce.hpp"

namespace tinyblas {
namespace {

template <class T>
void run_axpy(Context& context, T alpha, VectorView<const T> x, VectorView<T> y) {
    check_vector("axpy", "x", x);
    check_vector("axpy", "y", y);
    require(x.size == y.size, "axpy: y has ", y.size, " elements but x has ", x.size,
            ": must be equal");
    if (y.size == 0 || alpha == T(0)) return;
    require(y.increment != 0 || y.size == 1,
            "axpy: y has an increment of 0: its elements must not overlap");
    const bool same = x.data == y.data && (x.increment == y.increment || y.size == 1);
    require(same || !overlap(Track(x), Track(y)),
            "axpy: y overlaps x: must lie apart or be the same view");
    const device::Guard guard(context.device(), "axpy");
    context.note("axpy");
    launch_update("axpy", context.stream(), Axpy<T>{alpha}, x, y);
    if (logs()) log_update("axpy", x, &y);
}

template <class T>
void run_scal(Context& context, T alpha, VectorView<T> x) {
    check_vector("scal", "x", x);
    if (x.size == 0 || x.increment <= 0) return;
    const device::Guard guard(context.device(), "scal");
    context.note("scal");
    launch_update("scal", context.stream(), Scal<T>{alpha}, VectorView<const T>(x), x);
    if (logs()) log_update<T>("scal", x, nullptr);
}

}  // namespace

void axpy(Context& context, float alpha, VectorView<const float> x, VectorView<float> y) {
    run_axpy(context, alpha, x, y);
}
void axpy(Context& context, double alpha, VectorView<const double> x, VectorView<double> y) {
    run_axpy(context, alpha, x, y);
}
void scal(Context& context, float alpha, VectorView<float> x) { run_scal(context, alpha, x); }
void scal(Context& context, double alpha, VectorView<double> x) { run_scal(context, alpha, x); }

}  // namespace tinyblas
