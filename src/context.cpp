// SPDX-License-Identifier: MIT
// Context: what it holds and when it lets go.
#include "tinyblas/context.hpp"

#include <cstdint>
#include <utility>

#include "check.hpp"
#include "device/runtime.hpp"
#include "workspace.hpp"

namespace tinyblas {

Context::Context(CUstream_st* stream)
    : stream_(stream), device_(device::current_device("context")) {
    const auto properties = device::properties(device_, "context");
    compute_capability_ = properties.compute_capability;
    multiprocessors_ = properties.multiprocessors;
    memory_speed_ = properties.memory_speed;
    if (compute_capability_ < 80)
        fail(Status::unsupported_device, "context: device ", device_, " has compute capability ",
             compute_capability_ / 10, ".", compute_capability_ % 10, ": must be at least 8.0");
}

Context::Context() : Context(nullptr) {
    stream_ = device::create_stream("context");
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

void Context::set_stream(CUstream_st* stream) {
    if (stream == stream_) return;
    constexpr const char* operation = "set_stream";
    const device::Guard guard(device_, operation);
    if (workspace_) workspace_->leave(stream_, operation);
    if (owns_stream_) device::destroy_stream(stream_);
    owns_stream_ = false;
    stream_ = stream;
}

void Context::synchronize() {
    const device::Guard guard(device_, operation_);
    require(!device::is_capturing(stream_, operation_),
            "synchronize: the context's stream is being captured, where nothing can be waited for: "
            "must be called before or after");
    device::synchronize(stream_, operation_);
}

Workspace& Context::workspace() {
    if (!workspace_) workspace_ = new Workspace(device_);
    return *workspace_;
}

void Context::set_precision(Precision precision) {
    require(precision == Precision::fp32_strict || precision == Precision::fp32,
            "context: precision is ", static_cast<int>(precision), ": must be fp32_strict or fp32");
    precision_ = precision;
}

void* Context::scratch(std::size_t bytes) {
    return workspace().scratch(stream_, bytes, operation_);
}

void Context::set_scratch(void* memory, std::size_t bytes) {
    require(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0, "context: scratch memory is ",
            memory, ": must be a multiple of 256");
    require(memory || bytes == 0, "context: scratch memory is null: must point to ", bytes,
            " bytes");
    workspace().set_scratch(memory, bytes);
    scratch_limit_ = memory ? bytes : static_cast<std::size_t>(-1);
}

void Context::adopt(Context& other) noexcept {
    stream_ = std::exchange(other.stream_, nullptr);
    owns_stream_ = std::exchange(other.owns_stream_, false);
    device_ = other.device_;
    compute_capability_ = other.compute_capability_;
    multiprocessors_ = other.multiprocessors_;
    memory_speed_ = other.memory_speed_;
    precision_ = other.precision_;
    scratch_limit_ = std::exchange(other.scratch_limit_, static_cast<std::size_t>(-1));
    workspace_ = std::exchange(other.workspace_, nullptr);
    tuning_ = std::move(other.tuning_);
    operation_ = other.operation_;
}

void Context::release() noexcept {
    delete workspace_;
    if (owns_stream_) device::destroy_stream(stream_);
}

const char* to_string(Precision precision) noexcept {
    switch (precision) {
        case Precision::fp32_strict: return "fp32_strict";
        case Precision::fp32: return "fp32";
    }
    return "unknown";
}

Precision precision(std::string_view name) {
    for (const auto one : {Precision::fp32_strict, Precision::fp32})
        if (name == to_string(one)) return one;
    fail(Status::invalid_argument, "there is no precision '", name,
         "': must be fp32_strict or fp32");
}

}  // namespace tinyblas
