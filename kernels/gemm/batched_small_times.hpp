// SPDX-License-Identifier: MIT
// How long batches of small products take by the kernels that are theirs alone; of doubles, by all
// that could make them.
#pragma once

#include <cstdint>

#include "batched_pieces_plan.hpp"

namespace tinyblas {

/// A kernel's tiles, `matrices` of them a block, and blocks that a multiprocessor holds. Estimated
/// microseconds: of a launch; of a k while few blocks share a multiprocessor, and for each operand
/// that comes by elements; of each of its blocks, and of a k of these, for each operand that comes
/// by elements, that is turned; of what an H200 takes to copy what is read, and written; by
/// pointers, of a launch, and of a block's k. Fitted, as are those of pieces, to 10,600 batches of
/// extents to 112, or thin ones to 400, made by every kernel (3,000 on an NVIDIA H200, the others
/// on an H100): so that what is chosen takes least time (1 % longer than the fastest; double: 1.7
/// %), then so that times are right. Those of the tiles of 48 x 32 came later: fitted beside the
/// others' to 1,500 batches of doubles on an H200. `beyond`: how much longer it takes if the L2
/// cache does not hold the operands, measured where that decides.
struct GemmSmallTimes {
    Scalar type;
    GemmBatchRoute route;
    std::int16_t entry;
    std::int16_t block_m, block_n, depth, matrices, at_once;
    float start, of_k, of_k_elements, block, block_of_k, elements, turned, read, write, pointers,
        of_pointers;
    float beyond = 0;
};

// clang-format off
inline constexpr GemmSmallTimes gemm_small_times[] = {
    // type           route                   entry, block m, n, k, matrices, at once; start, of k, by elements; block, of k, by elements, turned; read, write, pointers, of k; beyond
    {Scalar::float32, GemmBatchRoute::rows,   4, 4,   4,   4,  32, 10, 0.764, 0.0837, 0.0129, 0.0001, 0.0326, 0,      0.0031, 0,      1.047,  0.0155, 0.0203},
    {Scalar::float32, GemmBatchRoute::rows,   8, 8,   8,   8,  16, 10, 1.056, 0.029,  0,      0.0338, 0.0248, 0.0077, 0.0023, 0.493,  0.959,  0,      0.005},
    {Scalar::float32, GemmBatchRoute::tile,   0, 16,  16,  16, 4,  7,  1.174, 0.0308, 0,      0.168,  0.0041, 0.0002, 0.0004, 1.016,  0.0005, 0.0188, 0},
    {Scalar::float64, GemmBatchRoute::rows,   4, 4,   4,   4,  32, 10, 0.866, 0.027,  0.0084, 0.0486, 0.0427, 0.0025, 0.0051, 0,      1.516,  0.147,  0.0049},
    {Scalar::float64, GemmBatchRoute::rows,   8, 8,   8,   8,  16, 10, 0.572, 0.0493, 0.0062, 0.0646, 0.049,  0.0039, 0.0014, 0.753,  0,      0.0035, 0.0177},
    {Scalar::float64, GemmBatchRoute::tile,   6, 16,  16,  16, 4,  6,  1.227, 0.0082, 0.0123, 0.294,  0.0002, 0,      0.0002, 0.268,  0.689,  0.0723, 0.006},
    {Scalar::float64, GemmBatchRoute::tile,   7, 32,  32,  32, 1,  6,  1.056, 0.0121, 0,      0.0991, 0.0063, 0.0014, 0.0021, 0.423,  0.231,  0.114,  0.0005},
    {Scalar::float64, GemmBatchRoute::tile,   8, 48,  48,  48, 1,  4,  1.963, 0.0021, 0,      0,      0.02,   0.0016, 0,      0.606,  0,      0.0619, 0.002, 4},
    {Scalar::float64, GemmBatchRoute::tensor, 0, 128, 128, 16, 1,  1,  4.869, 0.0146, 0.0019, 0.0058, 0.08,   0,      0.0007, 0,      0.694,  0,      0.002},
    {Scalar::float64, GemmBatchRoute::tensor, 1, 128, 64,  16, 1,  2,  1.933, 0,      0,      0.0241, 0.0432, 0.0001, 0,      0,      1.135,  0.381,  0.0013},
    {Scalar::float64, GemmBatchRoute::tensor, 2, 64,  64,  16, 1,  4,  1.734, 0,      0.0017, 0.901,  0.0173, 0.0021, 0.0002, 0.0526, 0.28,   0.258,  0, 1.4},
    {Scalar::float64, GemmBatchRoute::tensor, 3, 64,  32,  32, 1,  4,  1.893, 0,      0,      0.76,   0.0087, 0.0016, 0.0001, 0.0249, 0.0709, 0.498,  0},
    {Scalar::float64, GemmBatchRoute::tensor, 4, 48,  32,  32, 1,  4,  1.485, 0.0058, 0,      0.477,  0.0061, 0.0023, 0.0004, 0.291,  0,      0.25,   0.0009},
    {Scalar::float64, GemmBatchRoute::tensor, 5, 32,  32,  32, 1,  4,  1.817, 0.0029, 0.0006, 0.476,  0.003,  0.0011, 0.0002, 0.275,  0.105,  0.0021, 0.0018},
    {Scalar::float64, GemmBatchRoute::tensor, 6, 32,  16,  32, 1,  4,  1.697, 0,      0.0011, 0.09,   0.0062, 0.0005, 0.0001, 0,      1.301,  0.0909, 0},
};
// clang-format on

constexpr double gemm_small_microseconds(const GemmSmallTimes& t, const GemmBatchExtents& x) {
    const auto k = static_cast<double>((x.k + t.depth - 1) / t.depth * t.depth);
    const double blocks = gemm_batch_blocks_of_one(
        x.tiles(t.block_m, t.block_n) / x.count * ((x.count + t.matrices - 1) / t.matrices),
        t.at_once);
    // Bytes of which the L2 cache holds about all, and about nothing.
    constexpr double held = 40e6, none = 52e6;
    const double bytes = static_cast<double>(x.count) * size_of(t.type) *
                         static_cast<double>(x.k * (x.m + x.n) + x.m * x.n);
    const double beyond = bytes < held ? 0 : bytes < none ? (bytes - held) / (none - held) : 1;
    return t.start + (x.pointers ? t.pointers : 0) + t.beyond * beyond +
           k * (t.of_k + t.of_k_elements * x.by_elements) +
           blocks * (t.block + k * (t.block_of_k + t.elements * x.by_elements +
                                    t.turned * x.turned() + (x.pointers ? t.of_pointers : 0))) +
           t.read * gemm_batch_copy(t.type, x.count, x.k * (x.m + x.n)) +
           t.write * gemm_batch_copy(t.type, x.count, x.m * x.n);
}

}  // namespace tinyblas
