// SPDX-License-Identifier: MIT
// Defects of kernels as sentences.
#include <cstdint>
#include <sstream>

#include "device/emulation/machine.hpp"

namespace tinyblas::device {

std::ostream& operator<<(std::ostream& out, Place place) {
    return out << '(' << place.file << ':' << place.line << ')';
}

std::string Machine::describe(const Thread& thread) const {
    std::ostringstream out;
    out << "thread " << triple(thread.index);
    if (thread.state == State::returned) {
        out << " has returned";
    } else if (thread.state == State::at_barrier) {
        out << " waits at __syncthreads " << thread.wait.place;
    } else if (thread.state == State::in_phase) {
        const PhaseBarrier barrier = machine().phases.find(thread.phase.barrier, thread.wait.place);
        out << " waits for a phase that lacks " << barrier.pending << " arrivals and "
            << barrier.bytes << " bytes " << thread.wait.place;
    } else {
        constexpr const char* words[] = {"__syncwarp", "a shuffle", "a ballot"};
        out << " waits at " << words[static_cast<int>(thread.wait.kind)] << " with mask 0x"
            << std::hex << thread.wait.mask << std::dec << ' ' << thread.wait.place;
    }
    return out.str();
}

/// The sentence for threads of which none can go on: one that waits, and one that keeps it from
/// going on.
std::string Machine::who_waits() const {
    const Thread *barrier = nullptr, *phase = nullptr;
    for (unsigned i = 0; i < count_; ++i) {
        const Thread& thread = *threads_[i];
        if (thread.state == State::in_exchange)
            for (unsigned lane = 0; lane < warp_lanes; ++lane) {
                if ((thread.wait.mask >> lane & 1) == 0) continue;
                const Thread* other = lane_of_warp(thread, lane);
                if (!other)
                    return "wrong mask: " + describe(thread) + ", but the block has no lane " +
                           std::to_string(lane) + " in this warp";
                if (other->state == State::at_barrier || other->state == State::in_phase)
                    return "divergent barrier: " + describe(*other) + ", " + describe(thread);
                if (other->state == State::returned || !(other->wait == thread.wait))
                    return "wrong mask: " + describe(thread) + ", lane " + std::to_string(lane) +
                           " does not: " + describe(*other);
            }
        if (thread.state == State::in_phase && phase == nullptr) phase = &thread;
        if (thread.state != State::at_barrier) continue;
        if (barrier == nullptr) barrier = &thread;
        if (!(thread.wait == barrier->wait))
            return "divergent barrier: " + describe(*barrier) + ", " + describe(thread);
    }
    if (phase != nullptr) return "no thread can go on: " + describe(*phase);
    return "no thread can go on";
}

}  // namespace tinyblas::device
