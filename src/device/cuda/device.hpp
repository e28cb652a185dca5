// SPDX-License-Identifier: MIT
// What kernels and their launchers are written in, for CUDA: the few words that CUDA C++ lacks,
// each one instruction or call. The twin of this file, device/emulation/device.hpp, has the same
// words and CUDA's own for a CPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

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

/// launch of one cluster of `blocks` blocks, at most 8.
template <class... Parameters, class... Arguments>
void launch_cluster(const char* operation, void (*kernel)(Parameters...), unsigned blocks,
                    dim3 block, Stream stream, const Arguments&... arguments) {
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = blocks;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = block;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), operation);
}

/// launch of a kernel that may start while the one before it on the stream still runs, once all of
/// that one's blocks have called let_dependents_start() or ended; it must call wait_for_launcher().
/// Where a GPU or its machine code lacks these words, a plain launch.
template <class... Parameters, class... Arguments>
void launch_dependent(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                      Stream stream, const Arguments&... arguments) {
    cudaLaunchAttribute dependent = {};
    dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    dependent.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    config.attrs = &dependent;
    config.numAttrs = properties(current_device()).compute_capability == 90 ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), operation);
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

/// x * y + z, rounded once; its operands may stay in constant memory.
__device__ __forceinline__ float fused_multiply_add(float x, float y, float z) {
    return __fmaf_rn(x, y, z);
}
__device__ __forceinline__ double fused_multiply_add(double x, double y, double z) {
    return __fma_rn(x, y, z);
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
template <class T>
__device__ __forceinline__ T* opaque(T* x) {
    asm volatile("" : "+l"(x));
    return x;
}

/// x in 16 bits, rounded to the nearest, ties to even; what is too large becomes Inf. fp16: 11
/// significant bits, 2^-24 to 65504; bf16: 8 bits, the range of float.
__device__ __forceinline__ std::uint16_t to_fp16(float x) {
    std::uint16_t narrow;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow) : "f"(x));
    return narrow;
}
__device__ __forceinline__ std::uint16_t to_bf16(float x) {
    std::uint16_t narrow;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(x));
    return narrow;
}
__device__ __forceinline__ float from_fp16(std::uint16_t narrow) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(narrow));
    return x;
}
__device__ __forceinline__ float from_bf16(std::uint16_t narrow) {
    return __uint_as_float(static_cast<unsigned>(narrow) << 16);
}
/// Two at once: `low` in the lower half of the word.
__device__ __forceinline__ std::uint32_t to_fp16_pair(float low, float high) {
    std::uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
__device__ __forceinline__ std::uint32_t to_bf16_pair(float low, float high) {
    std::uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
__device__ __forceinline__ void from_fp16_pair(std::uint32_t pair, float& low, float& high) {
    low = from_fp16(static_cast<std::uint16_t>(pair));
    high = from_fp16(static_cast<std::uint16_t>(pair >> 16));
}
__device__ __forceinline__ void from_bf16_pair(std::uint32_t pair, float& low, float& high) {
    low = __uint_as_float(pair << 16);
    high = __uint_as_float(pair & 0xFFFF0000u);
}

/// Waits until the kernels before this one on the stream have ended and their writes can be read:
/// what a kernel started by launch_dependent calls in every thread that reads or overwrites what
/// they touch. Nothing to wait for after other launches.
__device__ __forceinline__ void wait_for_launcher() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The next kernel on the stream may start, if launch_dependent launched it, once all blocks have
/// said so.
__device__ __forceinline__ void let_dependents_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Whether a block's warps can pass registers to each other (an instruction of compute
/// capability 9.0a).
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool reallocates_registers = true;
#else
inline constexpr bool reallocates_registers = false;
#endif

/// Whether the library is built with kernels for the tensor cores of compute capability 9.0a.
inline constexpr bool has_wgmma = true;

/// For launch bounds: `blocks` blocks of `threads` threads, or as many as a multiprocessor holds.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || \
                               __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
inline constexpr int multiprocessor_threads = 1536;
#else
inline constexpr int multiprocessor_threads = 2048;
#endif
constexpr int resident_blocks(int blocks, int threads) {
    return blocks * threads <= multiprocessor_threads ? blocks : multiprocessor_threads / threads;
}

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
template <class T, int count>
__device__ __forceinline__ void load_vector(T (&to)[count], const T* from) {
    static_assert(count * sizeof(T) == 16);
    const uint4 vector = *reinterpret_cast<const uint4*>(from);
    std::memcpy(to, &vector, 16);
}
template <class T, int count>
__device__ __forceinline__ void store_vector(T* to, const T (&from)[count]) {
    static_assert(count * sizeof(T) == 16);
    uint4 vector;
    std::memcpy(&vector, from, 16);
    *reinterpret_cast<uint4*>(to) = vector;
}

/// store_vector to global memory, one instruction whatever surrounds it.
template <class T, int count>
__device__ __forceinline__ void store_global(T* to, const T (&from)[count]) {
    static_assert(count * sizeof(T) == 16);
    uint4 vector;
    std::memcpy(&vector, from, 16);
    __stwb(reinterpret_cast<uint4*>(to), vector);
}

/// load_vector from global memory that nothing writes while the kernel runs: as __ldg, through the
/// read-only path.
template <class T, int count>
__device__ __forceinline__ void load_read_only(T (&to)[count], const T* from) {
    static_assert(count * sizeof(T) == 16);
    const uint4 vector = __ldg(reinterpret_cast<const uint4*>(from));
    std::memcpy(to, &vector, 16);
}

/// Reads from the cache that all multiprocessors share: what another kernel has written while this
/// one was already there is seen.
template <class T>
__device__ __forceinline__ T load_fresh(const T* from) {
    return __ldcg(from);
}

/// Element `index` of a texture, of count * sizeof(T) bytes; zeros outside of it.
template <class T, int count>
__device__ __forceinline__ void fetch(T (&to)[count], Texture texture, int index) {
    using Element = std::conditional_t<sizeof(to) == 16, uint4,
                                       std::conditional_t<sizeof(to) == 8, uint2, unsigned>>;
    static_assert(sizeof(to) == sizeof(Element));
    const Element element = tex1Dfetch<Element>(texture, index);
    std::memcpy(to, &element, sizeof to);
}

/// The counter's value, which becomes one larger, or 0 after `last`. Orders memory: what threads
/// wrote before their turn can be read after a later one.
__device__ __forceinline__ unsigned take_turn(unsigned* counter, unsigned last) {
    unsigned turn;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(turn)
                 : "l"(counter), "r"(last)
                 : "memory");
    return turn;
}

/// One store of 8 bytes that the host can see at once.
__device__ __forceinline__ void store_for_host(std::uint64_t* to, std::uint64_t value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

/// Clusters: blocks that run at the same time and reach each other's shared memory (compute
/// capability 9.0 and later).
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
inline constexpr bool has_clusters = true;
#else
inline constexpr bool has_clusters = false;
#endif
/// The two halves of a barrier of all threads of a cluster: memory written before the one can be
/// read after the other. A relaxed arrival says nothing of memory, and is quicker.
__device__ __forceinline__ void cluster_arrive() {
    asm volatile("barrier.cluster.arrive;" ::: "memory");
}
__device__ __forceinline__ void cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
    asm volatile("barrier.cluster.wait;" ::: "memory");
}
/// Block `rank`'s copy of what `pointer` points to in the calling block's shared memory.
template <class T>
__device__ __forceinline__ T* of_block(T* pointer, unsigned rank) {
    T* other;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(pointer), "r"(rank));
    return other;
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
