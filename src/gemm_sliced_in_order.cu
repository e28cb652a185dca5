// SPDX-License-Identifier: MIT
// The entries of the rung sliced whose multiply-adds stay in the source's order: this file is
// assembled with ptxas -O1, as gemm_in_order.cu is and for the same reason.
#include "gemm_sliced_launchers.hpp"

namespace tinyblas {

const SlicedKernel& sliced_kernel_in_order(int entry) {
    return sliced_kernels<true>[static_cast<std::size_t>(entry)];
}

}  // namespace tinyblas
