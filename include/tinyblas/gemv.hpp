// SPDX-License-Identifier: MIT
// Operations of BLAS level 2: gemv, matrix times vector, and ger, a matrix's update by an outer
// product. Transposed operands are transposed views: gemv(context, 1, transposed(a), x, 0, y).
#pragma once

#include <string_view>

#include "tinyblas/context.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas {

/// The rungs of the ladder, kernels/gemv/N_<name>*.cuh, and two words of choice: `best` asks the
/// library to choose, `none` says that no kernel was needed.
enum class GemvKernel { best, naive, tuned, none };

/// The name of a rung, such as "naive".
TINYBLAS_API const char* to_string(GemvKernel kernel) noexcept;
/// The rung called `name` ("best", "naive", "tuned"). Throws Error (invalid_argument) that lists
/// them if there is none.
TINYBLAS_API GemvKernel gemv_kernel(std::string_view name);

/// What a caller may ask for.
struct GemvOptions {
    GemvKernel kernel = GemvKernel::best;  ///< a rung
};

/// What was chosen.
struct GemvChoice {
    GemvKernel kernel = GemvKernel::none;  ///< the rung that ran
};

/// y = alpha A x + beta y, enqueued on the context's stream as one kernel.
///
/// @param alpha  alpha = 0: A and x are not read and may be null
/// @param a      m x n, any strides; fast if one of them is 1
/// @param x      n elements, any increment, as in BLAS: with a negative one element 0 is the last
///               in memory; with 0 one element is read n times. May overlap A.
/// @param beta   beta = 0: y is overwritten and not read, so NaN in it does not survive
/// @param y      m elements, any increment but 0; must not overlap A or x
/// @return what ran; GemvKernel::none if m is 0, or if beta = 1 and n or alpha is 0
/// @throws Error  invalid_argument (names the argument, its value and the bound; nothing is
///                written), out_of_memory (scratch, at most 8 MB), device_error
///
/// The order of the additions depends on the extents, on which of A's strides is the shorter one,
/// and on the rung: the bits are the same on every run, stream and GPU and under device emulation,
/// whatever the alignment, the leading dimension and the increments. Sums start at +0 and are made
/// of fused multiply-adds; NaN and Inf propagate as IEEE 754 says, subnormals are kept; n = 0 gives
/// y = beta y.
/// Source: Dongarra, Du Croz, Hammarling, Hanson, An extended set of Fortran basic linear algebra
/// subprograms, ACM TOMS 14(1), 1988.
TINYBLAS_API GemvChoice gemv(Context& context, float alpha, MatrixView<const float> a,
                             VectorView<const float> x, float beta, VectorView<float> y,
                             GemvOptions options = {});
TINYBLAS_API GemvChoice gemv(Context& context, double alpha, MatrixView<const double> a,
                             VectorView<const double> x, double beta, VectorView<double> y,
                             GemvOptions options = {});

/// A = A + alpha x transposed(y), enqueued: each element becomes a_ij + (alpha x_i) y_j with a
/// fused multiply-add.
/// @param alpha  alpha = 0: nothing happens; A, x and y may be null
/// @param x      m elements, any increment
/// @param y      n elements, any increment; x and y may overlap
/// @param a      m x n, any strides that keep its elements apart; must not overlap x or y. Nothing
///               outside the view changes.
/// @throws Error  invalid_argument, device_error
/// NaN and Inf propagate: unlike in the reference BLAS, also where an element of x or y is 0.
TINYBLAS_API void ger(Context& context, float alpha, VectorView<const float> x,
                      VectorView<const float> y, MatrixView<float> a);
TINYBLAS_API void ger(Context& context, double alpha, VectorView<const double> x,
                      VectorView<const double> y, MatrixView<double> a);

}  // namespace tinyblas
