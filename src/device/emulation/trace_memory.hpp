// SPDX-License-Identifier: MIT
// The memory that the library allocates, as the traced build keeps it: guards around it, and in
// every word that nobody has written a value of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tinyblas::device {

#if defined(TINYBLAS_TRACED)

/// Bytes on each side that belong to nobody; a multiple of every alignment that is asked for.
constexpr std::size_t guard_bytes = 4096;

struct TracedAllocation {
    std::uintptr_t begin, end;
    std::uint64_t serial;  // tells it from others at the same address
};

/// A word that nobody has written holds a NaN that depends on its place in the allocation `data`:
/// neither the host's writes nor copies need to be seen to tell which words were written since.
/// Whether a value that is written happens to be its place's does not depend on where the
/// allocation lies, so that every run sees the same.
void fill_with_poison(void* data, std::size_t bytes);
/// Whether a whole word among `bytes` bytes, `offset` bytes into an allocation, holds its poison.
bool poisoned(std::uintptr_t allocation, std::size_t offset, std::size_t bytes);

void trace_allocated(const void* data, std::size_t bytes);
void trace_released(const void* data) noexcept;
/// All that live now, by address.
std::vector<TracedAllocation> traced_allocations();

#else

constexpr std::size_t guard_bytes = 0;
inline void fill_with_poison(void* data, std::size_t bytes) {
    std::memset(data, 0xFF, bytes);
}  // NaN
inline void trace_allocated(const void*, std::size_t) {}
inline void trace_released(const void*) noexcept {}

#endif

}  // namespace tinyblas::device
