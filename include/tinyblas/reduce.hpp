// SPDX-License-Identifier: MIT
// Vector operations of BLAS level 1: the reductions asum, dot, nrm2 and sum; axpy and scal.
#pragma once

#include <string_view>

#include "tinyblas/context.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas {

/// The rungs of the ladder, kernels/reduce/N_<name>.cuh, and two words of choice: `best` asks the
/// library to choose, `none` says that no kernel was needed.
enum class ReduceKernel { best, naive, texture, tuned, none };

/// The name of a rung, such as "naive".
TINYBLAS_API const char* to_string(ReduceKernel kernel) noexcept;
/// The rung called `name` ("best", "naive", "texture", "tuned"). Throws Error (invalid_argument)
/// that lists them if there is none.
TINYBLAS_API ReduceKernel reduce_kernel(std::string_view name);

/// What a caller may ask for. A vector that no texture can show (its increment is not 1, or it has
/// more elements than 16 textures hold) runs on `tuned`, which gives the same bits as `texture`.
struct ReduceOptions {
    ReduceKernel kernel = ReduceKernel::best;  ///< a rung
};

/// What was chosen.
struct ReduceChoice {
    ReduceKernel kernel = ReduceKernel::none;  ///< the rung that ran
};

// Each reduction has two forms. The one that returns a number waits for it (and throws Error,
// invalid_argument, if the context's stream is being captured). The one with `result`, one element
// of memory that the device reaches, only enqueues: it may be captured in a CUDA graph.
//
// All run as one kernel. The order of the additions depends on the extent and the rung alone, so
// the bits are the same on every run, stream and GPU and under device emulation, whatever the
// increments and the alignment; `texture` and `tuned` give the same bits. Sums start at +0. NaN and
// Inf propagate as IEEE 754 says, subnormals are kept.
//
// @param x, y   any alignment that the type has; increments as in BLAS: with a negative one element
//               0 is the last in memory; with 0 one element is read size times
// @throws Error  invalid_argument (names the argument, its value and the bound), out_of_memory
//                (the context's first reduction), device_error
//
// Source: Lawson, Hanson, Kincaid, Krogh, Basic linear algebra subprograms for Fortran usage, ACM
// TOMS 5(3), 1979; sum: BLAS Technical Forum standard, 2.8.

/// sum of |x_i|; 0 if x's size is 0 or, as in BLAS, its increment is not positive.
TINYBLAS_API float asum(Context& context, VectorView<const float> x, ReduceOptions options = {});
TINYBLAS_API double asum(Context& context, VectorView<const double> x, ReduceOptions options = {});
TINYBLAS_API ReduceChoice asum(Context& context, VectorView<const float> x, float* result,
                               ReduceOptions options = {});
TINYBLAS_API ReduceChoice asum(Context& context, VectorView<const double> x, double* result,
                               ReduceOptions options = {});

/// sum of x_i y_i, with fused multiply-adds; x and y have equal sizes and may overlap.
TINYBLAS_API float dot(Context& context, VectorView<const float> x, VectorView<const float> y,
                       ReduceOptions options = {});
TINYBLAS_API double dot(Context& context, VectorView<const double> x, VectorView<const double> y,
                        ReduceOptions options = {});
TINYBLAS_API ReduceChoice dot(Context& context, VectorView<const float> x,
                              VectorView<const float> y, float* result, ReduceOptions options = {});
TINYBLAS_API ReduceChoice dot(Context& context, VectorView<const double> x,
                              VectorView<const double> y, double* result,
                              ReduceOptions options = {});

/// sqrt(sum of x_i^2). No square overflows or underflows: floats are squared in double, doubles are
/// summed in three ranges (Blue, A portable Fortran program to find the Euclidean norm of a vector,
/// ACM TOMS 4(1), 1978).
TINYBLAS_API float nrm2(Context& context, VectorView<const float> x, ReduceOptions options = {});
TINYBLAS_API double nrm2(Context& context, VectorView<const double> x, ReduceOptions options = {});
TINYBLAS_API ReduceChoice nrm2(Context& context, VectorView<const float> x, float* result,
                               ReduceOptions options = {});
TINYBLAS_API ReduceChoice nrm2(Context& context, VectorView<const double> x, double* result,
                               ReduceOptions options = {});

/// sum of x_i.
TINYBLAS_API float sum(Context& context, VectorView<const float> x, ReduceOptions options = {});
TINYBLAS_API double sum(Context& context, VectorView<const double> x, ReduceOptions options = {});
TINYBLAS_API ReduceChoice sum(Context& context, VectorView<const float> x, float* result,
                              ReduceOptions options = {});
TINYBLAS_API ReduceChoice sum(Context& context, VectorView<const double> x, double* result,
                              ReduceOptions options = {});

/// y_i = alpha x_i + y_i, rounded once, enqueued. alpha = 0: nothing happens and x is not read. y's
/// elements must not overlap each other, nor x's unless y and x are the same view.
TINYBLAS_API void axpy(Context& context, float alpha, VectorView<const float> x,
                       VectorView<float> y);
TINYBLAS_API void axpy(Context& context, double alpha, VectorView<const double> x,
                       VectorView<double> y);

/// x_i = alpha x_i, enqueued; nothing happens if, as in BLAS, x's increment is not positive.
/// alpha = 0 multiplies like any other number: NaN stays NaN.
TINYBLAS_API void scal(Context& context, float alpha, VectorView<float> x);
TINYBLAS_API void scal(Context& context, double alpha, VectorView<double> x);

}  // namespace tinyblas
