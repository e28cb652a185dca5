// SPDX-License-Identifier: MIT
// The list of counters, and what is printed of it.
#include "blas/calls.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tinyblas::blas {
namespace {

std::atomic<Counter*> newest = nullptr;  // of a list that only grows

std::uint64_t total(std::uint64_t (Counter::*of_one)() const) {
    std::uint64_t sum = 0;
    for (const Counter* one = newest.load(); one; one = one->next()) sum += (one->*of_one)();
    return sum;
}

/// Prints as the process ends, also if nothing was called: then the library was loaded in vain.
struct PrintAtExit {
    ~PrintAtExit() {
        const char* asked = std::getenv("TINYBLAS_BLAS_COUNT");
        if (!asked || std::strcmp(asked, "1") != 0) return;
        for (const Counter* one = newest.load(); one; one = one->next())
            std::fprintf(stderr,
                         "libtinyblas_blas: %s %" PRIu64 " calls, %" PRIu64 " on the device\n",
                         one->name(), one->calls(), one->on_device());
        std::fprintf(stderr, "libtinyblas_blas: %" PRIu64 " calls, %" PRIu64 " on the device\n",
                     tinyblas_blas_calls(), tinyblas_blas_device_calls());
    }
};
const PrintAtExit print_at_exit;

}  // namespace

Counter::Counter(const char* name) : name_(name) {
    Counter* before = newest.load();
    do next_ = before;
    while (!newest.compare_exchange_weak(before, this));
}

}  // namespace tinyblas::blas

std::uint64_t tinyblas_blas_calls() {
    return tinyblas::blas::total(&tinyblas::blas::Counter::calls);
}
std::uint64_t tinyblas_blas_device_calls() {
    return tinyblas::blas::total(&tinyblas::blas::Counter::on_device);
}
