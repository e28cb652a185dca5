// SPDX-License-Identifier: MIT
// Batches of products whose matrices are larger than a tile, wherever their lines begin: single
// elements come from memory, so that no layout is slower than another.
//
//   line of k:     0       1       2       3       4       5       6       7
//   multiplied   [stage s: a thread's 8 x 4 to 16 x 8 sums, line by line        ]
//   copied       [stage s + 2: two copies of an element each, or a few, a line  ]
//
// Each thread multiplies and copies. Copies are spread over the lines of the stage before: all at
// once, right after a barrier, they would keep the multiply-adds waiting. A thread goes from its
// first element by one step to the next, whatever way the operand lies, and leaves out rows that do
// not exist: zeros stay there in all stages. C leaves along its rows by way of the stages.
//
// An element of C is one chain of multiply-adds in the order of k.
//
// Limit: issue slots, 75 to 85 % busy (an H200), five in six of them with multiply-adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <device.hpp>

#include "batched_operands.hpp"
#include "batched_table.hpp"
#include "parts.cuh"
#include "thread_tile.cuh"

namespace tinyblas {

/// An operand's elements on their way into tiles, k outside. It is seen as (extent, k); rows are
/// the index that it shares with C.
template <int extent, int depth, int threads>
class ElementLoader {
  public:
    static constexpr int pitch = extent + 4;
    static constexpr int copies = extent * depth / threads;  // a thread's of a tile
    using Tile = float[depth][pitch];
    static_assert(threads % extent == 0 && threads % depth == 0 && extent % (threads / depth) == 0);

    /// From the rows of `operand` from `first` on.
    __device__ __forceinline__ ElementLoader(const MatrixView<const float>& operand,
                                             std::int64_t first, Tile* tiles, int thread)
        : tiles_(&tiles[0][0][0]), along_k_(operand.column_stride == 1) {
        // A warp copies 8 k of 4 rows, whole sectors, to 32 banks; or else neighbouring rows.
        constexpr int rows_apart = threads / depth, k_apart = threads / extent;
        const int i = along_k_ ? thread / depth : thread % extent;
        p_ = along_k_ ? thread % depth : thread / extent;
        from_ = operand.data + (first + i) * operand.row_stride + p_ * operand.column_stride;
        at_ = p_ * pitch + i;
        step_ = along_k_ ? rows_apart * operand.row_stride : k_apart * operand.column_stride;
        at_step_ = along_k_ ? rows_apart : k_apart * pitch;
        k_step_ = along_k_ ? 0 : k_apart;
        back_ = depth * operand.column_stride - (copies - 1) * step_;
#pragma unroll
        for (int c = 0; c < copies; ++c)
            if (first + i + (along_k_ ? c * rows_apart : 0) < operand.rows) there_ |= 1u << c;
    }

    /// Copies a tile into `stage`, of whose k `columns` exist; the rest becomes zero, and the next
    /// tile begins behind them.
    __device__ __forceinline__ void load(int stage, int columns, std::int64_t column_stride) {
        begin(stage);
#pragma unroll
        for (int c = 0; c < copies; ++c) {
            if (there_ & (1u << c))
                device::copy_async<1>(to_, from_, p_ + c * k_step_ < columns ? 1 : 0);
            next(c);
        }
        from_ -= (depth - columns) * column_stride;
    }
    /// The next copies are of a tile into `stage`.
    __device__ __forceinline__ void begin(int stage) {
        to_ = tiles_ + (stage * (depth * pitch) + at_);
    }
    /// Copy `c` of a tile all of whose k exist.
    __device__ __forceinline__ void load(int c) {
        if (there_ & (1u << c)) device::copy_async<1>(to_, from_);
        next(c);
    }
    /// There are no more tiles.
    __device__ __forceinline__ void stop() { there_ = 0; }

  private:
    __device__ __forceinline__ void next(int c) {
        from_ += c == copies - 1 ? back_ : step_;
        if (c < copies - 1) to_ = to_ + at_step_;
    }

    device::SharedPointer<float> tiles_, to_ = tiles_;
    const float* from_;
    std::int64_t step_, back_;  // from copy to copy, and to the next tile
    unsigned there_ = 0;        // a bit for each copy
    int p_, k_step_, at_, at_step_;
    bool along_k_;
};

template <int entry>
struct GemmElementsShared {
    static constexpr GemmTile t = gemm_elements_table[entry].tile;
    using LoaderA = ElementLoader<t.block_m, t.block_k, t.threads()>;
    using LoaderB = ElementLoader<t.block_n, t.block_k, t.threads()>;
    typename LoaderA::Tile a[t.stages];
    typename LoaderB::Tile b[t.stages];
};

template <int entry>
using GemmElementsRaster =
    GemmRaster<gemm_elements_table[entry].tile.block_m, gemm_elements_table[entry].tile.block_n, 8>;

/// C = alpha sums + beta C, along C's rows: a part of each warp's rows after the other goes by way
/// of `shared`, which nothing else uses any more.
template <int entry, class Tile>
__device__ __forceinline__ void leave_by_rows(Tile& tile, const GemmBatch<float>& x,
                                              GemmElementsShared<entry>& shared) {
    constexpr GemmTile t = gemm_elements_table[entry].tile;
    constexpr int part = 4 * t.lanes_m();  // rows of a warp's
    constexpr int parts = t.thread_m / 4, down = t.block_m / t.warp_m, warps = t.threads() / 32;
    constexpr int across = t.block_n / 32, pitch = t.block_n + 4;
    static_assert(part % warps == 0 && down * part * pitch * sizeof(float) <= sizeof(shared));
    auto* const sums = reinterpret_cast<float(*)[pitch]>(&shared);
    // Found out anew rather than kept in registers through the main loop.
    const auto corner = GemmElementsRaster<entry>(x.m(), x.n()).corner(device::opaque(blockIdx.x));
    const int thread = static_cast<int>(device::opaque(threadIdx.x));
    const int warp = thread / 32, lane = thread % 32, row = Tile::row(thread);
    const int rows = static_cast<int>(x.m() - corner.i < t.block_m ? x.m() - corner.i : t.block_m);
    const std::int64_t columns = x.n() - corner.j - lane;
    const MatrixView<float>& c = x.c.first;
    float* first = x.c.data(device::opaque(blockIdx.y)) + (corner.i + warp) * c.row_stride +
                   (corner.j + lane) * c.column_stride;
    const std::int64_t next = 32 * c.column_stride;
#pragma unroll 1
    for (int now = 0; now < parts; ++now) {
        __syncthreads();
        tile.visit_vectors(thread, [&](int i, int j, const float(&four)[4]) {
            if ((i - row) / part != now) return;
            float scaled[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) scaled[e] = device::opaque(x.alpha * four[e]);
            device::store_vector(
                &sums[row / t.warp_m * part + row % t.warp_m + i - row - now * part][j], scaled);
        });
        __syncthreads();
        const auto leave = [&](auto reads) {
            float* line = first;
            int i = now * part + warp;
            const float* from = &sums[warp][lane];
#pragma unroll 1
            for (int d = 0; d < down; ++d) {
#pragma unroll
                for (int r = 0; r < part; r += warps) {
                    if (i + r < rows) {
                        float values[across];
#pragma unroll
                        for (int q = 0; q < across; ++q) values[q] = from[r * pitch + 32 * q];
#pragma unroll
                        for (int q = 0; q < across; ++q)
                            if (reads && 32 * q < columns)
                                device::multiply_add(values[q], x.beta, line[q * next]);
#pragma unroll
                        for (int q = 0; q < across; ++q)
                            if (32 * q < columns) line[q * next] = values[q];
                    }
                    line += warps * c.row_stride;
                }
                from += part * pitch;
                i += t.warp_m;
                line += (t.warp_m - part) * c.row_stride;
            }
        };
        if (x.beta == 0)
            leave(std::false_type());
        else
            leave(std::true_type());
        first += part * c.row_stride;
    }
}

template <int entry>
__global__ void __launch_bounds__(gemm_elements_table[entry].tile.threads(),
                                  gemm_elements_table[entry].tile.min_blocks)
    gemm_batched_elements(GemmBatch<float> x) {
    device::wait_for_launcher();
    using Shared = GemmElementsShared<entry>;
    constexpr GemmTile t = Shared::t;
    auto& shared = device::large_shared<Shared>();
    const auto corner = GemmElementsRaster<entry>(x.m(), x.n()).corner(blockIdx.x);
    const int thread = static_cast<int>(threadIdx.x), k = static_cast<int>(x.k());
    const int steps = (k + t.block_k - 1) / t.block_k;
    if (corner.i + t.block_m > x.m() || corner.j + t.block_n > x.n()) {
        constexpr float zeros[4] = {};
#pragma unroll 1
        for (int at = 4 * thread; at < static_cast<int>(sizeof(shared) / sizeof(float));
             at += 4 * t.threads())
            device::store_vector(reinterpret_cast<float*>(&shared) + at, zeros);
        __syncthreads();
    }
    typename Shared::LoaderA a(x.a.at(blockIdx.y), corner.i, shared.a, thread);
    typename Shared::LoaderB b(x.b.at(blockIdx.y).transposed(), corner.j, shared.b, thread);
    // The first tile takes what is not whole, so that all others are.
    int columns = k - (steps - 1) * t.block_k, unrequested = steps, stage = 0;
#pragma unroll 1
    for (; stage < t.stages - 1; ++stage) {
        if (unrequested > 0) {
            a.load(stage, columns, x.a.first.column_stride);
            b.load(stage, columns, x.b.first.row_stride);
            --unrequested;
        }
        device::close_copy_group();
        columns = t.block_k;
    }

    const auto advance = [&] {
        device::wait_for_copies<t.stages - 2>();
        __syncthreads();
        a.begin(stage);
        b.begin(stage);
        stage = stage + 1 == t.stages ? 0 : stage + 1;
        if (unrequested == 0) a.stop(), b.stop();
        --unrequested;
    };
    // Copies go with every other line, or fewer.
    const auto copy_beside = [&](int line) {
        const auto some = [&](auto& loader) {
            constexpr int copies = std::remove_reference_t<decltype(loader)>::copies;
            constexpr int lines = copies < t.block_k / 2 ? copies : t.block_k / 2;
#pragma unroll
            for (int c = 0; c < copies; ++c)
                if (c / (copies / lines) * (t.block_k / lines) == line) loader.load(c);
        };
        some(a);
        some(b);
    };
    ThreadTile<float, t> tile(thread, &shared.a[0][0][0], &shared.b[0][0][0]);
    advance();
    if (steps > 0) {
        tile.start(0);
        copy_beside(0);
    }
    int line = 0;  // through all stages
#pragma unroll 1
    for (int left = steps; left > 0; --left) {
#pragma unroll
        for (int p = 0; p < t.block_k - 1; ++p) {
            copy_beside(p + 1);
            tile.multiply(p, line, p + 1);
        }
        device::close_copy_group();
        line += t.block_k;
        advance();
        // After the last line nothing comes next: load again what is there.
        if (line == t.stages * t.block_k || left == 1) line = 0;
        copy_beside(0);
        tile.multiply(t.block_k - 1, line, 0);
    }
    leave_by_rows<entry>(tile, x, shared);
}

/// At most gemm_batch_most (batched_plan.hpp) matrices.
template <int entry>
void launch_gemm_batched_elements(device::Stream stream, const GemmBatch<float>& x) {
    const std::int64_t blocks = GemmElementsRaster<entry>(x.m(), x.n()).blocks();
    device::launch_evenly("gemm", gemm_batched_elements<entry>,
                          dim3(device::grid(blocks, "gemm"), static_cast<unsigned>(x.count)),
                          gemm_elements_table[entry].tile.threads(),
                          sizeof(GemmElementsShared<entry>), stream, x);
}

}  // namespace tinyblas
