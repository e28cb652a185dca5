// SPDX-License-Identifier: MIT
// Compiles the kernels for batches of products whose k is short.
#include "gemm_batched_outer.hpp"

#include "kernels/gemm/batched_outer.cuh"

namespace tinyblas {

template <class T>
BatchLauncher<T> batched_outer_launcher(bool in_fours) {
    return in_fours ? launch_gemm_batched_outer<T, true> : launch_gemm_batched_outer<T, false>;
}
template BatchLauncher<float> batched_outer_launcher<float>(bool);
template BatchLauncher<double> batched_outer_launcher<double>(bool);

}  // namespace tinyblas
