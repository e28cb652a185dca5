// SPDX-License-Identifier: MIT
// The host's side of a CUDA device.
#include "device/runtime.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "check.hpp"
#include "device/cuda/cuda_error.hpp"
#include "device/cuda/ranges.hpp"

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

int attribute(cudaDeviceAttr which, int device, const char* operation) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute", operation);
    return value;
}

/// What graphs have let go. CUDA says so in a callback that may not call CUDA, so that the deleters
/// run later. Never destroyed: the last callbacks may come while the process ends.
struct Released {
    std::mutex mutex;
    std::vector<std::shared_ptr<void>> resources;
};
Released& released() {
    static auto& one = *new Released;
    return one;
}
void let_go(void* kept) {
    const std::unique_ptr<std::shared_ptr<void>> resource(
        static_cast<std::shared_ptr<void>*>(kept));
    const std::lock_guard lock(released().mutex);
    released().resources.push_back(std::move(*resource));
}

cudaChannelFormatDesc channel(int element_bytes) {
    return {32, element_bytes >= 8 ? 32 : 0, element_bytes == 16 ? 32 : 0,
            element_bytes == 16 ? 32 : 0, cudaChannelFormatKindUnsigned};
}

/// The device of the guard that lives on this thread, and 1; 0 if there is none: while one does, no
/// one makes another device current, and CUDA, which takes its time, need not be asked. All
/// threads' begin with zeros, for CUDA's own want a page, and what does not would take that of the
/// library.
thread_local int guarded = 0;

/// The driver's function that makes a TileMap; the library is not linked with the driver.
auto tile_encoder(const char* operation) {
    static const auto encoder = [&] {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult result = {};
        constexpr const char* function = "cudaGetDriverEntryPointByVersion";
        check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                               cudaEnableDefault, &result),
              function, operation);
        if (result != cudaDriverEntryPointSuccess)
            check(cudaErrorInsufficientDriver, function, operation);
        return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
    }();
    return encoder;
}

}  // namespace

void check(cudaError_t error, const char* function, const char* operation) {
    if (error == cudaSuccess) [[likely]]
        return;
    cudaGetLastError();  // what is reported here must not be found again by the caller's own checks
    fail(status_of(error), operation, ": ", function, ": CUDA error ", static_cast<int>(error),
         " (", cudaGetErrorName(error), "): ", cudaGetErrorString(error));
}

unsigned grid(std::int64_t blocks, const char* operation) {
    constexpr std::int64_t most = 2147483647;
    require(blocks <= most, operation, ": ", blocks, " blocks of threads: must be at most ", most);
    return static_cast<unsigned>(blocks);
}

int current_device(const char* operation) {
    if (guarded > 0) return guarded - 1;
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice", operation);
    return device;
}

Properties properties(int device, const char* operation) {
    int capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device, operation) +
                     attribute(cudaDevAttrComputeCapabilityMinor, device, operation);
    // A library built without 9.0a's own instructions treats such a GPU as the one below it.
    if (capability == 90 && !TINYBLAS_HAS_SM_90A) capability = 89;
    // Kilohertz, of which each edge moves a bus's width, in bits.
    const double memory_speed =
        2e3 * attribute(cudaDevAttrMemoryClockRate, device, operation) *
        (attribute(cudaDevAttrGlobalMemoryBusWidth, device, operation) / 8.0);
    return {capability, attribute(cudaDevAttrMultiProcessorCount, device, operation), memory_speed};
}

Guard::Guard(int device, const char* operation)
    : previous_(current_device(operation)), changed_(previous_ != device), inner_(guarded > 0) {
    if (changed_) check(cudaSetDevice(device), "cudaSetDevice", operation);
    guarded = device + 1;
    begin_range(operation);
}

Guard::~Guard() {
    end_range();
    guarded = inner_ ? previous_ + 1 : 0;
    if (changed_) cudaSetDevice(previous_);
}

Stream create_stream(const char* operation) {
    Stream stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
          operation);
    return stream;
}

void destroy_stream(Stream stream) noexcept { cudaStreamDestroy(stream); }

void synchronize(Stream stream, const char* operation) {
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", operation);
}

Event create_event(const char* operation) {
    Event event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags",
          operation);
    return event;
}
void destroy_event(Event event) noexcept { cudaEventDestroy(event); }
void record(Event event, Stream stream, const char* operation) {
    check(cudaEventRecord(event, stream), "cudaEventRecord", operation);
}
void wait(Stream stream, Event event, const char* operation) {
    check(cudaStreamWaitEvent(stream, event), "cudaStreamWaitEvent", operation);
}
void wait_on_host(Event event, const char* operation) {
    check(cudaEventSynchronize(event), "cudaEventSynchronize", operation);
}

bool is_capturing(Stream stream, const char* operation) {
    auto status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing", operation);
    return status != cudaStreamCaptureStatusNone;
}

void keep_with_graph(Stream stream, const std::shared_ptr<void>& resource, const char* operation) {
    auto status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
    check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr),
          "cudaStreamGetCaptureInfo", operation);
#else
    check(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph), "cudaStreamGetCaptureInfo",
          operation);
#endif
    auto kept = std::make_unique<std::shared_ptr<void>>(resource);
    cudaUserObject_t object = nullptr;
    check(cudaUserObjectCreate(&object, kept.get(), let_go, 1, cudaUserObjectNoDestructorSync),
          "cudaUserObjectCreate", operation);
    static_cast<void>(kept.release());  // the object's from here on
    const auto error = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
    if (error != cudaSuccess) cudaUserObjectRelease(object);
    check(error, "cudaGraphRetainUserObject", operation);
}

void release_of_graphs() noexcept {
    const Uncaptured uncaptured;
    std::vector<std::shared_ptr<void>> resources;  // go after the lock has
    const std::lock_guard lock(released().mutex);
    resources.swap(released().resources);
}

Uncaptured::Uncaptured() noexcept : mode_(cudaStreamCaptureModeRelaxed) {
    auto mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    mode_ = mode;
}
Uncaptured::~Uncaptured() {
    auto mode = static_cast<cudaStreamCaptureMode>(mode_);
    cudaThreadExchangeStreamCaptureMode(&mode);
}

Texture create_texture(const void* data, std::size_t bytes, int element_bytes,
                       const char* operation) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void*>(data);
    resource.res.linear.sizeInBytes = bytes;
    resource.res.linear.desc = channel(element_bytes);
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    Texture texture = 0;
    check(cudaCreateTextureObject(&texture, &resource, &description, nullptr),
          "cudaCreateTextureObject", operation);
    return texture;
}
void destroy_texture(Texture texture) noexcept { cudaDestroyTextureObject(texture); }

std::size_t texture_alignment(int device, const char* operation) {
    return static_cast<std::size_t>(attribute(cudaDevAttrTextureAlignment, device, operation));
}
std::int64_t longest_texture(int element_bytes, int device, const char* operation) {
    const auto format = channel(element_bytes);
    std::size_t elements = 0;
    check(cudaDeviceGetTexture1DLinearMaxWidth(&elements, &format, device),
          "cudaDeviceGetTexture1DLinearMaxWidth", operation);
    return static_cast<std::int64_t>(elements);
}

void* allocate(Memory memory, std::size_t width, std::size_t rows, std::size_t element_size,
               std::size_t& pitch, const char* operation) {
    const Uncaptured uncaptured;
    void* data = nullptr;
    const char* function = "cudaHostAlloc";
    const std::size_t bytes = width * rows;
    pitch = width;
    const auto on_host = [&](unsigned flags) { return cudaHostAlloc(&data, bytes, flags); };
    const auto status = [&] {
        switch (memory) {
            case Memory::device: function = "cudaMalloc"; return cudaMalloc(&data, bytes);
            case Memory::device_pitched:
                function = "cudaMallocPitch";
                return cudaMallocPitch(&data, &pitch, width, rows);
            case Memory::pinned: return on_host(cudaHostAllocDefault);
            case Memory::pinned_portable: return on_host(cudaHostAllocPortable);
            case Memory::write_combined: return on_host(cudaHostAllocWriteCombined);
            case Memory::mapped: return on_host(cudaHostAllocMapped);
            case Memory::managed:
                function = "cudaMallocManaged";
                return cudaMallocManaged(&data, bytes);
        }
        return cudaErrorInvalidValue;
    }();
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        fail(Status::out_of_memory, operation, ": ", function, ": no memory for ", rows,
             " runs of ", width, " bytes");
    }
    check(status, function, operation);
    if (pitch % element_size != 0) {
        release(memory, data);
        fail(Status::invalid_argument, operation, ": elements of ", element_size,
             " bytes: must divide the device's pitch of ", pitch, " bytes");
    }
    return data;
}

void release(Memory memory, void* data) noexcept {
    const Uncaptured uncaptured;
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

bool reachable(const void* data, const char* operation) {
    cudaPointerAttributes attributes = {};
    check(cudaPointerGetAttributes(&attributes, data), "cudaPointerGetAttributes", operation);
    return attributes.type != cudaMemoryTypeUnregistered;
}

void set_to_zero(void* data, std::size_t bytes, const char* operation) {
    // On a stream of its own: the default stream may not be used while another one is captured.
    const std::unique_ptr<CUstream_st, decltype(&destroy_stream)> stream(create_stream(operation),
                                                                         destroy_stream);
    check(cudaMemsetAsync(data, 0, bytes, stream.get()), "cudaMemsetAsync", operation);
    synchronize(stream.get(), operation);
}

void copy_2d(Stream stream, void* to, std::size_t to_pitch, const void* from,
             std::size_t from_pitch, std::size_t width, std::size_t rows, const char* operation) {
    if (rows == 1 || (to_pitch == width && from_pitch == width))
        check(cudaMemcpyAsync(to, from, width * rows, cudaMemcpyDefault, stream), "cudaMemcpyAsync",
              operation);
    else
        check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDefault,
                                stream),
              "cudaMemcpy2DAsync", operation);
}

TileMap map_tiles(const float* data, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                  int tile_rows, int tile_columns, const char* operation, bool swizzled) {
    static_assert(sizeof(TileMap) == sizeof(CUtensorMap));
    const cuuint64_t extents[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
    const cuuint64_t pitch = static_cast<cuuint64_t>(stride) * sizeof(float);
    const cuuint32_t tile[] = {static_cast<cuuint32_t>(tile_columns),
                               static_cast<cuuint32_t>(tile_rows)};
    const cuuint32_t steps[] = {1, 1};
    CUtensorMap map;
    const CUresult result = tile_encoder(operation)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(data), extents, &pitch, tile,
        steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        swizzled ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS)
        fail(Status::device_error, operation, ": cuTensorMapEncodeTiled: no map of ", rows, " x ",
             columns, " floats, ", stride, " apart: CUDA driver error ", static_cast<int>(result));
    TileMap tiles;
    std::memcpy(&tiles, &map, sizeof tiles);
    return tiles;
}

}  // namespace tinyblas::device
