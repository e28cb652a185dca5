// SPDX-License-Identifier: MIT
// Device memory for tests written in C: each block is a Matrix of one row of bytes.
#include "c_memory.h"

#include <cstddef>
#include <map>

#include "tinyblas/context.hpp"
#include "tinyblas/matrix.hpp"

namespace {

using Bytes = tinyblas::Matrix<std::byte>;

std::map<void*, Bytes>& blocks() {
    static std::map<void*, Bytes> all;
    return all;
}

void copy_bytes(void* to, const void* from, std::size_t size) {
    const auto count = static_cast<std::int64_t>(size);
    tinyblas::Context context;
    tinyblas::copy(
        context, {static_cast<const std::byte*>(from), 1, count, count, 1},
        tinyblas::MatrixView<std::byte>{static_cast<std::byte*>(to), 1, count, count, 1});
    context.synchronize();
}

}  // namespace

void* device_alloc(size_t bytes) {
    Bytes block(1, static_cast<std::int64_t>(bytes));
    void* data = block.view().data;
    blocks().emplace(data, std::move(block));
    return data;
}
void device_free(void* data) { blocks().erase(data); }
void to_device(void* device, const void* host, size_t bytes) { copy_bytes(device, host, bytes); }
void to_host(void* host, const void* device, size_t bytes) { copy_bytes(host, device, bytes); }
