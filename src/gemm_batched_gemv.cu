// SPDX-License-Identifier: MIT
// Compiles the kernels for batches of products of matrices and vectors.
#include "gemm_batched_gemv.hpp"

#include "kernels/gemm/batched_gemv.cuh"

namespace tinyblas {

template <class T>
BatchLauncher<T> batched_gemv_launcher() {
    return launch_gemm_batched_gemv<T>;
}
template BatchLauncher<float> batched_gemv_launcher<float>();
template BatchLauncher<double> batched_gemv_launcher<double>();

}  // namespace tinyblas
