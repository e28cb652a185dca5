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
#define TINYBLAS_ACCESSES(size)                                     \
    void __tsan_read##size(void* address) {                         \
        trace(TINYBLAS_CALLER, Access::read, address, size, size);  \
    }                                                               \
    void __tsan_write##size(void* address) {                        \
        trace(TINYBLAS_CALLER, Access::write, address, size, size); \
    }
#define TINYBLAS_UNALIGNED_ACCESSES(size)                           \
    void __tsan_unaligned_read##size(void* address) {               \
        trace(TINYBLAS_CALLER, Access::read, address, size, size);  \
    }                                                               \
    void __tsan_unaligned_write##size(void* address) {              \
        trace(TINYBLAS_CALLER, Access::write, address, size, size); \
    }

namespace {

/// Kernels' parameters come here too: they are not worth a look at each word.
void trace_words(device::SiteKey site, Access access, void* address, std::size_t bytes) {
    device::TracedThread* const thread = device::traced_thread;
    if (thread == nullptr || !thread->tracer->knows(address)) return;
    for (std::size_t at = 0; at < bytes; at += 4) {
        const std::size_t size = bytes - at < 4 ? bytes - at : 4;
        trace(site, access, static_cast<char*>(address) + at, size, size);
    }
}

}  // namespace

extern "C" {

TINYBLAS_ACCESSES(1)
TINYBLAS_ACCESSES(2)
TINYBLAS_ACCESSES(4)
TINYBLAS_ACCESSES(8)
TINYBLAS_ACCESSES(16)
TINYBLAS_UNALIGNED_ACCESSES(2)
TINYBLAS_UNALIGNED_ACCESSES(4)
TINYBLAS_UNALIGNED_ACCESSES(8)

// 16 bytes of a type that promises less alignment: a GPU moves them as words of 8 bytes.
void __tsan_unaligned_read16(void* address) {
    trace(TINYBLAS_CALLER, Access::read, address, 8, 8);
    trace(TINYBLAS_CALLER, Access::read, static_cast<char*>(address) + 8, 8, 8);
}
void __tsan_unaligned_write16(void* address) {
    trace(TINYBLAS_CALLER, Access::write, address, 8, 8);
    trace(TINYBLAS_CALLER, Access::write, static_cast<char*>(address) + 8, 8, 8);
}

// Structs of other sizes: word by word, as a GPU would.
void __tsan_read_range(void* address, std::size_t bytes) {
    trace_words(TINYBLAS_CALLER, Access::read, address, bytes);
}
void __tsan_write_range(void* address, std::size_t bytes) {
    trace_words(TINYBLAS_CALLER, Access::write, address, bytes);
}

// clang's alone.
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
    trace(TINYBLAS_CALLER, Access::read, from, bytes, bytes);
    trace(TINYBLAS_CALLER, Access::write, to, bytes, bytes);
    return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
    trace(TINYBLAS_CALLER, Access::read, from, bytes, bytes);
    trace(TINYBLAS_CALLER, Access::write, to, bytes, bytes);
    return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
    trace(TINYBLAS_CALLER, Access::write, to, bytes, bytes);
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
        traced_thread->tracer->see_arrival(*traced_thread, place, address, bytes);
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
