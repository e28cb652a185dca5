// SPDX-License-Identifier: MIT
// What AddressSanitizer must hear of fibers, and what it makes needless; nothing without it.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TINYBLAS_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TINYBLAS_ADDRESS_SANITIZER
#endif
#if defined(TINYBLAS_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tinyblas::device {

// AddressSanitizer must hear of every change of stack; its redzones make canaries needless, its
// frames are large.
#if defined(TINYBLAS_ADDRESS_SANITIZER)
constexpr std::size_t canary_bytes = 0;
constexpr std::size_t stack_bytes = 256 << 10;
inline void leave_stack(void** save, const void* bottom, std::size_t bytes) {
    __sanitizer_start_switch_fiber(save, bottom, bytes);
}
inline void enter_stack(void* saved, const void** bottom, std::size_t* bytes) {
    __sanitizer_finish_switch_fiber(saved, bottom, bytes);
}
inline void forget_frames(const void* bottom, std::size_t bytes) {
    __asan_unpoison_memory_region(bottom, bytes);
}
// Runs `action` as if on another stack, then frees the frames that detect_stack_use_after_return
// keeps for that stack.
template <class Action>
void visit_stack(void* saved, const void* bottom, std::size_t bytes, const Action& action) {
    void* own = nullptr;
    __sanitizer_start_switch_fiber(&own, bottom, bytes);
    action();
    __sanitizer_finish_switch_fiber(saved, &bottom, &bytes);
    __sanitizer_start_switch_fiber(nullptr, bottom, bytes);
    __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
}
#else
constexpr std::size_t canary_bytes = 64;
constexpr std::size_t stack_bytes = 64 << 10;
inline void leave_stack(void**, const void*, std::size_t) {}
inline void enter_stack(void*, const void**, std::size_t*) {}
inline void forget_frames(const void*, std::size_t) {}
template <class Action>
void visit_stack(void*, const void*, std::size_t, const Action& action) {
    action();
}
#endif

}  // namespace tinyblas::device
