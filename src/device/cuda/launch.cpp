// SPDX-License-Identifier: MIT
// From a Launch to what CUDA calls it.
#include "device/cuda/launch.hpp"

#include <cuda_runtime_api.h>

#include "device/cuda/cuda_error.hpp"

namespace tinyblas::device {

void enqueue(const Launch& launch, const void* kernel, void** parameters) {
    constexpr std::size_t always_allowed = 48 << 10;  // bytes of shared memory
    if (launch.large_shared > always_allowed)
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(launch.large_shared)),
              "cudaFuncSetAttribute", launch.operation);
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
    const auto compute_capability = [&] {
        return properties(current_device(launch.operation), launch.operation).compute_capability;
    };
    if (launch.dependent && compute_capability() == 90)
        add(cudaLaunchAttributeProgrammaticStreamSerialization)
            .programmaticStreamSerializationAllowed = 1;
    if (launch.cluster > 1) {
        auto& cluster = add(cudaLaunchAttributeClusterDimension).clusterDim;
        cluster.x = launch.cluster;
        cluster.y = cluster.z = 1;
    }
    check(cudaLaunchKernelExC(&config, kernel, parameters), "cudaLaunchKernelExC",
          launch.operation);
}

}  // namespace tinyblas::device
