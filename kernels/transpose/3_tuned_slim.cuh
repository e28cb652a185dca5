// SPDX-License-Identifier: MIT
// transpose, rung 3, form slim: fewer than 32 rows, or columns (s of them), where a square tile
// would lie mostly outside. A block owns a length of both operands and reorders it in shared
// memory, where it lies in the order of the tall one.
//
//   wide (s, n)                 line               tall (n, s)
//   0 1 2 3 4 5 | ...                              0 0 0
//   0 1 2 3 4 5 | ...    <-->   000111222...  <--> 1 1 1
//   0 1 2 3 4 5 | ...                              2 2 2
//   |- length -|                                   . . .
//
// If its pitch is s, the tall one is one stream of memory, and either side moves 16 bytes at a time
// where that is aligned.
//
// One bank of pad for every 32 keeps neighbouring columns of the wide one, s apart in the line, in
// different banks if s is a power of two.
//
// Limit: DRAM, as long as both sides are aligned streams; elsewhere loads of single elements.
#pragma once

#include <bit>

#include "3_tuned_vectors.cuh"

namespace tinyblas {

/// Where element `e` of the line lies.
template <class Unit>
constexpr int slim_slot(int e) {
    constexpr int period = 128 / sizeof(Unit);
    return e + e / period * transpose_pad(sizeof(Unit));
}

/// A piece of one operand: what a thread moves at once.
struct SlimChunk {
    std::int64_t offset;  // from the block's first element of the operand
    int first, step;      // in the line: first, first + step, ...
    int valid;            // elements inside the operand, if positive
};

/// A block's length of both operands, cut into chunks of `width` elements.
template <int width>
struct SlimPiece {
    int slim, length_log, length;  // length: 2^length_log, less at the end
    std::int64_t wide_pitch, tall_pitch;

    __device__ __forceinline__ SlimChunk wide(int chunk) const {
        const int chunks_log = length_log - std::countr_zero(static_cast<unsigned>(width));
        const int row = chunk >> chunks_log;
        const int column = (chunk - (row << chunks_log)) * width;
        return {row * wide_pitch + column, column * slim + row, slim,
                row < slim ? length - column : 0};
    }
    __device__ __forceinline__ SlimChunk tall(int chunk) const {
        const int first = chunk * width;
        std::int64_t offset = first;
        if (width == 1 && tall_pitch != slim) {
            const int row = first / slim;
            offset = row * tall_pitch + (first - row * slim);
        }
        return {offset, first, 1, length * slim - first};
    }
};

template <class Unit, int entry, bool vectors, bool to_tall>
__global__ void __launch_bounds__(transpose_table[entry].tile.threads,
                                  transpose_table[entry].tile.min_blocks)
    transpose_slim(MatrixView<const Unit> a, MatrixView<Unit> b, int length_log) {
    constexpr TransposeTile t = transpose_table[entry].tile;
    constexpr int width = vectors ? 16 / sizeof(Unit) : 1;
    constexpr int chunks = t.columns / width / t.threads;
    constexpr int at_once = chunks < 4 ? chunks : 4;  // loads of a thread under way
    auto& line = device::shared<struct SlimLine, Unit[slim_slot<Unit>(t.columns)]>();
    const std::int64_t start = static_cast<std::int64_t>(blockIdx.x) << length_log;
    const std::int64_t left = (to_tall ? a.columns : a.rows) - start;
    const SlimPiece<width> piece = {
        static_cast<int>(to_tall ? a.rows : a.columns), length_log,
        left < (1 << length_log) ? static_cast<int>(left) : 1 << length_log,
        to_tall ? a.row_stride : b.row_stride, to_tall ? b.row_stride : a.row_stride};
    const auto chunk_of_a = [&](int c) { return to_tall ? piece.wide(c) : piece.tall(c); };
    const auto chunk_of_b = [&](int c) { return to_tall ? piece.tall(c) : piece.wide(c); };
    const int thread = static_cast<int>(threadIdx.x);

    const Unit* from = a.data + (to_tall ? start : start * a.row_stride);
#pragma unroll 1
    for (int done = 0; done < chunks; done += at_once) {
        Unit values[at_once][width];
#pragma unroll
        for (int c = 0; c < at_once; ++c) {
            const SlimChunk chunk = chunk_of_a(thread + (done + c) * t.threads);
            load_chunk<true>(values[c], from + chunk.offset, chunk.valid);
        }
#pragma unroll
        for (int c = 0; c < at_once; ++c) {
            const SlimChunk chunk = chunk_of_a(thread + (done + c) * t.threads);
#pragma unroll
            for (int e = 0; e < width; ++e)
                if (e < chunk.valid)
                    line[slim_slot<Unit>(chunk.first + e * chunk.step)] = values[c][e];
        }
    }
    __syncthreads();

    Unit* to = b.data + (to_tall ? start * b.row_stride : start);
#pragma unroll 4
    for (int c = 0; c < chunks; ++c) {
        const SlimChunk chunk = chunk_of_b(thread + c * t.threads);
        Unit values[width];
#pragma unroll
        for (int e = 0; e < width; ++e)
            values[e] =
                e < chunk.valid ? line[slim_slot<Unit>(chunk.first + e * chunk.step)] : Unit{};
        store_chunk(to + chunk.offset, values, chunk.valid);
    }
}

template <class Unit, int entry>
void launch_transpose_slim(device::Stream stream, MatrixView<const Unit> a, MatrixView<Unit> b) {
    const bool to_tall = a.rows < a.columns;
    const std::int64_t wide_pitch = to_tall ? a.row_stride : b.row_stride;
    const bool packed = to_tall ? b.row_stride == a.rows : a.row_stride == a.columns;
    const auto bits = reinterpret_cast<std::uintptr_t>(a.data) |
                      reinterpret_cast<std::uintptr_t>(b.data) |
                      static_cast<std::uintptr_t>(wide_pitch) * sizeof(Unit);
    constexpr bool can_have_vectors = sizeof(Unit) < 16;  // 16 bytes are one already
    const bool vectors = can_have_vectors && packed && bits % 16 == 0;
    void (*const kernel)(MatrixView<const Unit>, MatrixView<Unit>, int) =
        vectors   ? to_tall ? transpose_slim<Unit, entry, can_have_vectors, true>
                            : transpose_slim<Unit, entry, can_have_vectors, false>
          : to_tall ? transpose_slim<Unit, entry, false, true>
                  : transpose_slim<Unit, entry, false, false>;
    constexpr TransposeTile t = transpose_table[entry].tile;
    const std::int64_t slim = to_tall ? a.rows : a.columns;
    const std::int64_t extent = to_tall ? a.columns : a.rows;
    const int length_log = std::bit_width(static_cast<std::uint64_t>(t.columns / slim)) - 1;
    const std::int64_t blocks = (extent + (std::int64_t{1} << length_log) - 1) >> length_log;
    device::launch("transpose", kernel, device::grid(blocks, "transpose"), t.threads, stream, a, b,
                   length_log);
}

}  // namespace tinyblas
