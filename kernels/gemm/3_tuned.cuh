// SPDX-License-Identifier: MIT
// gemm, rung 3. New over rung 2: a thread owns a tile of C in registers, so that a value from
// shared memory meets 8 or 16 others; loads are 16 bytes wide; the next stages arrive while this
// one is multiplied; tiles and launch bounds come from the table.
//
//   block tile           warp tile: 4 x 8 lanes        thread tile: quads all over the warp tile
//   +------+------+      +-----------------------+     +-----------------------+
//   | warp | warp |      |  0  1  8  9 16 17 ... |     | q . . . . . . . q . . |  q: 4 x 4
//   |      |      | -->  |  2  3 10 11 18 19 ... | --> | . . . . . . . . . . . |  elements of
//   +------+------+      |  4  5 12 13 20 21 ... |     | q . . . . . . . q . . |  a float tile
//   | warp | warp |      |  6  7 14 15 22 23 ... |     | . . . . . . . . . . . |
//   +------+------+      +-----------------------+     +-----------------------+
//
//   stages in shared memory:  [multiplied now] [arrived or on its way] ... [requested last]
//
// On compute capability 9.0 a warpgroup of its own requests the tiles of doubles and leaves its
// registers to the warps that multiply, and tiles of floats come by the copy engine
// (tuned_ring.cuh); elsewhere every thread does both.
//
// Limit: the loads from shared memory, which take issue slots (a 16 x 8 tile: 6 of them for 128
// multiply-adds) and interrupt the reuse of operands.
#pragma once

#include "batched_operands.hpp"
#include "gate.hpp"
#include "loader.cuh"
#include "parts.cuh"
#include "thread_tile.cuh"
#include "tiles.hpp"

namespace tinyblas {

template <int entry>
using GemmTunedRaster =
    GemmRaster<gemm_table[entry].tile.block_m, gemm_table[entry].tile.block_n, 8>;

/// Steps of block_k along k, at most gemm_tuned_longest_k.
template <int entry>
constexpr unsigned gemm_steps(std::int64_t k) {
    constexpr int block_k = gemm_table[entry].tile.block_k;
    return static_cast<unsigned>((k + block_k - 1) / block_k);
}

template <int entry>
constexpr int next_stage(int stage) {
    return stage + 1 == gemm_table[entry].tile.stages ? 0 : stage + 1;
}

/// Waits until all threads of the block agree that the next tiles are there and the last ones are
/// no longer needed.
template <class T, int entry>
__device__ __forceinline__ void exchange_tiles() {
    constexpr GemmTile t = gemm_table[entry].tile;
    if constexpr (t.loaders > 0)
        device::role_barrier(1, t.threads());
    else
        __syncthreads();
}

/// The tiles of A and B on their way into shared memory: the role of the threads that load.
template <class T, int entry>
class TileStream {
    static constexpr GemmTile t = gemm_table[entry].tile;
    using LoaderA = TileLoader<T, t.block_m, t.block_k, t.loading_threads()>;
    using LoaderB = TileLoader<T, t.block_n, t.block_k, t.loading_threads()>;

  public:
    struct Tiles {
        typename LoaderA::Tile a[t.stages];
        typename LoaderB::Tile b[t.stages];
    };

    /// Requests all tiles but one that fit the stages.
    __device__ __forceinline__ TileStream(const MatrixView<const T>& a,
                                          const MatrixView<const T>& b, std::int64_t i,
                                          std::int64_t j, Tiles& tiles, int thread)
        : a_(a, i, tiles.a, thread),
          b_(b.transposed(), j, tiles.b, thread),
          unrequested_(gemm_steps<entry>(a.columns)),
          columns_(static_cast<int>(a.columns - (unrequested_ - std::int64_t{1}) * t.block_k)) {
#pragma unroll 1
        for (int stage = 0; stage < t.stages - 1; ++stage) request();
    }

    /// Waits for the tiles to multiply next, then requests others in place of those multiplied
    /// last.
    __device__ __forceinline__ void advance() {
        device::wait_for_copies<t.stages - 2>();
        exchange_tiles<T, entry>();
        request();
    }

  private:
    __device__ __forceinline__ void request() {
        if (unrequested_ > 0) {
            a_.load(stage_, columns_);
            b_.load(stage_, columns_);
            --unrequested_;
        }
        device::close_copy_group();
        columns_ = t.block_k;
        stage_ = next_stage<entry>(stage_);
    }

    LoaderA a_;
    LoaderB b_;
    unsigned unrequested_;
    int columns_;    // of the next tiles: k modulo block_k at first, so that all others are whole
    int stage_ = 0;  // where they go
};

/// The block's tile of a product. `c_again` is C, anew: what it takes is not kept in registers.
template <class T, int entry, class View>
__device__ __forceinline__ void gemm_tuned_tile(T alpha, const MatrixView<const T>& a,
                                                const MatrixView<const T>& b, T beta,
                                                const MatrixView<T>& c, GemmGate gate,
                                                View c_again) {
    constexpr GemmTile t = gemm_table[entry].tile;
    // Machine code for other GPUs holds no such entry, and the choice of entries never asks for it.
    if constexpr (t.loaders > 0 && !device::reallocates_registers) return device::trap();
    using Stream = TileStream<T, entry>;
    auto& tiles = device::large_shared<typename Stream::Tiles>();
    const auto corner = GemmTunedRaster<entry>(c.rows, c.columns).corner(blockIdx.x);
    const unsigned steps = gemm_steps<entry>(a.columns);
    const int thread = static_cast<int>(threadIdx.x);
    if (gate.closed()) return;  // earlier, it would cost the main loop registers and reuse

    if constexpr (t.loaders > 0) {
        if (thread >= t.multipliers()) {
            device::give_up_registers<t.loader_registers>();
            Stream stream(a, b, corner.i, corner.j, tiles, thread - t.multipliers());
            for (unsigned step = 0; step <= steps; ++step) stream.advance();
            return;
        }
        device::claim_registers<t.multiplier_registers()>();
    }

    // A warp whose tile lies wholly outside C multiplies nothing, where others load for it.
    const int warp = thread / 32;
    const bool busy = t.loaders == 0 || (corner.i + warp / t.warps_n() * t.warp_m < c.rows &&
                                         corner.j + warp % t.warps_n() * t.warp_n < c.columns);
    ThreadTile<T, t> tile(thread, &tiles.a[0][0][0], &tiles.b[0][0][0]);
    const auto multiply_all = [&](auto&& advance) {
        if (t.loaders > 0 && (!busy || steps == 0)) {
            for (unsigned step = 0; step <= steps; ++step) advance();
            return;
        }
        if (steps == 0) return;
        constexpr int lines = t.lines(sizeof(T));
        int line = 0;  // through all stages
        tile.start();
#pragma unroll 1
        for (unsigned left = steps * (t.block_k / lines);; --left) {
            if (lines == t.block_k || line % t.block_k == 0) advance();
            // After the last line nothing comes next: load again what is there.
            if (line == t.stages * t.block_k || left == 0) line = 0;
            tile.multiply(lines - 1, line, 0);  // the last one's last; first, zeros
            if (left == 0) return;
#pragma unroll
            for (int p = 0; p < lines - 1; ++p) tile.multiply(p, line, p + 1);
            line += lines;
        }
    };
    if constexpr (t.loaders > 0) {
        multiply_all(exchange_tiles<T, entry>);
    } else {
        Stream stream(a, b, corner.i, corner.j, tiles, thread);
        multiply_all([&] { stream.advance(); });
    }
    if (!busy) return;
    // Found out anew rather than kept in registers through the main loop.
    const auto here = GemmTunedRaster<entry>(c.rows, c.columns).corner(device::opaque(blockIdx.x));
    tile.store(static_cast<int>(device::opaque(threadIdx.x)), c_again(), here.i, here.j, alpha,
               beta);
}

template <class T, int entry>
__global__ void __launch_bounds__(gemm_table[entry].tile.threads(),
                                  gemm_table[entry].tile.min_blocks)
    gemm_tuned(T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta, MatrixView<T> c,
               GemmGate gate) {
    gemm_tuned_tile<T, entry>(alpha, a, b, beta, c, gate,
                              [&]() -> const MatrixView<T>& { return c; });
}

/// A batch: matrices along the grid's y.
template <class T, int entry>
__global__ void __launch_bounds__(gemm_table[entry].tile.threads(),
                                  gemm_table[entry].tile.min_blocks)
    gemm_tuned_batched(GemmBatch<T> x) {
    // With machine code for 9.0a, batched_elements.cuh and tuned_ring.cuh make batches of floats,
    // and the rung tensor those of doubles.
    if constexpr (device::reallocates_registers) return device::trap();
    device::wait_for_launcher();
    gemm_tuned_tile<T, entry>(x.alpha, x.a.at(blockIdx.y), x.b.at(blockIdx.y), x.beta, x.c.first,
                              GemmGate{}, [&] { return x.c.at(device::opaque(blockIdx.y)); });
}

template <class T, int entry>
void launch_gemm_tuned(device::Stream stream, T alpha, MatrixView<const T> a, MatrixView<const T> b,
                       T beta, MatrixView<T> c, GemmGate gate) {
    const std::int64_t blocks = GemmTunedRaster<entry>(c.rows, c.columns).blocks();
    device::launch_large("gemm", gemm_tuned<T, entry>, device::grid(blocks, "gemm"),
                         gemm_table[entry].tile.threads(),
                         sizeof(typename TileStream<T, entry>::Tiles), stream, alpha, a, b, beta, c,
                         gate);
}

/// At most gemm_batch_most (batched_plan.hpp) matrices.
template <class T, int entry>
void launch_gemm_tuned_batched(device::Stream stream, const GemmBatch<T>& x) {
    const std::int64_t blocks = GemmTunedRaster<entry>(x.m(), x.n()).blocks();
    device::launch_evenly("gemm", gemm_tuned_batched<T, entry>,
                          dim3(device::grid(blocks, "gemm"), static_cast<unsigned>(x.count)),
                          gemm_table[entry].tile.threads(),
                          sizeof(typename TileStream<T, entry>::Tiles), stream, x);
}

}  // namespace tinyblas
