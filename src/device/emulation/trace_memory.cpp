// SPDX-License-Identifier: MIT
// Poison, and the list of what is allocated, which all OS threads share.
#include "device/emulation/trace_memory.hpp"

#include <cstring>
#include <map>
#include <mutex>

namespace tinyblas::device {

namespace {

using Word = std::uint32_t;

/// NaN as a float and as the upper half of a double, and never all ones.
constexpr Word poison_at(std::size_t offset) {
    const auto mixed = static_cast<Word>(offset / sizeof(Word)) * 2654435761u;
    return 0xFFF00000u | (mixed >> 12 & 0xFFFFEu);
}

struct Allocations {
    std::mutex mutex;
    std::map<std::uintptr_t, TracedAllocation> live;  // by first byte
    std::uint64_t serial = 0;
};
Allocations& allocations() {
    static auto* all = new Allocations;  // outlives whatever is released at exit
    return *all;
}

}  // namespace

void fill_with_poison(void* data, std::size_t bytes) {
    std::memset(data, 0xFF, bytes);
    auto* words = static_cast<Word*>(data);
    for (std::size_t i = 0; i < bytes / sizeof(Word); ++i) words[i] = poison_at(i * sizeof(Word));
}

bool poisoned(std::uintptr_t allocation, std::size_t offset, std::size_t bytes) {
    const std::size_t end = offset + bytes;
    const std::size_t first = (offset + sizeof(Word) - 1) / sizeof(Word) * sizeof(Word);
    for (std::size_t at = first; at + sizeof(Word) <= end; at += sizeof(Word)) {
        Word value = 0;
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        std::memcpy(&value, reinterpret_cast<const void*>(allocation + at), sizeof value);
        if (value == poison_at(at)) return true;
    }
    return false;
}

void trace_allocated(const void* data, std::size_t bytes) {
    Allocations& all = allocations();
    const std::lock_guard lock(all.mutex);
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    all.live[begin] = {begin, begin + bytes, ++all.serial};
}

void trace_released(const void* data) noexcept {
    Allocations& all = allocations();
    const std::lock_guard lock(all.mutex);
    all.live.erase(reinterpret_cast<std::uintptr_t>(data));
}

std::vector<TracedAllocation> traced_allocations() {
    Allocations& all = allocations();
    const std::lock_guard lock(all.mutex);
    std::vector<TracedAllocation> live;
    live.reserve(all.live.size());
    for (const auto& [begin, allocation] : all.live) live.push_back(allocation);
    return live;
}

}  // namespace tinyblas::device
