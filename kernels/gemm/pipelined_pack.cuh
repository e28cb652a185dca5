// SPDX-License-Identifier: MIT
// The pre-pass of the rung pipelined, and of the tuned rung's ring: an operand of any strides as
// the copy engine wants it, rows of neighbours for each k, at multiples of 16 bytes.
//
//   a tile: 64 rows of the operand x 64 k       in shared memory, and so in the copy
//   +-----------+                               +-----------+
//   | lanes 8 k | x 4 rows, where k is the      | k = 0: 64 neighbours
//   |           |   shorter way; else 32 rows   | k = 1
//   +-----------+                               +-----------+
//
// Limit: memory.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "pipelined_plan.hpp"

namespace tinyblas {

inline constexpr int pipelined_pack_threads = 256;

__device__ __forceinline__ void pipelined_pack_tile(const PipelinedPackTask& task, unsigned tile) {
    constexpr int edge = PipelinedPackTask::edge, pitch = edge + 4;  // 8 k x 4 rows: 32 banks
    auto& turned = device::shared<struct PipelinedPackTile, float[edge][pitch]>();
    const std::int64_t i0 = std::int64_t{tile % task.across()} * edge;
    const std::int64_t p0 = std::int64_t{tile / task.across()} * edge;
    const auto m = static_cast<int>(task.from.rows - i0 < edge ? task.from.rows - i0 : edge);
    const auto k = static_cast<int>(task.from.columns - p0 < edge ? task.from.columns - p0 : edge);
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;

    const std::int64_t row_stride = task.from.row_stride, k_stride = task.from.column_stride;
    const auto size = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
    const bool along_k = size(k_stride) < size(row_stride);
    const int i = along_k ? warp * 4 + lane / 8 : lane, p = along_k ? lane % 8 : warp;
    const float* from = task.from.data + (i0 + i) * row_stride + (p0 + p) * k_stride;
    float values[2][8];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const float* at = from;
#pragma unroll
        for (int s = 0; s < 8; ++s) {
            values[r][s] = 0;
            if (i + r * 32 < m && p + s * 8 < k) values[r][s] = __ldg(at);
            at = device::opaque(at + 8 * k_stride);
        }
        from += 32 * row_stride;
    }
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int s = 0; s < 8; ++s) turned[p + s * 8][i + r * 32] = values[r][s];
    __syncthreads();

    const int chunk = thread % 16 * 4, first = thread / 16;
    float* to = task.to + (p0 + first) * task.pitch + i0 + chunk;
    if (chunk >= m) return;
#pragma unroll
    for (int s = 0; s < 4; ++s) {
        float line[4];
        device::load_vector(line, &turned[first + s * 16][chunk]);
        if (first + s * 16 < k) device::store_global(to + s * 16 * task.pitch, line);
    }
}

/// Both operands at once; one without a target is left alone.
__global__ void __launch_bounds__(pipelined_pack_threads, 6)
    gemm_pipelined_pack(PipelinedPackTask a, PipelinedPackTask b) {
    if constexpr (!device::reallocates_registers) return device::trap();  // as the rung's
    device::wait_for_launcher();
    device::let_dependents_start();
    const auto blocks_a = static_cast<unsigned>(a.blocks());
    if (blockIdx.x < blocks_a)
        pipelined_pack_tile(a, blockIdx.x);
    else
        pipelined_pack_tile(b, blockIdx.x - blocks_a);
}

inline void launch_gemm_pipelined_pack(device::Stream stream, const PipelinedPackTask& a,
                                       const PipelinedPackTask& b, PipelinedPackOrder order) {
    const unsigned blocks = device::grid(a.blocks() + b.blocks(), "gemm");
    if (order.early)
        device::launch_evenly("gemm", gemm_pipelined_pack, blocks, pipelined_pack_threads, 0,
                              stream, a, b);
    else
        device::launch("gemm", gemm_pipelined_pack, blocks, pipelined_pack_threads, stream, a, b);
}

}  // namespace tinyblas
