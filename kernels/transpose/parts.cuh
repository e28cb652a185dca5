// SPDX-License-Identifier: MIT
// What the rungs of transpose share: the words they move, where a block's tile lies, and 16 bytes
// that may reach past an edge.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "tinyblas/view.hpp"

namespace tinyblas {

/// 16 bytes at any multiple of 8; and at multiples of 16, where they move as one.
struct TransposeUnit16 {
    std::uint64_t low, high;
};
struct alignas(16) TransposeChunk {
    std::uint64_t low, high;
};

/// The tiles of A as one line of blocks. Tiles are numbered down strips of `strip` tiles, side by
/// side; 0 is one strip as wide as A.
///
///   strip 1:  0 3 6    strip 2:  0 1 6    strip 0:  0 1 2
///             1 4 7              2 3 7              3 4 5
///             2 5 8              4 5 8              6 7 8
template <int block_m, int block_n, int strip>
struct TransposeRaster {
    std::int64_t tiles_m, tiles_n;

    TransposeRaster(std::int64_t m, std::int64_t n)
        : tiles_m((m + block_m - 1) / block_m), tiles_n((n + block_n - 1) / block_n) {}

    std::int64_t blocks() const { return tiles_m * tiles_n; }

    struct Corner {
        std::int64_t i, j;
    };
    /// First row and column of the tile numbered `tile`. A grid has less than 2^31 blocks, and
    /// 32-bit divisions are much the cheaper ones.
    __device__ __forceinline__ Corner corner(unsigned tile) const {
        const auto down = static_cast<unsigned>(tiles_m);
        const auto across = static_cast<unsigned>(tiles_n);
        unsigned row = 0, column = 0;
        if constexpr (strip == 0) {
            row = tile / across;
            column = tile - row * across;
        } else if constexpr (strip == 1) {
            column = tile / down;
            row = tile - column * down;
        } else {
            const unsigned most = strip < across ? strip : across;
            const unsigned first = tile / (most * down) * most;  // tile column of the strip
            const unsigned width = across - first < most ? across - first : most;
            const unsigned inside = tile - first * down;
            row = inside / width;
            column = first + inside - row * width;
        }
        return {std::int64_t{row} * block_m, std::int64_t{column} * block_n};
    }
};

/// How much of a tile's extent lies inside, if the operand ends `left` elements after its start.
template <int extent>
__device__ __forceinline__ int inside(std::int64_t left) {
    return left < extent ? static_cast<int>(left) : extent;
}

/// A matrix that fills the cache several times over finds nothing of itself there: its reads are
/// the last to be evicted, which makes the writes faster (16384^2 floats: 520 -> 511 us, H200).
template <class Unit>
__device__ __forceinline__ device::CachePolicy transpose_policy(const MatrixView<Unit>& a) {
    constexpr std::int64_t bytes = 1 << 28;
    return device::CachePolicy(a.rows * a.columns > bytes / static_cast<int>(sizeof(Unit)));
}
/// The end of that, so that the next kernel has the cache: the last blocks release the rows x
/// columns elements from `from` on, which they have read. What others read has made room by then.
template <class Unit>
__device__ __forceinline__ void release(device::CachePolicy policy, const Unit* from,
                                        std::int64_t stride, int rows, int columns) {
    constexpr int cache = 1 << 26, line = 128;  // bytes
    const int row_bytes = columns * static_cast<int>(sizeof(Unit));
    if (!policy.last() || std::int64_t{gridDim.x - blockIdx.x} * (rows * row_bytes) > cache) return;
#pragma unroll 1
    for (int row = static_cast<int>(threadIdx.x); row < rows; row += static_cast<int>(blockDim.x)) {
        const auto* const first = reinterpret_cast<const char*>(from + row * stride);
        const char* at = first - reinterpret_cast<std::uintptr_t>(first) % line;
#pragma unroll 1
        for (; at < first + row_bytes; at += line) device::release_line(at);
    }
}

/// The first `valid` (any number) of `count` neighbours, 16 bytes or one unit; the others are not
/// read and become 0. `read_only`: nothing writes them while the kernel runs.
template <bool read_only, class Unit, int count, class... Policy>
__device__ __forceinline__ void load_chunk(Unit (&to)[count], const Unit* from, int valid,
                                           Policy... policy) {
    if constexpr (count * sizeof(Unit) == 16) {
        if (valid >= count) {
            if constexpr (read_only)
                device::load_read_only(to, from, policy...);
            else
                device::load_vector(to, from, policy...);
            return;
        }
    }
#pragma unroll
    for (int e = 0; e < count; ++e) to[e] = e < valid ? from[e] : Unit{};
}

/// The same for writing: the others stay as they are.
template <class Unit, int count>
__device__ __forceinline__ void store_chunk(Unit* to, const Unit (&from)[count], int valid) {
    if constexpr (count * sizeof(Unit) == 16) {
        if (valid >= count) return device::store_global(to, from);
    }
#pragma unroll
    for (int e = 0; e < count; ++e)
        if (e < valid) to[e] = from[e];
}

}  // namespace tinyblas
