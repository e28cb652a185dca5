// SPDX-License-Identifier: MIT
// ger: A = A + x transposed(y), of which the launcher's caller has scaled one. A block owns a tile
// of A; a thread a group of 16 bytes of columns, and several rows, all of them loaded before the
// first is stored. With 4 lanes and 3 groups of them:
//
//            y:  lane 0 1 2 3
//   x_0  row 0  [  ][  ][  ][  ]  group 0    u = 0
//   x_1  row 1  [  ][  ][  ][  ]  group 1
//   x_2  row 2  [  ][  ][  ][  ]  group 2
//   x_3  row 3  [  ][  ][  ][  ]  group 0    u = 1
//   ...
//
// Limit: memory bandwidth.
#pragma once

#include "../gemm/divisor.hpp"
#include "parts.cuh"

namespace tinyblas {

inline constexpr int ger_threads = 128;
inline constexpr int ger_unroll = 2;  // rows a thread

/// A vector times a factor.
template <class T>
struct GerVector {
    T factor;
    GemvVector<const T> vector;
    __device__ __forceinline__ T operator()(std::int64_t i) const {
        return factor * __ldg(&vector(i));
    }
    /// Whether its groups lie on multiples of 16 bytes.
    __device__ __forceinline__ bool is_vectors() const {
        return vector.increment == 1 && reinterpret_cast<std::uintptr_t>(vector.first) % 16 == 0;
    }
};

template <class T, bool vectors>
__global__ void __launch_bounds__(ger_threads)
    ger_tile(GerVector<T> x, GerVector<T> y, MatrixView<T> a, unsigned slabs, Divisor by_slabs,
             int lanes, int groups, Divisor by_lanes, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    constexpr int size = group_size<T>, unroll = ger_unroll;
    const int group = static_cast<int>(by_lanes.quotient(threadIdx.x));
    const int lane = static_cast<int>(threadIdx.x) - group * lanes;
    const unsigned tile = by_slabs.quotient(blockIdx.x), slab = blockIdx.x - tile * slabs;
    const std::int64_t j = (std::int64_t{slab} * lanes + lane) * size;
    const std::int64_t first = std::int64_t{tile} * (groups * unroll) + group;
    const int inside = group < groups ? inside_group<T>(j, a.columns) : 0;
    if (inside == 0) return;

    const bool whole = vectors && inside == size;
    T ys[size], xs[unroll], old[unroll][size];
    if (whole && y.is_vectors()) {
        device::load_read_only(ys, &y.vector(j));
#pragma unroll
        for (int e = 0; e < size; ++e) ys[e] *= y.factor;
    } else {
#pragma unroll
        for (int e = 0; e < size; ++e) ys[e] = e < inside ? y(j + e) : T(0);
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
        const std::int64_t i = first + u * groups;
        if (i >= a.rows) continue;
        xs[u] = x(i);
        if (whole) {
            device::load_vector(old[u], &a(i, j));
        } else {
#pragma unroll
            for (int e = 0; e < size; ++e) old[u][e] = e < inside ? a(i, j + e) : T(0);
        }
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
        const std::int64_t i = first + u * groups;
        if (i >= a.rows) continue;
#pragma unroll
        for (int e = 0; e < size; ++e) device::multiply_add(old[u][e], xs[u], ys[e]);
        if (whole) {
            device::store_vector(&a(i, j), old[u]);
        } else {
#pragma unroll
            for (int e = 0; e < size; ++e)
                if (e < inside) a(i, j + e) = old[u][e];
        }
    }
}

/// `vectors`: A's rows are contiguous and begin at multiples of 16 bytes.
template <class T, bool vectors>
void launch_ger(device::Stream stream, const GerVector<T>& x, const GerVector<T>& y,
                const MatrixView<T>& a) {
    const std::int64_t row_groups = (a.columns - 1) / group_size<T> + 1;
    const std::int64_t slabs = (row_groups - 1) / ger_threads + 1;
    const std::int64_t lanes = (row_groups - 1) / slabs + 1;  // as even as it goes
    const std::int64_t groups = ger_threads / lanes;
    const std::int64_t tiles = (a.rows - 1) / (groups * ger_unroll) + 1;
    const unsigned blocks = device::grid(slabs * tiles, "ger");
    device::launch_evenly("ger", ger_tile<T, vectors>, blocks, ger_threads, 0, stream, x, y, a,
                          static_cast<unsigned>(slabs), Divisor(static_cast<unsigned>(slabs)),
                          static_cast<int>(lanes), static_cast<int>(groups),
                          Divisor(static_cast<unsigned>(lanes)), leaves_places(blocks));
}

}  // namespace tinyblas
