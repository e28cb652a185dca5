// SPDX-License-Identifier: MIT
// The role of the rung pipelined's warps that load.
#pragma once

#include "pipelined_ring.cuh"

namespace tinyblas {

/// A thread's share of A's tiles where threads turn them: 4 x 4 elements.
///
///   of A: a lane's 16 bytes of each of 4 rows     in shared memory: 16 bytes of each of 4 k
///
/// Lanes that write together have different rows, and so different banks; those of a row read 64
/// bytes of it.
template <int products>
class PipelinedTurn {
    static constexpr int rows = pipelined_tile.block_m, depth = pipelined_tile.block_k;
    static_assert(rows * depth == 16 * pipelined_tile.loaders && depth == 16);

  public:
    /// Products whose shares fit the registers.
    static constexpr int at_once = products < 2 ? 1 : 2;

    __device__ __forceinline__ PipelinedTurn(const PipelinedOperand& operand,
                                             PipelinedShared<products>& shared, int thread)
        : p_(thread % 32 / 8 * 4),
          row_((thread / 32 * 8 + thread % 8) * 4),
          to_(&shared.a[0][0][p_][row_]),
          stride_(operand.stride) {}

    __device__ __forceinline__ void begin(const PipelinedOperand& operand, std::int64_t offset,
                                          std::int64_t first, std::int64_t p) {
        const std::int64_t left = operand.rows - first;
        rows_ = static_cast<int>(left < rows ? left : rows);
        from_ =
            operand.data + offset + (first + (row_ < rows_ ? row_ : rows_ - 1)) * stride_ + p + p_;
    }

    /// Reads its share of a stage for a product whose A lies `offset` from the first one's, and for
    /// one `next` further on; in place of rows that do not exist, which no one stores, the last
    /// one. `whole`: or else k before `begin` and from `end` on do not exist, and are zero.
    template <bool whole>
    __device__ __forceinline__ void read(std::int64_t offset, std::int64_t next, int begin = 0,
                                         int end = depth) {
        const float* from = from_ + offset;
#pragma unroll
        for (int e = 0; e < 4; ++e) {
#pragma unroll
            for (int product = 0; product < at_once; ++product) {
                float(&share)[4] = share_[product][e];
                const float* const at = product == 0 ? from : from + next;
                if (whole) {
                    device::load_read_only(share, at);
                } else {
#pragma unroll
                    for (int q = 0; q < 4; ++q) {
                        share[q] = 0;
                        if (p_ + q >= begin && p_ + q < end) share[q] = __ldg(at + q);
                    }
                }
            }
            // Found anew each time: pointers to all rows would take too many registers.
            from = device::opaque(from + (row_ + e + 1 < rows_ ? stride_ : 0));
        }
    }
    /// To tiles `number` and following ones of all stages.
    __device__ __forceinline__ void write(int number) const {
#pragma unroll
        for (int product = 0; product < at_once; ++product) {
            const auto& share = share_[product];
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                const float line[4] = {share[0][q], share[1][q], share[2][q], share[3][q]};
                device::store_vector(to_ + ((number + product) * depth + q) * rows, line);
            }
        }
    }
    /// To the next stage.
    __device__ __forceinline__ void advance() { from_ += depth; }

  private:
    int p_, row_, rows_ = 0;
    float* to_;
    const float* from_ = nullptr;
    std::int64_t stride_;
    float share_[at_once][4][4];
};

/// Brings all stages of all pieces: one thread asks the copy engine; with `turn`, all threads turn
/// A's tiles beside it. `products`: of a tile; in place of those that do not exist, the last one.
template <bool turn, int products>
__device__ __forceinline__ void load_stages(const PipelinedWork& work,
                                            PipelinedShared<products>& shared) {
    constexpr GemmTile t = pipelined_tile_of(products);
    constexpr int block_k = t.block_k;
    const int thread = static_cast<int>(threadIdx.x) - pipelined_tile.multipliers();
    constexpr int a_bytes = block_k * t.block_m * int{sizeof(float)};
    constexpr int b_bytes = block_k * t.block_n * int{sizeof(float)};
    constexpr unsigned bytes = products * ((turn ? 0 : a_bytes) + b_bytes);  // by the copy engine
    const auto a = device::SharedPointer<float>(&shared.a[0][0][0][0]).address();
    const auto b = device::SharedPointer<float>(&shared.b[0][0][0][0]).address();
    PipelinedRing<products> ring(shared, 1);
    using Turn = PipelinedTurn<products>;
    Turn turned(work.a, shared, thread);
    for_each_piece(work, [&](const PipelinedPiece& piece) {
        const auto place = work.load.place(piece.tile);
        const int i = static_cast<int>(place.i) * t.block_m;
        const int j = static_cast<int>(place.j) * t.block_n;
        const unsigned first = product_of<products>(work, place, 0);
        // By how much the tile's products come after its first one, and their A; found out here,
        // for the loop below would read what it takes anew each time.
        int after[products];
        std::int64_t apart[products];
#pragma unroll
        for (int e = 0; e < products; ++e) {
            const unsigned product = product_of<products>(work, place, e);
            after[e] = e == 0 || product < work.products ? static_cast<int>(product - first)
                                                         : after[e - 1];
            apart[e] = after[e] * work.a.apart;
        }
        if (turn)
            turned.begin(work.a, first * work.a.apart, i,
                         std::int64_t{piece.first} * block_k - work.skip);
        // Of the tile's steps, from which to before which one all k exist.
        const unsigned begin_whole = work.skip > 0 ? 1 : 0;
        const auto end_whole = static_cast<unsigned>(work.k / block_k);
#pragma unroll 1
        for (unsigned step = piece.first; step < piece.last; ++step, ring.advance()) {
            const int stage = ring.stage();
            const auto full = ring.full();
            const auto read = [&](int number) {
                const std::int64_t offset = apart[number % products];
                const std::int64_t next = apart[(number + 1) % products] - offset;
                // Of products side by side, all steps are whole.
                if (products > 1 || (step >= begin_whole && step < end_whole))
                    turned.template read<true>(offset, next);
                else
                    turned.template read<false>(
                        offset, next, step == 0 ? work.skip : 0,
                        step < end_whole ? block_k : static_cast<int>(work.k % block_k));
            };
            if (turn) read(0);
            ring.wait_empty();
            if (!turn || thread == 0) {
                const int p = static_cast<int>(step) * block_k - work.skip;
                device::arrive_expecting(full, bytes);
#pragma unroll
                for (int e = 0; e < products; ++e) {
                    const int product = static_cast<int>(first) + after[e];
                    const int tile = stage * products + e;
                    if (!turn)
                        device::copy_tile(a + tile * a_bytes, work.a.map,
                                          p + product * work.a.k_apart,
                                          i + product * work.a.rows_apart, full);
                    device::copy_tile(b + tile * b_bytes, work.b.map, p + product * work.b.k_apart,
                                      j + product * work.b.rows_apart, full);
                }
            }
            if (turn) {
                turned.write(stage * products);
#pragma unroll
                for (int e = Turn::at_once; e < products; e += Turn::at_once) {
                    read(e);
                    turned.write(stage * products + e);
                }
                turned.advance();
                device::arrive(full);  // each for itself: tools see whose stores it ends
            }
        }
    });
}

}  // namespace tinyblas
