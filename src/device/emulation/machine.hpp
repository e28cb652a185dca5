// SPDX-License-Identifier: MIT
// The scheduler of a block's threads, and the block's shared memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "device/emulation/fibers.hpp"
#include "device/emulation/phases.hpp"
#include "device/emulation/thread.hpp"
#include "device/emulation/trace_memory.hpp"
#include "device/emulation/tracer.hpp"

namespace tinyblas::device {

/// A block's storage for one (Tag, Storage), followed by its canary; between guards, if traced.
struct Storage {
    struct Delete {
        std::size_t alignment;
        void operator()(void* data) const { operator delete(data, std::align_val_t(alignment)); }
    };
    const void* key;
    const char* name;
    std::size_t bytes;
    bool large;
    std::unique_ptr<void, Delete> data;

    std::byte* begin() const { return static_cast<std::byte*>(data.get()) + guard_bytes; }
    std::byte* end() const { return begin() + bytes; }
    void clear() const;
    bool overrun() const;  // whether the canary has changed
};

/// The multiprocessor of one OS thread.
class Machine {
  public:
    void run(const char* operation, dim3 grid, dim3 block, const std::function<void()>& body);
    void run_thread();  // called by a fiber: the kernel, once
    [[noreturn]] void fail_current(const std::string& what);

    unsigned schedule = 0;
    std::size_t large_shared = 0;  // bytes that the launch gave
    bool dependent = false;        // the launch may begin early
    bool unwinding = false;
    int exceptions = 0;  // in flight on this OS thread when the launch began
    std::vector<Storage> storages;
    Phases phases;
    Tracer tracer;

  private:
    void check_launch(dim3 grid, dim3 block) const;
    void prepare(unsigned count);
    void run_blocks(dim3 grid, dim3 block);
    void run_block();
    bool release_exchanges();
    bool release_lanes(const Thread& first);
    bool release_phases();
    bool release_barrier();
    const Thread* lane_of_warp(const Thread& thread, unsigned lane) const;
    unsigned lanes_alive(const Thread& thread) const;
    std::string who_waits() const;
    std::string describe(const Thread& thread) const;
    void finish();
    void check_canaries() const;

    const char* operation_ = nullptr;  // null: no kernel is running
    const std::function<void()>* body_ = nullptr;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<unsigned> order_;
    unsigned count_ = 0;  // threads of a block
    std::mt19937 random_;
    std::string failure_;  // of a thread
};

/// The calling OS thread's.
Machine& machine();

template <class Index>
std::string triple(Index index) {
    std::ostringstream out;
    out << '(' << index.x << ", " << index.y << ", " << index.z << ')';
    return out.str();
}
std::ostream& operator<<(std::ostream& out, Place place);

}  // namespace tinyblas::device
