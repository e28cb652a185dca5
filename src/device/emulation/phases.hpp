// SPDX-License-Identifier: MIT
// Barriers of a block's shared memory that count arrivals and bytes, phase by phase, and the copies
// that bring these bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "device/emulation/fibers.hpp"

namespace tinyblas::device {

/// A phase ends when `pending` arrivals are left and no bytes; the next one has the other parity.
struct PhaseBarrier {
    const std::byte* at;
    unsigned arrivals, pending, parity;
    std::int64_t bytes;  // announced, less those that came
};

/// A copy of the copy engine that is not made yet.
struct FlyingCopy {
    const std::byte* barrier;
    std::int64_t bytes;
    std::function<void()> make;
};

/// Those of the running block.
class Phases {
  public:
    void begin_block();
    void make(const std::byte* at, unsigned arrivals, Place place);
    /// The ones that make() made; another address ends the calling thread.
    PhaseBarrier& find(const std::byte* at, Place place);
    /// Ends the phase, if that was the last thing it waited for.
    static bool settle(PhaseBarrier& barrier);
    void start(FlyingCopy copy) { flying_.push_back(std::move(copy)); }
    /// Makes the copies that a barrier waits for, if these are all that it waits for. Until then
    /// none is made, so that a missing wait shows.
    bool land(PhaseBarrier& barrier);
    bool copies_are_flying() const { return !flying_.empty(); }

  private:
    std::vector<PhaseBarrier> barriers_;
    std::vector<FlyingCopy> flying_;
};

}  // namespace tinyblas::device
