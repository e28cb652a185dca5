// SPDX-License-Identifier: MIT
// A block's shared memory, poisoned and with canaries, and asynchronous copies to it.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <numeric>
#include <string>

#include "check.hpp"
#include "device/emulation/machine.hpp"
#include "device/emulation/sanitizer.hpp"
#include "device/emulation/texture.hpp"
#include "device/emulation/trace_memory.hpp"

namespace tinyblas::device {

namespace {

// Of a block, as ptxas allows without an opt-in.
constexpr std::size_t shared_limit = 48 << 10;
constexpr std::size_t shared_alignment = 128;  // one line of all banks
constexpr int poison = 0xFF;                   // NaN as float and as double
constexpr int canary = 0xA5;

}  // namespace

void Storage::clear() const {
    std::memset(begin(), poison, bytes);
    std::memset(end(), canary, canary_bytes);
}

bool Storage::overrun() const {
    return !std::all_of(end(), end() + canary_bytes,
                        [](std::byte byte) { return byte == std::byte{canary}; });
}

void Machine::check_canaries() const {
    for (const Storage& storage : storages)
        if (storage.overrun())
            fail(Status::device_error, operation_,
                 ": a thread wrote past the end of shared memory (", storage.bytes, " bytes, ",
                 storage.name, "), block ", triple(blockIdx));
}

void* shared_storage(const void* key, std::size_t bytes, std::size_t alignment, bool large,
                     const char* name) {
    running();
    std::size_t total = bytes;
    for (const Storage& storage : machine().storages) {
        if (storage.key == key) return storage.begin();
        if (storage.large == large) total += storage.bytes;
    }
    const std::size_t limit = large ? machine().large_shared : shared_limit;
    if (total > limit)
        machine().fail_current("a block's shared memory of " + std::to_string(total) +
                               " bytes exceeds the " + std::to_string(limit) +
                               (large ? " of its launch" : " of a declaration"));
    alignment = std::max(alignment, shared_alignment);
    void* data = operator new(guard_bytes + bytes + canary_bytes + guard_bytes,
                              std::align_val_t(alignment));
    machine().storages.push_back({key, name, bytes, large, {data, Storage::Delete{alignment}}});
    const Storage& storage = machine().storages.back();
    storage.clear();
    machine().tracer.add_shared(storage.begin(), bytes, name);
    return storage.begin();
}

void require_shared(const void* first, std::size_t bytes, Place place) {
    running();
    const auto* begin = static_cast<const std::byte*>(first);
    for (const Storage& storage : machine().storages)
        if (storage.begin() <= begin && begin + bytes <= storage.end()) return;
    fail_thread("an address is not in shared memory", place);
}

void fetch_bytes(void* to, int bytes, unsigned long long texture, int index, Place place) {
    running();
    const LinearTexture* const linear = linear_texture(texture);
    if (linear->element_bytes != bytes)
        fail_thread("a fetch of " + std::to_string(bytes) + " bytes from a texture of " +
                        std::to_string(linear->element_bytes) + "-byte elements",
                    place);
    const auto size = static_cast<std::size_t>(bytes);
    const auto first = static_cast<std::size_t>(index) * size;
    if (index < 0 || first + size > linear->bytes)
        std::memset(to, 0, size);
    else
        read_at_once(to, static_cast<const std::byte*>(linear->data) + first, size, place);
}

unsigned take_turn(unsigned* counter, unsigned last, Place place) {
    trace_access(Access::atomic, counter, sizeof *counter, sizeof *counter, place);
    const unsigned turn = *counter;
    *counter = turn >= last ? 0 : turn + 1;
    return turn;
}

unsigned load_acquire(const unsigned* from, Place place) {
    trace_access(Access::atomic, from, sizeof *from, sizeof *from, place);
    return *from;
}

void start_copy(void* to, const void* from, int bytes, int valid, Place place) {
    const auto width = static_cast<std::size_t>(bytes);
    trace_access(Access::read, from, static_cast<std::size_t>(valid), width, place);
    trace_access(Access::write, to, width, width, place);
    std::memset(to, poison, width);
    running().copies.push_back({to, from, bytes, valid, place});
}

void close_copies() {
    Thread& thread = running();
    thread.groups.push_back(thread.copies.size() - thread.grouped);
    thread.grouped = thread.copies.size();
}

void finish_copies(std::size_t pending) {
    Thread& thread = running();
    if (thread.groups.size() <= pending) return;
    const auto arrived = thread.groups.end() - static_cast<std::ptrdiff_t>(pending);
    const std::size_t count = std::accumulate(thread.groups.begin(), arrived, std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
        const Copy& copy = thread.copies[i];
        const auto valid = static_cast<std::size_t>(copy.valid);
        trace_arrival(copy.to, static_cast<std::size_t>(copy.bytes), copy.place);
        if (valid > 0) std::memcpy(copy.to, copy.from, valid);
        std::memset(static_cast<std::byte*>(copy.to) + valid, 0,
                    static_cast<std::size_t>(copy.bytes) - valid);
    }
    thread.copies.erase(thread.copies.begin(),
                        thread.copies.begin() + static_cast<std::ptrdiff_t>(count));
    thread.groups.erase(thread.groups.begin(), arrived);
    thread.grouped -= count;
}

}  // namespace tinyblas::device
