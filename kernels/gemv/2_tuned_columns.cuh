// SPDX-License-Identifier: MIT
// gemv, rung 2, form columns: y = transposed(A) x. A block owns a slab of columns, a group of 16
// bytes for each of its lanes, and walks down a piece of the rows, which its groups of lanes take
// in turn. With 4 lanes and 3 groups:
//
//            lane 0 1 2 3               x
//   row 0    [  ][  ][  ][  ]  group 0  x_0     every thread adds up its own columns; then the
//   row 1    [  ][  ][  ][  ]  group 1  x_1     groups' sums meet in shared memory,
//   row 2    [  ][  ][  ][  ]  group 2  x_2
//   row 3    [  ][  ][  ][  ]  group 0  x_3
//            ...
//   and the pieces' in global memory, where the last block adds them up. Where rows do not begin
//   at 16 bytes, a warp loads whole rows of the slab, an element a lane; the sums are the same.
//
// Limit: memory bandwidth; for a few thousand columns the way in which the pieces come together.
#pragma once

#include <bit>
#include <type_traits>

#include "../gemm/divisor.hpp"
#include "parts.cuh"

namespace tinyblas {

inline constexpr int gemv_columns_most_threads = 1024;
/// Rows that a thread has in flight.
template <class T, bool vectors>
inline constexpr int gemv_columns_unroll = vectors ? 8 : sizeof(T);

/// A block's part of the work.
struct GemvSlab {
    unsigned lanes, lane;     // side by side
    unsigned groups, group;   // of lanes
    std::int64_t first;       // column
    std::int64_t begin, end;  // rows
    /// Column e of the calling thread, from the slab's first: with vectors neighbours, otherwise
    /// those of neighbouring lanes are.
    template <bool vectors, class T>
    __device__ __forceinline__ unsigned column(unsigned e) const {
        return vectors ? lane * group_size<T> + e : lane + e * lanes;
    }
};

/// Sums down the calling thread's columns. `whole`: all of them lie in A; else one that does not is
/// replaced by the slab's first.
template <bool vectors, bool whole, class T>
__device__ __forceinline__ void add_down(T (&sums)[group_size<T>], const GemvCall<T>& call,
                                         const GemvSlab& slab) {
    constexpr int size = group_size<T>, unroll = gemv_columns_unroll<T, vectors>;
    const std::int64_t step = slab.groups * call.a.row_stride;
    const std::int64_t x_step = slab.groups * call.x.increment;
    std::int64_t i = slab.begin + slab.group;
    unsigned columns[size];
#pragma unroll
    for (int e = 0; e < size; ++e) {
        const unsigned column = slab.template column<vectors, T>(e);
        columns[e] = whole || slab.first + column < call.a.columns ? column : 0;
    }
    const T* from = call.a.data + i * call.a.row_stride + slab.first;
    const T* x_from = &call.x(i);
    const auto add_rows = [&]<int rows>(std::integral_constant<int, rows>, auto is_there) {
        T a[rows][size] = {}, x[rows] = {};
#pragma unroll
        for (int u = 0; u < rows; ++u) {
            if (!is_there(u)) continue;
            x[u] = __ldg(x_from + u * x_step);
            const T* row = from + u * step;
            if constexpr (vectors && whole) {
                device::load_read_only(a[u], row + columns[0]);
            } else {
#pragma unroll
                for (int e = 0; e < size; ++e) a[u][e] = __ldg(row + columns[e]);
            }
        }
#pragma unroll
        for (int u = 0; u < rows; ++u)
#pragma unroll
            for (int e = 0; e < size; ++e) device::multiply_add(sums[e], a[u][e], x[u]);
        i += rows * slab.groups;
        from += rows * step;
        x_from += rows * x_step;
    };
#pragma unroll 1
    while (i + (unroll - 1) * slab.groups < slab.end)
        add_rows(std::integral_constant<int, unroll>(), [](int) { return true; });
#pragma unroll 1
    while (i < slab.end)
        add_rows(std::integral_constant < int, whole ? 4 : 2 > (),
                 [&](int u) { return u == 0 || i + u * slab.groups < slab.end; });
}

/// The same sums without vectors, of a slab no wider than a warp: each thread has a column, and of
/// its warp's groups as many as a group of 16 bytes has elements, so that a load of the warp is one
/// of whole rows of the slab. Group e of the thread: own + e * apart.
template <class T>
__device__ __forceinline__ void add_down_rows(T (&sums)[group_size<T>], const GemvCall<T>& call,
                                              const GemvSlab& slab) {
    constexpr int size = group_size<T>, unroll = 4;
    const unsigned width = slab.lanes * size, lane = threadIdx.x % warp_lanes;
    const unsigned apart = warp_lanes / width, last = warp_lanes / slab.lanes - 1;
    const unsigned column = lane % width, own = lane / width;
    std::int64_t i = slab.begin + threadIdx.x / warp_lanes * (last + 1);  // of the warp's group 0
    const std::int64_t stride = call.a.row_stride, step = slab.groups * stride;
    const std::int64_t x_step = slab.groups * call.x.increment;
    const T* from = call.a.data + (i + own) * stride + slab.first +
                    (slab.first + column < call.a.columns ? column : 0);
    const T* x_from = &call.x(i + own);
    const auto add_rows = [&]<int rows>(std::integral_constant<int, rows>, auto is_there) {
        T a[rows][size] = {}, x[rows][size] = {};
#pragma unroll
        for (int u = 0; u < rows; ++u)
#pragma unroll
            for (int e = 0; e < size; ++e) {
                if (!is_there(own + e * apart + u * slab.groups)) continue;
                x[u][e] = __ldg(x_from + (u * x_step + e * apart * call.x.increment));
                a[u][e] = __ldg(from + (u * step + e * apart * stride));
            }
#pragma unroll
        for (int u = 0; u < rows; ++u)
#pragma unroll
            for (int e = 0; e < size; ++e) device::multiply_add(sums[e], a[u][e], x[u][e]);
        i += rows * slab.groups;
        from += rows * step;
        x_from += rows * x_step;
    };
#pragma unroll 1
    while (i + last + (unroll - 1) * slab.groups < slab.end)
        add_rows(std::integral_constant<int, unroll>(), [](unsigned) { return true; });
#pragma unroll 1
    while (i < slab.end)
        add_rows(std::integral_constant<int, 2>(),
                 [&](unsigned row) { return i + row < slab.end; });
}

/// `known`: the lanes; or 0: 2^log2_given, a warp's or fewer.
template <class T, bool vectors, int known>
__global__ void __launch_bounds__(known == gemv_lone_lanes ? known : gemv_columns_most_threads,
                                  known == gemv_lone_lanes ? 4 : 1)
    gemv_columns(GemvCall<T> call, unsigned log2_given, unsigned slabs, Divisor by_slabs,
                 GemvPieces<T> pieces) {
    device::wait_for_launcher();
    constexpr int size = group_size<T>;
    constexpr bool lone = known == gemv_lone_lanes;  // each has columns of its own
    const unsigned log2_lanes = known > 0 ? std::bit_width(unsigned{known}) - 1 : log2_given;
    const unsigned lanes = 1u << log2_lanes, width = lanes * size;
    const std::int64_t m = call.a.rows, n = call.a.columns;
    const unsigned own_piece = lone ? 0 : by_slabs.quotient(blockIdx.x);
    const std::int64_t begin = own_piece * pieces.length;
    const GemvSlab slab = {lanes,
                           threadIdx.x & (lanes - 1),
                           blockDim.x >> log2_lanes,
                           threadIdx.x >> log2_lanes,
                           std::int64_t{blockIdx.x - own_piece * slabs} * width,
                           begin,
                           begin + pieces.length < m ? begin + pieces.length : m};
    const auto lies_inside = [&](unsigned e) {
        return slab.first + slab.column<vectors, T>(e) < n;
    };
    if (held_by_caches(call.a)) device::let_dependents_start();
    T acc[size] = {};
    constexpr bool by_rows = !vectors && (known == 4 || known == 8);
    if constexpr (by_rows)
        add_down_rows(acc, call, slab);
    else if (vectors && lies_inside(size - 1))  // without, all threads of a warp do the same
        add_down<vectors, vectors>(acc, call, slab);
    else if (lies_inside(0))
        add_down<vectors, false>(acc, call, slab);
    if constexpr (lone) {  // each thread has its sums
        if (!lies_inside(0)) return;
        const std::int64_t j = slab.first + slab.column<vectors, T>(0);
        const MatrixView<T> y = {call.y.first, 1, n, 0, call.y.increment};
        if constexpr (vectors) {
            store_row(y, 0, j, call.alpha, acc, call.beta);
        } else {
#pragma unroll
            for (int e = 0; e < size; ++e)
                if (lies_inside(e)) store(y(0, j + e * lanes), call.alpha, acc[e], call.beta);
        }
    } else {
        // One sum a column: of a warp's groups, then of all warps. Where ptxas would spill it, the
        // block's place is found out again.
        const unsigned block =
            device::reallocates_registers ? blockIdx.x : device::opaque(blockIdx.x);
        const unsigned piece = by_slabs.quotient(block);
        const unsigned number = block - piece * slabs;
        const std::int64_t first = std::int64_t{number} * width;
        constexpr unsigned pitch = (known > 0 ? known : warp_lanes) * size;  // of a warp's sums
        auto& sums = device::shared<struct GemvSums, T[warp_lanes * pitch]>();
        auto& spare = device::shared<struct GemvSpare, T[gemv_columns_most_threads]>();
        if constexpr (by_rows) {  // groups half of all apart first, as below
#pragma unroll
            for (int half = size / 2; half > 0; half /= 2)
#pragma unroll
                for (int e = 0; e < half; ++e) acc[e] = acc[e] + acc[e + half];
        }
#pragma unroll
        for (unsigned across = warp_lanes / 2; across > 0; across /= 2) {
            if (across < (by_rows ? width : lanes)) continue;
#pragma unroll
            for (int e = 0; e < (by_rows ? 1 : size); ++e)
                acc[e] = acc[e] + __shfl_xor_sync(~0u, acc[e], static_cast<int>(across));
        }
        if (threadIdx.x % warp_lanes < (by_rows ? width : lanes)) {
            T* to = &sums[threadIdx.x / warp_lanes * pitch];
            if constexpr (by_rows) {
                to[threadIdx.x % warp_lanes] = acc[0];
            } else if constexpr (vectors) {
                device::store_vector(to + slab.column<vectors, T>(0), acc);
            } else {
#pragma unroll
                for (int e = 0; e < size; ++e) to[slab.column<vectors, T>(e)] = acc[e];
            }
        }
        __syncthreads();
        T sum = 0;
        if (threadIdx.x < width) {
#pragma unroll 8
            for (unsigned warp = 0; warp < blockDim.x / warp_lanes; ++warp)
                sum += sums[warp * pitch + threadIdx.x];
        }
        const auto deliver = [&](unsigned output, T total) {
            if (first + output < n) store(call.y(first + output), call.alpha, total, call.beta);
        };
        if (pieces.count == 1) {
            if (threadIdx.x < width) deliver(threadIdx.x, sum);
            return;
        }
        const std::int64_t left = n - first;
        const unsigned outputs = left < width ? static_cast<unsigned>(left) : width;
        if (threadIdx.x < outputs) pieces.parts[piece * n + first + threadIdx.x] = sum;
        finish_pieces(pieces, first, log2_lanes + std::bit_width(unsigned{size}) - 1, outputs, n,
                      pieces.counters + number, &spare[0], deliver);
    }
}

template <class T>
using GemvColumnsKernel = void (*)(GemvCall<T>, unsigned, unsigned, Divisor, GemvPieces<T>);

/// `kernel`: gemv_columns with what is known.
template <class T>
void launch_gemv_columns(const char* operation, device::Stream stream, GemvColumnsKernel<T> kernel,
                         const GemvCall<T>& call, const GemvPlan& plan,
                         const GemvPieces<T>& pieces) {
    const std::int64_t width = plan.lanes * group_size<T>;
    const auto lanes = static_cast<unsigned>(plan.lanes);
    const std::int64_t slabs = (call.a.columns - 1) / width + 1;
    const auto blocks = device::grid(slabs * plan.pieces, operation);
    device::launch_evenly(operation, kernel, blocks, static_cast<unsigned>(plan.threads), 0, stream,
                          call, std::bit_width(lanes) - 1u, static_cast<unsigned>(slabs),
                          Divisor(static_cast<unsigned>(slabs)), pieces);
}

}  // namespace tinyblas
