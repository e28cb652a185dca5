// SPDX-License-Identifier: MIT
// What the rungs of gemv share: the operands as kernels see them, and how the parts of a sum come
// together.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "../gemm/parts.cuh"
#include "../reduce/walk.cuh"
#include "plan.hpp"

namespace tinyblas {

/// A vector by its element 0, whatever its direction.
template <class T>
struct GemvVector {
    T* first;
    std::int64_t increment;
    __device__ __forceinline__ T& operator()(std::int64_t i) const { return first[i * increment]; }
};

/// y = alpha A x + beta y, or transposed(A) in A's place, as the plan's form says.
template <class T>
struct GemvCall {
    T alpha;
    MatrixView<const T> a;
    GemvVector<const T> x;
    T beta;
    GemvVector<T> y;
};

/// Where the pieces of a sum come together: `parts` has an element for each output and piece,
/// `counters`, zero between calls, one for each set of outputs that blocks share.
template <class T>
struct GemvPieces {
    unsigned count;
    std::int64_t length;
    T* parts;
    unsigned* counters;
};

/// Whether caches hold A. Beside a larger one, the next kernel's blocks would not find their part
/// of it where the ones before them have left it.
template <class T>
__device__ __forceinline__ bool held_by_caches(const MatrixView<const T>& a) {
    constexpr std::int64_t most_bytes = 24 << 20;
    return a.rows * a.columns <= most_bytes / std::int64_t{sizeof(T)};
}

/// A group of neighbours; with `vectors` it lies on a multiple of 16 bytes.
template <bool vectors, class T>
__device__ __forceinline__ void load_group(T (&to)[group_size<T>], const T* from,
                                           std::int64_t stride) {
    if constexpr (vectors) {
        device::load_read_only(to, from);
    } else {
#pragma unroll
        for (int e = 0; e < group_size<T>; ++e) to[e] = __ldg(from + e * stride);
    }
}

/// How many of a group's elements, from `first` on, lie before `end`.
template <class T>
__device__ __forceinline__ int inside_group(std::int64_t first, std::int64_t end) {
    const std::int64_t left = end - first;
    return left >= group_size<T> ? group_size<T> : left > 0 ? static_cast<int>(left) : 0;
}

/// The block's threads add up `terms` terms of each of `outputs` outputs, at most 2^log2_across,
/// which are no more than the threads: load(term, output) is one. More than `in_line` terms of an
/// output are shared by several threads. The sum counts in thread `output`. `shared`: memory for an
/// element a thread.
template <class T, class Load>
__device__ __forceinline__ T sum_of_terms(unsigned log2_across, unsigned outputs, unsigned terms,
                                          unsigned in_line, T* shared, Load load) {
    unsigned shares = terms <= in_line ? 1 : blockDim.x >> log2_across;
    const unsigned share = threadIdx.x >> log2_across;
    const unsigned output = threadIdx.x - (share << log2_across);
    T sum = 0;
    if (share < shares && output < outputs) {
#pragma unroll 4
        for (unsigned term = share; term < terms; term += shares) sum += load(term, output);
    }
    while (shares > 1) {  // a power of two
        shares /= 2;
        shared[threadIdx.x] = sum;
        __syncthreads();
        if (share < shares) sum += shared[threadIdx.x + (shares << log2_across)];
        __syncthreads();
    }
    return sum;
}

inline constexpr unsigned gemv_pieces_in_line = 8;  // as many as a cluster has blocks

/// Called by all threads once the block's sums lie in pieces.parts: the block that comes last of
/// those that share `counter` adds up the pieces of `outputs` neighbours, at most 2^log2_across,
/// from `first` on of `all`; deliver(output, sum) takes each. `shared`: memory for an element a
/// thread.
template <class T, class Deliver>
__device__ __forceinline__ void finish_pieces(const GemvPieces<T>& pieces, std::int64_t first,
                                              unsigned log2_across, unsigned outputs,
                                              std::int64_t all, unsigned* counter, T* shared,
                                              Deliver deliver) {
    auto& last = device::shared<struct GemvLastBlock, bool>();
    __syncthreads();
    if (threadIdx.x == 0) last = device::take_turn(counter, pieces.count - 1) == pieces.count - 1;
    __syncthreads();
    if (!last) return;
    const T* parts = pieces.parts + first;
    const T sum = sum_of_terms(log2_across, outputs, pieces.count, gemv_pieces_in_line, shared,
                               [&](unsigned piece, unsigned output) {
                                   return device::load_fresh(parts + (piece * all + output));
                               });
    if (threadIdx.x < outputs) deliver(threadIdx.x, sum);
}

}  // namespace tinyblas
