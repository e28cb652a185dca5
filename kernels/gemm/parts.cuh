// SPDX-License-Identifier: MIT
// What the rungs of gemm share: where a block stands in C, and the epilogue in which all end.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "tiles.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas {

/// The block tiles of C as one line of blocks (a grid's y and z end at 65,535). Tiles are numbered
/// down `group` tile rows, then along: neighbouring blocks share tiles of A and B in the L2 cache.
template <int block_m, int block_n, int group>
struct GemmRaster {
    std::int64_t tiles_m, tiles_n;

    constexpr GemmRaster(std::int64_t m, std::int64_t n)
        : tiles_m((m + block_m - 1) / block_m), tiles_n((n + block_n - 1) / block_n) {}

    std::int64_t blocks() const { return tiles_m * tiles_n; }

    struct Corner {
        std::int64_t i, j;
    };
    /// First row and column of the tile numbered `tile`.
    __device__ Corner corner(std::int64_t tile) const {
        const std::int64_t first = tile / (group * tiles_n) * group;  // first tile row of the group
        const std::int64_t rows = first + group < tiles_m ? group : tiles_m - first;
        const std::int64_t inside = tile - first * tiles_n;
        return {(first + inside % rows) * block_m, inside / rows * block_n};
    }
    /// The same in a third of the instructions, but more registers; there are fewer than 2^31
    /// tiles.
    __device__ Corner corner_in_32_bits(unsigned tile) const {
        constexpr unsigned most = group;
        const auto all = static_cast<unsigned>(tiles_m);
        unsigned inside = tile, first = 0, rows = all;
        if (all > most) {  // so that there are few along
            const auto along = static_cast<unsigned>(tiles_n);
            first = inside / (most * along) * most;
            rows = all - first < most ? all - first : most;
            inside -= first * along;
        }
        const unsigned column = inside / rows;
        return {std::int64_t{first + inside - column * rows} * block_m,
                std::int64_t{column} * block_n};
    }
};

/// C = alpha acc + beta C for one element. beta = 0 is a strong zero: C is not read.
template <class T>
__device__ __forceinline__ void store(T& c, T alpha, T acc, T beta) {
    T value = alpha * acc;
    if (beta != T(0)) device::multiply_add(value, beta, c);
    c = value;
}

/// The same for a row's `count` neighbours, 16 bytes, from (i, j) on, as far as they lie inside C.
template <class T, int count>
__device__ __forceinline__ void store_row(const MatrixView<T>& c, std::int64_t i, std::int64_t j,
                                          T alpha, const T (&acc)[count], T beta) {
    if (i >= c.rows) return;
    T* to = &c(i, j);
    if (c.column_stride == 1 && j + count <= c.columns &&
        reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
        T values[count];
        if (beta != T(0)) device::load_vector(values, to);
#pragma unroll
        for (int e = 0; e < count; ++e) store(values[e], alpha, acc[e], beta);
        device::store_vector(to, values);
    } else {
#pragma unroll
        for (int e = 0; e < count; ++e)
            if (j + e < c.columns) store(to[e * c.column_stride], alpha, acc[e], beta);
    }
}

/// For blocks that bring all they need before they multiply: of a grid's first ones, those that a
/// multiprocessor holds at once, `at_once` of them, begin one after the other. So the first one's
/// matrices come first, and are multiplied while the next ones' come; all asked for at once, they
/// come together at last.
__device__ __forceinline__ void begin_in_turn(unsigned at_once) {
    constexpr int apart = 400;  // cycles
    const unsigned turn = blockIdx.x / unsigned{gemm_multiprocessors};
    if (turn < at_once) device::let_time_pass(static_cast<int>(turn) * apart);
}

/// Whether so many blocks leave multiprocessors free, or just fill them: then the next kernel's may
/// take places and wait there. Beside more, batches of many blocks take up to 7 % longer, for those
/// of a multiprocessor no longer begin in turn.
inline bool leaves_places(const dim3& blocks) {
    return std::int64_t{blocks.x} * blocks.y * blocks.z <= gemm_multiprocessors;
}

}  // namespace tinyblas
