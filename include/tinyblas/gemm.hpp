// SPDX-License-Identifier: MIT
// gemm: general matrix multiply. Transposed operands are transposed views: gemm(context, 1,
// transposed(a), b, 0, c).
#pragma once

#include <string_view>

#include "tinyblas/context.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas {

/// The rungs of the ladder, kernels/gemm/N_<name>.cuh, and two words of choice: `best` asks the
/// library to choose, `none` says that no kernel was needed.
enum class GemmKernel { best, naive, tiled, tuned, none };

TINYBLAS_API const char* to_string(GemmKernel kernel) noexcept;
/// The rung called `name` ("best", "naive", "tiled", "tuned"). Throws Error (invalid_argument) that
/// lists them if there is none.
TINYBLAS_API GemmKernel gemm_kernel(std::string_view name);

/// What a caller may ask for.
struct GemmOptions {
    GemmKernel kernel = GemmKernel::best;
    int entry =
        -1;  ///< the line of the tuning table (kernels/gemm/tiles.hpp) for `tuned`; -1: chosen
};

/// What was chosen: the rung, and for `tuned` its line of the tuning table, else -1.
struct GemmChoice {
    GemmKernel kernel = GemmKernel::none;
    int entry = -1;
};

/// C = alpha A B + beta C, in one kernel launch on the context's stream. Each element is one chain
/// of fused multiply-adds in the order of k, started at +0. So the bits are the same on every run
/// and stream, and every rung and GPU gives the same value (but for the sign of a zero that
/// underflowed).
///
/// @param alpha  alpha = 0: A and B are not read and may be null
/// @param a      m x k, any strides
/// @param b      k x n, any strides
/// @param beta   beta = 0: C is overwritten and not read, so NaN in it does not survive
/// @param c      m x n, any strides that keep its elements apart; must not overlap A or B. Nothing
/// outside the view changes.
/// @return what ran; GemmKernel::none if m or n is 0, or if beta = 1 and k or alpha is 0
/// @throws Error  invalid_argument (names the argument, its value and the bound; nothing is
/// written), device_error
///
/// NaN and Inf propagate as IEEE 754 says, subnormals are kept; k = 0 gives C = beta C.
/// Source: Dongarra, Du Croz, Hammarling, Duff, A set of level 3 basic linear algebra subprograms,
/// ACM TOMS 16(1), 1990.
TINYBLAS_API GemmChoice gemm(Context& context, float alpha, MatrixView<const float> a,
                             MatrixView<const float> b, float beta, MatrixView<float> c,
                             GemmOptions options = {});
TINYBLAS_API GemmChoice gemm(Context& context, double alpha, MatrixView<const double> a,
                             MatrixView<const double> b, double beta, MatrixView<double> c,
                             GemmOptions options = {});

}  // namespace tinyblas
