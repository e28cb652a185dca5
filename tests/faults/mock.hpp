// SPDX-License-Identifier: MIT
// A CUDA runtime without a GPU, for tests of what happens when it fails: linked in place of the
// real one. Memory is the host's, kernels do not run, everything that lives is counted, and any
// call can be told to fail. For one thread.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace tinyblas::mock {

/// What lives.
struct Census {
    std::size_t allocations, streams, events, textures, user_objects, graphs;
    bool operator==(const Census&) const = default;
};
std::ostream& operator<<(std::ostream& to, const Census& census);
Census census();

/// Two devices of compute capability 9.0, the first one current, nothing fails; `ran` forgotten.
/// What lives stays.
void reset();

/// From now on call number `call` (1: the next) of `function` fails with `error`; 0: every call.
/// Functions that let something go do so even then: such a failure is of earlier work.
void fail(const std::string& function, int call, int error);
void fail_no_more();
/// Whether a call has failed as told.
bool has_failed();

void set_compute_capability(int ten_times_major_plus_minor);

/// Calls of each function since reset(), or since the last forget().
const std::map<std::string, int>& calls();
struct Launch {
    std::string kernel;
    dim3 grid, block;
    std::size_t large_shared = 0;  // bytes; what depends on launches before, == does not compare
    bool operator==(const Launch& other) const;
};
const std::vector<Launch>& launches();
void forget();

/// What kernels were allowed, they no longer are: as after a reset of the device.
void forbid_large_shared();

/// Called for each launch, in place of the kernel.
using StandIn = std::function<void(const std::string& kernel, void** arguments)>;
void set_stand_in(StandIn stand_in);

/// What a real runtime might have crashed on: a sentence each. Empty in the end, if all is well.
std::vector<std::string>& misuses();

/// Whether `data` lies in host memory that the mock has given out as mapped.
bool is_mapped(const void* data);
/// Whether `data` lies in memory of which all was set to zero.
bool was_zeroed(const void* data);

}  // namespace tinyblas::mock
