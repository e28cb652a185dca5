// SPDX-License-Identifier: MIT
// The mock's kernels: registered by what nvcc makes of the library, launched without running; their
// textures; and the one function that the library takes from the driver.
#include <cuda.h>

#include <cstring>

#include "mock_state.hpp"

namespace tinyblas::mock {
namespace {

CUresult encode_tiles(CUtensorMap* map, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                      const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                      CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                      CUtensorMapFloatOOBfill) {
    const int error = enter("cuTensorMapEncodeTiled");
    std::memset(map, 0, sizeof *map);
    return static_cast<CUresult>(error);
}

bool has_threads(dim3 x) { return x.x > 0 && x.y > 0 && x.z > 0; }

/// What a real launch would refuse.
cudaError_t check_launch(const cudaLaunchConfig_t& config, const void* kernel) {
    const State& s = state();
    if (!s.kernels.contains(kernel)) return misuse("a kernel that was never registered");
    constexpr std::size_t always_allowed = 48 << 10;
    const auto allowed = s.large_shared.find(kernel);
    if (config.dynamicSmemBytes > always_allowed &&
        (allowed == s.large_shared.end() ||
         static_cast<std::size_t>(allowed->second) < config.dynamicSmemBytes))
        return cudaErrorInvalidValue;
    const dim3 block = config.blockDim;
    if (!has_threads(config.gridDim) || !has_threads(block) || block.x * block.y * block.z > 1024)
        return misuse("a grid or block out of bounds, of " + s.kernels.at(kernel));
    return cudaSuccess;
}

}  // namespace
}  // namespace tinyblas::mock

using namespace tinyblas::mock;

extern "C" {

// What nvcc's host code calls before main, and after it.
void** __cudaRegisterFatBinary(void*) {
    static void* handle = nullptr;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 0; }
void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
    state().kernels[stub] = name;
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

// Of stubs that nothing calls: the library launches by address.
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { return misuse("a stub was called"); }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
    return misuse("a stub was called");
}
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) {
    return misuse("a stub was called");
}

}  // extern "C"

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
    return entered("cudaLaunchKernelExC", [&] {
        cudaError_t error = check_launch(*config, kernel);
        stream_of(config->stream, error);
        if (error != cudaSuccess) return error;
        State& s = state();
        const std::string& name = s.kernels.at(kernel);
        s.launches.push_back({name, config->gridDim, config->blockDim, config->dynamicSmemBytes});
        if (s.stand_in) s.stand_in(name, arguments);
        return cudaSuccess;
    });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
    return entered("cudaFuncGetAttributes", [&] {
        *attributes = {};
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    return entered("cudaFuncSetAttribute", [&] {
        if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
            return misuse("the mock lacks this attribute of a kernel");
        constexpr int most = 227 << 10;
        if (value > most) return cudaErrorInvalidValue;
        state().large_shared[kernel] = value;
        return cudaSuccess;
    });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc*, const cudaResourceViewDesc*) {
    return entered("cudaCreateTextureObject", [&] {
        if (const auto error = unsafe_in_capture(); error != cudaSuccess) return error;
        if (reinterpret_cast<std::uintptr_t>(resource->res.linear.devPtr) % 512 != 0)
            return misuse("a texture that is not aligned");
        static cudaTextureObject_t next = 0;
        *texture = ++next;
        state().textures.insert(*texture);
        return cudaSuccess;
    });
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
    return let_go("cudaDestroyTextureObject", [&] {
        return state().textures.erase(texture) == 1 ? cudaSuccess : misuse("no such texture");
    });
}
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* elements,
                                                 const cudaChannelFormatDesc*, int) {
    return entered("cudaDeviceGetTexture1DLinearMaxWidth", [&] {
        *elements = std::size_t{1} << 30;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
    return entered("cudaGetDriverEntryPointByVersion", [&] {
        const bool known = std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
        *function = known ? reinterpret_cast<void*>(&encode_tiles) : nullptr;
        *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
        return cudaSuccess;
    });
}
