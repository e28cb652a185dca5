// SPDX-License-Identifier: MIT
// How a block runs: each of its threads goes from barrier to barrier as a fiber; when all are
// parked or have returned, those whose wait is over go on. If there are none, the kernel has a
// defect, and the report says who waits where.
#include "device/emulation/machine.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <numeric>
#include <utility>

#include "check.hpp"

namespace tinyblas::device {

constinit thread_local uint3 blockIdx;
constinit thread_local dim3 blockDim, gridDim;

namespace {

/// What an exchange makes of the values of the lanes before `lane`, and of that lane's.
std::uint64_t combine(Exchange kind, std::uint64_t before, std::uint64_t value, unsigned lane) {
    switch (kind) {
        case Exchange::ballot: return before | std::uint64_t{value != 0} << lane;
        case Exchange::maximum: return std::max(before, value);
        case Exchange::sum: return before + value;
        case Exchange::either: return before | value;
        default: return 0;
    }
}

}  // namespace

Machine& machine() {
    thread_local const auto machine = std::make_unique<Machine>();
    return *machine;
}

void Machine::fail_current(const std::string& what) {
    failure_ = what + ", thread " + triple(running().index);
    throw Unwind();
}

// What leaves a kernel must not leave its fiber.
void Machine::run_thread() {
    try {
        try {
            (*body_)();
        } catch (const std::exception& error) {
            fail_current(std::string("an exception left the kernel: ") + error.what());
        }
    } catch (const Unwind&) {
    } catch (...) {
        failure_ = "an exception left the kernel, thread " + triple(running().index);
    }
}

void Machine::check_launch(dim3 grid, dim3 block) const {
    const auto threads = std::uint64_t{block.x} * block.y * block.z;
    constexpr std::size_t most_shared = 227 << 10;
    const bool fits = large_shared <= most_shared && grid.x > 0 && grid.y > 0 && grid.z > 0 &&
                      grid.x <= 0x7FFFFFFF && grid.y <= 65535 && grid.z <= 65535 &&
                      block.x <= 1024 && block.y <= 1024 && block.z <= 64 && threads > 0 &&
                      threads <= 1024;
    if (!fits)
        fail(Status::device_error, operation_, ": no device can run ", triple(grid), " blocks of ",
             triple(block), " threads with ", large_shared, " bytes of large shared memory");
}

void Machine::prepare(unsigned count) {
    while (threads_.size() < count)
        threads_.push_back(std::make_unique<Thread>(*this, static_cast<unsigned>(threads_.size())));
    count_ = count;
    for (unsigned i = 0; i < count; ++i)
        threads_[i]->index = {i % blockDim.x, i / blockDim.x % blockDim.y,
                              i / (blockDim.x * blockDim.y)};
    random_.seed(schedule);
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0u);
    if (schedule == 1) std::reverse(order_.begin(), order_.end());
}

void Machine::run(const char* operation, dim3 grid, dim3 block, const std::function<void()>& body) {
    if (operation_ != nullptr)
        fail(Status::device_error, operation_, ": a kernel cannot launch ", operation);
    operation_ = operation;
    body_ = &body;
    exceptions = std::uncaught_exceptions();
    try {
        run_blocks(grid, block);
        finish();
    } catch (...) {
        finish();
        throw;
    }
}

void Machine::run_blocks(dim3 grid, dim3 block) {
    check_launch(grid, block);
    gridDim = grid;
    blockDim = block;
    prepare(block.x * block.y * block.z);
    tracer.begin_launch(operation_, grid, block, count_, dependent);
    for (unsigned z = 0; z < grid.z; ++z)
        for (unsigned y = 0; y < grid.y; ++y)
            for (unsigned x = 0; x < grid.x; ++x) {
                blockIdx = {x, y, z};
                run_block();
            }
}

void Machine::run_block() {
    tracer.begin_block();
    for (const Storage& storage : storages) storage.clear();
    phases.begin_block();
    for (unsigned i = 0; i < count_; ++i) threads_[i]->state = State::not_begun;
    for (unsigned left = count_; left > 0;) {
        if (schedule > 1) std::shuffle(order_.begin(), order_.end(), random_);
        for (const unsigned i : order_) {
            Thread& thread = *threads_[i];
            if (thread.state != State::not_begun && thread.state != State::released) continue;
            thread.resume();
            if (tracer.has_defect())
                failure_ = tracer.describe_defect() + ", thread " + triple(thread.index);
            if (!failure_.empty())
                fail(Status::device_error, operation_, ": ", failure_, " of block ",
                     triple(blockIdx));
            if (thread.state == State::returned) --left;
        }
        if (left > 0 && !release_exchanges() && !release_phases() && !release_barrier())
            fail(Status::device_error, operation_, ": ", who_waits(), ", block ", triple(blockIdx));
    }
    if (phases.copies_are_flying())
        fail(Status::device_error, operation_,
             ": a copy was still on its way when all threads had returned, block ",
             triple(blockIdx));
    check_canaries();
    tracer.end_block();
}

const Thread* Machine::lane_of_warp(const Thread& thread, unsigned lane) const {
    const unsigned rank = thread.rank / warp_lanes * warp_lanes + lane;
    return rank < count_ ? threads_[rank].get() : nullptr;
}

/// Lets go on the lanes that `first` names, if all of them have come to the same exchange.
bool Machine::release_lanes(const Thread& first) {
    const Wait wait = first.wait;
    std::array<Thread*, warp_lanes> lanes{};
    std::uint64_t combined = 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        if ((wait.mask >> lane & 1) == 0) continue;
        const Thread* other = lane_of_warp(first, lane);
        if (!other || other->state != State::in_exchange || !(other->wait == wait)) return false;
        lanes[lane] = threads_[other->rank].get();
        combined = combine(wait.kind, combined, other->value, lane);
    }
    for (Thread* thread : lanes) {
        if (thread == nullptr) continue;
        thread->result = wait.kind == Exchange::shuffle ? lanes[thread->source]->value : combined;
        thread->state = State::released;
    }
    tracer.exchanged(first.rank / warp_lanes * warp_lanes, wait.mask, lanes_alive(first),
                     wait.kind == Exchange::barrier);
    return true;
}

/// The lanes of a thread's warp that have not returned.
unsigned Machine::lanes_alive(const Thread& thread) const {
    unsigned alive = 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        const Thread* other = lane_of_warp(thread, lane);
        if (other && other->state != State::returned) alive |= 1u << lane;
    }
    return alive;
}

bool Machine::release_exchanges() {
    bool released = false;
    for (unsigned i = 0; i < count_; ++i)
        if (threads_[i]->state == State::in_exchange && release_lanes(*threads_[i]))
            released = true;
    return released;
}

bool Machine::release_phases() {
    bool released = false;
    for (unsigned i = 0; i < count_; ++i) {
        Thread& thread = *threads_[i];
        if (thread.state != State::in_phase) continue;
        PhaseBarrier& barrier = phases.find(thread.phase.barrier, thread.wait.place);
        if (barrier.parity == thread.phase.parity && !phases.land(barrier)) continue;
        thread.state = State::released;
        released = true;
    }
    return released;
}

/// As on a GPU, threads that have returned are not waited for.
bool Machine::release_barrier() {
    const Thread* first = nullptr;
    std::uint64_t any = 0;
    for (unsigned i = 0; i < count_; ++i) {
        const Thread& thread = *threads_[i];
        if (thread.state == State::returned) continue;
        if (first == nullptr) first = &thread;
        if (thread.state != State::at_barrier || !(thread.wait == first->wait)) return false;
        any |= thread.value;
    }
    for (unsigned i = 0; i < count_; ++i)
        if (threads_[i]->state == State::at_barrier) {
            threads_[i]->result = any;
            threads_[i]->state = State::released;
        }
    tracer.barrier();
    return true;
}

/// However the launch ended, the next one finds a machine at rest: parked threads are unwound, so
/// that destructors run.
void Machine::finish() {
    unwinding = true;
    for (unsigned i = 0; i < count_; ++i) {
        Thread& thread = *threads_[i];
        if (thread.state != State::not_begun && thread.state != State::returned) thread.resume();
        thread.state = State::returned;
    }
    unwinding = false;
    failure_.clear();
    storages.clear();
    tracer.end_launch();
    operation_ = nullptr;
}

}  // namespace tinyblas::device
