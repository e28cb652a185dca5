// SPDX-License-Identifier: MIT
// Atomic operations of code compiled with -fsanitize=thread, which the compiler turns into calls.
// Orders are as strong as can be.
#include <cstdint>

#include "device/emulation/traced_thread.hpp"

namespace device = tinyblas::device;

namespace {

template <class T>
void note(const void* caller, const volatile T* address) {
    device::trace(device::site_key(caller), device::Access::atomic, const_cast<const T*>(address),
                  sizeof(T), sizeof(T));
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,bugprone-macro-parentheses): the compiler chose the
// names.
#define TINYBLAS_NOTE note(__builtin_return_address(0), address)
#define TINYBLAS_UPDATE(bits, T, name, builtin)                         \
    T __tsan_atomic##bits##_##name(volatile T* address, T value, int) { \
        TINYBLAS_NOTE;                                                  \
        return builtin(address, value, __ATOMIC_SEQ_CST);               \
    }
#define TINYBLAS_COMPARE(bits, T, name, weak)                                                \
    bool __tsan_atomic##bits##_##name(volatile T* address, T* expected, T value, int, int) { \
        TINYBLAS_NOTE;                                                                       \
        return __atomic_compare_exchange_n(address, expected, value, weak, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST);                                \
    }
#define TINYBLAS_ATOMICS(bits, T)                                                               \
    T __tsan_atomic##bits##_load(const volatile T* address, int) {                              \
        TINYBLAS_NOTE;                                                                          \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                      \
    }                                                                                           \
    void __tsan_atomic##bits##_store(volatile T* address, T value, int) {                       \
        TINYBLAS_NOTE;                                                                          \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                     \
    }                                                                                           \
    TINYBLAS_UPDATE(bits, T, exchange, __atomic_exchange_n)                                     \
    TINYBLAS_UPDATE(bits, T, fetch_add, __atomic_fetch_add)                                     \
    TINYBLAS_UPDATE(bits, T, fetch_sub, __atomic_fetch_sub)                                     \
    TINYBLAS_UPDATE(bits, T, fetch_and, __atomic_fetch_and)                                     \
    TINYBLAS_UPDATE(bits, T, fetch_or, __atomic_fetch_or)                                       \
    TINYBLAS_UPDATE(bits, T, fetch_xor, __atomic_fetch_xor)                                     \
    TINYBLAS_UPDATE(bits, T, fetch_nand, __atomic_fetch_nand)                                   \
    TINYBLAS_COMPARE(bits, T, compare_exchange_strong, false)                                   \
    TINYBLAS_COMPARE(bits, T, compare_exchange_weak, true)                                      \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T* address, T expected, T value, int, \
                                                 int) {                                         \
        TINYBLAS_NOTE;                                                                          \
        __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST,         \
                                    __ATOMIC_SEQ_CST);                                          \
        return expected;                                                                        \
    }

extern "C" {

TINYBLAS_ATOMICS(8, std::uint8_t)
TINYBLAS_ATOMICS(16, std::uint16_t)
TINYBLAS_ATOMICS(32, std::uint32_t)
TINYBLAS_ATOMICS(64, std::uint64_t)

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,bugprone-macro-parentheses)
