// SPDX-License-Identifier: MIT
// The mock's memory: the host's, whatever it is called; copies are done when they return.
#include <cstdlib>
#include <cstring>

#include "mock_state.hpp"

namespace tinyblas::mock {
namespace {

constexpr std::size_t alignment = 256, pitch_alignment = 512;

cudaError_t allocate(void** data, std::size_t bytes, cudaMemoryType type, bool mapped = false) {
    if (const auto error = unsafe_in_capture(); error != cudaSuccess) return error;
    *data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (!*data) return cudaErrorMemoryAllocation;
    state().allocations[*data] = {bytes, type, mapped};
    return cudaSuccess;
}

cudaError_t release(void* data, bool of_host) {
    if (!data) return cudaSuccess;
    if (const auto error = unsafe_in_capture(); error != cudaSuccess) return error;
    auto& allocations = state().allocations;
    const auto found = allocations.find(data);
    if (found == allocations.end()) return misuse("released what is not allocated");
    if ((found->second.type == cudaMemoryTypeHost) != of_host)
        return misuse("released by the wrong function");
    allocations.erase(found);
    std::free(data);
    return cudaSuccess;
}

Allocation* allocation_of(const void* data) {
    auto& allocations = state().allocations;
    auto next = allocations.upper_bound(data);
    if (next == allocations.begin()) return nullptr;
    --next;
    const auto offset = static_cast<const char*>(data) - static_cast<const char*>(next->first);
    return static_cast<std::size_t>(offset) < next->second.bytes ? &next->second : nullptr;
}

}  // namespace

bool is_mapped(const void* data) {
    const Allocation* const allocation = allocation_of(data);
    return allocation && allocation->mapped;
}
bool was_zeroed(const void* data) {
    const Allocation* const allocation = allocation_of(data);
    return allocation && allocation->zeroed;
}

}  // namespace tinyblas::mock

using namespace tinyblas::mock;

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
    return entered("cudaMalloc", [&] { return allocate(data, bytes, cudaMemoryTypeDevice); });
}
cudaError_t cudaMallocPitch(void** data, std::size_t* pitch, std::size_t width, std::size_t rows) {
    return entered("cudaMallocPitch", [&] {
        *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
        return allocate(data, *pitch * rows, cudaMemoryTypeDevice);
    });
}
cudaError_t cudaMallocManaged(void** data, std::size_t bytes, unsigned) {
    return entered("cudaMallocManaged",
                   [&] { return allocate(data, bytes, cudaMemoryTypeManaged); });
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags) {
    return entered("cudaHostAlloc", [&] {
        return allocate(data, bytes, cudaMemoryTypeHost, (flags & cudaHostAllocMapped) != 0);
    });
}
cudaError_t cudaFree(void* data) {
    return let_go("cudaFree", [&] { return release(data, false); });
}
cudaError_t cudaFreeHost(void* data) {
    return let_go("cudaFreeHost", [&] { return release(data, true); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
    return entered("cudaPointerGetAttributes", [&] {
        const Allocation* const allocation = allocation_of(data);
        *attributes = {};
        attributes->type = allocation ? allocation->type : cudaMemoryTypeUnregistered;
        return cudaSuccess;
    });
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
    return entered("cudaMemsetAsync", [&] {
        cudaError_t error = cudaSuccess;
        stream_of(stream, error);
        if (error != cudaSuccess) return error;
        std::memset(data, value, bytes);
        Allocation* const allocation = allocation_of(data);
        if (allocation && bytes == allocation->bytes && value == 0) allocation->zeroed = true;
        return cudaSuccess;
    });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
    return entered("cudaMemcpyAsync", [&] {
        cudaError_t error = cudaSuccess;
        stream_of(stream, error);
        if (error == cudaSuccess) std::memcpy(to, from, bytes);
        return error;
    });
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t rows,
                              cudaMemcpyKind, cudaStream_t stream) {
    return entered("cudaMemcpy2DAsync", [&] {
        cudaError_t error = cudaSuccess;
        stream_of(stream, error);
        if (error != cudaSuccess) return error;
        if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
        for (std::size_t row = 0; row < rows; ++row)
            std::memcpy(static_cast<char*>(to) + row * to_pitch,
                        static_cast<const char*>(from) + row * from_pitch, width);
        return cudaSuccess;
    });
}
