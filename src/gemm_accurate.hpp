// SPDX-License-Identifier: MIT
// gemm from parts (Precision::fp32): its scratch memory, its sequence of kernels, its guard.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gemm_call.hpp"

namespace tinyblas {

/// What is done with data that fp16x2 cannot hold.
enum class GemmWideRoute {
    bf16x3,  // needs half as much scratch again
    strict,
};

/// Bytes of scratch memory for the call's rung, split or hopper.
std::size_t gemm_accurate_bytes(const GemmCall<float>& call, GemmWideRoute route);

/// The pre-pass, then the product from two fp16 parts, or from three bf16 parts, or by `strict`, as
/// the guard's findings, on the device, ask for it. Without the scratch memory for bf16x3, strict
/// does that as well. Throws Error (out_of_memory) if there is less still.
void enqueue_gemm_accurate(Context& context, const GemmCall<float>& call,
                           GemmLauncher<float> strict);

/// What the guard finds in one operand: bits of GemmFinding, and the first row (column of B) of the
/// 32 in which it found the gravest.
struct GemmFound {
    unsigned findings = 0;
    std::int64_t row = 0;
};
struct GemmGuard {
    GemmFound a, b;  // the call's, perhaps exchanged
    GemmWideRoute route;
};
/// Lets the guard look at the call's operands, and waits for it.
GemmGuard gemm_guard(Context& context, const GemmCall<float>& call);

/// Enqueues what makes the fp16x2 parts of an operand, `rows` by k, in memory that is there; as
/// many notes as exponents.
void pack_planes(Context& context, MatrixView<const float> rows, const GemmPlanes& planes,
                 int* notes);

}  // namespace tinyblas
