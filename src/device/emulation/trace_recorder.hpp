// SPDX-License-Identifier: MIT
// The counts of the launches that a Trace records.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "device/emulation/trace.hpp"
#include "device/emulation/trace_places.hpp"

namespace tinyblas::device {

struct TracedThread;

struct Trace::Recorder {
    using Instruction = std::tuple<SiteKey, Space, Access, unsigned>;  // the last: bytes a thread
    struct Launch {
        std::string operation;
        dim3 grid, block;
        std::map<Instruction, TraceRow> rows;
    };
    std::vector<Launch> launches;

    /// Adds the requests of a warp since it last came together to the last launch's.
    void count(std::span<const TracedThread> warp, const Sites& sites);
};

/// The calling OS thread's, null while no Trace lives.
Trace::Recorder* current_recorder();

}  // namespace tinyblas::device
