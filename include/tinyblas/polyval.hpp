// SPDX-License-Identifier: MIT
// polyval: one polynomial at many points.
#pragma once

#include <span>
#include <string_view>

#include "tinyblas/context.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas {

/// The rungs of the ladder, kernels/polyval/N_<name>.cuh, and two words of choice: `best` asks the
/// library to choose, `none` says that no kernel was needed.
enum class PolyvalKernel { best, naive, constant, tuned, none };

/// The name of a rung, such as "naive".
TINYBLAS_API const char* to_string(PolyvalKernel kernel) noexcept;
/// The rung called `name` ("best", "naive", "constant", "tuned"). Throws Error (invalid_argument)
/// that lists them if there is none.
TINYBLAS_API PolyvalKernel polyval_kernel(std::string_view name);

/// What a caller may ask for.
struct PolyvalOptions {
    PolyvalKernel kernel = PolyvalKernel::best;  ///< a rung
    /// Compensated Horner: as accurate as if computed in twice the precision and then rounded, for
    /// about ten times the arithmetic (Graillat, Langlois, Louvet, Compensated Horner scheme,
    /// 2005). Only with `best` or `tuned`.
    bool compensated = false;
};

/// What was chosen.
struct PolyvalChoice {
    PolyvalKernel kernel = PolyvalKernel::none;  ///< the rung that ran
};

/// y_i = sum over j of coefficients[j] x_i^j, lowest degree first, by Horner's rule with fused
/// multiply-adds in order of falling degree, enqueued on the context's stream. Every rung gives the
/// same bits. |error| <= 2 n u sum |a_j| |x|^j with n the degree, u = 2^-24 (float) or 2^-53.
///
/// @param coefficients  in host memory, at least one; read before the call returns, so that the
/// array may change or go away at once, even if the call was captured in a CUDA graph. Any degree:
/// past what kernel parameters hold, the polynomial is evaluated in pieces.
/// @param x  any increment
/// @param y  as long as x; increment not 0; must not overlap x, unless it is the very same view:
/// then y replaces x in place. Nothing outside the view changes.
/// @return what ran; PolyvalKernel::none if x is empty
/// @throws Error  invalid_argument (names the argument, its value and the bound; nothing is
/// written), out_of_memory (scratch), device_error
///
/// NaN and Inf propagate as the operations of Horner's rule do (a polynomial of degree 0 does not
/// depend on x, NaN included). Source: Knuth, The art of computer programming 2, 4.6.4.
TINYBLAS_API PolyvalChoice polyval(Context& context, std::span<const float> coefficients,
                                   VectorView<const float> x, VectorView<float> y,
                                   PolyvalOptions options = {});
TINYBLAS_API PolyvalChoice polyval(Context& context, std::span<const double> coefficients,
                                   VectorView<const double> x, VectorView<double> y,
                                   PolyvalOptions options = {});

}  // namespace tinyblas
