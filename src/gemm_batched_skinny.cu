// SPDX-License-Identifier: MIT
// Compiles the kernels for batches of products whose C are skinny.
#include "gemm_batched_skinny.hpp"

#include "kernels/gemm/batched_skinny.cuh"

namespace tinyblas {

BatchLauncher<float> batched_skinny_launcher(int entry) {
    return entry == 0 ? launch_gemm_batched_skinny<0> : launch_gemm_batched_skinny<1>;
}
static_assert(skinny_batch_entries == 2);

}  // namespace tinyblas
