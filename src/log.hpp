// SPDX-License-Identifier: MIT
// TINYBLAS_LOG=1: a line on the error stream for each call that enqueues work, with the command
// line of the benchmark that does the same again. The one place where the library prints.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gemm_call.hpp"
#include "kernels/gemm/batched_operands.hpp"
#include "kernels/gemm/batched_plan.hpp"
#include "tinyblas/gemv.hpp"
#include "tinyblas/polyval.hpp"
#include "tinyblas/reduce.hpp"
#include "tinyblas/transpose.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas {

/// Whether TINYBLAS_LOG was 1 at the first call of this function.
bool logs() noexcept;

// Each says what was done, after the choice. They never throw: a line that finds no memory is lost.

template <class T>
void log_gemm(const GemmCall<T>& call) noexcept;

/// A batch as the caller gave it. `plan`: how one launch makes it, or null if `choice` is that of
/// the first of as many products as gemm would make; `asked`: for by name.
template <class T>
void log_gemm_batch(const GemmBatch<T>& batch, const GemmChoice& choice, const GemmBatchPlan* plan,
                    bool asked) noexcept;

/// `y` is null for reductions of one vector.
template <class T>
void log_reduction(const char* operation, VectorView<const T> x, const VectorView<const T>* y,
                   ReduceKernel rung) noexcept;

/// Strides in bytes.
void log_transpose(std::size_t element_size, const MatrixView<const std::byte>& a,
                   const MatrixView<std::byte>& b, const TransposeChoice& choice) noexcept;

void log_copy(const char* operation, std::size_t element_size,
              const MatrixView<const std::byte>& from, const MatrixView<std::byte>& to) noexcept;

template <class T>
void log_polyval(std::size_t coefficients, VectorView<const T> x, VectorView<T> y,
                 const PolyvalOptions& options, PolyvalKernel rung) noexcept;

/// axpy, and scal with `x` alone.
template <class T>
void log_update(const char* operation, VectorView<const T> x, const VectorView<T>* y) noexcept;

/// gemv and ger, where x has an element for each column of A (gemv) or row (ger). ger has no rungs:
/// GemvKernel::none.
template <class T>
void log_matrix_vector(const char* operation, MatrixView<const T> a, VectorView<const T> x,
                       VectorView<const T> y, GemvKernel rung) noexcept;

}  // namespace tinyblas
