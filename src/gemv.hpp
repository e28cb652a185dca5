// SPDX-License-Identifier: MIT
// gemv for operations that have checked its arguments, such as gemm where C is a row or a column.
#pragma once

#include <cstdint>

#include "tinyblas/context.hpp"
#include "tinyblas/gemv.hpp"

namespace tinyblas {

/// About how long it takes on an H200 where A is m x n: A is read at memory's speed.
template <class T>
constexpr double gemv_seconds(std::int64_t m, std::int64_t n) {
    return 2e-6 + static_cast<double>(m) * static_cast<double>(n) * sizeof(T) / 4.3e12;
}

/// As gemv(), without its checks: y has elements, a.columns is 0 if A and x are not to be read.
/// `operation` is whom errors name. The device is the context's.
template <class T>
GemvKernel enqueue_gemv(Context& context, const char* operation, T alpha, MatrixView<const T> a,
                        VectorView<const T> x, T beta, VectorView<T> y,
                        GemvKernel kernel = GemvKernel::best);

}  // namespace tinyblas
