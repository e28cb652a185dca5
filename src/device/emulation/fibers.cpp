// SPDX-License-Identifier: MIT
// The words of kernels for which a thread waits, and launches.
#include "device/emulation/fibers.hpp"

#include <sstream>
#include <string>

#include "device/emulation/machine.hpp"
#include "device/emulation/thread.hpp"

namespace tinyblas::device {

void set_schedule(unsigned seed) noexcept { machine().schedule = seed; }

void run_grid(const char* operation, dim3 grid, dim3 block, std::size_t large_shared,
              const std::function<void()>& thread, bool dependent) {
    machine().large_shared = large_shared;
    machine().dependent = dependent;
    machine().run(operation, grid, block, thread);
}

void wait_for_launcher() { machine().tracer.launcher_ended(running().rank); }

void fail_thread(const std::string& what, Place place) {
    std::ostringstream out;
    out << what << ' ' << place;
    machine().fail_current(out.str());
}

void fail_alignment(std::size_t bytes, Place place) {
    fail_thread("an address is not a multiple of " + std::to_string(bytes) + " bytes", place);
}

void fail_copy(int valid, int count, Place place) {
    fail_thread("an asynchronous copy is asked to read " + std::to_string(valid) + " of " +
                    std::to_string(count) + " elements",
                place);
}

void block_barrier(Place place) { block_barrier_or(false, place); }

bool block_barrier_or(bool predicate, Place place) {
    Thread& thread = running();
    thread.wait = {place, Exchange::barrier, 0};
    thread.value = predicate ? 1 : 0;
    thread.park(State::at_barrier);
    return thread.result != 0;
}

std::uint64_t exchange(Exchange kind, unsigned mask, std::uint64_t value, unsigned source,
                       Place place) {
    Thread& thread = running();
    if ((mask >> current_lane() & 1) == 0)
        fail_thread("wrong mask: it does not name the lane that calls", place);
    if (kind == Exchange::shuffle && (mask >> source & 1) == 0)
        fail_thread("wrong mask: it does not name lane " + std::to_string(source) +
                        ", from which the shuffle reads",
                    place);
    thread.wait = {place, kind, mask};
    thread.value = value;
    thread.source = source;
    thread.park(State::in_exchange);
    return thread.result;
}

unsigned current_lane() { return running().rank % warp_lanes; }

}  // namespace tinyblas::device
