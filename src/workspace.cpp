// SPDX-License-Identifier: MIT
// The memory and textures of a context: who owns them, and when they may go.
#include "workspace.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "check.hpp"

namespace tinyblas {
namespace {

void* allocate(Memory memory, std::size_t bytes, const char* operation) {
    std::size_t pitch = 0;
    return device::allocate(memory, bytes, 1, 1, pitch, operation);
}

/// Memory that belongs to the graph that `stream` is being captured into.
void* memory_of_graph(device::Stream stream, std::size_t bytes, bool zero, const char* operation) {
    const device::Uncaptured uncaptured;
    device::release_of_graphs();
    const std::shared_ptr<void> memory = DeviceMemory(allocate(Memory::device, bytes, operation));
    if (zero) device::set_to_zero(memory.get(), bytes, operation);
    device::keep_with_graph(stream, memory, operation);
    return memory.get();
}

/// A texture that belongs to the graph that `stream` is being captured into.
device::Texture texture_of_graph(device::Stream stream, const TextureRange& range,
                                 const char* operation) {
    const device::Uncaptured uncaptured;
    device::release_of_graphs();
    const auto texture =
        device::create_texture(range.data, range.bytes, range.element_bytes, operation);
    const std::shared_ptr<void> owner(nullptr,
                                      [texture](void*) { device::destroy_texture(texture); });
    device::keep_with_graph(stream, owner, operation);
    return texture;
}

}  // namespace

void TexturePool::clear() noexcept {
    for (auto* generation : {&current_, &previous_}) {
        for (const Entry& entry : *generation) device::destroy_texture(entry.texture);
        generation->clear();
    }
    if (previous_end_) device::destroy_event(previous_end_);
    previous_end_ = nullptr;
}

void TexturePool::get(device::Stream stream, std::span<const TextureRange> ranges,
                      std::span<device::Texture> textures, const char* operation) {
    if (current_.size() + ranges.size() > capacity) begin_generation(stream, operation);
    for (std::size_t i = 0; i < ranges.size(); ++i)
        textures[i] = find_or_create(ranges[i], operation);
}

device::Texture TexturePool::find_or_create(const TextureRange& range, const char* operation) {
    for (const Entry& entry : current_)
        if (entry.range == range) return entry.texture;
    current_.reserve(capacity);
    const auto texture =
        device::create_texture(range.data, range.bytes, range.element_bytes, operation);
    current_.push_back({range, texture});
    return texture;
}

void TexturePool::begin_generation(device::Stream stream, const char* operation) {
    if (!previous_end_) previous_end_ = device::create_event(operation);
    if (!previous_.empty()) device::wait_on_host(previous_end_, operation);
    for (const Entry& entry : previous_) device::destroy_texture(entry.texture);
    previous_.clear();
    device::record(previous_end_, stream, operation);
    previous_ = std::exchange(current_, {});
}

Workspace::~Workspace() {
    std::optional<device::Guard> guard;
    try {
        guard.emplace(device_, "context");
    } catch (const Error&) {  // a broken device: there is nothing left to save
    }
    // Freeing device memory waits for the kernels that use it, and the textures.
    scratch_.reset();
    for (DeviceMemory& counters : counters_) counters.reset();
    if (host_words_) device::release(Memory::mapped, host_words_);
    if (left_at_) device::destroy_event(left_at_);
    textures_.clear();
    device::release_of_graphs();
}

void* Workspace::scratch(device::Stream stream, std::size_t bytes, const char* operation) {
    const device::Guard guard(device_, operation);
    if (given_.memory && bytes > given_.bytes)
        fail(Status::out_of_memory, operation, ": ", bytes, " bytes of scratch memory are needed, ",
             given_.bytes, " were given");
    if (device::is_capturing(stream, operation))
        return given_.memory ? given_.memory : memory_of_graph(stream, bytes, false, operation);
    enter(stream, operation);
    if (given_.memory) return given_.memory;
    if (bytes <= scratch_bytes_) return scratch_.get();
    device::synchronize(stream, operation);  // earlier operations may still use the old memory
    scratch_.reset(allocate(Memory::device, bytes, operation));
    scratch_bytes_ = bytes;
    return scratch_.get();
}

void* Workspace::counters(device::Stream stream, CountersOf user, const char* operation) {
    if (device::is_capturing(stream, operation))
        return memory_of_graph(stream, counter_bytes, true, operation);
    return lasting_counters(stream, user, operation);
}

void* Workspace::lasting_counters(device::Stream stream, CountersOf user, const char* operation) {
    enter(stream, operation);
    DeviceMemory& counters = counters_[static_cast<std::size_t>(user)];
    if (!counters) {
        const device::Uncaptured uncaptured;
        DeviceMemory memory(allocate(Memory::device, counter_bytes, operation));
        device::set_to_zero(memory.get(), counter_bytes, operation);
        counters = std::move(memory);
    }
    return counters.get();
}

void Workspace::textures(device::Stream stream, std::span<const TextureRange> ranges,
                         std::span<device::Texture> textures, const char* operation) {
    if (device::is_capturing(stream, operation)) {
        std::transform(ranges.begin(), ranges.end(), textures.begin(), [&](const auto& range) {
            return texture_of_graph(stream, range, operation);
        });
        return;
    }
    enter(stream, operation);
    textures_.get(stream, ranges, textures, operation);
}

Workspace::HostWords Workspace::host_words(const char* operation) {
    if (!host_words_)
        host_words_ =
            new (allocate(Memory::mapped, 2 * sizeof(std::uint64_t), operation)) std::uint64_t[2]{};
    if (++host_calls_ == 0) ++host_calls_;  // 0 is what the words carry at first
    return {host_words_, host_calls_};
}

void Workspace::leave(device::Stream stream, const char* operation) {
    if (!used_ || device::is_capturing(stream, operation)) return;
    if (!left_at_) left_at_ = device::create_event(operation);
    device::record(left_at_, stream, operation);
    used_ = false;
    left_ = true;
}

void Workspace::enter(device::Stream stream, const char* operation) {
    if (left_) device::wait(stream, left_at_, operation);
    left_ = false;
    used_ = true;
}

}  // namespace tinyblas
