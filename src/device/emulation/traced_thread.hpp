// SPDX-License-Identifier: MIT
// The first step of every access, as short as it can be: is a kernel's thread running, and is this
// more than its own stack?
#pragma once

#include "device/emulation/sanitizer.hpp"
#include "device/emulation/tracer.hpp"

namespace tinyblas::device {

/// The thread of a kernel that runs on the calling OS thread; null in host code.
extern constinit thread_local TracedThread* traced_thread
    __attribute__((tls_model("initial-exec")));

inline void trace(SiteKey site, Access access, const void* address, std::size_t bytes,
                  std::size_t width) {
    TracedThread* const thread = traced_thread;
    if (thread == nullptr) return;
    if (reinterpret_cast<std::uintptr_t>(address) - thread->stack < stack_bytes) return;
    thread->tracer->see(*thread, site, access, address, bytes, width);
}

}  // namespace tinyblas::device
