// SPDX-License-Identifier: MIT
// Who was called, and where it was computed. Every exported name has a Counter; with
// TINYBLAS_BLAS_COUNT=1 in the environment they are printed as the process ends.
#pragma once

#include <atomic>
#include <cstdint>

#include "tinyblas/export.h"

namespace tinyblas::blas {

class Counter {
  public:
    /// `name`, a string with static lifetime, joins the list; a counter lives as long as the
    /// process.
    explicit Counter(const char* name);

    void count_call() { calls_.fetch_add(1, std::memory_order_relaxed); }
    void count_on_device() { on_device_.fetch_add(1, std::memory_order_relaxed); }

    const char* name() const { return name_; }
    std::uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
    std::uint64_t on_device() const { return on_device_.load(std::memory_order_relaxed); }
    const Counter* next() const { return next_; }

  private:
    const char* name_;
    std::atomic<std::uint64_t> calls_ = 0, on_device_ = 0;
    const Counter* next_ = nullptr;
};

}  // namespace tinyblas::blas

// For programs that want to know: how many calls the library has had, and how many of them the
// device computed.
extern "C" TINYBLAS_API std::uint64_t tinyblas_blas_calls();
extern "C" TINYBLAS_API std::uint64_t tinyblas_blas_device_calls();
