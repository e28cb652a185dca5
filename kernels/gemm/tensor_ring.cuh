// SPDX-License-Identifier: MIT
// The ring of stages in shared memory through which the rung tensor's operands flow, and its
// barriers: a stage is full when all copies into it have arrived, empty when all threads
// that multiply have left it.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "tensor_loader.cuh"
#include "tensor_plan.hpp"

namespace tinyblas {

/// Where C's old elements lie in a stage, which has those of one strip of all warps' tiles: even
/// rows in A's place, odd ones in B's.
template <int entry>
struct TensorOld {
    static constexpr GemmTensorTile t = gemm_tensor_table[entry];
    static constexpr int strips = t.warp_m / 8, rows = t.block_m / strips, columns = t.block_n;
    static constexpr int elements = rows / 2 * columns;

    /// The row of the block tile that is row `row` of a strip.
    static constexpr __device__ int tile_row(int strip, int row) {
        return row / 8 * t.warp_m + strip * 8 + row % 8;
    }
};

template <int entry, bool a_along_k, bool b_along_k>
struct TensorShared {
    static constexpr GemmTensorTile t = gemm_tensor_table[entry];
    static constexpr TensorLayout layout(bool along_k) {
        return !along_k   ? TensorLayout::apart
               : t.spread ? TensorLayout::spread
                          : TensorLayout::together;
    }
    using A = TensorTile<t.block_m, t.block_k, layout(a_along_k), t.swizzles, false>;
    using B = TensorTile<t.block_n, t.block_k, layout(b_along_k), t.swizzles, true>;
    using Old = TensorOld<entry>;
    static constexpr int stages = t.stages;
    static_assert(Old::elements <= A::elements && Old::elements <= B::elements);

    double a[stages][A::elements], b[stages][B::elements];
    std::uint64_t full[stages], empty[stages], before_first;  // in this order: see TensorRing
};

/// The ring as one role walks it.
template <class Shared>
class TensorRing {
  public:
    __device__ __forceinline__ TensorRing(Shared& shared, unsigned parity)
        : a_(&shared.a[0][0]),
          b_(&shared.b[0][0]),
          full_(device::SharedPointer<std::uint64_t>(shared.full).address()),
          at_(full_),
          parity_(parity) {}

    /// For one thread to call first.
    __device__ __forceinline__ void make_barriers(unsigned loaders, unsigned multipliers) const {
        for (unsigned stage = 0; stage < Shared::stages; ++stage) {
            device::make_barrier(full_ + stage * 8, loaders);
            device::make_barrier(full_ + (stage + Shared::stages) * 8, multipliers);
        }
        device::make_barrier(before_first(), multipliers);
    }

    __device__ __forceinline__ void wait_until_full() const {
        device::wait_for_phase(at_, parity_);
    }
    __device__ __forceinline__ void wait_until_empty() const {
        device::wait_for_phase(at_ + Shared::stages * 8, parity_);
    }
    /// For a thread that loads: its copies fill the stage.
    __device__ __forceinline__ void fill() {
        device::arrive_when_copied(at_);
        next();
    }
    /// For a thread that multiplies: it goes on to the next stage, and arrives at this barrier when
    /// it has used what it read: see device::arrive().
    __device__ __forceinline__ device::SharedAddress go_on() {
        const device::SharedAddress empty = at_ + Shared::stages * 8;
        next();
        return empty;
    }
    __device__ __forceinline__ void leave() { device::arrive(go_on()); }
    /// As if of a stage before the first one: no one waits for it.
    __device__ __forceinline__ device::SharedAddress before_first() const {
        return full_ + 2 * Shared::stages * 8;
    }

    /// For a thread that multiplies and needs nothing of so many stages.
    __device__ __forceinline__ void pass(unsigned count) {
#pragma unroll 1
        for (; count > 0; --count) {
            wait_until_full();
            leave();
        }
    }

    /// This stage's tiles.
    __device__ __forceinline__ device::SharedPointer<double> a() const {
        return a_ + static_cast<int>(at_ - full_) * (Shared::A::elements / 8);
    }
    __device__ __forceinline__ device::SharedPointer<double> b() const {
        return b_ + static_cast<int>(at_ - full_) * (Shared::B::elements / 8);
    }
    /// Or C's old element in row 2 pair + odd of a strip.
    __device__ __forceinline__ device::SharedPointer<double> old(int pair, int odd,
                                                                 int column) const {
        return (odd == 0 ? a() : b()) + (pair * Shared::Old::columns + swizzled(pair, column));
    }

  private:
    __device__ __forceinline__ void next() {
        at_ += 8;
        if (at_ == full_ + Shared::stages * 8) {
            at_ = full_;
            parity_ ^= 1;
        }
    }

    static_assert(Shared::A::elements % 8 == 0 && Shared::B::elements % 8 == 0);

    device::SharedPointer<double> a_, b_;
    // Barriers, 8 bytes each: the first stage's that it is full, and this stage's, which is at hand
    // rather than worked out: that would wait until the product before has read its registers. That
    // a stage is empty lies `stages` further.
    device::SharedAddress full_, at_;
    unsigned parity_;
};

}  // namespace tinyblas
