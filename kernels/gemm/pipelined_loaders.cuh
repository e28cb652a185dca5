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
class PipelinedTurn {
    static constexpr int rows = pipelined_tile.block_m, depth = pipelined_tile.block_k;
    static_assert(rows * depth == 16 * pipelined_tile.loaders && depth == 16);

  public:
    __device__ __forceinline__ PipelinedTurn(const PipelinedOperand& operand,
                                             PipelinedShared& shared, int thread)
        : p_(thread % 32 / 8 * 4),
          row_((thread / 32 * 8 + thread % 8) * 4),
          to_(&shared.a[0][p_][row_]),
          stride_(operand.stride) {}

    __device__ __forceinline__ void begin(const PipelinedOperand& operand, std::int64_t offset,
                                          std::int64_t first, std::int64_t p) {
        const std::int64_t left = operand.rows - first;
        rows_ = static_cast<int>(left < rows ? left : rows);
        from_ =
            operand.data + offset + (first + (row_ < rows_ ? row_ : rows_ - 1)) * stride_ + p + p_;
    }

    /// Reads the next stage's share, of whose k those from `begin` to before `end` exist; what does
    /// not is zero. In place of rows that do not exist, which no one stores, the last one.
    __device__ __forceinline__ void read(int begin, int end) {
        if (begin == 0 && end == depth)
            read<true>(begin, end);
        else
            read<false>(begin, end);
        from_ += depth;
    }
    __device__ __forceinline__ void write(int stage) const {
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const float line[4] = {share_[0][q], share_[1][q], share_[2][q], share_[3][q]};
            device::store_vector(to_ + (stage * depth + q) * rows, line);
        }
    }

  private:
    template <bool whole>
    __device__ __forceinline__ void read(int begin, int end) {
        const float* from = from_;
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            if (whole) {
                device::load_read_only(share_[e], from);
            } else {
#pragma unroll
                for (int q = 0; q < 4; ++q) {
                    share_[e][q] = 0;
                    if (p_ + q >= begin && p_ + q < end) share_[e][q] = __ldg(from + q);
                }
            }
            // Found anew each time: pointers to all rows would take too many registers.
            from = device::opaque(from + (row_ + e + 1 < rows_ ? stride_ : 0));
        }
    }

    int p_, row_, rows_ = 0;
    float* to_;
    const float* from_ = nullptr;
    std::int64_t stride_;
    float share_[4][4];
};

/// Brings all stages of all pieces: one thread asks the copy engine; with `turn`, all threads turn
/// A's tiles beside it.
template <bool turn>
__device__ __forceinline__ void load_stages(const PipelinedWork& work, PipelinedShared& shared) {
    constexpr int block_m = pipelined_tile.block_m, block_n = pipelined_tile.block_n;
    constexpr int block_k = pipelined_tile.block_k;
    const int thread = static_cast<int>(threadIdx.x) - pipelined_tile.multipliers();
    constexpr int a_bytes = block_k * block_m * int{sizeof(float)};
    constexpr int b_bytes = block_k * block_n * int{sizeof(float)};
    constexpr unsigned bytes = (turn ? 0 : a_bytes) + b_bytes;  // of a stage, by the copy engine
    const auto a = device::SharedPointer<float>(&shared.a[0][0][0]).address();
    const auto b = device::SharedPointer<float>(&shared.b[0][0][0]).address();
    PipelinedRing ring(shared, 1);
    PipelinedTurn turned(work.a, shared, thread);
    for_each_piece(work, [&](const PipelinedPiece& piece) {
        const auto place = work.load.place(piece.tile);
        const int i = static_cast<int>(place.i) * block_m;
        const int j = static_cast<int>(place.j) * block_n;
        const auto product = static_cast<int>(place.product);
        const int a_p = product * work.a.k_apart, a_i = i + product * work.a.rows_apart;
        const int b_p = product * work.b.k_apart, b_j = j + product * work.b.rows_apart;
        if (turn)
            turned.begin(work.a, place.product * work.a.apart, i,
                         std::int64_t{piece.first} * block_k - work.skip);
        const auto whole = static_cast<unsigned>(work.k / block_k);
#pragma unroll 1
        for (unsigned step = piece.first; step < piece.last; ++step, ring.advance()) {
            const int stage = ring.stage();
            const auto full = ring.full();
            if (turn)
                turned.read(step == 0 ? work.skip : 0,
                            step < whole ? block_k : static_cast<int>(work.k % block_k));
            ring.wait_empty();
            if (!turn || thread == 0) {
                const int p = static_cast<int>(step) * block_k - work.skip;
                device::arrive_expecting(full, bytes);
                if (!turn) device::copy_tile(a + stage * a_bytes, work.a.map, a_p + p, a_i, full);
                device::copy_tile(b + stage * b_bytes, work.b.map, b_p + p, b_j, full);
            }
            if (turn) {
                turned.write(stage);
                device::arrive(full);  // each for itself: tools see whose stores it ends
            }
        }
    });
}

}  // namespace tinyblas
