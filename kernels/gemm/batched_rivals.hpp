// SPDX-License-Identifier: MIT
// How long batches of small products take in tiles that pieces may be faster than.
#pragma once

#include <cstdint>

#include "batched_pieces_plan.hpp"

namespace tinyblas {

/// A kernel's tiles, `matrices` of them a block, and microseconds: of a block alone, and its share
/// of k; of a multiprocessor for each of its blocks, and their k; how much longer these take where
/// elements are copied; of the time that its memory takes to copy as much. Fitted to 10,800 batches
/// with extents to 112 (NVIDIA H100).
struct GemmRivalTimes {
    Scalar type;
    GemmBatchRoute route;
    std::int16_t entry;
    std::int16_t block_m, block_n, depth, matrices;
    float one, one_of_k, block, block_of_k, elements, memory;
};

// clang-format off
inline constexpr GemmRivalTimes gemm_rival_times[] = {
    // type          route                  entry block m,n,k  of   one, of k    block, of k   elements memory
    {Scalar::float32, GemmBatchRoute::rows,   4,    4,   4,   4,  32,  1.96, 0.093,  0,    0.0089, 2,    0.91},
    {Scalar::float32, GemmBatchRoute::rows,   8,    8,   8,   8,  16,  1.76, 0.05,   0.2,  0.0096, 2,    0.75},
    {Scalar::float32, GemmBatchRoute::tile,   0,   16,  16,  16,   4,  1.9,  0.0128, 0.17, 0.0082, 0.35, 0.84},
    {Scalar::float32, GemmBatchRoute::tile,   1,   32,  32,  32,   1,  1.1,  0.0257, 0.02, 0.0066, 0.16, 1},
    {Scalar::float32, GemmBatchRoute::tile,   2,   32,  32,  64,   1,  2.05, 0.0026, 0,    0.0075, 0,    0.79},
    {Scalar::float32, GemmBatchRoute::tile,   3,   48,  48,  48,   1,  1.1,  0.026,  0,    0.009,  0.2,  1.35},
    {Scalar::float32, GemmBatchRoute::tile,   4,   64,  64,  32,   1,  1.37, 0.0282, 0.01, 0.0212, 0.05, 1.23},
    {Scalar::float32, GemmBatchRoute::tile,   5,   96,  96,  32,   1,  0.39, 0.078,  0.14, 0.0449, 0.1,  1.6},
    {Scalar::float32, GemmBatchRoute::tuned,  0,   64,  64,  16,   1,  2.04, 0.011,  0.47, 0.0214, 0.07, 0.71},
    {Scalar::float32, GemmBatchRoute::tuned,  1,   64, 128,   8,   1,  2.1,  0.0586, 1.75, 0.044,  0.35, 0.9},
    {Scalar::float64, GemmBatchRoute::rows,   4,    4,   4,   4,  32,  1.61, 0.122,  0,    0.009,  2,    0.89},
    {Scalar::float64, GemmBatchRoute::rows,   8,    8,   8,   8,  16,  1.7,  0.035,  0,    0.028,  1.59, 0.85},
    {Scalar::float64, GemmBatchRoute::tile,   6,   16,  16,  16,   4,  1.92, 0.0061, 0.1,  0.0099, 0.31, 0.81},
    {Scalar::float64, GemmBatchRoute::tile,   7,   32,  32,  32,   1,  1.86, 0.0021, 0.13, 0.0052, 0.24, 0.82},
    {Scalar::float64, GemmBatchRoute::tile,   8,   48,  48,  48,   1,  1.54, 0.0095, 0.01, 0.0127, 0.53, 0.86},
    {Scalar::float64, GemmBatchRoute::tensor, 2,   64,  64,  16,   1,  2,    0.0094, 0.92, 0.0063, 1.25, 0.89},
    {Scalar::float64, GemmBatchRoute::tensor, 3,   64,  32,  32,   1,  2.15, 0.0022, 0.5,  0.0065, 0.41, 0.84},
    {Scalar::float64, GemmBatchRoute::tensor, 4,   32,  32,  32,   1,  1.6,  0.0094, 0.34, 0.0029, 0.67, 0.84},
    {Scalar::float64, GemmBatchRoute::tensor, 5,   32,  16,  32,   1,  2.39, 0,      0.21, 0.0015, 2,    0.4},
};
// clang-format on

/// Estimated microseconds of such a plan; 0 if pieces are never faster, or it is not known.
constexpr double gemm_rival_microseconds(Scalar type, const GemmBatchPlan& plan,
                                         const GemmBatchExtents& x) {
    const bool together = x.pieces == GemmPieces::together;
    // One by one, tiny matrices take too many copies; and two of these squares have vectors.
    const bool vectors = x.m == x.n && x.n == x.k && x.k % 4 == 0;
    if (plan.route == GemmBatchRoute::rows && (!together || vectors)) return 0;
    for (const GemmRivalTimes& t : gemm_rival_times) {
        if (t.type != type || t.route != plan.route || t.entry != plan.entry) continue;
        const bool elements = x.n % 4 != 0 || x.k % 4 != 0 || !together;
        const auto k = static_cast<double>((x.k + t.depth - 1) / t.depth * t.depth);
        const std::int64_t blocks =
            x.tiles(t.block_m, t.block_n) / x.count * ((x.count + t.matrices - 1) / t.matrices);
        const double longer = 1 + (elements ? t.elements : 0) + 0.06 * x.turned();
        return gemm_batch_joined(t.one + t.one_of_k * k,
                                 static_cast<double>(blocks) / gemm_multiprocessors *
                                     (t.block + t.block_of_k * k * longer),
                                 t.memory * gemm_batch_memory(type, x));
    }
    return 0;
}

}  // namespace tinyblas
