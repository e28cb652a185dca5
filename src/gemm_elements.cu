// SPDX-License-Identifier: MIT
// Compiles the kernels for batches whose operands come by elements, and for split-k by elements,
// which need compute capability 9.0a. Assembled with ptxas -O1, as gemm_in_order.cu is and for the
// same reason.
#include "gemm_elements.hpp"

#include <cstddef>

#include "kernels/gemm/batched_elements.cuh"
#include "kernels/gemm/split_k.cuh"
#include "launcher_table.hpp"

namespace tinyblas {

BatchLauncher<float> elements_launcher(int entry) {
    static constexpr auto launchers = launcher_table<BatchLauncher<float>, gemm_elements_entries>(
        []<int e>(std::integral_constant<int, e>) -> BatchLauncher<float> {
            return launch_gemm_batched_elements<e>;
        });
    return launchers[static_cast<std::size_t>(entry)];
}

void enqueue_split_k(device::Stream stream, const GemmSplitKPlan& plan,
                     const GemmBatch<float>& parts, int last_k, float alpha, float beta,
                     const MatrixView<float>& c) {
    using Launcher = void (*)(device::Stream, const GemmBatch<float>&, int, int);
    static constexpr auto launchers = launcher_table<Launcher, split_k_entries>(
        []<int e>(std::integral_constant<int, e>) -> Launcher { return launch_gemm_split_k<e>; });
    launchers[static_cast<std::size_t>(plan.entry)](stream, parts, plan.of_chain, last_k);
    launch_gemm_split_k_sums(stream, parts.c, plan.parts, alpha, beta, c);
}

}  // namespace tinyblas
