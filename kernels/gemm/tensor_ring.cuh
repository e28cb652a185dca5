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

template <int entry, bool a_along_k, bool b_along_k>
struct TensorShared {
    static constexpr GemmTensorTile t = gemm_tensor_table[entry];
    static constexpr TensorLayout layout(bool along_k) {
        return !along_k   ? TensorLayout::apart
               : t.spread ? TensorLayout::spread
                          : TensorLayout::together;
    }
    using A = TensorTile<t.block_m, t.block_k, layout(a_along_k), false>;
    using B = TensorTile<t.block_n, t.block_k, layout(b_along_k), true>;
    static constexpr int stages = t.stages;

    double a[stages][A::elements], b[stages][B::elements];
    std::uint64_t full[stages], empty[stages];
};

/// The ring as one role walks it.
template <class Shared>
class TensorRing {
  public:
    __device__ __forceinline__ TensorRing(Shared& shared, unsigned parity)
        : a_(&shared.a[0][0]),
          b_(&shared.b[0][0]),
          full_(device::SharedPointer<std::uint64_t>(shared.full).address()),
          empty_(device::SharedPointer<std::uint64_t>(shared.empty).address()),
          parity_(parity) {}

    /// For one thread to call first.
    __device__ __forceinline__ void make_barriers(unsigned loaders, unsigned multipliers) const {
        for (unsigned stage = 0; stage < Shared::stages; ++stage) {
            device::make_barrier(full_ + stage * 8, loaders);
            device::make_barrier(empty_ + stage * 8, multipliers);
        }
    }

    __device__ __forceinline__ void wait_until_full() const {
        device::wait_for_phase(full_ + stage_ * 8, parity_);
    }
    __device__ __forceinline__ void wait_until_empty() const {
        device::wait_for_phase(empty_ + stage_ * 8, parity_);
    }
    /// For a thread that loads: its copies fill the stage.
    __device__ __forceinline__ void fill() {
        device::arrive_when_copied(full_ + stage_ * 8);
        next();
    }
    /// For a thread that multiplies: it has read what it needs.
    __device__ __forceinline__ void leave() {
        device::arrive(empty_ + stage_ * 8);
        next();
    }

    /// This stage's tiles.
    __device__ __forceinline__ device::SharedPointer<double> a() const {
        return a_ + static_cast<int>(stage_) * Shared::A::elements;
    }
    __device__ __forceinline__ device::SharedPointer<double> b() const {
        return b_ + static_cast<int>(stage_) * Shared::B::elements;
    }

  private:
    __device__ __forceinline__ void next() {
        if (++stage_ == Shared::stages) {
            stage_ = 0;
            parity_ ^= 1;
        }
    }

    device::SharedPointer<double> a_, b_;
    device::SharedAddress full_, empty_;
    unsigned stage_ = 0, parity_;
};

}  // namespace tinyblas
