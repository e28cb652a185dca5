// SPDX-License-Identifier: MIT
// The host's side of a device: memory, streams, copies. One contract, two twins: cuda/runtime.cpp
// and emulation/runtime.cpp. Every function throws Error; `operation` names the caller's operation
// in the sentence.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tinyblas/matrix.hpp"

struct CUstream_st;

namespace tinyblas::device {

using Stream = CUstream_st*;

struct Properties {
    int compute_capability;  // 10 * major + minor; 89 for 90 if the library has no machine code
                             // for 9.0a
    int multiprocessors;
};

/// `blocks` as the size of a grid; invalid_argument if a grid cannot have that many.
unsigned grid(std::int64_t blocks, const char* operation);

int current_device();  // no_device if there is none
Properties properties(int device);

/// Makes `device` current on this thread for the guard's lifetime.
class Guard {
  public:
    explicit Guard(int device);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

  private:
    int previous_;
    bool changed_;
};

Stream create_stream();  // does not wait for the default stream
void destroy_stream(Stream stream) noexcept;
void synchronize(Stream stream, const char* operation);

/// `rows` rows of `width` bytes; `pitch` becomes the distance of two rows, at least `width` and a
/// multiple of `element_size`.
void* allocate(Memory memory, std::size_t width, std::size_t rows, std::size_t element_size,
               std::size_t& pitch);
void release(Memory memory, void* data) noexcept;

/// Whether kernels can read and write at `data`: false for pageable host memory.
bool reachable(const void* data);

/// `rows` rows of `width` bytes; asynchronous unless pageable host memory is involved.
void copy_2d(Stream stream, void* to, std::size_t to_pitch, const void* from,
             std::size_t from_pitch, std::size_t width, std::size_t rows, const char* operation);

}  // namespace tinyblas::device
