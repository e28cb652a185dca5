// SPDX-License-Identifier: MIT
// What kernels ask of memory, instruction by instruction, for tests and tools. Only the traced
// build (preset emulated-traced) sees it.
#pragma once

#if !defined(TINYBLAS_TRACED)
#error "only the traced build (cmake --preset emulated-traced) sees what kernels ask of memory"
#endif

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "device/emulation/fibers.hpp"

namespace tinyblas::device {

enum class Space { shared, global };
enum class Access { read, write, atomic };

/// What one instruction did over all warps of a launch. A request is one execution of it by a warp.
/// Shared memory answers in wavefronts: one if the lanes' words lie in distinct banks. Global
/// memory answers in sectors of 32 bytes.
struct TraceRow {
    std::string file;  // as compiled; empty if there is no debug information
    int line = 0;
    Space space = Space::global;
    Access access = Access::read;
    unsigned bytes = 0;  // a thread
    std::uint64_t requests = 0;
    std::uint64_t threads = 0;                           // of all requests
    std::uint64_t wavefronts = 0, ideal_wavefronts = 0;  // shared
    std::uint64_t sectors = 0, ideal_sectors = 0;        // global
    std::uint64_t extra_wavefronts() const { return wavefronts - ideal_wavefronts; }
};

/// Rows come in the order of their places. Instructions of one line that do alike share a row.
struct TracedLaunch {
    std::string operation;
    dim3 grid, block;
    std::vector<TraceRow> rows;
};

/// The rows as a table, with a verdict on each.
std::ostream& operator<<(std::ostream& out, const TracedLaunch& launch);

/// Records the calling OS thread's launches from its construction to its end, one Trace at a time.
class Trace {
  public:
    Trace();
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// What was launched since the last call, oldest first.
    std::vector<TracedLaunch> take();

    struct Recorder;

  private:
    std::unique_ptr<Recorder> recorder_;
};

}  // namespace tinyblas::device
