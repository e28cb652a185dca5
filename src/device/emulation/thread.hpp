// SPDX-License-Identifier: MIT
// A fiber of Boost.Context that runs one CUDA thread of each block of a launch, and what that
// thread waits for.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/emulation/fibers.hpp"

namespace tinyblas::device {

inline constexpr unsigned warp_lanes = 32;

bool operator==(Place a, Place b);

/// Thrown through a kernel to end its thread.
struct Unwind {};

enum class State { not_begun, released, at_barrier, in_exchange, in_phase, returned };

/// An asynchronous copy.
struct Copy {
    void* to;
    const void* from;
    int bytes, valid;
    Place place;
};

/// What a parked thread waits for.
struct Wait {
    Place place;
    Exchange kind;
    unsigned mask;
    bool operator==(const Wait& other) const {
        return kind == other.kind && mask == other.mask && place == other.place;
    }
};

class Machine;

/// A fiber, and what the CUDA thread that it runs is waiting for.
class Thread {
  public:
    Thread(Machine& machine, unsigned rank);
    ~Thread();
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

    void resume();            // called by the scheduler: runs the fiber until it parks or returns
    void park(State reason);  // called by the fiber

    State state = State::returned;
    const unsigned rank;
    uint3 index;
    Wait wait{};
    std::uint64_t value = 0, result = 0;  // of an exchange
    unsigned source = 0;
    struct {
        std::byte* barrier;
        unsigned parity;
    } phase{};  // that has to end
    // Asynchronous copies not yet made, oldest first: closed groups of these sizes, then the open
    // one.
    std::vector<Copy> copies;
    std::vector<std::size_t> groups;
    std::size_t grouped = 0;  // sum of groups

  private:
    void work();
    void give_turn();

    Machine& machine_;
    bool quit_ = false;
    boost::context::fiber fiber_, scheduler_;  // whichever side is suspended
    const void* stack_ = nullptr;
    const void* scheduler_stack_ = nullptr;
    std::size_t scheduler_stack_bytes_ = 0;
    void* fake_stack_ = nullptr;  // AddressSanitizer's
};

/// The calling thread of a kernel. Throws Error if no kernel runs.
Thread& running();

}  // namespace tinyblas::device
