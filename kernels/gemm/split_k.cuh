// SPDX-License-Identifier: MIT
// Split-k: the parts of one product's k as a batch, and what adds them up.
//
//   gemm_split_k        as batched_elements.cuh makes a batch, each part in chains
//   gemm_split_k_sums   a block  8 warps; each 1, 2, 4 or 8 of them are a group, with the same 128
//                                neighbours of all parts
//                       a warp   adds up every so manieth part, four on their way at once, by
//                                vectors
//                       all      by way of shared memory: the warps' sums become C, neighbour by
//                                neighbour
//
// Always in the same order. Limits: issue slots; of the sums, the latency of a few loads in a row.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "batched_elements.cuh"
#include "divisor.hpp"
#include "parts.cuh"
#include "split_k_plan.hpp"

namespace tinyblas {

/// `of_chain`: steps. `last_k`: of the last part.
template <int entry>
__global__ void __launch_bounds__(split_k_table[entry].tile.threads(),
                                  split_k_table[entry].tile.min_blocks)
    gemm_split_k(GemmBatch<float> x, int of_chain, int last_k) {
    device::wait_for_launcher();
    const int k = blockIdx.y + 1 == gridDim.y ? last_k : static_cast<int>(x.k());
    multiply_elements<GemmElements<split_k_table[entry].tile>, true>(x, k, of_chain);
}

inline constexpr int split_k_sums_warps = 8, split_k_sums_at_once = 4;  // of a block; parts

/// C = alpha times the sum of `parts`, `count` of them, row by row and `apart` elements from each
/// other, + beta C; by groups of 2^group_log2 warps.
__global__ void __launch_bounds__(32 * split_k_sums_warps)
    gemm_split_k_sums(const float* parts, int count, unsigned apart, Divisor columns, float alpha,
                      float beta, MatrixView<float> c, int group_log2) {
    constexpr int at_once = split_k_sums_at_once, of_group = 128;
    using Sums = float[split_k_sums_warps][of_group];
    auto& sums = device::shared<struct SplitKSums, Sums>();
    device::let_dependents_start();
    device::wait_for_launcher();
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    const int warps = 1 << group_log2, of_block = split_k_sums_warps * of_group >> group_log2;
    const unsigned first = blockIdx.x * static_cast<unsigned>(of_block);
    const unsigned own = first + static_cast<unsigned>((warp >> group_log2) * of_group + lane * 4);
    const auto width = static_cast<unsigned>(c.columns);
    const unsigned all = static_cast<unsigned>(c.rows) * width;
    // Of a last vector, what no part has is not read.
    const auto load = [&](float(&to)[4], const float* from) {
        if (own + 4 <= all) return device::load_fresh(to, from);
#pragma unroll
        for (unsigned e = 0; e < 4; ++e) to[e] = own + e < all ? device::load_fresh(from + e) : 0;
    };
    float sum[4] = {};
    if (own < all) {
        const int part = warp & (warps - 1);
        const float* from = parts + std::int64_t{part} * apart + own;
#pragma unroll 1
        for (int left = count - part; left > 0; left -= at_once << group_log2) {
            float more[at_once][4];
#pragma unroll
            for (int u = 0; u < at_once; ++u, from += std::int64_t{apart} << group_log2)
                if (u << group_log2 < left) load(more[u], from);
#pragma unroll
            for (int u = 0; u < at_once; ++u)
                if (u << group_log2 < left)
#pragma unroll
                    for (int e = 0; e < 4; ++e) sum[e] += more[u][e];
        }
    }
    device::store_vector(&sums[warp][lane * 4], sum);
    __syncthreads();
#pragma unroll 1
    for (int i = thread; i < of_block; i += 32 * split_k_sums_warps) {
        const unsigned element = first + static_cast<unsigned>(i);
        if (element >= all) continue;
        const unsigned row = columns.quotient(element), column = element - row * width;
        const float* from = &sums[i / of_group << group_log2][i % of_group];
        float total = *from;
#pragma unroll 1
        for (int w = 1; w < warps; ++w) total += from[w * of_group];
        store(c(row, column), alpha, total, beta);
    }
}

template <int entry>
void launch_gemm_split_k(device::Stream stream, const GemmBatch<float>& parts, int of_chain,
                         int last_k) {
    launch_elements<GemmElements<split_k_table[entry].tile>>(gemm_split_k<entry>, stream, parts,
                                                             of_chain, last_k);
}

inline void launch_gemm_split_k_sums(device::Stream stream, const GemmBatchOperand<float>& parts,
                                     int count, float alpha, float beta,
                                     const MatrixView<float>& c) {
    constexpr unsigned of_block = 128 * split_k_sums_warps;
    const auto apart = static_cast<unsigned>(parts.stride);
    int group_log2 = 0;
    const auto blocks = [&] { return ((apart << group_log2) + of_block - 1) / of_block; };
    // As many as have all of their parts on the way at once, and more where blocks are few.
    while (1 << group_log2 < split_k_sums_warps && 1 << group_log2 < count &&
           (count > split_k_sums_at_once << group_log2 || blocks() < 2 * gemm_multiprocessors))
        ++group_log2;
    device::launch_dependent("gemm", gemm_split_k_sums, dim3(blocks()), 32 * split_k_sums_warps,
                             stream, parts.first.data, count, apart,
                             Divisor(static_cast<unsigned>(c.columns)), alpha, beta, c, group_log2);
}

}  // namespace tinyblas
