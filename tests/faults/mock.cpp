// SPDX-License-Identifier: MIT
// The mock's state, and the calls about devices and errors.
#include "mock.hpp"

#include <tuple>
#include <utility>

#include "mock_state.hpp"

namespace tinyblas::mock {

State& state() {
    static State& one = *new State;  // kernels are registered before main and let go after it
    return one;
}

int enter(const char* function) {
    State& s = state();
    ++s.calls[function];
    if (s.failing != function) return 0;
    ++s.seen;
    if (s.fails_at != 0 && s.fails_at != s.seen) return 0;
    s.has_failed = true;
    return s.error;
}

cudaError_t misuse(const std::string& sentence) {
    state().misuses.push_back(sentence);
    return cudaErrorInvalidValue;
}

std::ostream& operator<<(std::ostream& to, const Census& c) {
    return to << c.allocations << " allocations, " << c.streams << " streams, " << c.events
              << " events, " << c.textures << " textures, " << c.user_objects << " user objects, "
              << c.graphs << " graphs";
}
Census census() {
    const State& s = state();
    return {s.allocations.size(), s.streams.size(),      s.events.size(),
            s.textures.size(),    s.user_objects.size(), s.graphs.size()};
}

void reset() {
    State& s = state();
    s.device = 0;
    s.compute_capability = 90;
    s.thread_mode = cudaStreamCaptureModeGlobal;
    s.last_error = cudaSuccess;
    s.misuses.clear();
    fail_no_more();
    forget();
}

void fail(const std::string& function, int call, int error) {
    State& s = state();
    s.failing = function;
    s.fails_at = call;
    s.seen = 0;
    s.error = error;
    s.has_failed = false;
}
void fail_no_more() { state().failing.clear(); }
bool has_failed() { return state().has_failed; }

void set_compute_capability(int capability) { state().compute_capability = capability; }

const std::map<std::string, int>& calls() { return state().calls; }
const std::vector<Launch>& launches() { return state().launches; }
bool Launch::operator==(const Launch& other) const {
    const auto parts = [](const Launch& x) {
        return std::tuple(x.kernel, x.grid.x, x.grid.y, x.grid.z, x.block.x, x.block.y, x.block.z);
    };
    return parts(*this) == parts(other);
}
void forget() {
    state().calls.clear();
    state().launches.clear();
}
void forbid_large_shared() { state().large_shared.clear(); }
void set_stand_in(StandIn stand_in) { state().stand_in = std::move(stand_in); }
std::vector<std::string>& misuses() { return state().misuses; }

}  // namespace tinyblas::mock

using namespace tinyblas::mock;

cudaError_t cudaGetDevice(int* device) {
    return entered("cudaGetDevice", [&] {
        *device = state().device;
        return cudaSuccess;
    });
}
cudaError_t cudaSetDevice(int device) {
    return entered("cudaSetDevice", [&] {
        if (device < 0 || device >= devices) return cudaErrorInvalidDevice;
        state().device = device;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return entered("cudaDeviceGetAttribute", [&] {
        if (device < 0 || device >= devices) return cudaErrorInvalidDevice;
        const int capability = state().compute_capability;
        switch (attribute) {
            case cudaDevAttrComputeCapabilityMajor: *value = capability / 10; break;
            case cudaDevAttrComputeCapabilityMinor: *value = capability % 10; break;
            case cudaDevAttrMultiProcessorCount: *value = 132; break;
            case cudaDevAttrMemoryClockRate: *value = 3'201'000; break;
            case cudaDevAttrGlobalMemoryBusWidth: *value = 6016; break;
            case cudaDevAttrTextureAlignment: *value = 512; break;
            case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 227 << 10; break;
            default: return misuse("the mock lacks attribute " + std::to_string(attribute));
        }
        return cudaSuccess;
    });
}

// These tell of errors and do not fail.
cudaError_t cudaGetLastError() {
    ++state().calls["cudaGetLastError"];
    return std::exchange(state().last_error, cudaSuccess);
}
const char* cudaGetErrorName(cudaError_t error) {
    ++state().calls["cudaGetErrorName"];
    switch (error) {
        case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
        case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
        case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
        case cudaErrorNoDevice: return "cudaErrorNoDevice";
        default: return "another error";
    }
}
const char* cudaGetErrorString(cudaError_t) {
    ++state().calls["cudaGetErrorString"];
    return "a failure of the mock";
}
