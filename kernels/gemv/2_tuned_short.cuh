// SPDX-License-Identifier: MIT
// gemv, rung 2, form short_rows: up to 32 lanes, a power of two, share a row, a group of 16 bytes
// each, and a warp has 8 such sets of rows in flight. With 8 lanes:
//
//   a     lane 0 ... 7  | row 0            u = 0   sums[8] of each lane are of its own group; lanes
//         lane 8 ... 15 | row 1                    exchange them by halves: what one keeps, its
//         lane 16 ..    | row 2                    partner sends, so that 7 exchanges, and not 24,
//         lane 24 ..    | row 3                    leave each lane with the sum of one row.
//                         row 4 ... 7      u = 1
//                         ...              u = 7
//
// Limit: memory bandwidth.
#pragma once

#include "parts.cuh"

namespace tinyblas {

inline constexpr int gemv_short_threads = 128;
inline constexpr int gemv_short_sets = 8;  // of rows, in flight
/// Groups of a row that a lane may have.
template <class T>
inline constexpr int gemv_short_turns = sizeof(T) / 4;

template <class T, bool vectors>
__global__ void __launch_bounds__(gemv_short_threads) gemv_short_rows(GemvCall<T> call, int lanes) {
    device::wait_for_launcher();
    device::let_dependents_start();
    constexpr int size = group_size<T>, sets = gemv_short_sets;
    const int lane = threadIdx.x % warp_lanes;
    const int rows = static_cast<int>(warp_lanes) / lanes;  // of a set
    const std::int64_t warp =
        std::int64_t{blockIdx.x} * (gemv_short_threads / warp_lanes) + threadIdx.x / warp_lanes;
    const std::int64_t first = warp * (sets * rows) + lane / lanes;
    T sums[sets] = {};
    const auto add_groups = [&](int j) {
        const int inside = inside_group<T>(j, call.a.columns);
        // Lanes past a row's end, or with a part of a group, read no more than there is: zeros for
        // the rest. Sets past the last row read that again.
        T x[size] = {}, a[sets][size] = {};
        const T* x_from = &call.x(j);
        const auto row = [&](int u) {
            const std::int64_t i = first + u * rows;
            return &call.a(i < call.a.rows ? i : call.a.rows - 1, j);
        };
        if (inside == size) {
            load_group<vectors>(x, x_from, call.x.increment);
#pragma unroll
            for (int u = 0; u < sets; ++u) load_group<vectors>(a[u], row(u), call.a.column_stride);
        } else {
#pragma unroll
            for (int e = 0; e < size - 1; ++e) {
                if (e >= inside) break;
                x[e] = __ldg(x_from + e * call.x.increment);
#pragma unroll
                for (int u = 0; u < sets; ++u) a[u][e] = __ldg(row(u) + e * call.a.column_stride);
            }
        }
#pragma unroll
        for (int u = 0; u < sets; ++u)
#pragma unroll
            for (int e = 0; e < size; ++e) device::multiply_add(sums[u], a[u][e], x[e]);
    };
    const int j = lane % lanes * size;
    add_groups(j);
    if constexpr (gemv_short_turns<T> == 2)
        if (lanes * size < call.a.columns) add_groups(j + lanes * size);

    int kept = sets, set = 0;  // sets whose sums the lane keeps, and the first of them
#pragma unroll
    for (int half = sets / 2; half > 0; half /= 2) {
        const int across = lanes * half / sets;
        if (across == 0) continue;
        const bool upper = (lane & across) != 0;
        kept = half;
        if (upper) set += half;
#pragma unroll
        for (int u = 0; u < half; ++u) {
            const T sent = upper ? sums[u] : sums[u + half];
            const T own = upper ? sums[u + half] : sums[u];
            sums[u] = own + __shfl_xor_sync(~0u, sent, across);
        }
    }
    for (int across = lanes / (2 * sets); across > 0; across /= 2)
        sums[0] += __shfl_xor_sync(~0u, sums[0], across);
    if (lanes > sets && lane % (lanes / sets) != 0) return;  // another lane has the same
#pragma unroll
    for (int u = 0; u < sets; ++u) {
        const std::int64_t i = first + (set + u) * rows;
        if (u < kept && i < call.a.rows) store(call.y(i), call.alpha, sums[u], call.beta);
    }
}

template <class T, bool vectors>
void launch_gemv_short_rows(const char* operation, device::Stream stream, const GemvCall<T>& call,
                            const GemvPlan& plan) {
    const int of_block = gemv_short_threads / plan.lanes * gemv_short_sets;
    const std::int64_t blocks = (call.a.rows - 1) / of_block + 1;
    device::launch_evenly(operation, gemv_short_rows<T, vectors>, device::grid(blocks, operation),
                          gemv_short_threads, 0, stream, call, plan.lanes);
}

}  // namespace tinyblas
