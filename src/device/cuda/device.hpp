// SPDX-License-Identifier: MIT
// What kernels and their launchers are written in, for CUDA: the few words that CUDA C++ lacks,
// each one instruction or call. The twin of this file, device/emulation/device.hpp, has the same
// words and CUDA's own for a CPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device/cuda/cuda_error.hpp"
#include "device/runtime.hpp"

namespace tinyblas::device {

/// Enqueues kernel(arguments...) on `stream`; throws Error that names `operation` if the launch
/// fails. `large_shared` bytes are what the kernel takes through large_shared().
template <class... Parameters, class... Arguments>
void launch_large(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                  std::size_t large_shared, Stream stream, const Arguments&... arguments) {
    constexpr std::size_t always_allowed = 48 << 10;
    if (large_shared > always_allowed)
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(large_shared)),
              operation);
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = large_shared;
    config.stream = stream;
    check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), operation);
}
template <class... Parameters, class... Arguments>
void launch(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            Stream stream, const Arguments&... arguments) {
    launch_large(operation, kernel, grid, block, 0, stream, arguments...);
}

/// Shared memory of the calling block, one Storage for each distinct Tag: what `__shared__ Storage
/// name;` declares.
template <class Tag, class Storage>
__device__ __forceinline__ Storage& shared() {
    alignas(16) __shared__ Storage storage;
    return storage;
}

/// The same, once a kernel, for more than the 48 KB that fit a declaration; the launch says how
/// many bytes.
template <class Storage>
__device__ __forceinline__ Storage& large_shared() {
    extern __shared__ uint4 tinyblas_large_shared[];
    return *reinterpret_cast<Storage*>(tinyblas_large_shared);
}

/// sum + x * y, rounded once, in the order that the source gives (the compiler may not move it
/// across another one).
__device__ __forceinline__ void multiply_add(float& sum, float x, float y) {
    asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(x), "f"(y));
}
__device__ __forceinline__ void multiply_add(double& sum, double x, double y) {
    asm volatile("fma.rn.f64 %0, %1, %2, %0;" : "+d"(sum) : "d"(x), "d"(y));
}

/// `x`, of which the compiler knows nothing.
__device__ __forceinline__ float opaque(float x) {
    asm volatile("" : "+f"(x));
    return x;
}
__device__ __forceinline__ unsigned opaque(unsigned x) {
    asm volatile("" : "+r"(x));
    return x;
}
__device__ __forceinline__ double opaque(double x) {
    asm volatile("" : "+d"(x));
    return x;
}

/// Whether a block's warps can pass registers to each other (an instruction of compute
/// capability 9.0a).
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool reallocates_registers = true;
#else
inline constexpr bool reallocates_registers = false;
#endif

/// Ends the kernel with an error.
__device__ __forceinline__ void trap() { asm volatile("trap;"); }

/// The calling warpgroup (four warps) keeps `count` registers a thread: the rest become free, or
/// are waited for.
template <int count>
__device__ __forceinline__ void give_up_registers() {
    if constexpr (reallocates_registers)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ __forceinline__ void claim_registers() {
    if constexpr (reallocates_registers)
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/// A pointer into shared memory as the 32-bit address that its instructions take, kept in a
/// register.
template <class T>
class SharedPointer {
  public:
    __device__ __forceinline__ explicit SharedPointer(T* pointer)
        : address_(static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer))) {
        asm volatile("" : "+r"(address_));
    }
    __device__ __forceinline__ SharedPointer operator+(int elements) const {
        SharedPointer moved = *this;
        moved.address_ += elements * static_cast<int>(sizeof(T));
        return moved;
    }
    __device__ __forceinline__ std::uint32_t address() const { return address_; }

  private:
    std::uint32_t address_;
};

/// 16 bytes at a time, from a 16-byte aligned address; in the order that the source gives.
__device__ __forceinline__ void load_vector(float (&to)[4], SharedPointer<float> from) {
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                 : "r"(from.address()));
}
__device__ __forceinline__ void load_vector(double (&to)[2], SharedPointer<double> from) {
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];"
                 : "=d"(to[0]), "=d"(to[1])
                 : "r"(from.address()));
}
__device__ __forceinline__ void load_vector(float (&to)[4], const float* from) {
    const float4 v = *reinterpret_cast<const float4*>(from);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void load_vector(double (&to)[2], const double* from) {
    const double2 v = *reinterpret_cast<const double2*>(from);
    to[0] = v.x, to[1] = v.y;
}
__device__ __forceinline__ void store_vector(float* to, const float (&from)[4]) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}
__device__ __forceinline__ void store_vector(double* to, const double (&from)[2]) {
    *reinterpret_cast<double2*>(to) = make_double2(from[0], from[1]);
}

/// Starts a copy of `count` elements, 4, 8 or 16 bytes, from global to shared memory: the first
/// `valid` are read, the rest become zero. What arrives may be read after wait_for_copies and a
/// barrier.
template <int count, class T>
__device__ __forceinline__ void copy_async(SharedPointer<T> to, const T* from, int valid = count) {
    constexpr int bytes = count * sizeof(T);
    const int valid_bytes = valid * static_cast<int>(sizeof(T));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to.address()), "l"(from),
                     "r"(valid_bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to.address()), "l"(from),
                     "n"(bytes), "r"(valid_bytes)
                     : "memory");
}
/// Closes a group: the copies started since the last call.
__device__ __forceinline__ void close_copy_group() { asm volatile("cp.async.commit_group;"); }
/// Waits until all but the calling thread's last `pending` groups have arrived.
template <int pending>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

}  // namespace tinyblas::device
