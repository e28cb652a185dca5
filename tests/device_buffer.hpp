// SPDX-License-Identifier: MIT
// Memory that tests of the device layer and their kernels share.
#pragma once

#include <cstddef>

#include "device/runtime.hpp"

namespace tinyblas::test {

/// `size` elements that the host and kernels can reach.
template <class T>
class Buffer {
  public:
    explicit Buffer(std::size_t size)
        : size_(size),
          data_(static_cast<T*>(
              device::allocate(Memory::managed, size * sizeof(T), 1, sizeof(T), pitch_))) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { device::release(Memory::managed, data_); }
    T* data() { return data_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    std::size_t size() const { return size_; }

  private:
    std::size_t size_, pitch_ = 0;
    T* data_;
};

}  // namespace tinyblas::test
