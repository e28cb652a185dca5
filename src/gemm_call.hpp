// SPDX-License-Identifier: MIT
// One call of gemm between its checks and its launch, for all that starts with these checks: gemm
// itself, batches, packed operands, explain.
#pragma once

#include <cstddef>
#include <utility>

#include "device/runtime.hpp"
#include "gemm_slabs.hpp"
#include "kernels/gemm/gate.hpp"
#include "kernels/gemm/pipelined_plan.hpp"
#include "kernels/gemm/planes.hpp"
#include "kernels/gemm/skinny_plan.hpp"
#include "kernels/gemm/sliced_plan.hpp"
#include "kernels/gemm/tensor_plan.hpp"
#include "tinyblas/gemm.hpp"

namespace tinyblas {

/// Why a rung was chosen.
enum class GemmReason {
    nothing,       // C has no elements, or stays as it is
    no_products,   // alpha or k is 0
    asked,         // the rung, by name
    strict_asked,  // the precision
    no_wgmma,      // Precision::fp32, but this GPU does not run the rung hopper
    short_k,       // likewise, but sums are too short
    slower,        // likewise, but strict is estimated to be as fast
    scratch,       // likewise, but the caller's scratch memory is too small
    pays,
};

/// What the strict rungs that plan their work would do with a call.
struct GemmStrictPlans {
    int tuned_entry = 0;
    double tuned_seconds = 0;
    GemmRingPlan ring;  // of the tuned rung's entry for 9.0
    GemmSlicedPlan sliced;
    GemmPipelinedPlan pipelined;
    GemmSkinnyPlan skinny;
    GemmTensorPlan tensor;
    GemmSlabsPlan slabs;

    /// Estimated for a rung; 0: no plans were made.
    double seconds(GemmKernel kernel) const {
        switch (kernel) {
            case GemmKernel::sliced: return sliced.seconds;
            case GemmKernel::pipelined: return pipelined.seconds;
            case GemmKernel::skinny: return skinny.seconds;
            case GemmKernel::tensor: return tensor.seconds;
            case GemmKernel::batched: return slabs.seconds;
            default: return tuned_seconds;
        }
    }
};

/// Whether a rung is one of Precision::fp32.
constexpr bool is_from_parts(GemmKernel kernel) {
    return kernel == GemmKernel::split || kernel == GemmKernel::hopper;
}

/// As the kernels are given it: k is 0 if A and B are not to be read, and C is written along rows.
template <class T>
struct GemmCall {
    T alpha;
    MatrixView<const T> a, b;
    T beta;
    MatrixView<T> c;
    bool exchanged = false;  // a and b are the caller's b and a, transposed, and c is too
    const GemmPlanes *packed_a = nullptr, *packed_b = nullptr;  // as fp16x2, if they are
    GemmChoice choice = {};
    GemmReason reason = GemmReason::nothing;
    GemmStrictPlans plans = {};
    int tuning_line = 0;  // of the tuning file, if that made the choice

    bool from_parts() const { return is_from_parts(choice.kernel); }
};

/// Makes it the same product as transposed(C) = transposed(B) transposed(A).
template <class T>
void exchange(GemmCall<T>& call) {
    call.a = std::exchange(call.b, call.a.transposed()).transposed();
    call.c = call.c.transposed();
    std::swap(call.packed_a, call.packed_b);
    call.exchanged = !call.exchanged;
}

/// What enqueues the tuned rung with one entry of its table.
template <class T>
using GemmLauncher = void (*)(device::Stream, T, MatrixView<const T>, MatrixView<const T>, T,
                              MatrixView<T>, GemmGate);

/// Checks extents and options alone.
template <class T>
void check_gemm(const Context& context, MatrixView<const T> a, MatrixView<const T> b,
                MatrixView<T> c, const GemmOptions& options);

/// Checks a call, and chooses. `packed_b`: B's parts, of which `b` is the copy.
template <class T>
GemmCall<T> prepare_gemm(Context& context, T alpha, MatrixView<const T> a, MatrixView<const T> b,
                         T beta, MatrixView<T> c, const GemmOptions& options,
                         const GemmPlanes* packed_b = nullptr);

/// Enqueues what was chosen, and returns it. `alone`: not one of several in a batch, which has
/// a line of its own in the log.
template <class T>
GemmChoice enqueue_gemm(Context& context, const GemmCall<T>& call, bool alone = true);

}  // namespace tinyblas
