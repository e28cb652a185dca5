// SPDX-License-Identifier: MIT
// What the rung hopper does with operands that parts cannot hold (NaN, Inf, a spread too wide): the
// multiply-adds of the rungs below, one chain an element in the order of k, from the operands as
// they are. It runs where the guard says so, which is seldom: 8 x 8 elements a thread, two stages.
#pragma once

#include "hopper_sums.cuh"
#include "parts.cuh"

namespace tinyblas {

inline constexpr int strict_threads = hopper_multipliers, strict_edge = 128, strict_k = 8;

/// Tiles of A and B, k by k.
using StrictTile = float[strict_k][strict_edge + 4];
struct StrictTiles {
    StrictTile a[2], b[2];
};

/// A thread's 8 elements of the next tile of an operand, whose rows begin at `row`.
class StrictLoader {
  public:
    __device__ __forceinline__ StrictLoader(const GemmPlanesTask& task, std::int64_t row)
        : along_k_(task.k_stride == 1),
          row_(along_k_ ? hopper_thread() / strict_k : hopper_thread() % strict_edge),
          p_(along_k_ ? hopper_thread() % strict_k : hopper_thread() / strict_edge),
          rows_(static_cast<int>(task.planes.rows - row < strict_edge ? task.planes.rows - row
                                                                      : strict_edge)),
          from_(task.data + (row + row_) * task.row_stride + p_ * task.k_stride) {}

    /// The first `valid` of the tile's k exist.
    __device__ __forceinline__ void load(const GemmPlanesTask& task, int valid) {
        const float* from = from_;
        const std::int64_t step = along_k_ ? row_step * task.row_stride : k_step * task.k_stride;
#pragma unroll
        for (int e = 0; e < count; ++e, from = device::opaque(from + step))
            values_[e] = row(e) < rows_ && k(e) < valid ? __ldg(from) : 0.0f;
        from_ += strict_k * task.k_stride;
    }
    __device__ __forceinline__ void store(StrictTile& tile) const {
#pragma unroll
        for (int e = 0; e < count; ++e) tile[k(e)][row(e)] = values_[e];
    }

  private:
    static constexpr int count = strict_edge * strict_k / strict_threads;
    static constexpr int row_step = strict_threads / strict_k,
                         k_step = strict_threads / strict_edge;
    __device__ int row(int e) const { return row_ + (along_k_ ? e * row_step : 0); }
    __device__ int k(int e) const { return p_ + (along_k_ ? 0 : e * k_step); }

    bool along_k_;
    int row_, p_, rows_;
    const float* from_;
    float values_[count];
};

/// A thread's rows or columns of a tile: four neighbours, and four more half a tile on.
__device__ __forceinline__ int strict_place(int lane, int e) {
    return lane * 4 + e % 4 + e / 4 * (strict_edge / 2);
}

/// C = alpha A B + beta C; the multipliers of all blocks of the grid, which take tiles in turns.
__device__ __forceinline__ void multiply_strictly(const GemmPlanesProduct& product,
                                                  const GemmPlanesTask& a, const GemmPlanesTask& b,
                                                  StrictTiles& tiles) {
    const auto thread = static_cast<int>(hopper_thread());
    const int down = thread / 16, along = thread % 16;
    const GemmRaster<strict_edge, strict_edge, 8> raster(product.c.rows, product.c.columns);
#pragma unroll 1
    for (unsigned tile = blockIdx.x; tile < raster.tiles_m * raster.tiles_n; tile += gridDim.x) {
        const auto corner = raster.corner(tile);
        StrictLoader a_loader(a, corner.i), b_loader(b, corner.j);
        float sums[8][8] = {};
        int stage = 0;
        const auto load = [&](std::int64_t left) {
            const int valid = left < strict_k ? static_cast<int>(left) : strict_k;
            a_loader.load(a, valid);
            b_loader.load(b, valid);
            return valid;
        };
        int loaded = load(a.planes.k);
#pragma unroll 1
        for (std::int64_t left = a.planes.k; left > 0; left -= strict_k, stage ^= 1) {
            a_loader.store(tiles.a[stage]);
            b_loader.store(tiles.b[stage]);
            device::barrier_of(1, strict_threads);
            const int here = loaded;
            if (left > strict_k) loaded = load(left - strict_k);
#pragma unroll 1
            for (int p = 0; p < here; ++p) {
                float a_row[8], b_row[8];
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    a_row[e] = tiles.a[stage][p][strict_place(down, e)];
                    b_row[e] = tiles.b[stage][p][strict_place(along, e)];
                }
#pragma unroll
                for (int i = 0; i < 8; ++i)
#pragma unroll
                    for (int j = 0; j < 8; ++j)
                        device::multiply_add(sums[i][j], a_row[i], b_row[j]);
            }
        }
        device::barrier_of(1, strict_threads);  // before the first stage is filled again
#pragma unroll
        for (int i = 0; i < 8; ++i)
#pragma unroll
            for (int j = 0; j < 8; j += 4) {
                const float four[4] = {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]};
                const std::int64_t column = corner.j + strict_place(along, j);
                if (column < product.c.columns)
                    store_row(product.c, corner.i + strict_place(down, i), column, product.alpha,
                              four, product.beta);
            }
    }
}

}  // namespace tinyblas
