// SPDX-License-Identifier: MIT
// What code compiled with -fsanitize=thread calls, in place of the compiler's own library: before
// each access to memory that is not surely a local variable, its address.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "device/emulation/traced_thread.hpp"

namespace device = tinyblas::device;
using device::Access;
using device::trace;

// NOLINTBEGIN(bugprone-reserved-identifier,bugprone-macro-parentheses): the compiler chose the
// names.
#define TINYBLAS_CALLER device::site_key(__builtin_return_address(0))
#define TINYBLAS_ACCESSES(prefix, size, word)                             \
    void __tsan_##prefix##read##size(void* address) {                     \
        trace_words(TINYBLAS_CALLER, Access::read, address, size, word);  \
    }                                                                     \
    void __tsan_##prefix##write##size(void* address) {                    \
        trace_words(TINYBLAS_CALLER, Access::write, address, size, word); \
    }

namespace {

bool is_aligned(const void* address, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

/// `bytes` bytes that a GPU moves as words of `word` bytes.
inline void trace_words(device::SiteKey site, Access access, void* address, std::size_t bytes,
                        std::size_t word) {
    for (std::size_t at = 0; at < bytes; at += word)
        trace(site, access, static_cast<char*>(address) + at, word, word);
}

/// Kernels' parameters come here too: they are not worth a look at each word.
void trace_range(device::SiteKey site, Access access, void* address, std::size_t bytes) {
    device::TracedThread* const thread = device::traced_thread;
    if (thread == nullptr || !thread->tracer->knows(address)) return;
    const std::size_t whole = bytes / 4 * 4;
    trace_words(site, access, address, whole, 4);
    trace_words(site, access, static_cast<char*>(address) + whole, bytes - whole, 1);
}

}  // namespace

extern "C" {

TINYBLAS_ACCESSES(, 1, 1)
TINYBLAS_ACCESSES(, 2, 2)
TINYBLAS_ACCESSES(, 4, 4)
TINYBLAS_ACCESSES(, 8, 8)
// A struct of 16 bytes that lies at multiples of 8 or of 16: the call does not tell.
TINYBLAS_ACCESSES(, 16, (is_aligned(address, 16) ? 16 : 8))
// Structs that may lie at any multiple of less.
TINYBLAS_ACCESSES(unaligned_, 2, 1)
TINYBLAS_ACCESSES(unaligned_, 4, 2)
TINYBLAS_ACCESSES(unaligned_, 8, 4)
TINYBLAS_ACCESSES(unaligned_, 16, 4)

void __tsan_read_range(void* address, std::size_t bytes) {
    trace_range(TINYBLAS_CALLER, Access::read, address, bytes);
}
void __tsan_write_range(void* address, std::size_t bytes) {
    trace_range(TINYBLAS_CALLER, Access::write, address, bytes);
}

// clang's alone.
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
    trace_range(TINYBLAS_CALLER, Access::read, const_cast<void*>(from), bytes);
    trace_range(TINYBLAS_CALLER, Access::write, to, bytes);
    return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
    trace_range(TINYBLAS_CALLER, Access::read, const_cast<void*>(from), bytes);
    trace_range(TINYBLAS_CALLER, Access::write, to, bytes);
    return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
    trace_range(TINYBLAS_CALLER, Access::write, to, bytes);
    return std::memset(to, value, bytes);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}

}  // extern "C"

namespace tinyblas::device {

void trace_access(Access access, const void* address, std::size_t bytes, std::size_t width,
                  Place place) {
    trace(site_key(place), access, address, bytes, width);
}

void trace_arrival(const void* address, std::size_t bytes, Place place) {
    if (traced_thread != nullptr)
        traced_thread->tracer->see_copy(*traced_thread, place, Access::write, address, bytes);
}

void trace_departure(const void* address, std::size_t bytes, Place place) {
    if (traced_thread != nullptr)
        traced_thread->tracer->see_copy(*traced_thread, place, Access::read, address, bytes);
}

void read_at_once(void* to, const void* from, std::size_t bytes, Place place) {
    trace_access(Access::read, from, bytes, bytes, place);
    std::memcpy(to, from, bytes);
}

void write_at_once(void* to, const void* from, std::size_t bytes, Place place) {
    trace_access(Access::write, to, bytes, bytes, place);
    std::memcpy(to, from, bytes);
}

}  // namespace tinyblas::device
// NOLINTEND(bugprone-reserved-identifier,bugprone-macro-parentheses)
