// SPDX-License-Identifier: MIT
// What the roles of the rung tensor share: the operands, and the units of work of a block.
//
//   tiles of C:  0 1 2 3 ...            | whole ...                  cut along k
//                one unit each, dealt   |  [ tile ][ tile ][ tile ]  chunks in one line
//                to the blocks in turn  |  [ 0 | 1 | 2 | 3 | 4 |..]  a piece for each worker
#pragma once

#include <cstdint>

#include <device.hpp>

#include "batched_operands.hpp"
#include "tensor_plan.hpp"

namespace tinyblas {

struct GemmTensorWork {
    double alpha, beta;
    GemmBatchOperand<const double> a, b;  // (m, k), (n, k)
    GemmBatchOperand<double> c;
    GemmTensorPlan plan;
    double* parts = nullptr;       // of sums, two tiles a worker
    unsigned* counters = nullptr;  // of arrivals, zero before and after: 2 a worker and warp
    unsigned* begun = nullptr;  // whole tiles, zero before and after; null: no one waits for others
};

/// A product's matrix. In tiles of small products without a branch, which makes them 0.15 us slower
/// (of 2); in large ones that takes more time than it saves.
template <int entry, class T>
__device__ __forceinline__ MatrixView<T> matrix_of(const GemmBatchOperand<T>& operand,
                                                   unsigned product) {
    if constexpr (gemm_tensor_table[entry].block_n > 32) {
        return operand.at(product);
    } else {
        MatrixView<T> matrix = operand.first;
        matrix.data =
            device::load_pointer(operand.pointers, product, matrix.data + product * operand.stride);
        return matrix;
    }
}

/// A tile of C, and chunks of k from `first` to before `last`.
struct TensorUnit {
    unsigned tile, first, last;

    __device__ __forceinline__ unsigned chunks() const { return last - first; }
};

/// The line of the cut tiles' chunks.
struct TensorLine {
    unsigned piece, longer;

    __device__ __forceinline__ explicit TensorLine(const GemmTensorPlan& plan)
        : piece(plan.piece), longer(plan.longer_pieces) {}
    /// The first chunk of a worker's piece.
    __device__ __forceinline__ unsigned first(unsigned worker) const {
        return worker * piece + (worker < longer ? worker : longer);
    }
    __device__ __forceinline__ unsigned worker_of(unsigned chunk) const {
        const unsigned in_longer = longer * (piece + 1);
        return chunk < in_longer ? chunk / (piece + 1) : (chunk - longer) / piece;
    }
};

/// Calls body(unit) for each unit of the calling block: its piece of the line, then whole tiles.
template <class Body>
__device__ __forceinline__ void for_each_unit(const GemmTensorPlan& plan, Body&& body) {
    unsigned tile = blockIdx.x, at = 0, end = 0;
    if (blockIdx.x < plan.workers) {
        const TensorLine line(plan);
        at = line.first(blockIdx.x);
        end = line.first(blockIdx.x + 1);
    }
#pragma unroll 1
    while (true) {
        TensorUnit unit = {tile, 0, plan.chunks};
        if (at < end) {
            const unsigned cut = at / plan.chunks, begin = cut * plan.chunks;
            const unsigned stop = begin + plan.chunks < end ? begin + plan.chunks : end;
            unit = {plan.whole + cut, at - begin, stop - begin};
            at = stop;
        } else {
            if (tile >= plan.whole) return;
            tile += gridDim.x;
        }
        body(unit);
    }
}

/// Of which product a tile is, and its first row and column.
struct TensorCorner {
    unsigned product;
    std::int64_t i, j;
};
/// Products come one after the other. A product's tiles are numbered down 8 tile rows, then along:
/// neighbours share tiles of A and B in the L2 cache.
template <int entry>
__device__ __forceinline__ TensorCorner tensor_corner(const GemmTensorPlan& plan, unsigned tile) {
    constexpr GemmTensorTile t = gemm_tensor_table[entry];
    constexpr unsigned band = 8;
    const unsigned product = plan.products > 1 ? tile / plan.tiles_each() : 0;
    tile -= product * plan.tiles_each();
    const unsigned above = tile / (band * plan.tiles_n) * band;
    const unsigned rows = plan.tiles_m - above < band ? plan.tiles_m - above : band;
    const unsigned place = tile - above * plan.tiles_n, column = place / rows;
    return {product, std::int64_t{above + place - column * rows} * t.block_m,
            std::int64_t{column} * t.block_n};
}

}  // namespace tinyblas
