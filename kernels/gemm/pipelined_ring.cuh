// SPDX-License-Identifier: MIT
// What the rung pipelined's roles share: the product, and the ring of stages in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <device.hpp>

#include "batched_operands.hpp"
#include "pipelined_plan.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas {

/// An operand with the extent that it shares with C. The copy engine brings its tiles: k by k, or
/// of A, where neighbours lie along k and a tile has several products, row by row; or (A alone)
/// neighbours lie along k, in `rows` rows `stride` apart, and threads turn them.
struct PipelinedOperand {
    device::TileMap map;
    const float* data;
    std::int64_t rows, stride;
    bool turned;
    // From product to product of a batch: k and rows of the map; if turned, elements.
    int k_apart, rows_apart;
    std::int64_t apart;
};

/// A batch whose matrices are read each as it lies.
struct PipelinedInPlace {
    GemmBatchOperand<const float> a, b;  // (m, k), (n, k)
    GemmBatchOperand<float> c;
    // Whether lines are multiples of 16 bytes apart. Then those that begin at 16 bytes have maps
    // for the copy engine, but for A that threads turn.
    bool a_vectors, b_vectors;
    const device::TileMap *a_maps, *b_maps;
};

struct PipelinedWork {
    float alpha, beta;
    PipelinedOperand a, b;
    MatrixView<float> c;
    std::int64_t k;  // from 16-byte aligned elements of A on: the first `skip` do not exist
    int skip;
    PipelinedWorkload load;
    float* partials;       // of the tiles' pieces, two a block
    unsigned* counters;    // for each cut tile, one a warp; null: sums are added up apart
    std::int64_t c_apart;  // from product to product
    unsigned products;     // of a batch
    bool early;            // the next kernel may start at once
    float one = 1;         // which the compiler does not know
    PipelinedInPlace in_place = {};
};

/// Of a batch's products, number `number` of a tile; there may be none.
template <PipelinedForm f>
__device__ __forceinline__ unsigned product_of(const PipelinedWork& work,
                                               const PipelinedWorkload::Place& place,
                                               unsigned number) {
    constexpr int products = f.products();
    return products == 2 ? place.product + number * work.load.products
                         : place.product * products + number;
}

/// Room in which a warp's lanes exchange what they store: some lines of its part of C, whose
/// vectors keep out of each other's banks.
template <PipelinedForm f>
struct PipelinedLines {
    static constexpr GemmTile t = f.tile();
    static constexpr int at_once = f.parts == 2 ? 1 : t.lanes_m();  // as there is room
    alignas(16) float values[at_once][t.warp_n + 8];
};

/// What a warp has in shared memory: those lines, or, before a piece's last chain ends, its sums so
/// far, four of each lane, four more of each, and so on.
template <PipelinedForm f>
union PipelinedAside {
    PipelinedLines<f> lines;
    alignas(16) float sums[f.tile().thread_m * f.tile().thread_n / 4][32][4];
};

/// A tile's sums: four of each thread, four more of each, and so on.
template <PipelinedForm f>
using PipelinedTileSums =
    float[f.tile().thread_m * f.tile().thread_n / 4][f.tile().multipliers()][4];

/// Room in which slices' sums pass from the last slice to the first one, and whose turn it is. And
/// what each warp knows there, as it has no registers left: where its chain of multiply-adds ends,
/// and how many turns it has had.
template <PipelinedForm f>
struct PipelinedRelay {
    alignas(16) PipelinedTileSums<f> sums;
    std::uint64_t turns[f.parts];
    unsigned end[pipelined_tile.multipliers() / 32], taken[pipelined_tile.multipliers() / 32];

    static __device__ __forceinline__ unsigned warp() { return device::opaque(threadIdx.x) / 32; }
    static __device__ __forceinline__ bool is_first_lane() {
        return device::opaque(threadIdx.x) % 32 == 0;
    }
    __device__ __forceinline__ void set_end(unsigned step) {
        if (is_first_lane()) end[warp()] = step;
    }
    __device__ __forceinline__ unsigned known_end() const {
        __syncwarp();  // it is set, and the last turn counted
        const unsigned step = end[warp()];
        __syncwarp();  // all lanes have it
        return step;
    }
    __device__ __forceinline__ void wait_for_turn(int slice) {
        const device::SharedPointer<std::uint64_t> turn(&turns[slice]);
        const unsigned number = taken[warp()];
        // The last one's turn is whenever the first one has taken what was there.
        device::wait_for_phase(turn.address(), (number + (slice == f.parts - 1 ? 1 : 0)) % 2);
        __syncwarp();  // all lanes have read the number
        if (is_first_lane()) taken[warp()] = number + 1;
    }
    __device__ __forceinline__ void give_turn(int slice) {
        device::arrive(device::SharedPointer<std::uint64_t>(&turns[slice]).address());
    }
};
struct PipelinedNoRelay {};

template <PipelinedForm f>
struct PipelinedShared {
    static constexpr GemmTile t = f.tile();
    alignas(512) float a[t.stages][f.parts][t.block_k * t.block_m];  // k by k, or row by row
    alignas(128) float b[t.stages][f.parts][t.block_k][t.block_n];
    // Of the warps that store.
    std::conditional_t<f.sets_aside(), PipelinedAside<f>, PipelinedLines<f>>
        own[f.products() * t.multipliers() / 32];
    std::uint64_t full[t.stages], empty[t.stages];
    [[no_unique_address]] std::conditional_t<f.sliced, PipelinedRelay<f>, PipelinedNoRelay> relay;

    __device__ __forceinline__ PipelinedLines<f>& lines() {
        auto& warp = own[threadIdx.x / 32];
        if constexpr (f.sets_aside())
            return warp.lines;
        else
            return warp;
    }
    // Once nothing comes any more: sums of all slices, and lines of all warps.
    __device__ __forceinline__ PipelinedTileSums<f>* slices() {
        static_assert(sizeof(a) >= f.parts * sizeof(PipelinedTileSums<f>));
        return reinterpret_cast<PipelinedTileSums<f>*>(&a);
    }
    __device__ __forceinline__ PipelinedLines<f>* all_lines() {
        static_assert(sizeof(b) >= pipelined_tile.multipliers() / 32 * sizeof(PipelinedLines<f>));
        return reinterpret_cast<PipelinedLines<f>*>(&b);
    }
};

/// The ring as one role walks it.
template <PipelinedForm f>
class PipelinedRing {
    static constexpr int stages = f.tile().stages;

  public:
    __device__ __forceinline__ PipelinedRing(PipelinedShared<f>& shared, unsigned parity)
        : base_(device::SharedPointer<std::uint64_t>(&shared.full[0]).address()), parity_(parity) {}

    __device__ __forceinline__ int stage() const { return stage_; }
    __device__ __forceinline__ device::SharedAddress full() const { return base_ + stage_ * 8; }
    __device__ __forceinline__ device::SharedAddress empty() const {
        return base_ + (stages + stage_) * 8;
    }
    __device__ __forceinline__ void wait_full() const { device::wait_for_phase(full(), parity_); }
    __device__ __forceinline__ void wait_empty() const { device::wait_for_phase(empty(), parity_); }
    __device__ __forceinline__ void advance() {
        if (++stage_ == stages) {
            stage_ = 0;
            parity_ ^= 1;
        }
    }

  private:
    device::SharedAddress base_;
    int stage_ = 0;
    unsigned parity_;
};

/// Of the calling block, which is found out anew rather than kept in registers.
template <PipelinedForm f>
__device__ __forceinline__ PipelinedPiece piece_of(const PipelinedWorkload& load, unsigned number) {
    const unsigned block = device::opaque(blockIdx.x);
    // Of four products, too, tiles are whole; but so ptxas keeps fewer of the main loop's operands
    // (7 % of the time), and of two products more.
    if (f.products() == 2) return load.whole_piece(block, number);
    if (f.cuts() && load.own > 0) return load.helped_piece(block, number);
    return load.piece(block, number);
}

/// Calls body(piece, number) for each piece of the calling block.
template <PipelinedForm f, class Body>
__device__ __forceinline__ void for_each_piece(const PipelinedWork& work, Body&& body) {
#pragma unroll 1
    for (unsigned number = 0;; ++number) {
        const PipelinedPiece piece = piece_of<f>(work.load, number);
        if (piece.first == piece.last) return;
        body(piece, number);
    }
}

}  // namespace tinyblas
