// SPDX-License-Identifier: MIT
// What kernels and their launchers are written in, for a CPU: the words of device/cuda/device.hpp,
// and CUDA's own. A kernel that breaks a rule (barriers, masks, alignment) ends its launch with an
// Error, where a GPU hangs or goes wrong. Kernels say `#pragma unroll`, which g++ does not know:
// compile with -Wno-unknown-pragmas.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/emulation/fibers.hpp"
#include "device/emulation/narrow.hpp"
#include "device/emulation/tracer.hpp"
#include "device/runtime.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier): CUDA's names are not ours to choose.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
// NOLINTEND(bugprone-reserved-identifier)

#if defined(__clang__)
// clang obeys `#pragma unroll` where it can, and a loop that it cannot unroll is none of our
// business here.
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

namespace tinyblas::device {

/// Runs kernel(arguments...) to its end; throws Error that names `operation` if the launch or a
/// thread fails.
template <class... Parameters, class... Arguments>
void launch_large(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                  std::size_t large_shared, Stream, const Arguments&... arguments) {
    const auto thread = [&] { kernel(static_cast<Parameters>(arguments)...); };
    run_grid(operation, grid, block, large_shared, std::cref(thread));
}
template <class... Parameters, class... Arguments>
void launch(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            Stream stream, const Arguments&... arguments) {
    launch_large(operation, kernel, grid, block, 0, stream, arguments...);
}

/// launch_large.
template <class... Parameters, class... Arguments>
void launch_uncached(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                     std::size_t large_shared, Stream stream, const Arguments&... arguments) {
    launch_large(operation, kernel, grid, block, large_shared, stream, arguments...);
}

/// launch_large of blocks of which runs of `cluster` are clusters where has_clusters.
template <class... Parameters, class... Arguments>
void launch_grid_of_clusters(const char* operation, void (*kernel)(Parameters...), dim3 grid,
                             unsigned /*cluster*/, dim3 block, std::size_t large_shared,
                             Stream stream, const Arguments&... arguments) {
    launch_large(operation, kernel, grid, block, large_shared, stream, arguments...);
}

/// launch of `blocks` blocks, which are a cluster where has_clusters.
template <class... Parameters, class... Arguments>
void launch_cluster(const char* operation, void (*kernel)(Parameters...), unsigned blocks,
                    dim3 block, Stream stream, const Arguments&... arguments) {
    launch(operation, kernel, blocks, block, stream, arguments...);
}

/// Kernels run one after another; a traced build sees to it that they need not.
template <class... Parameters, class... Arguments>
void launch_dependent_clusters(const char* operation, void (*kernel)(Parameters...), dim3 grid,
                               unsigned /*cluster*/, dim3 block, std::size_t large_shared, Stream,
                               const Arguments&... arguments) {
    const auto thread = [&] { kernel(static_cast<Parameters>(arguments)...); };
    run_grid(operation, grid, block, large_shared, std::cref(thread), true);
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
template <int more = 0, class... Parameters, class... Arguments>
void launch_even_clusters(const char* operation, void (*kernel)(Parameters...), dim3 grid,
                          unsigned cluster, dim3 block, std::size_t large_shared, Stream stream,
                          const Arguments&... arguments) {
    launch_dependent_clusters(operation, kernel, grid, cluster, block, large_shared, stream,
                              arguments...);
}
template <int more = 0, class... Parameters, class... Arguments>
void launch_evenly(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   std::size_t large_shared, Stream stream, const Arguments&... arguments) {
    launch_even_clusters(operation, kernel, grid, 1, block, large_shared, stream, arguments...);
}
template <class... Parameters, class... Arguments>
void launch_beside(const char* operation, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   Stream stream, const Arguments&... arguments) {
    launch(operation, kernel, grid, block, stream, arguments...);
}
inline void let_dependents_start() {}

/// Shared memory of the calling block, one Storage for each distinct Tag: what `__shared__ Storage
/// name;` declares.
template <class Tag, class Storage>
Storage& shared() {
    static_assert(std::is_trivial_v<Storage>, "shared memory has no constructors");
    static char key;  // its address stands for (Tag, Storage)
    constexpr std::size_t alignment = alignof(Storage) > 16 ? alignof(Storage) : 16;
    return *static_cast<Storage*>(
        shared_storage(&key, sizeof(Storage), alignment, false, __PRETTY_FUNCTION__));
}

/// The same, once a kernel, for more than the 48 KB that fit a declaration; the launch says how
/// many bytes.
template <class Storage>
Storage& large_shared() {
    static_assert(std::is_trivial_v<Storage>, "shared memory has no constructors");
    static char key;
    return *static_cast<Storage*>(
        shared_storage(&key, sizeof(Storage), alignof(Storage), true, __PRETTY_FUNCTION__));
}

/// The same as elements, as many as the kernel knows that its launch gave bytes for.
template <class T>
T* large_shared_array(int count) {
    static_assert(std::is_trivial_v<T>, "shared memory has no constructors");
    static char key;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    return static_cast<T*>(shared_storage(&key, bytes, 16, true, __PRETTY_FUNCTION__));
}

/// sum + x * y, rounded once.
inline void multiply_add(float& sum, float x, float y) {
#if defined(__x86_64__) && !defined(__FMA__)
    // Code for any x86-64 would call the C library here, which makes kernels twice as slow.
    if (__builtin_cpu_supports("fma")) [[likely]] {
        asm("vfmadd231ss %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y));
        return;
    }
#endif
    sum = std::fma(x, y, sum);
}
inline void multiply_add(double& sum, double x, double y) {
#if defined(__x86_64__) && !defined(__FMA__)
    if (__builtin_cpu_supports("fma")) [[likely]] {
        asm("vfmadd231sd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y));
        return;
    }
#endif
    sum = std::fma(x, y, sum);
}

/// x * y + z, rounded once.
template <class T>
T fused_multiply_add(T x, T y, T z) {
    multiply_add(z, x, y);
    return z;
}

/// `x`, of which the compiler knows nothing.
template <class T>
T opaque(T x) {
    asm volatile("" : "+m"(x));
    return x;
}

/// The element so many behind `from`.
template <class T>
const T* displaced(const T* from, int elements) {
    return from + elements;
}

/// A CPU has registers for all: these words of compute capability 9.0a only check their argument.
inline constexpr bool reallocates_registers = true;

/// Emulated time does not pass.
inline void let_time_pass(int) {}

/// For launch bounds, which an emulated device does not have.
constexpr int resident_blocks(int blocks, int) { return blocks; }

/// Ends the kernel with an error.
inline void trap(Place place = Place::here()) { fail_thread("a kernel trapped", place); }
template <int count>
void give_up_registers() {
    static_assert(count % 8 == 0 && count >= 24 && count <= 256);
}
template <int count>
void claim_registers() {
    static_assert(count % 8 == 0 && count >= 24 && count <= 256);
}

/// An address in shared memory, to which bytes can be added; on a GPU, a 32-bit number.
using SharedAddress = std::byte*;

/// A pointer into shared memory; on a GPU, a 32-bit address.
template <class T>
class SharedPointer {
  public:
    explicit SharedPointer(T* pointer, Place place = Place::here()) : pointer_(pointer) {
        require_shared(pointer, sizeof(T), place);
    }
    SharedPointer operator+(int elements) const {
        SharedPointer moved = *this;
        moved.pointer_ += elements;
        return moved;
    }
    SharedPointer operator^(int bits) const {
        SharedPointer moved = *this;
        moved.pointer_ = reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer_) ^
                                              static_cast<std::uintptr_t>(bits));
        return moved;
    }
    T* get() const { return pointer_; }
    SharedAddress address() const { return reinterpret_cast<SharedAddress>(pointer_); }

  private:
    T* pointer_;
};

/// 16 bytes at a time, from or to a 16-byte aligned address.
template <class T, int count>
void load_vector(T (&to)[count], const T* from, Place place = Place::here()) {
    static_assert(count * sizeof(T) == 16);
    require_aligned(from, 16, place);
    read_at_once(to, from, 16, place);
}
template <class T, int count>
void load_vector(T (&to)[count], SharedPointer<T> from, Place place = Place::here()) {
    load_vector(to, from.get(), place);
}
/// One element.
template <class T>
void load_element(T& to, SharedPointer<T> from, Place place = Place::here()) {
    read_at_once(&to, from.get(), sizeof to, place);
}
template <class T>
void load_element(T& to, SharedAddress from, Place place = Place::here()) {
    load_element(to, SharedPointer<T>(reinterpret_cast<T*>(from), place), place);
}
template <class T>
void store_element(SharedAddress to, T value, Place place = Place::here()) {
    require_shared(to, sizeof value, place);
    write_at_once(to, &value, sizeof value, place);
}
template <class T, int count>
void store_vector(T* to, const T (&from)[count], Place place = Place::here()) {
    static_assert(count * sizeof(T) == 16);
    require_aligned(to, 16, place);
    write_at_once(to, from, 16, place);
}

/// store_vector to global memory.
template <bool streams = false, class T, int count>
void store_global(T* to, const T (&from)[count], Place place = Place::here()) {
    store_vector(to, from, place);
}
/// One element.
template <class T>
void store_global(T* to, T value) {
    *to = value;
}

/// Asks the L2 cache for what emulation has at hand.
inline void announce(const void* /*at*/) {}

/// load_vector from global memory that nothing writes while the kernel runs.
template <bool ahead = false, class T, int count>
void load_read_only(T (&to)[count], const T* from, Place place = Place::here()) {
    load_vector(to, from, place);
}
template <class T, int count>
void load_once(T (&to)[count], const T* from, Place place = Place::here()) {
    load_vector(to, from, place);
}

/// What a cache is told of the lines that a kernel reads. There is none.
struct CachePolicy {
    explicit CachePolicy(bool) {}
    bool last() const { return false; }
};

template <class T, int count>
void load_vector(T (&to)[count], const T* from, CachePolicy, Place place = Place::here()) {
    load_vector(to, from, place);
}
template <class T, int count>
void load_read_only(T (&to)[count], const T* from, CachePolicy, Place place = Place::here()) {
    load_vector(to, from, place);
}
template <class T>
T load_read_only(const T* from, CachePolicy) {
    return *from;
}
inline void release_line(const void*) {}

/// A plain read.
template <class T>
T load_fresh(const T* from) {
    return *from;
}
template <class T, int count>
void load_fresh(T (&to)[count], const T* from, Place place = Place::here()) {
    load_vector(to, from, place);
}

template <class T>
T* load_pointer(T* const* pointers, unsigned index, T* otherwise) {
    return pointers ? pointers[index] : otherwise;
}

/// Element `index` of a texture, of count * sizeof(T) bytes; zeros outside of it, as on a GPU.
template <class T, int count>
void fetch(T (&to)[count], Texture texture, int index, Place place = Place::here()) {
    fetch_bytes(to, static_cast<int>(sizeof to), texture, index, place);
}

/// One store of 8 bytes that the host can see at once.
inline void store_for_host(std::uint64_t* to, std::uint64_t value) {
    std::atomic_ref<std::uint64_t>(*to).store(value, std::memory_order_relaxed);
}

/// Clusters of blocks are not emulated: kernels ask first.
inline constexpr bool has_clusters = false;
inline void cluster_arrive(Place place = Place::here()) {
    fail_thread("clusters are not emulated", place);
}
inline void cluster_arrive_relaxed(Place place = Place::here()) { cluster_arrive(place); }
inline void cluster_wait(Place place = Place::here()) { cluster_arrive(place); }
template <class T>
T* of_block(T*, unsigned, Place place = Place::here()) {
    fail_thread("clusters are not emulated", place);
}
/// Starts a copy of `count` elements, 4, 8 or 16 bytes, from global to shared memory: the first
/// `valid` are read, the rest become zero. It is made in wait_for_copies, and until then the target
/// is NaN, so that a missing wait or barrier shows. `ahead` means nothing.
template <int count, bool ahead = false, class T>
void copy_async(SharedPointer<T> to, const T* from, int valid = count,
                Place place = Place::here()) {
    constexpr int bytes = count * static_cast<int>(sizeof(T));
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
    require_shared(to.get(), bytes, place);
    require_aligned(to.get(), bytes, place);
    require_aligned(from, bytes, place);
    if (valid < 0 || valid > count) [[unlikely]]
        fail_copy(valid, count, place);
    start_copy(to.get(), from, bytes, valid * static_cast<int>(sizeof(T)), place);
}
/// Closes a group: the copies started since the last call.
inline void close_copy_group() { close_copies(); }
/// Waits until all but the calling thread's last `pending` groups have arrived.
template <int pending>
void wait_for_copies() {
    finish_copies(pending);
}
/// A barrier of `threads` threads of the block, wherever it lies in the code. The others come to no
/// barrier before they end.
inline void role_barrier(int /*number*/, int /*threads*/, Place place = Place::here()) {
    block_barrier(place);
}

/// Barriers of phases and copies of the copy engine (fibers.hpp) need no fences here.
inline void publish_barriers() {}
inline void publish_to_copies() {}
inline void publish_shared_to_copies() {}
/// Copies `bytes` (a multiple of 16) from shared to global memory, both at multiples of 16: at
/// once.
inline void store_bulk(void* to, SharedAddress from, unsigned bytes, Place place = Place::here()) {
    require_shared(from, bytes, place);
    if (bytes % 16 != 0) fail_thread("a bulk copy's bytes are not a multiple of 16", place);
    for (unsigned at = 0; at < bytes; at += 16) {
        float vector[4];
        load_vector(vector, reinterpret_cast<const float*>(from + at), place);
        store_vector(static_cast<float*>(to) + at / 4, vector, place);
    }
}
inline void wait_for_stores() {}
/// Arrives: what the thread has read and written lies before the end of the phase.
inline void arrive(SharedAddress barrier, Place place = Place::here()) {
    arrive_expecting(barrier, 0, place);
}

/// Arrives for `count` threads.
inline void arrive_for(SharedAddress barrier, unsigned count, Place place = Place::here()) {
    for (unsigned i = 0; i < count; ++i) arrive(barrier, place);
}

/// Arrives at a barrier once all copies that the calling thread has started so far are there:
/// they are made at once.
inline void arrive_when_copied(SharedAddress barrier, Place place = Place::here()) {
    close_copies();
    finish_copies(0);
    arrive(barrier, place);
}

/// What all shuffles share: the value of lane `source`, or the caller's own if `inside` is false.
template <class T>
T shuffle(unsigned mask, T value, unsigned source, bool inside, Place place) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const std::uint64_t taken = exchange(Exchange::shuffle, mask, std::bit_cast<Bits>(value),
                                         inside ? source : current_lane(), place);
    return std::bit_cast<T>(static_cast<Bits>(taken));
}

/// The lanes that a shuffle of `width` neighbours may read: first to last.
struct Segment {
    unsigned first, last;
    Segment(int width, Place place) {
        if (width < 1 || width > 32 || (width & (width - 1)) != 0) [[unlikely]]
            fail_thread("a shuffle's width is not a power of two up to 32", place);
        first = current_lane() & ~static_cast<unsigned>(width - 1);
        last = first + static_cast<unsigned>(width) - 1;
    }
};

}  // namespace tinyblas::device

using tinyblas::device::blockDim;
using tinyblas::device::blockIdx;
using tinyblas::device::gridDim;
using tinyblas::device::threadIdx;
inline constexpr int warpSize = 32;

// NOLINTBEGIN(bugprone-reserved-identifier)
inline void __syncthreads(tinyblas::device::Place place = tinyblas::device::Place::here()) {
    tinyblas::device::block_barrier(place);
}
inline int __syncthreads_or(int predicate,
                            tinyblas::device::Place place = tinyblas::device::Place::here()) {
    return tinyblas::device::block_barrier_or(predicate != 0, place) ? 1 : 0;
}
inline void __syncwarp(unsigned mask = ~0u,
                       tinyblas::device::Place place = tinyblas::device::Place::here()) {
    tinyblas::device::exchange(tinyblas::device::Exchange::barrier, mask, 0, 0, place);
}

// As the PTX instruction shfl.sync: a source outside the caller's segment of `width` lanes means
// the caller itself, and distances are taken modulo 32.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize,
              tinyblas::device::Place place = tinyblas::device::Place::here()) {
    const tinyblas::device::Segment segment(width, place);
    const unsigned inside = static_cast<unsigned>(source) & static_cast<unsigned>(width - 1);
    return tinyblas::device::shuffle(mask, value, segment.first + inside, true, place);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 tinyblas::device::Place place = tinyblas::device::Place::here()) {
    const tinyblas::device::Segment segment(width, place);
    const unsigned lane = tinyblas::device::current_lane();
    delta %= warpSize;
    return tinyblas::device::shuffle(mask, value, lane - delta, lane >= segment.first + delta,
                                     place);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   tinyblas::device::Place place = tinyblas::device::Place::here()) {
    const tinyblas::device::Segment segment(width, place);
    const unsigned source = tinyblas::device::current_lane() + delta % warpSize;
    return tinyblas::device::shuffle(mask, value, source, source <= segment.last, place);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize,
                  tinyblas::device::Place place = tinyblas::device::Place::here()) {
    const tinyblas::device::Segment segment(width, place);
    const unsigned source =
        tinyblas::device::current_lane() ^ (static_cast<unsigned>(lanes) % warpSize);
    return tinyblas::device::shuffle(mask, value, source, source <= segment.last, place);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              tinyblas::device::Place place = tinyblas::device::Place::here()) {
    return static_cast<unsigned>(tinyblas::device::exchange(tinyblas::device::Exchange::ballot,
                                                            mask, predicate != 0, 0, place));
}
inline int __any_sync(unsigned mask, int predicate,
                      tinyblas::device::Place place = tinyblas::device::Place::here()) {
    return __ballot_sync(mask, predicate, place) != 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      tinyblas::device::Place place = tinyblas::device::Place::here()) {
    return __ballot_sync(mask, predicate, place) == mask;
}

inline unsigned __reduce_max_sync(unsigned mask, unsigned value,
                                  tinyblas::device::Place place = tinyblas::device::Place::here()) {
    return static_cast<unsigned>(
        tinyblas::device::exchange(tinyblas::device::Exchange::maximum, mask, value, 0, place));
}
inline int __reduce_max_sync(unsigned mask, int value,
                             tinyblas::device::Place place = tinyblas::device::Place::here()) {
    constexpr unsigned sign = 0x80000000u;  // turned over, it puts negative values first
    return static_cast<int>(__reduce_max_sync(mask, static_cast<unsigned>(value) ^ sign, place) ^
                            sign);
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value,
                                  tinyblas::device::Place place = tinyblas::device::Place::here()) {
    return static_cast<unsigned>(
        tinyblas::device::exchange(tinyblas::device::Exchange::sum, mask, value, 0, place));
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value,
                                 tinyblas::device::Place place = tinyblas::device::Place::here()) {
    return static_cast<unsigned>(
        tinyblas::device::exchange(tinyblas::device::Exchange::either, mask, value, 0, place));
}

inline void __threadfence() {}  // blocks and threads take turns on one OS thread
template <class T>
T __ldg(const T* from) {
    return *from;
}
// NOLINTEND(bugprone-reserved-identifier)
