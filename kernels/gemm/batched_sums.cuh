// SPDX-License-Identifier: MIT
// A thread's sums of a tile of C in a batch: by multiply-adds, or on the fp64 tensor cores.
#pragma once

#include <device.hpp>

#include "batched_table.hpp"

namespace tinyblas {

/// float: a thread owns share_m rows, lanes_m apart so that lanes of a warp read different banks,
/// of 4 columns. Along k it takes 4 elements of each of its rows of A, and 4 rows of B.
template <int entry>
class GemmBatchThreadTile {
    static constexpr GemmBatchTile t = gemm_batch_table[entry];
    static constexpr int lanes_m = t.edge / t.share_m, lanes_n = t.edge / 4;
    static_assert(t.share_n == 4);

  public:
    __device__ __forceinline__ explicit GemmBatchThreadTile(int thread)
        : row_(thread / lanes_n), column_(thread % lanes_n * 4) {}

    /// The first `columns` of a stage; what is beyond, up to a multiple of 4, is zero.
    template <int a_pitch, int b_pitch>
    __device__ __forceinline__ void multiply(const float (*a_panel)[a_pitch],
                                             const float (*b_panel)[b_pitch], int columns) {
        const float* a_line = &a_panel[row_][0];
        const float* b_line = &b_panel[0][column_];
#pragma unroll(t.edge > 32 ? 2 : 4)
        for (int p = 0; p < columns; p += 4) {
            float a[t.share_m][4], b[4][4];
#pragma unroll
            for (int i = 0; i < t.share_m; ++i)
                device::load_vector(a[i], a_line + i * lanes_m * a_pitch + p);
#pragma unroll
            for (int q = 0; q < 4; ++q) device::load_vector(b[q], b_line + (p + q) * b_pitch);
#pragma unroll
            for (int q = 0; q < 4; ++q)
#pragma unroll
                for (int i = 0; i < t.share_m; ++i)
#pragma unroll
                    for (int j = 0; j < 4; ++j)
                        acc_[i][j] = device::fused_multiply_add(a[i][q], b[q][j], acc_[i][j]);
        }
    }

    /// visit(number, row, column, sums) for all vectors: neighbours of a row, 16 bytes.
    static constexpr int vectors = t.share_m;
    template <class Visit>
    __device__ __forceinline__ void visit(Visit&& visit) const {
#pragma unroll
        for (int i = 0; i < t.share_m; ++i) visit(i, row_ + i * lanes_m, column_, acc_[i]);
    }

  private:
    int row_, column_;
    float acc_[t.share_m][4] = {};
};

/// double: a warp owns 16 x 8 tiles, as device::multiply_fp64 has them.
template <int entry, bool a_along_k, bool b_along_k>
class GemmBatchWarpTile {
    static constexpr GemmBatchTile t = gemm_batch_table[entry];
    static constexpr int strips = t.share_m / 16, slabs = t.share_n / 8;
    static constexpr int warps_n = t.edge / t.share_n;

  public:
    __device__ __forceinline__ explicit GemmBatchWarpTile(int thread)
        : row_(thread / 32 / warps_n * t.share_m + thread % 32 / 4),
          column_(thread / 32 % warps_n * t.share_n),
          lane_(thread % 32) {}

    template <int a_pitch, int b_pitch>
    __device__ __forceinline__ void multiply(const double (*a_panel)[a_pitch],
                                             const double (*b_panel)[b_pitch], int columns) {
        const auto at = [](bool along_k, int pitch, int i, int p) {
            return along_k ? i * pitch + p : p * pitch + i;
        };
        const double* a_line = &a_panel[0][0] + at(a_along_k, a_pitch, row_, lane_ % 4);
        const double* b_line =
            &b_panel[0][0] + at(b_along_k, b_pitch, column_ + lane_ / 4, lane_ % 4);
#pragma unroll 1
        for (int p = 0; p < columns; p += 16) {
            double a[strips][8], b[slabs][4];
#pragma unroll
            for (int s = 0; s < strips; ++s)
#pragma unroll
                for (int q = 0; q < 4; ++q)
#pragma unroll
                    for (int h = 0; h < 2; ++h)
                        a[s][2 * q + h] = a_line[at(a_along_k, a_pitch, s * 16 + 8 * h, 4 * q)];
#pragma unroll
            for (int s = 0; s < slabs; ++s)
#pragma unroll
                for (int q = 0; q < 4; ++q) b[s][q] = b_line[at(b_along_k, b_pitch, s * 8, 4 * q)];
            a_line += at(a_along_k, a_pitch, 0, 16);
            b_line += at(b_along_k, b_pitch, 0, 16);
#pragma unroll
            for (int j = 0; j < slabs; ++j)
#pragma unroll
                for (int i = 0; i < strips; ++i) device::multiply_fp64(acc_[i][j], a[i], b[j]);
        }
    }

    static constexpr int vectors = strips * slabs * 2;
    template <class Visit>
    __device__ __forceinline__ void visit(Visit&& visit) const {
#pragma unroll
        for (int i = 0; i < strips; ++i)
#pragma unroll
            for (int j = 0; j < slabs; ++j)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const double pair[2] = {acc_[i][j][2 * h], acc_[i][j][2 * h + 1]};
                    visit((i * slabs + j) * 2 + h, row_ + i * 16 + h * 8,
                          column_ + j * 8 + lane_ % 4 * 2, pair);
                }
    }

  private:
    int row_, column_, lane_;
    double acc_[strips][slabs][4] = {};
};

}  // namespace tinyblas
