// SPDX-License-Identifier: MIT
// device/runtime.hpp for a CPU: one device, number 0, whose memory is the host's and whose streams
// have always finished. It calls itself an H200, so that the same tuning entries are chosen.
#include "device/runtime.hpp"

#include <unistd.h>

#include <cstring>
#include <new>

#include "check.hpp"

// A stream is an address to tell it from others: kernels and copies are done when their calls
// return.
struct CUstream_st {};

namespace tinyblas::device {

namespace {

constexpr std::size_t alignment = 256;        // as CUDA's allocations
constexpr std::size_t pitch_alignment = 512;  // as cudaMallocPitch's rows on current GPUs
constexpr int poison = 0xFF;                  // NaN: reads of what nobody wrote show

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

int current_device() { return 0; }

Properties properties(int device) {
    require_device(device);
    return {.compute_capability = 90, .multiprocessors = 132};
}

Guard::Guard(int device) : previous_(0), changed_(false) { require_device(device); }
Guard::~Guard() { static_cast<void>(previous_), static_cast<void>(changed_); }

Stream create_stream() { return new CUstream_st; }
void destroy_stream(Stream stream) noexcept { delete stream; }
void synchronize(Stream, const char*) {}

void* allocate(Memory memory, std::size_t width, std::size_t rows, std::size_t element_size,
               std::size_t& pitch) {
    const auto refuse = [&] {
        fail(Status::out_of_memory, "matrix: no memory for ", rows, " runs of ", width, " bytes");
    };
    // The sanitizers end the process on sizes that no machine has, and overcommit grants them:
    // refuse those first.
    const std::size_t limit = memory_size();
    if (width > limit) refuse();
    pitch = width;
    if (memory == Memory::device_pitched) {
        pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
    }
    require(pitch % element_size == 0, "matrix: elements of ", element_size,
            " bytes: must divide the device's pitch of ", pitch, " bytes");
    if (pitch == 0 || rows == 0) return nullptr;
    if (rows > limit / pitch) refuse();
    // Exactly this size: AddressSanitizer's redzone begins where the memory ends.
    void* data = operator new(pitch* rows, std::align_val_t(alignment), std::nothrow);
    if (data == nullptr) refuse();
    return std::memset(data, poison, pitch * rows);
}

void release(Memory, void* data) noexcept { operator delete(data, std::align_val_t(alignment)); }

bool reachable(const void*) { return true; }

void copy_2d(Stream, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
             std::size_t width, std::size_t rows, const char*) {
    if (width == 0) return;
    for (std::size_t row = 0; row < rows; ++row)
        std::memcpy(static_cast<std::byte*>(to) + row * to_pitch,
                    static_cast<const std::byte*>(from) + row * from_pitch, width);
}

}  // namespace tinyblas::device
