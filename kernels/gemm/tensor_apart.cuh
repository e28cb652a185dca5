// SPDX-License-Identifier: MIT
// What ends a product of the rung tensor whose few tiles are cut into many parts: a kernel of its
// own adds them up, where meeting in pairs, a level of the tree after the other, would take longer.
//
//   a block: 32 pairs of sums of a tile,             group 0   parts 0  8 16 ...  --+
//            as many groups of 32 threads as there   group 1   parts 1  9 17 ...  --+--> C
//            are eights of parts, 8 at most          ...                          --+
//
// Limit: the latency of a few loads in a row.
#pragma once

#include <cstdint>

#include "parts.cuh"
#include "tensor_sums.cuh"

namespace tinyblas {

inline constexpr unsigned tensor_sums_groups = 8;   // at most
inline constexpr unsigned tensor_sums_at_once = 8;  // parts, of which a thread asks for sums

/// A block for 32 pairs of a tile, the grid's y; `t`: the plan's entry.
__global__ void __launch_bounds__(tensor_sums_groups * 32)
    gemm_tensor_sums(const __grid_constant__ GemmTensorWork work, const GemmTensorTile t) {
    if constexpr (!device::reallocates_registers) return device::trap();  // as the rung's
    constexpr unsigned at_once = tensor_sums_at_once;
    constexpr unsigned threads = tensor_sums_groups * 32;
    auto& parts = device::shared<struct TensorSumsOfParts, double[at_once][threads][2]>();
    auto& sums = device::shared<struct TensorSumsOfGroups, double[tensor_sums_groups][32][2]>();
    const unsigned tile = blockIdx.y, groups = blockDim.x / 32;
    const unsigned group = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Whose the pair was: for_each_pair() of tensor_tile.cuh.
    const int pair = static_cast<int>(blockIdx.x * 32 + lane);
    const int of_warp = t.warp_m * t.warp_n / 2, warp = pair / of_warp;
    const int number = pair % of_warp / 32, half = number % 2, strip = number / 2 % (t.warp_m / 8);
    const int slab = number / 2 / (t.warp_m / 8), owner = pair % 32;
    const TensorPlace place = tensor_place(work, tile);
    const std::int64_t i = std::int64_t{place.row} * t.block_m + warp / t.warps_n() * t.warp_m +
                           8 * strip + owner % 4 * 2;
    const std::int64_t j = std::int64_t{place.column} * t.block_n + warp % t.warps_n() * t.warp_n +
                           16 * slab + owner / 4 * 2 + half;
    const MatrixView<double>& first = work.c.first;
    const bool inside = i < first.rows && j < first.columns;  // warps beyond have left nothing

    // Parts lie apart like their workers, but for the first one: that worker may have had another.
    const TensorPieces pieces(work, tile);
    const std::int64_t apart = std::int64_t{2} * t.block_m * t.block_n;
    const double* const from = work.parts + pair * 2 + pieces.first * apart;
    const std::int64_t first_part = (pieces.place(0) - 2 * pieces.first) * apart / 2;
    device::wait_for_launcher();
    double one = 0, other = 0;
#pragma unroll 1
    for (unsigned first = group; first < pieces.count; first += groups * at_once) {
        // Through shared memory: all are on their way at once, whatever registers there are.
#pragma unroll
        for (unsigned at = 0; at < at_once; ++at) {
            const unsigned part = first + at * groups;
            const double* const sum = from + (part > 0 ? part * apart : first_part);
            device::copy_async<2>(device::SharedPointer<double>(parts[at][threadIdx.x]), sum,
                                  inside && part < pieces.count ? 2 : 0);
        }
        device::close_copy_group();
        device::wait_for_copies<0>();
#pragma unroll
        for (unsigned at = 0; at < at_once; ++at) {
            one += parts[at][threadIdx.x][0];
            other += parts[at][threadIdx.x][1];
        }
    }
    sums[group][lane][0] = one;
    sums[group][lane][1] = other;
    __syncthreads();
    if (group > 0 || !inside) return;
    for (unsigned g = 1; g < groups; ++g) {
        one += sums[g][lane][0];
        other += sums[g][lane][1];
    }
    const MatrixView<double> c = work.c.at(place.product);
    store(c(i, j), work.alpha, one, work.beta);
    if (i + 1 < c.rows) store(c(i + 1, j), work.alpha, other, work.beta);
}

inline void launch_gemm_tensor_sums(device::Stream stream, const GemmTensorWork& work) {
    const GemmTensorTile& t = gemm_tensor_table[work.plan.entry];
    const unsigned eights = (work.plan.parts() + tensor_sums_at_once - 1) / tensor_sums_at_once;
    const unsigned groups = eights < tensor_sums_groups ? eights : tensor_sums_groups;
    device::launch_dependent(
        "gemm", gemm_tensor_sums,
        dim3(static_cast<unsigned>(t.block_m * t.block_n / 64), work.plan.cut()), groups * 32,
        stream, work, t);
}

}  // namespace tinyblas
