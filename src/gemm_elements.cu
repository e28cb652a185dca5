// SPDX-License-Identifier: MIT
// Compiles the kernels for batches whose operands come by elements, which need compute capability
// 9.0a. Assembled with ptxas -O1, as gemm_in_order.cu is and for the same reason.
#include "gemm_elements.hpp"

#include <cstddef>

#include "kernels/gemm/batched_elements.cuh"
#include "launcher_table.hpp"

namespace tinyblas {

BatchLauncher<float> elements_launcher(int entry) {
    static constexpr auto launchers = launcher_table<BatchLauncher<float>, gemm_elements_entries>(
        []<int e>(std::integral_constant<int, e>) -> BatchLauncher<float> {
            return launch_gemm_batched_elements<e>;
        });
    return launchers[static_cast<std::size_t>(entry)];
}

}  // namespace tinyblas
