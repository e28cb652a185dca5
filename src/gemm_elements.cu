// SPDX-License-Identifier: MIT
// Compiles the kernels for batches whose operands come by elements, and for stream-k by elements,
// which need compute capability 9.0a. Assembled with ptxas -O1, as gemm_in_order.cu is and for the
// same reason.
#include "gemm_elements.hpp"

#include <cstddef>

#include "kernels/gemm/batched_elements.cuh"
#include "kernels/gemm/stream_k.cuh"
#include "launcher_table.hpp"

namespace tinyblas {

BatchLauncher<float> elements_launcher(int entry) {
    static constexpr auto launchers = launcher_table<BatchLauncher<float>, gemm_elements_entries>(
        []<int e>(std::integral_constant<int, e>) -> BatchLauncher<float> {
            return launch_gemm_batched_elements<e>;
        });
    return launchers[static_cast<std::size_t>(entry)];
}

void enqueue_stream_k(Context& context, int entry, const StreamKCut& cut,
                      const GemmBatch<float>& x) {
    using Launcher = void (*)(device::Stream, const GemmBatch<float>&, const StreamK&, float*);
    static constexpr auto launchers = launcher_table<Launcher, stream_k_entries>(
        []<int e>(std::integral_constant<int, e>) -> Launcher { return launch_gemm_stream_k<e>; });
    const auto bytes = static_cast<std::size_t>(stream_k_bytes(entry, cut));
    void* const sums = bytes > 0 ? context.scratch(bytes) : nullptr;
    launchers[static_cast<std::size_t>(entry)](context.stream(), x,
                                               {cut, x.k(), stream_k_table[entry].tile.block_k},
                                               static_cast<float*>(sums));
}

}  // namespace tinyblas
