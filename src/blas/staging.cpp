// SPDX-License-Identifier: MIT
// The memory of the staging.
#include "blas/dispatch.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace tinyblas::blas {

Staging::Staging() : pinned_(1, pinned_bytes, Memory::pinned) {}

Staging* Staging::of_this_thread() {
    thread_local std::unique_ptr<Staging> own;
    thread_local bool tried = false;
    if (!tried) {
        tried = true;
        try {
            own.reset(new Staging);
        } catch (const std::exception& error) {
            say_host_takes_over(error);
        }
    }
    return own.get();
}

void Staging::synchronize() {
    if (pinned_used_ == 0) return;
    context_.synchronize();
    pinned_used_ = 0;
}

void* Staging::device_memory(int operand, std::int64_t bytes) {
    Matrix<std::byte>& memory = operands_[operand];
    if (memory.columns() < bytes) {
        memory = {};  // first, so that there is room for both only if there must be
        memory = Matrix<std::byte>(1, bytes);
    }
    return memory.view().data;
}

void* Staging::pinned_memory(std::int64_t bytes) {
    constexpr std::int64_t alignment = 256;
    if (pinned_used_ + bytes > pinned_bytes) synchronize();
    void* const memory = pinned_.view().data + pinned_used_;
    pinned_used_ += (bytes + alignment - 1) / alignment * alignment;
    return memory;
}

void end_process(const std::exception& why) noexcept {
    std::fprintf(stderr, "libtinyblas_blas: %s; the result is lost\n", why.what());
    std::abort();
}

}  // namespace tinyblas::blas
