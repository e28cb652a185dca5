// SPDX-License-Identifier: MIT
// What the mock's files share: its state, and how every entry point begins.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "mock.hpp"

namespace tinyblas::mock {

struct Allocation {
    std::size_t bytes;
    cudaMemoryType type;
    bool mapped, zeroed = false;
};

struct UserObject {
    void* kept;
    cudaHostFn_t destroy;
    unsigned references;
};

struct Graph {
    std::vector<UserObject*> kept;
    int nodes = 0;
};

struct Stream {
    int device;
    Graph* captured = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    bool invalidated = false;
};

struct Event {
    int device;
};

struct State {
    std::map<const void*, Allocation> allocations;
    std::set<Stream*> streams;
    std::set<Event*> events;
    std::set<cudaTextureObject_t> textures;
    std::set<UserObject*> user_objects;
    std::set<Graph*> graphs;
    std::unordered_map<const void*, std::string> kernels;  // by the address of the stub
    std::unordered_map<const void*, int> large_shared;     // what cudaFuncSetAttribute has allowed

    int device = 0, compute_capability = 90;
    cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;
    cudaError_t last_error = cudaSuccess;
    std::map<std::string, int> calls;
    std::vector<Launch> launches;
    std::vector<std::string> misuses;
    StandIn stand_in;

    std::string failing;         // function
    int seen = 0, fails_at = 0;  // its calls, the one that fails (0: every one)
    int error = 0;
    bool has_failed = false;
};
State& state();

inline constexpr int devices = 2;

/// Counts the call; the error that it was told to fail with, or 0.
int enter(const char* function);

/// An entry point: body(), or the failure asked for.
template <class Body>
cudaError_t entered(const char* function, Body body) {
    auto error = static_cast<cudaError_t>(enter(function));
    if (error == cudaSuccess) error = body();
    if (error != cudaSuccess) state().last_error = error;
    return error;
}

/// One that lets go: body() in any case, for a failure tells of something earlier.
template <class Body>
cudaError_t let_go(const char* function, Body body) {
    const auto told = static_cast<cudaError_t>(enter(function));
    const cudaError_t error = body();
    if (told != cudaSuccess || error != cudaSuccess)
        state().last_error = told != cudaSuccess ? told : error;
    return told != cudaSuccess ? told : error;
}

/// Invalid use: noted, and an error.
cudaError_t misuse(const std::string& sentence);

/// What a capture in progress forbids unless the thread is in relaxed mode: it ends the capture.
cudaError_t unsafe_in_capture();
/// The stream of a call that enqueues, or null for the default stream; `error` is set if it must
/// not be used.
Stream* stream_of(cudaStream_t stream, cudaError_t& error);

void release_user_object(UserObject* object, unsigned references);

}  // namespace tinyblas::mock
