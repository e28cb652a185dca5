// SPDX-License-Identifier: MIT
// Writes the copy engine's maps of a batch's matrices.
#pragma once

#include "batch_maps.hpp"

namespace tinyblas {

inline constexpr int gemm_batch_maps_threads = 32;

/// Operands along the grid's y.
__global__ void __launch_bounds__(gemm_batch_maps_threads)
    gemm_batch_maps(const __grid_constant__ GemmBatchMaps work) {
    if constexpr (!device::reallocates_registers) return device::trap();
    device::let_dependents_start();
    device::wait_for_launcher();
    const unsigned e = blockIdx.x * gemm_batch_maps_threads + threadIdx.x;
    if (e >= work.count) return;
    const GemmBatchMaps::Operand& operand = work.operands[blockIdx.y];
    const float* const data = operand.matrices.data(e);
    if (begins_at_vector(data))
        device::write_tile_map(work.maps + blockIdx.y * work.count + e, operand.like, data);
}

inline void launch_gemm_batch_maps(device::Stream stream, const GemmBatchMaps& work) {
    constexpr unsigned threads = gemm_batch_maps_threads;
    device::launch_dependent("gemm", gemm_batch_maps,
                             dim3((work.count + threads - 1) / threads, work.operand_count),
                             threads, stream, work);
}

}  // namespace tinyblas
