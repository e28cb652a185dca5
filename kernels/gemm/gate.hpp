// SPDX-License-Identifier: MIT
// A gate: how a kernel that was enqueued in any case learns on the device that it is not needed.
#pragma once

namespace tinyblas {

/// Open if *verdict has one of the bits of `findings` (planes.hpp), or if verdict is null.
struct GemmGate {
    const unsigned* verdict = nullptr;
    unsigned findings = 0;

    constexpr bool closed() const { return verdict && !(*verdict & findings); }
};

}  // namespace tinyblas
