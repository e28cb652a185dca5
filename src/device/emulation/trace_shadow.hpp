// SPDX-License-Identifier: MIT
// Who wrote and read each word last: what it takes to see that two accesses of a launch are not
// ordered. Time is counted in synchronizations: an access at time t is before everything in a
// barrier interval that begins later, and before what a lane does once it has heard, by __syncwarp,
// of time t of its warp neighbour.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device/emulation/thread.hpp"

namespace tinyblas::device {

/// An access, packed: when, by whom (thread of its block), where in the source.
struct Slot {
    static constexpr unsigned rank_bits = 10, site_bits = 21;

    std::uint32_t time = 0;  // 0: none
    std::uint32_t atomic : 1 = 0;
    std::uint32_t rank : rank_bits = 0;
    std::uint32_t site : site_bits = 0;

    bool same_thread_and_time(const Slot& other) const {
        return time == other.time && rank == other.rank;
    }
};

/// What is remembered of a word since it was written: two readers of the warp that read it first,
/// and one of another warp. They conflict with any later write that any reader conflicts with, but
/// for three lanes of one warp that wait for each other in pairs.
struct Cell {
    Slot write, read, read_beside, read_elsewhere;
};

/// Up to which time each thread of the block has been heard of; threads past the end: not at all.
using Heard = std::vector<std::uint32_t>;

/// What a thread knows of the others.
struct Clock {
    std::uint32_t time = 0;  // of the thread's own accesses
    std::array<std::uint32_t, warp_lanes>
        heard{};  // up to which each lane of its warp is before it
    Heard heard_by_phases;
};

/// The cells of a piece of memory, one a word until an access to less than a word.
class Shadow {
  public:
    /// Without `remembers` it has no cells.
    Shadow(std::size_t bytes, bool remembers);

    /// The cells of `bytes` bytes from `offset` on.
    struct Range {
        Cell *first, *last;
        Cell* begin() const { return first; }
        Cell* end() const { return last; }
    };
    Range cells(std::size_t offset, std::size_t bytes) {
        if (!cells_) return {nullptr, nullptr};
        if ((offset | bytes) % word != 0 && cell_bytes_ == word) [[unlikely]]
            split();
        const unsigned shift = cell_bytes_ == word ? 2 : 0;
        return {&cells_[offset >> shift], &cells_[(offset + bytes) >> shift]};
    }

  private:
    static constexpr std::size_t word = 4;
    struct Free {
        void operator()(Cell* cells) const { std::free(cells); }
    };
    static std::unique_ptr<Cell[], Free> make(std::size_t count);
    void split();

    std::size_t bytes_, cell_bytes_ = word;
    std::unique_ptr<Cell[], Free> cells_;
};

/// The order of a block's accesses.
class Order {
  public:
    void begin_launch() { launch_ = interval_ = block_ = ++now_; }
    void begin_block() { interval_ = block_ = ++now_; }
    void barrier() { interval_ = ++now_; }
    /// The lanes `mask` of a warp, the first of which has `clocks[0]`, have waited for each other.
    template <class Clocks>
    void meet(const Clocks& clock_of_lane, unsigned mask);

    std::uint32_t time(const Clock& clock) const { return std::max(clock.time, interval_); }
    std::uint32_t now() const { return now_; }
    std::uint32_t block_began() const { return block_; }
    bool in_block(Slot slot) const { return slot.time >= block_; }
    bool in_other_block(Slot slot) const { return slot.time >= launch_ && slot.time < block_; }
    bool before(Slot slot, unsigned rank, const Clock& clock) const {
        if (slot.time < interval_ || slot.rank == rank) return true;
        if (slot.rank / warp_lanes == rank / warp_lanes &&
            slot.time <= clock.heard[slot.rank % warp_lanes])
            return true;
        return slot.rank < clock.heard_by_phases.size() &&
               slot.time <= clock.heard_by_phases[slot.rank];
    }

    /// What a thread does from now on is later than all that has been done.
    void advance(Clock& clock) { clock.time = ++now_; }

    /// What thread `rank` has done and heard of joins `heard`; what it does from now on does not.
    void tell(Heard& heard, Clock& clock, unsigned rank);
    static void hear(Clock& clock, const Heard& heard) { join(clock.heard_by_phases, heard); }

    /// Remembers a read. The caller has seen that it conflicts with no write.
    void remember_read(Cell& cell, Slot slot, const Clock& clock) const;

  private:
    static void join(Heard& heard, const Heard& other);

    std::uint32_t now_ = 0;
    std::uint32_t launch_ = 0, block_ = 0, interval_ = 0;  // when they began
};

/// The order of blocks, which run one after another: what a block does before an atomic operation
/// is before what another does after a later one on the same word.
class Turns {
  public:
    void begin_launch() { words_.clear(); }
    void begin_block() { known_.clear(); }
    /// The running block, which began at `begin`, takes its turn at a word, `now`.
    void take(std::uintptr_t word, std::uint32_t begin, std::uint32_t now);
    /// Whether an access by a block that ran earlier is before what the running block does now.
    bool before(Slot slot) const;

  private:
    struct Past {
        std::uint32_t begin, end;  // of a block, and of its accesses that are known to be over
    };
    using Pasts = std::vector<Past>;  // ascending

    Pasts known_;  // to the running block
    std::unordered_map<std::uintptr_t, Pasts> words_;
};

template <class Clocks>
void Order::meet(const Clocks& clock_of_lane, unsigned mask) {
    std::array<std::uint32_t, warp_lanes> heard{};
    Heard by_phases;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        const Clock& clock = clock_of_lane(lane);
        for (unsigned other = 0; other < warp_lanes; ++other)
            heard[other] = std::max(heard[other], clock.heard[other]);
        heard[lane] = std::max(heard[lane], time(clock));
        join(by_phases, clock.heard_by_phases);
    }
    ++now_;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        if ((mask >> lane & 1) != 0) clock_of_lane(lane) = {now_, heard, by_phases};
}

}  // namespace tinyblas::device
