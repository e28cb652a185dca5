// SPDX-License-Identifier: MIT
// The traced build: every access of a kernel to shared or global memory passes through here, on its
// way to the checks (races, unset memory, bounds) and, while a Trace records, to the counts. The
// kernels' files are compiled with -fsanitize=thread and linked without its library: the calls that
// the compiler puts before each access end in trace_callbacks.cpp. Other builds have an empty twin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "device/emulation/fibers.hpp"

#if defined(TINYBLAS_TRACED)
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "device/emulation/trace.hpp"
#include "device/emulation/trace_memory.hpp"
#include "device/emulation/trace_places.hpp"
#include "device/emulation/trace_shadow.hpp"
#endif

namespace tinyblas::device {

#if defined(TINYBLAS_TRACED)

struct RecordedAccess {
    std::uintptr_t address;
    std::uint32_t site;
    std::uint16_t bytes;  // read or written
    std::uint8_t width;   // that the instruction can read or write
    Space space;
    Access access;
};

class Tracer;

/// The tracer's side of a Thread.
struct TracedThread {
    Tracer* tracer;
    unsigned rank;
    std::uintptr_t stack;  // its first byte: what lies there is a register or local memory
    Clock clock;
    bool early;                            // what is ahead of the launch may still run
    std::vector<RecordedAccess> recorded;  // since its warp last came together
};

/// What the tracer must be told of a launch. One for each OS thread's Machine.
class Tracer {
  public:
    void begin_launch(const char* operation, dim3 grid, dim3 block, unsigned threads,
                      bool dependent);
    void launcher_ended(unsigned rank) { threads_[rank].early = false; }
    void end_launch();
    void begin_block();
    void end_block() { count_requests(0, threads_.size()); }
    void barrier();
    /// The lanes `mask` of the warp of thread `first` have waited for each other; a __syncwarp also
    /// orders their accesses, which shuffles and ballots do not.
    void exchanged(unsigned first, unsigned mask, unsigned lanes, bool orders);
    /// A thread tells a barrier of phases what is before it; the phase ends; a thread knows of the
    /// last end.
    void arrived(unsigned rank, const std::byte* barrier);
    void phase_ended(const std::byte* barrier);
    void phase_seen(unsigned rank, const std::byte* barrier);
    void enter(unsigned rank, const void* stack);
    static void leave();
    void add_shared(const void* data, std::size_t bytes, const char* name);

    void see(TracedThread& thread, SiteKey site, Access access, const void* address,
             std::size_t bytes, std::size_t width);
    /// An access without a request: a copy that is not a thread's instruction.
    void see_copy(TracedThread& thread, Place place, Access access, const void* address,
                  std::size_t bytes);

    /// Whether this is shared memory or an allocation of the library.
    bool knows(const void* address) {
        return search(reinterpret_cast<std::uintptr_t>(address)) != nullptr;
    }

    bool has_defect() const { return defect_.has_value(); }
    /// The sentence for the first defect of the launch.
    std::string describe_defect() const;

  private:
    struct Region {
        std::uintptr_t begin, end;
        const char* name;  // of shared memory
        Space space;
        Shadow shadow;
        bool holds(std::uintptr_t address) const {
            return address - (begin - guard_bytes) < end - begin + 2 * guard_bytes;
        }
    };
    struct Seen {
        TracedThread& thread;
        std::uintptr_t address;
        std::size_t bytes;
        Access access;
        std::uint32_t site;
    };
    enum class Fault { race, race_between_blocks, unset, outside, early };
    struct Defect {
        Fault fault;
        Space space;
        Access access, other_access;
        std::size_t bytes;
        std::uint32_t site, other_site;
        unsigned other_rank;
        std::uint32_t other_time;
        std::uintptr_t address, begin, end;  // outside: of what
        const char* name;
    };

    Region* find(std::uint32_t site, std::uintptr_t address) {
        Recent& recent = recent_[site];
        if (recent.address == address) return recent.region;
        recent.address = address;
        if (recent.region == nullptr || !recent.region->holds(address)) [[unlikely]]
            recent.region = search(address);
        return recent.region;
    }
    Region* search(std::uintptr_t address);
    std::uint32_t number_of(SiteKey key);
    bool is_host(std::uintptr_t address) const;
    void check(Region& region, const Seen& seen);
    void check_cell(Region& region, Cell& cell, Slot slot, const Seen& seen);
    void report(Fault fault, const Region& region, const Seen& seen, Slot other = {},
                Access other_access = Access::write);
    void count_requests(std::size_t first, std::size_t last);
    unsigned block_of(std::uint32_t time) const;

    Order order_;
    Turns turns_;
    struct Phase {
        Heard arriving, ended;  // what is before the phase that is under way; before the last one
    };
    std::unordered_map<const std::byte*, Phase> phases_;  // of the block
    Sites sites_;
    std::vector<TracedThread> threads_;
    std::deque<Region> shared_;
    std::unordered_map<std::uint64_t, Region> global_;  // by an allocation's serial number
    std::vector<TracedAllocation> allocations_;
    struct Recent {
        std::uintptr_t address;
        Region* region;
    };
    std::vector<Recent> recent_;  // what each site asked for last
    struct Extent {
        std::uintptr_t begin, end;
    };
    std::vector<Extent> host_;  // programs, libraries, the host's stack, thread_local variables
    std::vector<std::uint32_t> block_began_;
    std::optional<Defect> defect_;
    dim3 grid_, block_;
    bool dependent_ = false;
    Trace::Recorder* recorder_ = nullptr;  // while a Trace lives
};

/// A word of device.hpp that reads or writes memory says so, then does it out of the compiler's
/// sight.
void read_at_once(void* to, const void* from, std::size_t bytes, Place place);
void write_at_once(void* to, const void* from, std::size_t bytes, Place place);
/// An access of which the tracer shall know, made by code that is not compiled with the callbacks.
void trace_access(Access access, const void* address, std::size_t bytes, std::size_t width,
                  Place place);
/// An asynchronous copy arrives; the copy engine will read.
void trace_arrival(const void* address, std::size_t bytes, Place place);
void trace_departure(const void* address, std::size_t bytes, Place place);

#else

/// Sees nothing.
class Tracer {
  public:
    void begin_launch(const char*, dim3, dim3, unsigned, bool) {}
    void launcher_ended(unsigned) {}
    void end_launch() {}
    void begin_block() {}
    void end_block() {}
    void barrier() {}
    void exchanged(unsigned, unsigned, unsigned, bool) {}
    void arrived(unsigned, const std::byte*) {}
    void phase_ended(const std::byte*) {}
    void phase_seen(unsigned, const std::byte*) {}
    void enter(unsigned, const void*) {}
    static void leave() {}
    void add_shared(const void*, std::size_t, const char*) {}
    static constexpr bool has_defect() { return false; }
    static std::string describe_defect() { return {}; }
};

enum class Access { read, write, atomic };
inline void trace_access(Access, const void*, std::size_t, std::size_t, Place) {}
inline void trace_arrival(const void*, std::size_t, Place) {}
inline void trace_departure(const void*, std::size_t, Place) {}
inline void read_at_once(void* to, const void* from, std::size_t bytes, Place) {
    std::memcpy(to, from, bytes);
}
inline void write_at_once(void* to, const void* from, std::size_t bytes, Place) {
    std::memcpy(to, from, bytes);
}

#endif

}  // namespace tinyblas::device
