// SPDX-License-Identifier: MIT
// gemm on the host: blocks of A and B are packed into panels that stay in cache; a tile of C is
// summed in registers.
//
//              tile_n
//            +------+                A's panels: tile_m rows, all of their k side by side
//            |  B   |  block_k      B's panel:  tile_n columns, likewise
//            +------+
//   +-----+  +------+
//   |  A  |  |  C   |  tile_m
//   +-----+  +------+
//   block_k
#include <algorithm>
#include <vector>

#include "blas/host.hpp"

namespace tinyblas::blas::host {
namespace {

template <class T>
constexpr int tile_m = 32 / sizeof(T);  // with tile_n: 8 registers of 16 bytes
constexpr int tile_n = 4;
constexpr std::int64_t block_m = 128, block_n = 4096, block_k = 256;

/// Panels of `width` rows of `a`; rows that the last one lacks are zero.
template <int width, class T>
void pack(MatrixView<const T> a, T* to) {
    for (std::int64_t i = 0; i < a.rows; i += width)
        for (std::int64_t p = 0; p < a.columns; ++p)
            for (int r = 0; r < width; ++r) *to++ = i + r < a.rows ? a(i + r, p) : T(0);
}

template <class T>
void multiply_tile(std::int64_t k, const T* __restrict a, const T* __restrict b, T alpha, T beta,
                   MatrixView<T> c) {
    constexpr int height = tile_m<T>;
    T acc[tile_n][height] = {};
    for (std::int64_t p = 0; p < k; ++p, a += height, b += tile_n)
        for (int j = 0; j < tile_n; ++j)
            for (int i = 0; i < height; ++i) acc[j][i] += a[i] * b[j];
    for (std::int64_t j = 0; j < c.columns; ++j)
        for (std::int64_t i = 0; i < c.rows; ++i) {
            T& out = c(i, j);
            out = beta == T(0) ? alpha * acc[j][i] : alpha * acc[j][i] + beta * out;
        }
}

template <class T>
void scale(T beta, MatrixView<T> c) {
    for (std::int64_t j = 0; j < c.columns; ++j)
        for (std::int64_t i = 0; i < c.rows; ++i) c(i, j) = beta == T(0) ? T(0) : beta * c(i, j);
}

}  // namespace

template <class T>
void gemm(T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta, MatrixView<T> c) {
    const std::int64_t m = c.rows, n = c.columns, k = a.columns;
    if (alpha == T(0) || k == 0) return scale(beta, c);
    if (n > block_n) {
        for (std::int64_t j = 0; j < n; j += block_n) {
            const std::int64_t columns = std::min(block_n, n - j);
            gemm<T>(alpha, a, b.block(0, j, k, columns), beta, c.block(0, j, m, columns));
        }
        return;
    }
    constexpr std::int64_t height = tile_m<T>;
    const auto whole = [](std::int64_t extent, std::int64_t tile) {
        return (extent + tile - 1) / tile * tile;
    };
    std::vector<T> a_panels(std::min(block_m, whole(m, height)) * std::min(block_k, k));
    std::vector<T> b_panels(whole(n, tile_n) * std::min(block_k, k));
    for (std::int64_t p = 0; p < k; p += block_k) {
        const std::int64_t depth = std::min(block_k, k - p);
        pack<tile_n>(b.block(p, 0, depth, n).transposed(), b_panels.data());
        for (std::int64_t i = 0; i < m; i += block_m) {
            const std::int64_t rows = std::min(block_m, m - i);
            pack<height>(a.block(i, p, rows, depth), a_panels.data());
            for (std::int64_t j = 0; j < n; j += tile_n)
                for (std::int64_t r = 0; r < rows; r += height)
                    multiply_tile(depth, &a_panels[r * depth], &b_panels[j * depth], alpha,
                                  p == 0 ? beta : T(1),
                                  c.block(i + r, j, std::min(height, rows - r),
                                          std::min<std::int64_t>(tile_n, n - j)));
        }
    }
}

template void gemm(float, MatrixView<const float>, MatrixView<const float>, float,
                   MatrixView<float>);
template void gemm(double, MatrixView<const double>, MatrixView<const double>, double,
                   MatrixView<double>);

}  // namespace tinyblas::blas::host
