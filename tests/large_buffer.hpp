// SPDX-License-Identifier: MIT
// Memory far larger than what a test touches of it.
#pragma once

#include <sys/mman.h>

#include <cstdint>

#include "reference.hpp"
#include "tinyblas/error.hpp"

namespace tinyblas::test {

/// Device memory of which only the pages in use cost anything under emulation. False if there was
/// no room for it: a test that needs it is then skipped.
template <class T>
class LargeBuffer {
  public:
    explicit LargeBuffer(std::int64_t elements)
        : bytes_(static_cast<std::size_t>(elements) * sizeof(T)) {
        if (emulated) {
            data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (data_ == MAP_FAILED) data_ = nullptr;
        } else {
            allocate(elements);
        }
    }
    LargeBuffer(const LargeBuffer&) = delete;
    LargeBuffer& operator=(const LargeBuffer&) = delete;
    ~LargeBuffer() {
        if (emulated && data_) munmap(data_, bytes_);
    }
    explicit operator bool() const { return data_; }
    T* data() { return static_cast<T*>(data_); }

  private:
    void allocate(std::int64_t elements) {
        try {
            device_ = Matrix<T>(1, elements);
            data_ = device_.view().data;
        } catch (const Error& error) {
            if (error.status() != Status::out_of_memory) throw;
        }
    }

    std::size_t bytes_;
    Matrix<T> device_;
    void* data_ = nullptr;
};

/// Why a test is skipped that needs `buffers` buffers of `elements` elements.
template <class T>
std::string no_room(int buffers, std::int64_t elements) {
    return "the device has no memory for " + std::to_string(buffers) + " times " +
           std::to_string(elements * std::int64_t{sizeof(T)}) + " bytes";
}

}  // namespace tinyblas::test
