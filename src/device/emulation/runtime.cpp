// SPDX-License-Identifier: MIT
// device/runtime.hpp for a CPU: one device, number 0, whose memory is the host's and whose streams
// have always finished. It calls itself an H200, so that the same tuning entries are chosen.
#include "device/runtime.hpp"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "check.hpp"
#include "device/emulation/texture.hpp"
#include "device/emulation/tile_map.hpp"
#include "device/emulation/trace_memory.hpp"

// A stream is an address to tell it from others: kernels and copies are done when their calls
// return.
struct CUstream_st {};
struct CUevent_st {};

namespace tinyblas::device {

namespace {

constexpr std::size_t alignment = 256;        // as CUDA's allocations
constexpr std::size_t pitch_alignment = 512;  // as cudaMallocPitch's rows on current GPUs

std::atomic<int> textures_alive = 0;

std::size_t memory_size() {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void require_device(int device) {
    require(device == 0, "device ", device, ": must be 0, the only one of device emulation");
}

}  // namespace

unsigned grid(std::int64_t blocks, const char* operation) {
    constexpr std::int64_t most = 2147483647;
    require(blocks <= most, operation, ": ", blocks, " blocks of threads: must be at most ", most);
    return static_cast<unsigned>(blocks);
}

int current_device(const char*) { return 0; }

Properties properties(int device, const char*) {
    require_device(device);
    return {.compute_capability = 90, .multiprocessors = 132, .memory_speed = 4.81e12};
}

Guard::Guard(int device, const char*) : previous_(0), changed_(false), inner_(false) {
    require_device(device);
}
Guard::~Guard() {
    static_cast<void>(previous_), static_cast<void>(changed_), static_cast<void>(inner_);
}

Stream create_stream(const char*) { return new CUstream_st; }
void destroy_stream(Stream stream) noexcept { delete stream; }
void synchronize(Stream, const char*) {}

Event create_event(const char*) { return new CUevent_st; }
void destroy_event(Event event) noexcept { delete event; }
void record(Event, Stream, const char*) {}
void wait(Stream, Event, const char*) {}
void wait_on_host(Event, const char*) {}

bool is_capturing(Stream, const char*) { return false; }
void keep_with_graph(Stream, const std::shared_ptr<void>&, const char* operation) {
    fail(Status::internal_error, operation, ": device emulation has no graphs");
}
void release_of_graphs() noexcept {}
Uncaptured::Uncaptured() noexcept : mode_(0) {}
Uncaptured::~Uncaptured() { static_cast<void>(mode_); }

Texture create_texture(const void* data, std::size_t bytes, int element_bytes,
                       const char* operation) {
    require(reinterpret_cast<std::uintptr_t>(data) % texture_alignment(0) == 0, operation,
            ": a texture starts at ", data, ": must be a multiple of ", texture_alignment(0));
    ++textures_alive;
    return reinterpret_cast<Texture>(new LinearTexture{data, bytes, element_bytes});
}
void destroy_texture(Texture texture) noexcept {
    --textures_alive;
    delete linear_texture(texture);
}
int living_textures() { return textures_alive; }
// Far shorter than a GPU's, so that small tests have vectors of several textures.
std::int64_t longest_texture(int, int, const char*) { return 1 << 14; }
std::size_t texture_alignment(int, const char*) { return 512; }

TileMap map_tiles(const float* data, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                  int tile_rows, int tile_columns, const char* operation, bool swizzled) {
    constexpr std::int64_t most = std::int64_t{1} << 32;
    const bool valid = reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride % 4 == 0 &&
                       stride > 0 && rows > 0 && columns > 0 && rows <= most && columns <= most &&
                       tile_rows > 0 && tile_rows <= 256 && tile_columns > 0 &&
                       tile_columns <= 256 && tile_columns % 4 == 0 &&
                       (tile_columns == 16 || !swizzled);
    if (!valid)
        fail(Status::device_error, operation, ": there is no map of ", rows, " x ", columns,
             " floats, ", stride, " apart, at ", data, " for tiles of ", tile_rows, " x ",
             tile_columns, swizzled ? ", swizzled" : "");
    const EmulatedTileMap tile = {data, rows, columns, stride, tile_rows, tile_columns, swizzled};
    TileMap map = {};
    std::memcpy(&map, &tile, sizeof tile);
    return map;
}

void* allocate(Memory memory, std::size_t width, std::size_t rows, std::size_t element_size,
               std::size_t& pitch, const char* operation) {
    const auto refuse = [&] {
        fail(Status::out_of_memory, operation, ": no memory for ", rows, " runs of ", width,
             " bytes");
    };
    // The sanitizers end the process on sizes that no machine has, and overcommit grants them:
    // refuse those first.
    const std::size_t limit = memory_size();
    if (width > limit) refuse();
    pitch = width;
    if (memory == Memory::device_pitched) {
        pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
    }
    require(pitch % element_size == 0, operation, ": elements of ", element_size,
            " bytes: must divide the device's pitch of ", pitch, " bytes");
    if (pitch == 0 || rows == 0) return nullptr;
    if (rows > limit / pitch) refuse();
    // Exactly this size: AddressSanitizer's redzone begins where the memory ends.
    void* whole = operator new(guard_bytes + pitch * rows + guard_bytes,
                               std::align_val_t(alignment), std::nothrow);
    if (whole == nullptr) refuse();
    void* data = static_cast<std::byte*>(whole) + guard_bytes;
    fill_with_poison(data, pitch * rows);  // reads of what nobody wrote show
    trace_allocated(data, pitch * rows);
    return data;
}

void release(Memory, void* data) noexcept {
    if (data == nullptr) return;
    trace_released(data);
    operator delete(static_cast<std::byte*>(data) - guard_bytes, std::align_val_t(alignment));
}

bool reachable(const void*, const char*) { return true; }

void set_to_zero(void* data, std::size_t bytes, const char*) { std::memset(data, 0, bytes); }

void copy_2d(Stream, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
             std::size_t width, std::size_t rows, const char*) {
    if (width == 0) return;
    for (std::size_t row = 0; row < rows; ++row)
        std::memcpy(static_cast<std::byte*>(to) + row * to_pitch,
                    static_cast<const std::byte*>(from) + row * from_pitch, width);
}

}  // namespace tinyblas::device
