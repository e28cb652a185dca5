// SPDX-License-Identifier: MIT
// Words of compute capability 9.0a alone: copies of whole tiles by the copy engine, barriers that
// count their bytes, and tensor cores that multiply straight from shared memory. Each is one
// instruction; without a twin for a CPU. Shared memory is given by its 32-bit address.
#pragma once

#include <cstdint>

#include "device/cuda/device.hpp"

namespace tinyblas::device {

/// The block's place in its cluster.
__device__ __forceinline__ unsigned cluster_rank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/// The thread's place in its warp, found out anew rather than kept in a register.
__device__ __forceinline__ unsigned lane() {
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/// The value, which all of a warp have, so that ptxas can see that they do: registers that it keeps
/// for a whole warp, and branches that take it as a whole, are worth 2 % to a loop of products.
template <class T>
__device__ __forceinline__ T uniform(T value) {
    return static_cast<T>(__shfl_sync(~0u, static_cast<unsigned>(value), 0));
}

/// Arrives at the barrier of block `rank` of the cluster. Says nothing of memory: what was
/// read from shared memory has been read, and that is all its waiter wants to know.
__device__ __forceinline__ void arrive_at(std::uint32_t barrier, unsigned rank) {
    asm volatile(
        "{\n\t.reg .b32 remote;\n\t"
        "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
        "mbarrier.arrive.shared::cluster.b64 _, [remote];\n\t}" ::"r"(barrier),
        "r"(rank)
        : "memory");
}
/// copy_bulk of what other blocks of the kernel read at about the same time, if at all: afterwards
/// the L2 cache gives it up before anything else.
__device__ __forceinline__ void copy_bulk_for_now(std::uint32_t to, const void* from,
                                                  unsigned bytes, std::uint32_t barrier) {
    // What createpolicy makes, by the value that CUTLASS gives: computed, it takes registers.
    constexpr std::uint64_t evict_first = 0x12F0000000000000;
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1], %2, [%3], %4;" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier), "l"(evict_first)
        : "memory");
}
/// copy_bulk into the blocks of the cluster whose bit is set in `blocks`, telling the barrier of
/// each.
__device__ __forceinline__ void copy_bulk_to(std::uint16_t blocks, std::uint32_t to,
                                             const void* from, unsigned bytes,
                                             std::uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier), "h"(blocks)
        : "memory");
}

/// A barrier of `threads` threads (a multiple of 32) of the block, one of 16 by number.
__device__ __forceinline__ void barrier_of(int number, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/// Tensor-core products of a warpgroup run beside its other instructions: begin, products, close
/// the group, wait. Accumulators of products under way must not be touched.
__device__ __forceinline__ void begin_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void close_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until all but the last `pending` groups are done.
template <int pending>
__device__ __forceinline__ void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
/// Products may change the registers here: no use of them moves across.
template <int count>
__device__ __forceinline__ void settle(float (&registers)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}

/// How wgmma finds rows of 128 bytes in shared memory, swizzled, 8 rows in 1,024 bytes that start
/// at a multiple of 1,024.
__device__ __forceinline__ std::uint64_t swizzled_rows(std::uint32_t address) {
    return std::uint64_t{(address & 0x3ffff) >> 4} | std::uint64_t{1} << 16 |
           std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}

// 32 and 64 accumulators as operands of an instruction, and where they stand in its text.
#define TINYBLAS_8(i)                                                                           \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
        "+f"(d[i + 6]), "+f"(d[i + 7])
#define TINYBLAS_32 TINYBLAS_8(0), TINYBLAS_8(8), TINYBLAS_8(16), TINYBLAS_8(24)
#define TINYBLAS_64 TINYBLAS_32, TINYBLAS_8(32), TINYBLAS_8(40), TINYBLAS_8(48), TINYBLAS_8(56)
#define TINYBLAS_WGMMA_64(type)                                                   \
    asm volatile(                                                                 \
        "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %34, 0;\n\t"                        \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type               \
        " "                                                                       \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "  \
        "%30, %31}, %32, %33, p, 1, 1, 0, 0;\n\t}"                                \
        : TINYBLAS_32                                                             \
        : "l"(a), "l"(b), "r"(static_cast<int>(add)))
#define TINYBLAS_WGMMA_128(type)                                                      \
    asm volatile(                                                                     \
        "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %66, 0;\n\t"                            \
        "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type                  \
        " "                                                                           \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "     \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, " \
        "%31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
        "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, " \
        "%61, %62, %63}, %64, %65, p, 1, 1, 0, 0;\n\t}"                               \
        : TINYBLAS_64                                                                 \
        : "l"(a), "l"(b), "r"(static_cast<int>(add)))

/// d = A B + (add ? d : 0): A 64 x 16, B 16 x 64 or 128, fp16 or bf16, summed in fp32 (truncated).
/// A thread's d[4 j + 2 h + e] is row 16 warp + lane / 4 + 8 h, column 8 j + lane % 4 * 2 + e.
__device__ __forceinline__ void multiply_fp16(float (&d)[32], std::uint64_t a, std::uint64_t b,
                                              bool add) {
    TINYBLAS_WGMMA_64("f16");
}
__device__ __forceinline__ void multiply_fp16(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                              bool add) {
    TINYBLAS_WGMMA_128("f16");
}
__device__ __forceinline__ void multiply_bf16(float (&d)[32], std::uint64_t a, std::uint64_t b,
                                              bool add) {
    TINYBLAS_WGMMA_64("bf16");
}
__device__ __forceinline__ void multiply_bf16(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                              bool add) {
    TINYBLAS_WGMMA_128("bf16");
}
#undef TINYBLAS_WGMMA_64
#undef TINYBLAS_WGMMA_128
#undef TINYBLAS_32
#undef TINYBLAS_64
#undef TINYBLAS_8

}  // namespace tinyblas::device
