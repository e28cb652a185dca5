// SPDX-License-Identifier: MIT
// The counts of the launches that a Trace records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "device/emulation/trace.hpp"
#include "device/emulation/trace_places.hpp"

namespace tinyblas::device {

struct Trace::Recorder {
    using Instruction = std::tuple<SiteKey, Space, Access, unsigned>;  // the last: bytes a thread
    struct Launch {
        std::string operation;
        dim3 grid, block;
        std::map<Instruction, TraceRow> rows;
    };
    std::vector<Launch> launches;
};

/// The calling OS thread's, null while no Trace lives.
Trace::Recorder* current_recorder();

}  // namespace tinyblas::device
