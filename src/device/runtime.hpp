// SPDX-License-Identifier: MIT
// The host's side of a device: memory, streams, copies. One contract, two twins: cuda/runtime.cpp
// and emulation/runtime.cpp. Every function throws Error; `operation` names the caller's operation
// in the sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tinyblas/matrix.hpp"

struct CUevent_st;
struct CUstream_st;

namespace tinyblas::device {

using Stream = CUstream_st*;
using Event = CUevent_st*;

struct Properties {
    int compute_capability;  // 10 * major + minor; 89 for 90 if the library has no machine code
                             // for 9.0a
    int multiprocessors;
    double memory_speed;  // bytes a second at most, by clock and bus; 0: unknown
};

/// `blocks` as the size of a grid; invalid_argument if a grid cannot have that many.
unsigned grid(std::int64_t blocks, const char* operation);

int current_device(const char* operation = "device");  // no_device if there is none
Properties properties(int device, const char* operation = "device");

/// Makes `device` current on this thread for the guard's lifetime.
class Guard {
  public:
    explicit Guard(int device, const char* operation = "device");
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

  private:
    int previous_;
    bool changed_, inner_;  // inner: another guard lives already
};

Stream create_stream(const char* operation = "context");  // does not wait for the default stream
void destroy_stream(Stream stream) noexcept;
void synchronize(Stream stream, const char* operation);

/// An event holds the place that a stream had reached when it was recorded.
Event create_event(const char* operation);
void destroy_event(Event event) noexcept;
void record(Event event, Stream stream, const char* operation);
void wait(Stream stream, Event event, const char* operation);  // what `stream` does next waits
void wait_on_host(Event event, const char* operation);

/// Whether `stream` is being captured into a CUDA graph.
bool is_capturing(Stream stream, const char* operation);

/// Keeps `resource` until the graph that `stream` is being captured into is gone, with all that was
/// made of it. Its deleter then runs in a later call of release_of_graphs().
void keep_with_graph(Stream stream, const std::shared_ptr<void>& resource, const char* operation);
/// Deletes what graphs that are gone have kept.
void release_of_graphs() noexcept;

/// While one lives, its thread may do what a capture in progress would forbid, such as to allocate.
class Uncaptured {
  public:
    Uncaptured() noexcept;
    ~Uncaptured();
    Uncaptured(const Uncaptured&) = delete;
    Uncaptured& operator=(const Uncaptured&) = delete;

  private:
    int mode_;
};

/// A texture object over linear memory, read by fetch() of device.hpp in elements of
/// `element_bytes` (4, 8 or 16).
using Texture = unsigned long long;
Texture create_texture(const void* data, std::size_t bytes, int element_bytes,
                       const char* operation);
void destroy_texture(Texture texture) noexcept;
/// What the start of a texture must be a multiple of, in bytes.
std::size_t texture_alignment(int device, const char* operation = "device");
/// The most elements of one texture.
std::int64_t longest_texture(int element_bytes, int device, const char* operation = "device");

/// How the copy engine finds tiles of a matrix in memory: a kernel's parameter, for copy_tile() and
/// write_tile_map() of device.hpp. The matrix has `rows` rows of `columns` floats, `stride`
/// elements apart, data and stride multiples of 16 bytes; a tile is at most 256 x 256, its rows
/// multiples of 16 bytes. `swizzled`: its rows have 16 floats, and of row r's four vectors number v
/// is put where vector v ^ (r / 2 % 4) would lie, so that the same one of eight neighbouring rows
/// fills all banks once.
struct alignas(64) TileMap {
    std::uint64_t words[16];
};
TileMap map_tiles(const float* data, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                  int tile_rows, int tile_columns, const char* operation, bool swizzled = false);

/// `rows` rows of `width` bytes; `pitch` becomes the distance of two rows, at least `width` and a
/// multiple of `element_size`. Memory comes and goes even while a stream is being captured.
void* allocate(Memory memory, std::size_t width, std::size_t rows, std::size_t element_size,
               std::size_t& pitch, const char* operation = "matrix");
void release(Memory memory, void* data) noexcept;

/// Whether kernels can read and write at `data`: false for pageable host memory.
bool reachable(const void* data, const char* operation = "copy");

/// Sets `bytes` bytes of device memory to zero and waits until they are.
void set_to_zero(void* data, std::size_t bytes, const char* operation);

/// `rows` rows of `width` bytes; asynchronous unless pageable host memory is involved.
void copy_2d(Stream stream, void* to, std::size_t to_pitch, const void* from,
             std::size_t from_pitch, std::size_t width, std::size_t rows, const char* operation);

}  // namespace tinyblas::device
