// SPDX-License-Identifier: MIT
// Memory far larger than what a test touches of it.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include "reference.hpp"

namespace tinyblas::test {

/// Device memory of which only the pages in use cost anything under emulation.
template <class T>
class LargeBuffer {
  public:
    explicit LargeBuffer(std::int64_t elements)
        : bytes_(static_cast<std::size_t>(elements) * sizeof(T)) {
        if (emulated) {
            data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (data_ == MAP_FAILED) throw std::bad_alloc();
        } else {
            device_ = Matrix<T>(1, elements);
            data_ = device_.view().data;
        }
    }
    LargeBuffer(const LargeBuffer&) = delete;
    LargeBuffer& operator=(const LargeBuffer&) = delete;
    ~LargeBuffer() {
        if (emulated) munmap(data_, bytes_);
    }
    T* data() { return static_cast<T*>(data_); }

  private:
    std::size_t bytes_;
    Matrix<T> device_;
    void* data_ = nullptr;
};

}  // namespace tinyblas::test
