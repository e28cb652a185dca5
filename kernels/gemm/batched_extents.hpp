// SPDX-License-Identifier: MIT
// What a plan knows of a batch of products, and what it says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "batched_operands.hpp"
#include "tensor_plan.hpp"
#include "tiles.hpp"

namespace tinyblas {

/// The k from which on tiles may be cut. Below, that gained nothing.
inline constexpr std::int64_t gemm_batch_shortest_cut = 160;

struct GemmBatchExtents {
    std::int64_t m, n, k, count;
    // Whether neighbours of A, and of B, lie so; as in row-major products.
    bool a_along_k = true, b_along_k = false;
    bool b_shared = false;  // all products have the same B
    GemmRingLoads loads = GemmRingLoads::mapped;
    GemmPieces pieces = GemmPieces::none;
    bool pointers = false;  // only the device knows where matrices begin
    int by_elements = 0;    // of A and B, how many have lines that do not begin at 16 bytes
    bool in_place = false;  // the rung pipelined reads each matrix as it lies, if at all
    bool in_reach = true;   // of 32 bits, a tile's elements from its first one; see elements_reach
    bool in_skinny_reach = true;  // the same of skinny_batch_reaches
    TensorPitch a_pitch = TensorPitch::lines, b_pitch = TensorPitch::lines;  // of doubles
    std::size_t scratch = static_cast<std::size_t>(-1);  // bytes that parts of sums may take
    double alone = 0;      // estimated microseconds of a product by itself; 0: unknown
    bool reads_c = false;  // beta is not 0

    constexpr std::int64_t largest() const { return m > n ? m : n; }
    constexpr std::int64_t smallest() const { return m < n ? m : n; }
    constexpr std::int64_t tiles(std::int64_t block_m, std::int64_t block_n) const {  // of all C
        return (m + block_m - 1) / block_m * ((n + block_n - 1) / block_n) * count;
    }
    constexpr std::int64_t tiles(std::int64_t edge) const { return tiles(edge, edge); }
    /// Of doubles: whether tiles are so few that the times of one product tell what they take, cut
    /// or not. A row or a column is gemv's.
    constexpr bool may_be_cut() const {
        return k >= gemm_batch_shortest_cut && smallest() > 1 &&
               tiles(64) <= std::int64_t{8} * gemm_tensor_multiprocessors;
    }
    constexpr double bytes_of_c(Scalar type) const {
        return static_cast<double>(count) * static_cast<double>(m) * static_cast<double>(n) *
               size_of(type);
    }
    constexpr double bytes_of_doubles() const {  // of all operands
        const auto rows = static_cast<double>(m), columns = static_cast<double>(n);
        return 8 * static_cast<double>(count) *
               (static_cast<double>(k) * (rows + columns) + rows * columns);
    }
    /// Operands that lie otherwise than in row-major products.
    constexpr int turned() const { return (a_along_k ? 0 : 1) + (b_along_k ? 1 : 0); }
};

/// How the products are made.
enum class GemmBatchRoute {
    one_by_one,  // a gemm each
    rows,        // `entry`: the edge
    square,      // `entry`: of gemm_square_table
    gemv,        // C are columns or rows
    skinny,      // C are of few columns or rows; `entry`: of skinny_batch_table
    outer,       // sums of few outer products; `entry`: 1: a chain for each four k
    pieces,      // `entry`: of gemm_pieces_table
    tile,        // `entry`: of gemm_batch_table
    tuned,       // `entry`: of gemm_table
    elements,    // `entry`: of gemm_elements_table
    stream_k,    // `entry`: of stream_k_table
    pipelined,   // `entry`: products side by side in a tile; 0: in place
    sliced,      // `entry`: of sliced_table
    tensor,      // `entry`: of gemm_tensor_table
};

struct GemmBatchPlan {
    GemmBatchRoute route;
    int entry;
    std::int64_t most;  // products a launch
    // Of k, alike of all tiles: ranks (sliced), blocks (stream_k), threads (skinny).
    unsigned parts = 1;
    double microseconds = 0;  // estimated, on an H200; 0: unknown
};

}  // namespace tinyblas
