// SPDX-License-Identifier: MIT
// From a Launch to what CUDA calls it.
#include "device/cuda/launch.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "device/cuda/cuda_error.hpp"
#include "memo.hpp"

namespace tinyblas::device {
namespace {

/// Multiprocessors of a GPU whose kernels can start early, else 0; remembered, for each launch
/// asks.
int multiprocessors_that_start_early(int device, const char* operation) {
    thread_local Memo<1, int> known;
    return known({device}, [&] {
        const Properties own = properties(device, operation);
        return own.compute_capability == 90 ? own.multiprocessors : 0;
    });
}

/// Whether the device's last launches, of all threads, went to one stream or two. Counts this one.
bool are_few_streams(cudaStream_t stream, int device) {
    constexpr int enough = 32;
    struct Recent {
        std::array<std::atomic<const void*>, 2> streams;
        std::atomic<int> launches;  // to these one after another, up to `enough`
    };
    static std::array<Recent, 16> devices;
    thread_local const char own_stream = 0;
    Recent& recent = devices[static_cast<unsigned>(device) % devices.size()];
    const void* const now =
        stream == cudaStreamPerThread ? &own_stream : static_cast<void*>(stream);
    constexpr auto any_order = std::memory_order_relaxed;  // it only guides
    const void* const latest = recent.streams[0].load(any_order);
    if (now != latest && now != recent.streams[1].load(any_order)) {
        recent.streams[1].store(latest, any_order);
        recent.streams[0].store(now, any_order);
        recent.launches.store(0, any_order);
    }
    const int launches = recent.launches.load(any_order);
    if (launches < enough) recent.launches.store(launches + 1, any_order);
    return launches == enough;
}

/// Lets `kernel` take all shared memory that a block can have on `device`. The bytes that it has
/// without being given any.
std::size_t allow_shared(const void* kernel, int device, const char* operation) {
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "cudaDeviceGetAttribute", operation);
    cudaFuncAttributes own = {};
    check(cudaFuncGetAttributes(&own, kernel), "cudaFuncGetAttributes", operation);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               most - static_cast<int>(own.sharedSizeBytes)),
          "cudaFuncSetAttribute", operation);
    return own.sharedSizeBytes;
}

/// The same, remembered likewise.
std::size_t allow_shared_once(const void* kernel, int device, const char* operation) {
    thread_local Memo<2, std::size_t> known;
    return known({device, reinterpret_cast<std::intptr_t>(kernel)},
                 [&] { return allow_shared(kernel, device, operation); });
}

/// Bytes of shared memory that a block has to have so that no multiprocessor takes over `more` of
/// these above what it would have if all had as many: blocks that start early gather where there
/// is room first, and would take two or three times as long there. Not for kernels of several
/// streams, which run at once: it keeps one's blocks off the others' multiprocessors (H200, small
/// products on four and eight streams: 9 and 23 % more time, on two the same).
std::size_t shared_that_spreads(const dim3& grid, int multiprocessors, int more) {
    constexpr std::size_t all = 228 << 10;                // of compute capability 9.0
    constexpr std::size_t besides = 1 << 10, unit = 128;  // of a block; of what it gets
    const std::size_t blocks = std::size_t{grid.x} * grid.y * grid.z;
    const auto places = static_cast<std::size_t>(multiprocessors);
    const std::size_t most = (blocks + places - 1) / places + static_cast<std::size_t>(more);
    const std::size_t least = all / (most + 1) + unit;
    return least > besides ? (least - besides) / unit * unit : 0;
}

}  // namespace

void enqueue(const Launch& launch, const void* kernel, void** parameters) {
    constexpr std::size_t always_allowed = 48 << 10;  // bytes of shared memory
    const int device = current_device(launch.operation);
    const int multiprocessors =
        launch.dependent ? multiprocessors_that_start_early(device, launch.operation) : 0;
    const bool few_streams = are_few_streams(launch.stream, device);
    const bool may_spread = launch.more >= 0 && multiprocessors > 0;
    std::size_t shared = launch.large_shared;
    if (may_spread || shared > always_allowed) {
        const std::size_t own = allow_shared_once(kernel, device, launch.operation);
        const std::size_t wanted =
            may_spread && few_streams
                ? shared_that_spreads(launch.grid, multiprocessors, launch.more)
                : 0;
        if (wanted > own + shared) shared = wanted - own;
    }
    cudaLaunchAttribute attributes[3] = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = launch.grid;
    config.blockDim = launch.block;
    config.dynamicSmemBytes = shared;
    config.stream = launch.stream;
    config.attrs = attributes;
    const auto add = [&](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
        cudaLaunchAttribute& next = attributes[config.numAttrs++];
        next.id = id;
        return next.val;
    };
    if (launch.uncached)
        add(cudaLaunchAttributePreferredSharedMemoryCarveout).sharedMemCarveout = 100;
    if (multiprocessors > 0)
        add(cudaLaunchAttributeProgrammaticStreamSerialization)
            .programmaticStreamSerializationAllowed = 1;
    if (launch.cluster > 1) {
        auto& cluster = add(cudaLaunchAttributeClusterDimension).clusterDim;
        cluster.x = launch.cluster;
        cluster.y = cluster.z = 1;
    }
    cudaError_t error = cudaLaunchKernelExC(&config, kernel, parameters);
    if (shared > always_allowed &&
        error == cudaErrorInvalidValue) {  // what is remembered, a reset has undone
        cudaGetLastError();
        allow_shared(kernel, device, launch.operation);
        error = cudaLaunchKernelExC(&config, kernel, parameters);
    }
    check(error, "cudaLaunchKernelExC", launch.operation);
}

}  // namespace tinyblas::device
