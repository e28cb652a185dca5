// SPDX-License-Identifier: MIT
// What kernels and their launchers are written in, for CUDA: the few words that CUDA C++ lacks,
// each one instruction or call. The twin of this file, device/emulation/device.hpp, has the same
// words and CUDA's own for a CPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/cuda/launch.hpp"
#include "device/runtime.hpp"

namespace tinyblas::device {

/// Enqueues kernel(arguments...) on `stream`; throws Error that names `operation` if the launch
/// fails. Runs of `cluster` blocks along the grid's x, which they divide, are clusters.
/// `large_shared` bytes are what the kernel takes through large_shared().
template <class... Parameters, class... Arguments>
void launch_grid_of_clusters(const char* operation, void (*kernel)(Parameters...), dim3 grid,
                             unsigned cluster, dim3 block, std::size_t large_shared, Stream stream,
                             const Arguments&... arguments) {
    enqueue({operation, grid, block, large_shared, stream, cluster}, kernel, arguments...);
}
template <class... Parameters, class... Arguments>
void launch_large(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                  std::size_t large_shared, Stream stream, const Arguments&... arguments) {
    enqueue({operation, grid, block, large_shared, stream}, kernel, arguments...);
}
template <class... Parameters, class... Arguments>
void launch(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            Stream stream, const Arguments&... arguments) {
    enqueue({operation, grid, block, 0, stream}, kernel, arguments...);
}

/// launch_large of a kernel that has no use for the first-level cache: all that can be is shared
/// memory, so that as many blocks as possible find room.
template <class... Parameters, class... Arguments>
void launch_uncached(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                     std::size_t large_shared, Stream stream, const Arguments&... arguments) {
    enqueue({operation, grid, block, large_shared, stream, 1, true}, kernel, arguments...);
}

/// launch of one cluster of `blocks` blocks, at most 8.
template <class... Parameters, class... Arguments>
void launch_cluster(const char* operation, void (*kernel)(Parameters...), unsigned blocks,
                    dim3 block, Stream stream, const Arguments&... arguments) {
    enqueue({operation, blocks, block, 0, stream, blocks}, kernel, arguments...);
}

/// launch_grid_of_clusters of a kernel that may start while the one before it on the stream still
/// runs, once all of that one's blocks have called let_dependents_start() or ended; it must call
/// wait_for_launcher(). Where a GPU or its machine code lacks these words, a plain launch.
template <class... Parameters, class... Arguments>
void launch_dependent_clusters(const char* operation, void (*kernel)(Parameters...), dim3 grid,
                               unsigned cluster, dim3 block, std::size_t large_shared,
                               Stream stream, const Arguments&... arguments) {
    enqueue({operation, grid, block, large_shared, stream, cluster, false, true}, kernel,
            arguments...);
}
template <class... Parameters, class... Arguments>
void launch_large_dependent(const char* operation, void (*kernel)(Parameters...), dim3 grid,
                            dim3 block, std::size_t large_shared, Stream stream,
                            const Arguments&... arguments) {
    launch_dependent_clusters(operation, kernel, grid, 1, block, large_shared, stream,
                              arguments...);
}
template <class... Parameters, class... Arguments>
void launch_dependent(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                      Stream stream, const Arguments&... arguments) {
    launch_dependent_clusters(operation, kernel, grid, 1, block, 0, stream, arguments...);
}

/// launch_dependent_clusters of a kernel whose blocks no multiprocessor should have more of than
/// others, but for `more`: those that start early would gather where the kernel before them ends
/// first. Of three streams or more that are busy, blocks go where there is room.
template <int more = 0, class... Parameters, class... Arguments>
void launch_even_clusters(const char* operation, void (*kernel)(Parameters...), dim3 grid,
                          unsigned cluster, dim3 block, std::size_t large_shared, Stream stream,
                          const Arguments&... arguments) {
    enqueue({operation, grid, block, large_shared, stream, cluster, false, true, more}, kernel,
            arguments...);
}
template <int more = 0, class... Parameters, class... Arguments>
void launch_evenly(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   std::size_t large_shared, Stream stream, const Arguments&... arguments) {
    launch_even_clusters<more>(operation, kernel, grid, 1, block, large_shared, stream,
                               arguments...);
}

/// launch_dependent of a kernel that runs beside those of the same call before it on the stream,
/// and shares only what they read: the first of them has waited before it let others start, so what
/// came before is there. This one calls wait_for_launcher() last: who waits for it waits for all.
template <class... Parameters, class... Arguments>
void launch_beside(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   Stream stream, const Arguments&... arguments) {
    launch_dependent(operation, kernel, grid, block, stream, arguments...);
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
    // It begins there anyway, but declared so, it would be padded beside a kernel's shared().
    if constexpr (alignof(Storage) > 128) {
        extern __shared__ __align__(1024) uint4 tinyblas_aligned_shared[];
        return *reinterpret_cast<Storage*>(tinyblas_aligned_shared);
    } else {
        extern __shared__ uint4 tinyblas_large_shared[];
        return *reinterpret_cast<Storage*>(tinyblas_large_shared);
    }
}

/// The same as elements, as many as the kernel knows that its launch gave bytes for; it begins at a
/// multiple of 16 bytes.
template <class T>
__device__ __forceinline__ T* large_shared_array(int /*count*/) {
    return reinterpret_cast<T*>(&large_shared<uint4>());
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
__device__ __forceinline__ int opaque(int x) {
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

/// The element so many behind `from`: two instructions, where the compiler takes three.
template <class T>
__device__ __forceinline__ const T* displaced(const T* from, int elements) {
    const T* to;
    asm("mad.wide.s32 %0, %1, %2, %3;"
        : "=l"(to)
        : "r"(elements), "n"(static_cast<int>(sizeof(T))), "l"(from));
    return to;
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

/// Waits for about so many cycles.
__device__ __forceinline__ void let_time_pass(int cycles) {
    for (const long long begin = clock64(); clock64() - begin < cycles;) __nanosleep(100);
}

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

/// An address in shared memory, to which bytes can be added.
using SharedAddress = std::uint32_t;

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
    /// With these bits of the address, in bytes, the other way.
    __device__ __forceinline__ SharedPointer operator^(int bits) const {
        SharedPointer moved = *this;
        moved.address_ ^= static_cast<std::uint32_t>(bits);
        return moved;
    }
    __device__ __forceinline__ SharedAddress address() const { return address_; }

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
/// One element, in the order that the source gives.
template <class T>
__device__ __forceinline__ void load_element(T& to, SharedAddress from) {
    if constexpr (sizeof(T) == 4)
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(to) : "r"(from));
    else
        asm volatile("ld.shared.f64 %0, [%1];" : "=d"(to) : "r"(from));
}
template <class T>
__device__ __forceinline__ void load_element(T& to, SharedPointer<T> from) {
    load_element(to, from.address());
}
template <class T>
__device__ __forceinline__ void store_element(SharedAddress to, T value) {
    if constexpr (sizeof(T) == 4)
        asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(value) : "memory");
    else
        asm volatile("st.shared.f64 [%0], %1;" ::"r"(to), "d"(value) : "memory");
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

/// store_vector to global memory, one instruction whatever surrounds it. `streams`: nothing reads
/// it soon, so that the L2 cache gives it up first.
template <bool streams = false, class T, int count>
__device__ __forceinline__ void store_global(T* to, const T (&from)[count]) {
    static_assert(count * sizeof(T) == 16);
    uint4 vector;
    std::memcpy(&vector, from, 16);
    if constexpr (streams)
        __stcs(reinterpret_cast<uint4*>(to), vector);
    else
        __stwb(reinterpret_cast<uint4*>(to), vector);
}
/// One element.
template <class T>
__device__ __forceinline__ void store_global(T* to, T value) {
    __stwb(to, value);
}

/// Asks the L2 cache for the 32 bytes of global memory in which `at` lies.
__device__ __forceinline__ void announce(const void* at) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

/// load_vector from global memory that nothing writes while the kernel runs: as __ldg, through the
/// read-only path. `ahead`: as copy_async.
template <bool ahead = false, class T, int count>
__device__ __forceinline__ void load_read_only(T (&to)[count], const T* from) {
    static_assert(count * sizeof(T) == 16);
    uint4 vector;
    if constexpr (ahead)
        asm("ld.global.nc.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
            : "=r"(vector.x), "=r"(vector.y), "=r"(vector.z), "=r"(vector.w)
            : "l"(from));
    else
        vector = __ldg(reinterpret_cast<const uint4*>(from));
    std::memcpy(to, &vector, 16);
}

/// The same of what is read once: it does not take the place of other lines in the first cache.
template <class T, int count>
__device__ __forceinline__ void load_once(T (&to)[count], const T* from) {
    static_assert(count * sizeof(T) == 16);
    uint4 vector;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(vector.x), "=r"(vector.y), "=r"(vector.z), "=r"(vector.w)
        : "l"(from));
    std::memcpy(to, &vector, 16);
}

/// pointers[index], or where `pointers` is null, `otherwise`: without a branch.
template <class T>
__device__ __forceinline__ T* load_pointer(T* const* pointers, unsigned index, T* otherwise) {
    asm("{.reg .pred p; setp.ne.u64 p, %1, 0;\n"
        "@p ld.global.nc.u64 %0, [%2];}"
        : "+l"(otherwise)
        : "l"(pointers), "l"(pointers + index));
    return otherwise;
}

/// What the cache that all multiprocessors share does with lines that are read: `last`, they go
/// after everything else. A kernel that streams a matrix is 1.5 to 3 % faster for it, presumably
/// since what it has written goes back to memory earlier, in longer runs. Otherwise loads carry no
/// hint: even one at the usual order costs 8 % where the cache holds the lines already.
class CachePolicy {
  public:
    __device__ __forceinline__ explicit CachePolicy(bool last) : last_(last) {
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(bits_));
    }
    __device__ __forceinline__ int last() const { return last_; }
    __device__ __forceinline__ std::uint64_t bits() const { return bits_; }

  private:
    int last_;
    std::uint64_t bits_;
};

/// 16 bytes of global memory; load_read_only, and one element, if nothing writes them while the
/// kernel runs.
template <class T, int count>
__device__ __forceinline__ void load_vector(T (&to)[count], const T* from, CachePolicy policy) {
    static_assert(count * sizeof(T) == 16);
    uint4 vector;
    asm volatile(
        "{.reg .pred p; setp.ne.s32 p, %6, 0;\n"
        "@p ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;\n"
        "@!p ld.global.v4.u32 {%0, %1, %2, %3}, [%4];}"
        : "=r"(vector.x), "=r"(vector.y), "=r"(vector.z), "=r"(vector.w)
        : "l"(from), "l"(policy.bits()), "r"(policy.last())
        : "memory");
    std::memcpy(to, &vector, 16);
}
template <class T, int count>
__device__ __forceinline__ void load_read_only(T (&to)[count], const T* from, CachePolicy policy) {
    static_assert(count * sizeof(T) == 16);
    uint4 vector;
    asm volatile(
        "{.reg .pred p; setp.ne.s32 p, %6, 0;\n"
        "@p ld.global.nc.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;\n"
        "@!p ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];}"
        : "=r"(vector.x), "=r"(vector.y), "=r"(vector.z), "=r"(vector.w)
        : "l"(from), "l"(policy.bits()), "r"(policy.last()));
    std::memcpy(to, &vector, 16);
}
__device__ __forceinline__ std::uint16_t load_read_only(const std::uint16_t* from,
                                                        CachePolicy policy) {
    std::uint16_t value;
    asm volatile(
        "{.reg .pred p; setp.ne.s32 p, %3, 0;\n"
        "@p ld.global.nc.L2::cache_hint.u16 %0, [%1], %2;\n"
        "@!p ld.global.nc.u16 %0, [%1];}"
        : "=h"(value)
        : "l"(from), "l"(policy.bits()), "r"(policy.last()));
    return value;
}
__device__ __forceinline__ std::uint32_t load_read_only(const std::uint32_t* from,
                                                        CachePolicy policy) {
    std::uint32_t value;
    asm volatile(
        "{.reg .pred p; setp.ne.s32 p, %3, 0;\n"
        "@p ld.global.nc.L2::cache_hint.u32 %0, [%1], %2;\n"
        "@!p ld.global.nc.u32 %0, [%1];}"
        : "=r"(value)
        : "l"(from), "l"(policy.bits()), "r"(policy.last()));
    return value;
}
__device__ __forceinline__ std::uint64_t load_read_only(const std::uint64_t* from,
                                                        CachePolicy policy) {
    std::uint64_t value;
    asm volatile(
        "{.reg .pred p; setp.ne.s32 p, %3, 0;\n"
        "@p ld.global.nc.L2::cache_hint.u64 %0, [%1], %2;\n"
        "@!p ld.global.nc.u64 %0, [%1];}"
        : "=l"(value)
        : "l"(from), "l"(policy.bits()), "r"(policy.last()));
    return value;
}

/// The line of 128 bytes that begins at `line` has its usual place in the order of eviction again;
/// otherwise it may stay in the cache long after the kernel has ended.
__device__ __forceinline__ void release_line(const void* line) {
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(line) : "memory");
}

/// Reads from the cache that all multiprocessors share: what another kernel has written while this
/// one was already there is seen.
template <class T>
__device__ __forceinline__ T load_fresh(const T* from) {
    return __ldcg(from);
}
template <class T, int count>
__device__ __forceinline__ void load_fresh(T (&to)[count], const T* from) {
    static_assert(count * sizeof(T) == 16);
    const uint4 vector = __ldcg(reinterpret_cast<const uint4*>(from));
    std::memcpy(to, &vector, 16);
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

/// Reads what another block releases, such as a counter that it takes turns at.
__device__ __forceinline__ unsigned load_acquire(const unsigned* from) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
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
/// barrier. `ahead`: the 256 bytes in which they lie come to the L2 cache.
template <int count, bool ahead = false, class T>
__device__ __forceinline__ void copy_async(SharedPointer<T> to, const T* from, int valid = count) {
    constexpr int bytes = count * sizeof(T);
    const int valid_bytes = valid * static_cast<int>(sizeof(T));
    if constexpr (bytes == 16 && ahead)
        asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(to.address()),
                     "l"(from), "r"(valid_bytes)
                     : "memory");
    else if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to.address()), "l"(from),
                     "r"(valid_bytes)
                     : "memory");
    else if constexpr (ahead)
        asm volatile("cp.async.ca.shared.global.L2::256B [%0], [%1], %2, %3;" ::"r"(to.address()),
                     "l"(from), "n"(bytes), "r"(valid_bytes)
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
/// Arrives at a barrier once all copies that the calling thread has started so far are there.
__device__ __forceinline__ void arrive_when_copied(SharedAddress barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

/// d += A B on the tensor cores (compute capability 9.0), by the lanes of a warp together: A 16 x
/// 16, B 16 x 8. With g = lane / 4 and t = lane % 4, a[2 q + h] is A's element (g + 8 h, 4 q + t),
/// b[q] is B's (4 q + t, g), d[2 h + e] is d's (g + 8 h, 2 t + e). Each sum is a chain of
/// multiply_add in the order of k, bit for bit.
__device__ __forceinline__ void multiply_fp64(double (&d)[4], const double (&a)[8],
                                              const double (&b)[4]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

/// A barrier of the block's first or last `threads` threads (a multiple of 32), by a number from 1
/// to 15. Unlike __syncthreads(), it may lie at different places of the code for different warps.
__device__ __forceinline__ void role_barrier(int number, int threads) {
    asm volatile("barrier.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/// Barriers in shared memory that count arrivals and bytes. One thread makes them ready, then
/// publishes them.
__device__ __forceinline__ void make_barrier(SharedAddress barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ __forceinline__ void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::
                     : "memory");
}
/// Arrives: what the thread has read and written lies before the end of the phase. But loads from
/// shared memory whose values have not come may be overtaken by far where other blocks' loads from
/// memory are in their way, and then find what the next copy brings (seen on an H100). So values
/// must have been used before, and the compiler must see a jump between: it moves this ahead of
/// arithmetic, but not across jumps. The next turn of a loop is such a place.
__device__ __forceinline__ void arrive(SharedAddress barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives for `count` threads.
__device__ __forceinline__ void arrive_for(SharedAddress barrier, unsigned count) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(count)
                 : "memory");
}
/// Arrives, and announces bytes that copies will bring.
__device__ __forceinline__ void arrive_expecting(SharedAddress barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}
/// Waits until the phase of this parity has ended.
__device__ __forceinline__ void wait_for_phase(SharedAddress barrier, unsigned parity) {
    asm volatile(
        "{\n\t.reg .pred done;\n"
        "again_%=:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
        "@!done bra again_%=;\n\t}" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

/// Copies `bytes` (a multiple of 16) from global memory to shared memory, and tells the barrier.
__device__ __forceinline__ void copy_bulk(SharedAddress to, const void* from, unsigned bytes,
                                          SharedAddress barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}
/// Copies `bytes` (a multiple of 16) from shared memory, where they have been published to copies,
/// to global memory. Shared memory is read, and a block may end, after wait_for_stores().
__device__ __forceinline__ void store_bulk(void* to, SharedAddress from, unsigned bytes) {
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
        "cp.async.bulk.commit_group;" ::"l"(to),
        "r"(from), "r"(bytes)
        : "memory");
}
__device__ __forceinline__ void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// Copies the tile of a matrix whose first element is (row, column), row by row without gaps, to a
/// multiple of 128 bytes (512 if swizzled) in shared memory, and tells the barrier of all its
/// bytes: what lies outside the matrix becomes zero. `column` is a multiple of 4. `map`: a kernel's
/// __grid_constant__ parameter, or in global memory, acquired.
__device__ __forceinline__ void copy_tile(SharedAddress to, const TileMap& map, int row, int column,
                                          SharedAddress barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %2}], [%4];" ::"r"(to),
        "l"(&map), "r"(row), "r"(column), "r"(barrier)
        : "memory");
}
/// Writes to global memory a map `like` another, but of a matrix at `data`, a multiple of 16 bytes
/// (compute capability 9.0a).
__device__ __forceinline__ void write_tile_map(TileMap* to, const TileMap& like,
                                               const float* data) {
#pragma unroll
    for (int i = 0; i < 16; i += 2)
        *reinterpret_cast<ulonglong2*>(&to->words[i]) =
            *reinterpret_cast<const ulonglong2*>(&like.words[i]);
    asm volatile(
        "tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;\n\t"
        "fence.proxy.tensormap::generic.release.gpu;" ::"l"(to),
        "l"(data)
        : "memory");
}
/// The copies that the calling thread asks for next see the map that an earlier kernel has written.
__device__ __forceinline__ void acquire_tile_map(const TileMap* map) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
/// What ordinary instructions have written to memory, the copies that follow see too.
__device__ __forceinline__ void publish_to_copies() {
    asm volatile("fence.proxy.async;" ::: "memory");
}
/// publish_to_copies for what was written to the block's shared memory. Does not wait for what is
/// on its way to global memory: after each tile of C, that would cost 1 % of a product of n = 4096.
__device__ __forceinline__ void publish_shared_to_copies() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace tinyblas::device
