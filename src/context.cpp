// SPDX-License-Identifier: MIT
// Context: what it holds and when it lets go.
#include "tinyblas/context.hpp"

#include <utility>

#include "check.hpp"
#include "device/runtime.hpp"

namespace tinyblas {

Context::Context(CUstream_st* stream) : stream_(stream), device_(device::current_device()) {
    const auto properties = device::properties(device_);
    compute_capability_ = properties.compute_capability;
    multiprocessors_ = properties.multiprocessors;
    if (compute_capability_ < 80)
        fail(Status::unsupported_device, "context: device ", device_, " has compute capability ",
             compute_capability_ / 10, ".", compute_capability_ % 10, ": must be at least 8.0");
}

Context::Context() : Context(nullptr) {
    stream_ = device::create_stream();
    owns_stream_ = true;
}

Context::Context(Context&& other) noexcept { adopt(other); }

Context& Context::operator=(Context&& other) noexcept {
    if (this != &other) {
        release();
        adopt(other);
    }
    return *this;
}

Context::~Context() { release(); }

void Context::set_stream(CUstream_st* stream) noexcept {
    if (owns_stream_) device::destroy_stream(stream_);
    owns_stream_ = false;
    stream_ = stream;
}

void Context::synchronize() {
    const device::Guard guard(device_);
    device::synchronize(stream_, operation_);
}

void* Context::scratch(std::size_t bytes) {
    if (bytes <= scratch_bytes_) return scratch_;
    const device::Guard guard(device_);
    device::synchronize(stream_, operation_);  // earlier operations may still use the old one
    std::size_t pitch = 0;
    void* larger = device::allocate(Memory::device, bytes, 1, 1, pitch);
    device::release(Memory::device, scratch_);
    scratch_ = larger;
    scratch_bytes_ = bytes;
    return scratch_;
}

void Context::adopt(Context& other) noexcept {
    stream_ = std::exchange(other.stream_, nullptr);
    owns_stream_ = std::exchange(other.owns_stream_, false);
    device_ = other.device_;
    compute_capability_ = other.compute_capability_;
    multiprocessors_ = other.multiprocessors_;
    scratch_ = std::exchange(other.scratch_, nullptr);
    scratch_bytes_ = std::exchange(other.scratch_bytes_, 0);
    operation_ = other.operation_;
}

void Context::release() noexcept {
    if (scratch_) device::release(Memory::device, scratch_);
    if (owns_stream_) device::destroy_stream(stream_);
}

}  // namespace tinyblas
