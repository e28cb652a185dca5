// SPDX-License-Identifier: MIT
// From a Launch to what CUDA calls it.
#include "device/cuda/launch.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/cuda/cuda_error.hpp"
#include "memo.hpp"

namespace tinyblas::device {
namespace {

/// Whether kernels can start early; remembered, for each launch asks.
bool starts_dependents(const char* operation) {
    thread_local Memo<1, bool> known;
    const int device = current_device(operation);
    return known({device}, [&] { return properties(device, operation).compute_capability == 90; });
}

/// Lets `kernel` take all shared memory that a block can have on the current device.
void allow_shared(const void* kernel, const char* operation) {
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                 current_device(operation)),
          "cudaDeviceGetAttribute", operation);
    cudaFuncAttributes own = {};
    check(cudaFuncGetAttributes(&own, kernel), "cudaFuncGetAttributes", operation);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               most - static_cast<int>(own.sharedSizeBytes)),
          "cudaFuncSetAttribute", operation);
}

/// The same, remembered likewise.
void allow_shared_once(const void* kernel, const char* operation) {
    thread_local Memo<2, bool> known;
    known({current_device(operation), reinterpret_cast<std::intptr_t>(kernel)}, [&] {
        allow_shared(kernel, operation);
        return true;
    });
}

}  // namespace

void enqueue(const Launch& launch, const void* kernel, void** parameters) {
    constexpr std::size_t always_allowed = 48 << 10;  // bytes of shared memory
    const bool large = launch.large_shared > always_allowed;
    if (large) allow_shared_once(kernel, launch.operation);
    cudaLaunchAttribute attributes[3] = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = launch.grid;
    config.blockDim = launch.block;
    config.dynamicSmemBytes = launch.large_shared;
    config.stream = launch.stream;
    config.attrs = attributes;
    const auto add = [&](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
        cudaLaunchAttribute& next = attributes[config.numAttrs++];
        next.id = id;
        return next.val;
    };
    if (launch.uncached)
        add(cudaLaunchAttributePreferredSharedMemoryCarveout).sharedMemCarveout = 100;
    if (launch.dependent && starts_dependents(launch.operation))
        add(cudaLaunchAttributeProgrammaticStreamSerialization)
            .programmaticStreamSerializationAllowed = 1;
    if (launch.cluster > 1) {
        auto& cluster = add(cudaLaunchAttributeClusterDimension).clusterDim;
        cluster.x = launch.cluster;
        cluster.y = cluster.z = 1;
    }
    cudaError_t error = cudaLaunchKernelExC(&config, kernel, parameters);
    if (large && error == cudaErrorInvalidValue) {  // what is remembered, a reset has undone
        cudaGetLastError();
        allow_shared(kernel, launch.operation);
        error = cudaLaunchKernelExC(&config, kernel, parameters);
    }
    check(error, "cudaLaunchKernelExC", launch.operation);
}

}  // namespace tinyblas::device
