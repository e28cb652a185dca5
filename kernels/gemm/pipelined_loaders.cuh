// SPDX-License-Identifier: MIT
// The role of the rung pipelined's warps that load.
#pragma once

#include "batch_maps.hpp"
#include "pipelined_ring.cuh"

namespace tinyblas {

/// How a thread reads its share of a stage: 16 bytes at a time, an element at a time, or that too,
/// but k before `begin` and from `end` on do not exist, and are zero.
enum class PipelinedReads { vectors, elements, some };

/// A thread's share of A's tiles where threads turn them: 4 x 4 elements.
///
///   of A: a lane's 16 bytes of each of 4 rows     in shared memory: 16 bytes of each of 4 k
///
/// Lanes that write together have different rows, and so different banks; those of a row read 64
/// bytes of it.
class PipelinedTurn {
    static constexpr int rows = pipelined_tile.block_m, depth = pipelined_tile.block_k;
    static_assert(rows * depth == 16 * pipelined_tile.loaders && depth == 16);

  public:
    /// `tiles`: the stages' first one in shared memory.
    __device__ __forceinline__ PipelinedTurn(const PipelinedOperand& operand, float* tiles,
                                             int thread)
        : p_(thread % 32 / 8 * 4),
          row_((thread / 32 * 8 + thread % 8) * 4),
          to_(tiles + p_ * rows + row_),
          stride_(operand.stride) {}

    /// `data`: of the product's matrix.
    __device__ __forceinline__ void begin(const PipelinedOperand& operand, const float* data,
                                          std::int64_t first, std::int64_t p) {
        const std::int64_t left = operand.rows - first;
        rows_ = static_cast<int>(left < rows ? left : rows);
        from_ = data + (first + (row_ < rows_ ? row_ : rows_ - 1)) * stride_ + p + p_;
    }

    /// Reads its share of a stage; in place of rows that do not exist, which no one stores, the
    /// last one.
    template <PipelinedReads reads>
    __device__ __forceinline__ void read(int begin = 0, int end = depth) {
        const float* from = from_;
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float(&share)[4] = share_[e];
            if (reads == PipelinedReads::vectors) {
                device::load_read_only<true>(share, from);
            } else {
#pragma unroll
                for (int q = 0; q < 4; ++q) {
                    if (reads == PipelinedReads::some) share[q] = 0;
                    if (reads == PipelinedReads::elements || (p_ + q >= begin && p_ + q < end))
                        share[q] = __ldg(from + q);
                }
            }
            // Found anew each time: pointers to all rows would take too many registers.
            from = device::opaque(from + (row_ + e + 1 < rows_ ? stride_ : 0));
        }
    }
    /// To a stage.
    __device__ __forceinline__ void write(int stage) const {
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const float line[4] = {share_[0][q], share_[1][q], share_[2][q], share_[3][q]};
            device::store_vector(to_ + (stage * depth + q) * rows, line);
        }
    }
    /// To the next stage.
    __device__ __forceinline__ void advance() { from_ += depth; }

  private:
    int p_, row_, rows_ = 0;
    float* to_;
    const float* from_ = nullptr;
    std::int64_t stride_;
    float share_[4][4];
};

/// Brings all stages of all pieces: one thread asks the copy engine, for as many tiles of both
/// operands as the form has parts (in place of products that do not exist, of the last one).
template <PipelinedForm f>
__device__ __forceinline__ void load_stages(const PipelinedWork& work, PipelinedShared<f>& shared) {
    constexpr GemmTile t = f.tile();
    constexpr int a_bytes = t.block_k * t.block_m * int{sizeof(float)};
    constexpr int b_bytes = t.block_k * t.block_n * int{sizeof(float)};
    const auto a = device::SharedPointer<float>(&shared.a[0][0][0]).address();
    const auto b = device::SharedPointer<float>(&shared.b[0][0][0][0]).address();
    PipelinedRing<f> ring(shared, 1);
    for_each_piece<f>(work, [&](const PipelinedPiece& piece, unsigned) {
        const auto place = work.load.place(piece.tile);
        const int i = static_cast<int>(place.i) * t.block_m;
        const int j = static_cast<int>(place.j) * t.block_n;
        int product[f.products()];
#pragma unroll
        for (int e = 0; e < f.products(); ++e) {
            const unsigned own = product_of<f>(work, place, e);
            product[e] = e == 0 || own < work.products ? static_cast<int>(own) : product[e - 1];
        }
#pragma unroll 1
        for (unsigned step = piece.first; step < piece.last; ++step, ring.advance()) {
            const auto full = ring.full();
            ring.wait_empty();
            device::arrive_expecting(full, f.parts * (a_bytes + b_bytes));
#pragma unroll
            for (int e = 0; e < f.parts; ++e) {
                const int tile = ring.stage() * f.parts + e;
                const int own = product[f.sliced ? 0 : e];
                const int p = static_cast<int>(step) * f.depth() + (f.sliced ? e * t.block_k : 0);
                const int a_p = p + own * work.a.k_apart;
                const int a_i = i + own * work.a.rows_apart;
                device::copy_tile(a + tile * a_bytes, work.a.map, f.a_by_rows ? a_i : a_p,
                                  f.a_by_rows ? a_p : a_i, full);
                device::copy_tile(b + tile * b_bytes, work.b.map, p + own * work.b.k_apart,
                                  j + own * work.b.rows_apart, full);
            }
        }
    });
}

/// Where all threads turn A's tiles, and one asks the copy engine for those of B.
__device__ __forceinline__ void turn_stages(const PipelinedWork& work,
                                            PipelinedShared<PipelinedForm{}>& shared) {
    constexpr GemmTile t = pipelined_tile;
    constexpr int block_k = t.block_k, b_bytes = block_k * t.block_n * int{sizeof(float)};
    const int thread = static_cast<int>(threadIdx.x) - t.multipliers();
    const auto b = device::SharedPointer<float>(&shared.b[0][0][0][0]).address();
    PipelinedRing<PipelinedForm{}> ring(shared, 1);
    PipelinedTurn turned(work.a, &shared.a[0][0][0], thread);
    for_each_piece<PipelinedForm{}>(work, [&](const PipelinedPiece& piece, unsigned) {
        const auto place = work.load.place(piece.tile);
        const int i = static_cast<int>(place.i) * t.block_m;
        const int j = static_cast<int>(place.j) * t.block_n;
        const int product = static_cast<int>(place.product);
        turned.begin(work.a, work.a.data + product * work.a.apart, i,
                     std::int64_t{piece.first} * block_k - work.skip);
        // Of the tile's steps, from which to before which one all k exist.
        const unsigned begin_whole = work.skip > 0 ? 1 : 0;
        const auto end_whole = static_cast<unsigned>(work.k / block_k);
#pragma unroll 1
        for (unsigned step = piece.first; step < piece.last; ++step, ring.advance()) {
            const auto full = ring.full();
            if (step >= begin_whole && step < end_whole)
                turned.read<PipelinedReads::vectors>();
            else
                turned.read<PipelinedReads::some>(
                    step == 0 ? work.skip : 0,
                    step < end_whole ? block_k : static_cast<int>(work.k % block_k));
            ring.wait_empty();
            if (thread == 0) {
                device::arrive_expecting(full, b_bytes);
                device::copy_tile(
                    b + ring.stage() * b_bytes, work.b.map,
                    static_cast<int>(step) * block_k - work.skip + product * work.b.k_apart,
                    j + product * work.b.rows_apart, full);
            }
            turned.write(ring.stage());
            turned.advance();
            device::arrive(full);  // each for itself: tools see whose stores it ends
        }
    });
}

/// A thread's share of tiles of `extent` rows whose elements all threads ask for, of a matrix whose
/// neighbours share k: a warp has four lines of k; of rows and k that do not exist, zeros.
/// Multipliers leave few turns to issue, and who waits for what the instruction before makes loses
/// its own: so addresses are few, and do not depend on each other.
template <int extent>
class PipelinedElements {
    static constexpr int depth = pipelined_tile.block_k;
    static constexpr int lines = depth * 32 / pipelined_tile.loaders;  // of a warp

  public:
    __device__ __forceinline__ explicit PipelinedElements(int thread)
        : line_(thread / 32 * lines), lane_(thread % 32) {}

    /// `data`: of the product's matrix, of which the tile begins with row `first`.
    __device__ __forceinline__ void begin(const PipelinedOperand& operand, const float* data,
                                          std::int64_t first) {
        const std::int64_t left = operand.rows - first;
        rows_ = static_cast<int>(left < extent ? left : extent) - lane_;
        from_ = data + (line_ * operand.stride + first + lane_);
    }
    /// To a stage, of which `columns` k exist.
    __device__ __forceinline__ void copy(float* tile, std::int64_t stride, int columns) {
        const device::SharedPointer<float> to(tile + (line_ * extent + lane_));
        if (columns < depth) {  // once a tile
#pragma unroll 1
            for (int q = 0; q < lines; ++q)
#pragma unroll
                for (int row = 0; row < extent; row += 32) {
                    const bool exists = row < rows_ && line_ + q < columns;
                    device::copy_async<1>(to + (q * extent + row), from_ + (q * stride + row),
                                          exists ? 1 : 0);
                }
            return;
        }
        const float* from[lines];
#pragma unroll
        for (int q = 0; q < lines; ++q) from[q] = device::opaque(from_ + q * stride);
        constexpr int at_once = 128;  // rows, for which there are predicates
#pragma unroll
        for (int part = 0; part < extent; part += at_once)
#pragma unroll
            for (int q = 0; q < lines; ++q)
#pragma unroll
                for (int row = part; row < part + at_once; row += 32)
                    device::copy_async<1>(to + (q * extent + row), from[q] + row,
                                          row < rows_ ? 1 : 0);
        from_ += depth * stride;
    }

  private:
    int line_, lane_, rows_ = 0;
    const float* from_ = nullptr;
};

/// Where each matrix is read as it lies. One thread asks the copy engine for the tiles of those
/// that it can read; all turn A's, if its neighbours lie along k, and copy elements of the others.
template <PipelinedForm f>
__device__ __forceinline__ void load_in_place(const PipelinedWork& work,
                                              PipelinedShared<f>& shared) {
    constexpr GemmTile t = f.tile();
    constexpr int block_k = t.block_k;
    constexpr unsigned a_bytes = block_k * t.block_m * sizeof(float);
    constexpr unsigned b_bytes = block_k * t.block_n * sizeof(float);
    const int thread = static_cast<int>(threadIdx.x) - t.multipliers();
    const PipelinedInPlace& x = work.in_place;
    PipelinedRing<f> ring(shared, 1);
    PipelinedTurn turned(work.a, &shared.a[0][0][0], thread);
    PipelinedElements<t.block_m> a_elements(thread);
    PipelinedElements<t.block_n> b_elements(thread);
    for_each_piece<f>(work, [&](const PipelinedPiece& piece, unsigned) {
        const auto place = work.load.place(piece.tile);
        const int i = static_cast<int>(place.i) * t.block_m;
        const int j = static_cast<int>(place.j) * t.block_n;
        const float* const a = x.a.data(place.product);
        const float* const b = x.b.data(place.product);
        const bool a_vectors = x.a_vectors && begins_at_vector(a);
        const bool a_mapped = a_vectors && !work.a.turned;
        const bool b_mapped = x.b_vectors && begins_at_vector(b);
        const device::TileMap* const a_map = x.a_maps + place.product;
        const device::TileMap* const b_map = x.b_maps + place.product;
        if (thread == 0) {
            if (a_mapped) device::acquire_tile_map(a_map);
            if (b_mapped) device::acquire_tile_map(b_map);
        }
        turned.begin(work.a, a, i, 0);
        a_elements.begin(work.a, a, i);
        b_elements.begin(work.b, b, j);
        const unsigned bytes = (a_mapped ? a_bytes : 0) + (b_mapped ? b_bytes : 0);
        const auto end_whole = static_cast<unsigned>(work.k / block_k);
#pragma unroll 1
        for (unsigned step = piece.first; step < piece.last; ++step, ring.advance()) {
            const auto full = ring.full();
            const int p = static_cast<int>(step) * block_k;
            if (work.a.turned) {
                if (step == end_whole)
                    turned.read<PipelinedReads::some>(0, static_cast<int>(work.k % block_k));
                else if (a_vectors)
                    turned.read<PipelinedReads::vectors>();
                else
                    turned.read<PipelinedReads::elements>();
            }
            ring.wait_empty();
            float* const a_tile = &shared.a[ring.stage()][0][0];
            float* const b_tile = &shared.b[ring.stage()][0][0][0];
            if (thread == 0) {
                device::arrive_expecting(full, bytes);
                // What threads have copied there, of the product before, was read.
                if (bytes > 0) device::publish_shared_to_copies();
                if (a_mapped)
                    device::copy_tile(device::SharedPointer<float>(a_tile).address(), *a_map, p, i,
                                      full);
                if (b_mapped)
                    device::copy_tile(device::SharedPointer<float>(b_tile).address(), *b_map, p, j,
                                      full);
            }
            const auto left = static_cast<int>(work.k) - p;
            if (!b_mapped) b_elements.copy(b_tile, work.b.stride, left);
            if (work.a.turned) {
                turned.write(ring.stage());
                turned.advance();
            } else if (!a_mapped) {
                a_elements.copy(a_tile, work.a.stride, left);
            }
            device::arrive(full);  // for what it has stored; and for what it has asked for
            device::arrive_when_copied(full);
        }
    });
}

}  // namespace tinyblas
