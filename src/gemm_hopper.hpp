// SPDX-License-Identifier: MIT
// The rung hopper of gemm, as host files see it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/runtime.hpp"
#include "kernels/gemm/planes.hpp"

namespace tinyblas {

/// Bytes of partial sums for a product of these extents.
std::size_t gemm_hopper_partial_bytes(std::int64_t m, std::int64_t n, std::int64_t k);

/// C = alpha A B + beta C from fp16x2 parts; where their findings say so, from bf16x3 parts, which
/// the kernel makes, or strictly. So it does all that follows the pre-pass.
/// @param wide_a, wide_b  the operands; where bf16x3 bricks have room (may be in place of the
///                        others) or null; and their exponents (not in place of the others), which
///                        are fp16x2's notes before
/// @param counters        of the context's workspace: zero before and after
void launch_gemm_hopper(device::Stream stream, const GemmPlanesProduct& product,
                        const GemmPlanesTask& wide_a, const GemmPlanesTask& wide_b, void* partials,
                        unsigned* counters, int multiprocessors);

}  // namespace tinyblas
