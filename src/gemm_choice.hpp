// SPDX-License-Identifier: MIT
// Which rung of gemm multiplies. The choice knows extents, layouts, options and the kind of GPU, so
// that the same call takes the same path.
#pragma once

#include <type_traits>

#include "gemm_call.hpp"
#include "kernels/gemm/tiles.hpp"

namespace tinyblas {

template <class T>
constexpr Scalar gemm_scalar = std::is_same_v<T, float> ? Scalar::float32 : Scalar::float64;

/// Throws Error unless the options name what can run on operands of this type.
void check_options(const Context& context, const GemmOptions& options, Scalar type);

/// Sets the call's choice, reason and plans.
template <class T>
void choose_gemm(const Context& context, GemmCall<T>& call, const GemmOptions& options);

/// The line of the tuned rung's table for the call.
template <class T>
int tuned_entry(const Context& context, const GemmCall<T>& call);

}  // namespace tinyblas
