// SPDX-License-Identifier: MIT
// What the roles of the rung tensor share: the operands, and the units of work of a block.
//
//   tiles of C:  0 1 2 3 ...            | whole ...                  cut along k
//                one unit each, dealt   |  [ tile ][ tile ][ tile ]  as many workers for each,
//                to the blocks in turn  |  [ 0| 1][ 2| 3][ 4| 5]
//                                       |  [ 0 | 1 | 2 | 3 | 4 ]   or a line, and a piece each;
//                                       |  [ 0 | 1  | 2 ][ 3 | 4]  or a line for every few tiles
#pragma once

#include <cstdint>

#include <device.hpp>

#include "batched_operands.hpp"
#include "divisor.hpp"
#include "tensor_plan.hpp"

namespace tinyblas {

/// Tiles are numbered down so many tile rows, then along: neighbours share tiles of A and B in the
/// L2 cache.
inline constexpr unsigned gemm_tensor_band = 8;

/// What numbers of tiles and of chunks are divided by.
struct TensorDivisors {
    Divisor product;        // tiles of a product
    Divisor band, in_band;  // tiles of a band; its rows ...
    Divisor in_last_band;   // ... if it is the last one and has fewer
    Divisor chunks;         // of a tile
    Divisor line, sharers, piece, longer_piece;

    constexpr explicit TensorDivisors(const GemmTensorPlan& plan)
        : product(plan.tiles_each()),
          band(plan.tiles_m < gemm_tensor_band ? plan.tiles_each()
                                               : gemm_tensor_band * plan.tiles_n),
          in_band(gemm_tensor_band),
          in_last_band(plan.tiles_m % gemm_tensor_band > 0 ? plan.tiles_m % gemm_tensor_band : 1),
          chunks(plan.chunks > 0 ? plan.chunks : 1),  // none if k is 0
          line(plan.line > 0 ? plan.line : 1),
          sharers(plan.sharers > 0 ? plan.sharers : 1),
          piece(plan.piece > 0 ? plan.piece : 1),
          longer_piece(plan.piece + 1) {}
};

struct GemmTensorWork {
    double alpha, beta;
    GemmBatchOperand<const double> a, b;  // (m, k), (n, k)
    GemmBatchOperand<double> c;
    GemmTensorPlan plan;
    double* parts = nullptr;       // of sums, two tiles a worker
    unsigned* counters = nullptr;  // of arrivals, zero before and after: 2 a worker and warp
    unsigned* begun = nullptr;  // whole tiles, zero before and after; null: no one waits for others
    TensorDivisors divide{plan};
    // Whether C is read. To compare doubles there, loaders would wait for the busy tensor cores.
    bool reads_c = beta != 0 && !plan.sums_apart;
    bool ahead = false;  // gemm_tensor_reads_ahead
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

/// Whether pairs of neighbours along rows of C can be copied at once.
__device__ __forceinline__ bool takes_pairs(const MatrixView<double>& c) {
    return c.column_stride == 1 && c.row_stride % 2 == 0 &&
           reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0;
}

/// A tile of C, and chunks of k from `first` to before `last`.
struct TensorUnit {
    unsigned tile, first, last;

    __device__ __forceinline__ unsigned chunks() const { return last - first; }
};

/// The chunks of the cut tiles, numbered from tile to tile: lines, one after the other, and in each
/// its sharers' pieces.
struct TensorLines {
    const GemmTensorWork& work;

    /// The first chunk of a worker's piece.
    __device__ __forceinline__ unsigned first(unsigned worker) const {
        const GemmTensorPlan& plan = work.plan;
        const unsigned line = work.divide.sharers.quotient(worker);
        const unsigned sharer = worker - line * plan.sharers, longer = plan.longer_pieces;
        return line * plan.line + sharer * plan.piece + (sharer < longer ? sharer : longer);
    }
    __device__ __forceinline__ unsigned worker_of(unsigned chunk) const {
        const GemmTensorPlan& plan = work.plan;
        const unsigned line = work.divide.line.quotient(chunk), longer = plan.longer_pieces;
        chunk -= line * plan.line;
        return line * plan.sharers + (chunk < longer * (plan.piece + 1)
                                          ? work.divide.longer_piece.quotient(chunk)
                                          : work.divide.piece.quotient(chunk - longer));
    }
};

/// Calls body(unit) for each unit of the calling block: its piece of what is cut, then whole tiles.
template <class Body>
__device__ __forceinline__ void for_each_unit(const GemmTensorWork& work, Body&& body) {
    const GemmTensorPlan& plan = work.plan;
    unsigned tile = blockIdx.x, at = 0, end = 0;
    if (blockIdx.x < plan.workers) {
        const TensorLines lines{work};
        const unsigned all = plan.cut() * plan.chunks;  // the last line may be shorter
        at = lines.first(blockIdx.x);
        end = lines.first(blockIdx.x + 1);
        if (end > all) end = all;
    }
#pragma unroll 1
    while (true) {
        TensorUnit unit = {tile, 0, plan.chunks};
        if (at < end) {
            const unsigned cut = work.divide.chunks.quotient(at), begin = cut * plan.chunks;
            const unsigned stop = begin + plan.chunks < end ? begin + plan.chunks : end;
            unit = {plan.whole + cut, at - begin, stop - begin};
            at = stop;
        } else {
            if (tile >= plan.whole) return;
            tile += plan.blocks;
        }
        body(unit);
    }
}

/// Of which product a tile is, its tile row and column.
struct TensorPlace {
    unsigned product, row, column;
};
/// Products come one after the other, and in each, bands of tiles.
__device__ __forceinline__ TensorPlace tensor_place(const GemmTensorWork& work, unsigned tile) {
    const GemmTensorPlan& plan = work.plan;
    const unsigned product = work.divide.product.quotient(tile);
    tile -= product * plan.tiles_each();
    const unsigned above = work.divide.band.quotient(tile) * gemm_tensor_band;
    const bool last = plan.tiles_m - above < gemm_tensor_band;
    const unsigned rows = last ? plan.tiles_m - above : gemm_tensor_band;
    const unsigned place = tile - above * plan.tiles_n;
    const unsigned column =
        last ? work.divide.in_last_band.quotient(place) : work.divide.in_band.quotient(place);
    return {product, above + place - column * rows, column};
}

/// A tile's first row and column.
struct TensorCorner {
    unsigned product;
    std::int64_t i, j;
};
template <int entry>
__device__ __forceinline__ TensorCorner tensor_corner(const GemmTensorWork& work, unsigned tile) {
    constexpr GemmTensorTile t = gemm_tensor_table[entry];
    const TensorPlace place = tensor_place(work, tile);
    return {place.product, std::int64_t{place.row} * t.block_m,
            std::int64_t{place.column} * t.block_n};
}

}  // namespace tinyblas
