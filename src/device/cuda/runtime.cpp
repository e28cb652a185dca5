// SPDX-License-Identifier: MIT
// The host's side of a CUDA device.
#include "device/runtime.hpp"

#include <cuda_runtime_api.h>

#include "check.hpp"
#include "device/cuda/cuda_error.hpp"

namespace tinyblas::device {
namespace {

Status status_of(cudaError_t error) {
    switch (error) {
        case cudaErrorMemoryAllocation: return Status::out_of_memory;
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
        case cudaErrorInitializationError:
        case cudaErrorSystemDriverMismatch:
        case cudaErrorStubLibrary: return Status::no_device;
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorUnsupportedPtxVersion: return Status::unsupported_device;
        default: return Status::device_error;
    }
}

int attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device), "context");
    return value;
}

}  // namespace

void check(cudaError_t error, const char* operation) {
    if (error == cudaSuccess) [[likely]]
        return;
    cudaGetLastError();  // what is reported here must not be found again by the caller's own checks
    fail(status_of(error), operation, ": CUDA error ", static_cast<int>(error), " (",
         cudaGetErrorName(error), "): ", cudaGetErrorString(error));
}

unsigned grid(std::int64_t blocks, const char* operation) {
    constexpr std::int64_t most = 2147483647;
    require(blocks <= most, operation, ": ", blocks, " blocks of threads: must be at most ", most);
    return static_cast<unsigned>(blocks);
}

int current_device() {
    int device = 0;
    check(cudaGetDevice(&device), "context");
    return device;
}

Properties properties(int device) {
    int capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) +
                     attribute(cudaDevAttrComputeCapabilityMinor, device);
    // A library built without 9.0a's own instructions treats such a GPU as the one below it.
    if (capability == 90 && !TINYBLAS_HAS_SM_90A) capability = 89;
    return {capability, attribute(cudaDevAttrMultiProcessorCount, device)};
}

Guard::Guard(int device) : previous_(current_device()), changed_(previous_ != device) {
    if (changed_) check(cudaSetDevice(device), "device");
}

Guard::~Guard() {
    if (changed_) cudaSetDevice(previous_);
}

Stream create_stream() {
    Stream stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "context");
    return stream;
}

void destroy_stream(Stream stream) noexcept { cudaStreamDestroy(stream); }

void synchronize(Stream stream, const char* operation) {
    check(cudaStreamSynchronize(stream), operation);
}

void* allocate(Memory memory, std::size_t width, std::size_t rows, std::size_t element_size,
               std::size_t& pitch) {
    void* data = nullptr;
    const std::size_t bytes = width * rows;
    pitch = width;
    const auto on_host = [&](unsigned flags) { return cudaHostAlloc(&data, bytes, flags); };
    const auto status = [&] {
        switch (memory) {
            case Memory::device: return cudaMalloc(&data, bytes);
            case Memory::device_pitched: return cudaMallocPitch(&data, &pitch, width, rows);
            case Memory::pinned: return on_host(cudaHostAllocDefault);
            case Memory::pinned_portable: return on_host(cudaHostAllocPortable);
            case Memory::write_combined: return on_host(cudaHostAllocWriteCombined);
            case Memory::mapped: return on_host(cudaHostAllocMapped);
            case Memory::managed: return cudaMallocManaged(&data, bytes);
        }
        return cudaErrorInvalidValue;
    }();
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        fail(Status::out_of_memory, "matrix: no memory for ", rows, " runs of ", width, " bytes");
    }
    check(status, "matrix");
    if (pitch % element_size != 0) {
        release(memory, data);
        fail(Status::invalid_argument, "matrix: elements of ", element_size,
             " bytes: must divide the device's pitch of ", pitch, " bytes");
    }
    return data;
}

void release(Memory memory, void* data) noexcept {
    switch (memory) {
        case Memory::device:
        case Memory::device_pitched:
        case Memory::managed: cudaFree(data); return;
        case Memory::pinned:
        case Memory::pinned_portable:
        case Memory::write_combined:
        case Memory::mapped: cudaFreeHost(data); return;
    }
}

bool reachable(const void* data) {
    cudaPointerAttributes attributes = {};
    check(cudaPointerGetAttributes(&attributes, data), "copy");
    return attributes.type != cudaMemoryTypeUnregistered;
}

void copy_2d(Stream stream, void* to, std::size_t to_pitch, const void* from,
             std::size_t from_pitch, std::size_t width, std::size_t rows, const char* operation) {
    if (rows == 1 || (to_pitch == width && from_pitch == width))
        check(cudaMemcpyAsync(to, from, width * rows, cudaMemcpyDefault, stream), operation);
    else
        check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDefault,
                                stream),
              operation);
}

}  // namespace tinyblas::device
