// SPDX-License-Identifier: MIT
// What a context's operations keep on its device between calls, made at first use. Work that is
// being captured into a CUDA graph gets memory and textures of its own, which live as long as the
// graph: it may be replayed at any time, beside the context's later work too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/runtime.hpp"

namespace tinyblas {

/// Memory of a device.
struct ReleaseDeviceMemory {
    void operator()(void* data) const { device::release(Memory::device, data); }
};
using DeviceMemory = std::unique_ptr<void, ReleaseDeviceMemory>;

/// What a texture shows.
struct TextureRange {
    const void* data;
    std::size_t bytes;
    int element_bytes;
    bool operator==(const TextureRange&) const = default;
};

/// Textures are made where they are needed and kept for the calls that follow. There are never more
/// than two generations of them: when one is full, the one before it goes, whose kernels have long
/// finished.
class TexturePool {
  public:
    ~TexturePool() { clear(); }
    /// Textures for work that is enqueued next on `stream`.
    void get(device::Stream stream, std::span<const TextureRange> ranges,
             std::span<device::Texture> textures, const char* operation);
    /// Destroys all textures; no kernel that uses one may be running.
    void clear() noexcept;
    static constexpr std::size_t capacity = 64;  // textures of a generation, and of a call

  private:
    struct Entry {
        TextureRange range;
        device::Texture texture;
    };
    device::Texture find_or_create(const TextureRange& range, const char* operation);
    void begin_generation(device::Stream stream, const char* operation);

    std::vector<Entry> current_, previous_;
    device::Event previous_end_ = nullptr;  // after the work that uses the previous generation
};

class Workspace {
  public:
    explicit Workspace(int device) : device_(device) {}
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    /// At least `bytes` bytes for the work that is enqueued next on `stream`.
    void* scratch(device::Stream stream, std::size_t bytes, const char* operation);
    /// The caller's memory instead; null: our own again.
    void set_scratch(void* memory, std::size_t bytes) { given_ = {memory, bytes}; }

    /// `counter_bytes` bytes that are zero at first, for reductions and for gemm each. Words that
    /// one counts on to be zero it leaves so.
    enum class CountersOf { reductions, gemm };
    void* counters(device::Stream stream, CountersOf user, const char* operation);
    /// The same for a stream that is known not to be captured.
    void* lasting_counters(device::Stream stream, CountersOf user, const char* operation);
    static constexpr std::size_t counter_bytes = 32 << 10;

    void textures(device::Stream stream, std::span<const TextureRange> ranges,
                  std::span<device::Texture> textures, const char* operation);

    /// Two words of host memory that kernels can write, and a number that they do not carry yet.
    struct HostWords {
        std::uint64_t* words;
        std::uint32_t number;
    };
    HostWords host_words(const char* operation);

    /// The context leaves `stream`: work on the next one waits for what uses the memory here.
    void leave(device::Stream stream, const char* operation);

  private:
    void enter(device::Stream stream, const char* operation);

    int device_;
    struct Given {
        void* memory = nullptr;
        std::size_t bytes = 0;
    };

    DeviceMemory scratch_;
    std::size_t scratch_bytes_ = 0;
    Given given_;               // instead of scratch_, by the caller
    DeviceMemory counters_[2];  // of each user
    std::uint64_t* host_words_ = nullptr;
    std::uint32_t host_calls_ = 0;
    TexturePool textures_;
    bool used_ = false;                // on the context's stream, since the last leave()
    bool left_ = false;                // since the last enter()
    device::Event left_at_ = nullptr;  // the end of that use
};

}  // namespace tinyblas
