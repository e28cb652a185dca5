// SPDX-License-Identifier: MIT
// How the rung hopper ends a tile: from a thread's sums to C, and what adds slices of k up.
#pragma once

#include "hopper_ring.cuh"
#include "parts.cuh"

namespace tinyblas {

// A thread's sums of its warpgroup's 64 x (2 count) elements: sums[4 j + 2 h + e] belongs to row
// first_row() + 8 h, column first_column() + 8 j + e.

inline constexpr unsigned hopper_multipliers = 256;  // threads

/// Found out anew at each use rather than kept in registers.
__device__ __forceinline__ unsigned hopper_thread() { return device::opaque(threadIdx.x) - 128; }
__device__ __forceinline__ int first_row() {
    const auto thread = static_cast<int>(hopper_thread());
    return thread / 32 * 16 + thread % 32 / 4;
}
__device__ __forceinline__ int first_column() { return static_cast<int>(hopper_thread()) % 4 * 2; }

template <int count>
__device__ __forceinline__ void set_to_zero(float (&sums)[count]) {
#pragma unroll
    for (int e = 0; e < count; ++e) sums[e] = 0;
}

/// The exponents of a tile's columns: of each 64, the first one's.
struct HopperColumns {
    const int* bricks[hopper_most_columns / gemm_brick];

    /// Those of the thread's sums 4 j and 4 j + 2 (x), 4 j + 1 and 4 j + 3 (y).
    __device__ __forceinline__ int2 of(int j) const {
        const int column = j * 8;
        return *reinterpret_cast<const int2*>(bricks[column / gemm_brick] + first_column() +
                                              column % gemm_brick);
    }
};
__device__ __forceinline__ HopperColumns columns_in(const int (&shared)[hopper_most_columns]) {
    return {{shared, shared + gemm_brick}};
}
/// Those of B's last group, which all slices' sums are scaled by when they are added up.
template <HopperForm form>
__device__ __forceinline__ HopperColumns last_columns(const HopperWork& work, GemmParts kind,
                                                      const HopperUnit& at) {
    const auto brick = [&](unsigned half) {
        return hopper_exponents(work.b(kind), work.plan.b_bricks,
                                at.tile_j * hopper_b_halves<form> + half, work.plan,
                                work.plan.groups - 1);
    };
    return {{brick(0), form == HopperForm::paired ? brick(1) : nullptr}};
}

/// The thread's four sums of two columns, times 2^(their row's and their column's exponent).
template <int count>
__device__ __forceinline__ void scale_four(float (&sums)[count], int j, const float (&row)[2],
                                           float column, float next_column) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        sums[4 * j + 2 * h] *= row[h] * column;
        sums[4 * j + 2 * h + 1] *= row[h] * next_column;
    }
}

/// The sums come to another scale: times 2^(drift of the row + that of the column).
template <int count>
__device__ __forceinline__ void rescale(float (&sums)[count], const int (&row_drift)[2],
                                        const HopperColumns& before, const HopperColumns& now) {
    const float row[2] = {gemm_power(row_drift[0]), gemm_power(row_drift[1])};
#pragma unroll
    for (int j = 0; j < count / 4; ++j) {
        const int2 from = before.of(j), to = now.of(j);
        scale_four(sums, j, row, gemm_power(from.x - to.x), gemm_power(from.y - to.y));
    }
}

/// The sums become C's elements before alpha: the scales are undone, with one rounding at most.
template <int count>
__device__ __forceinline__ void unscale(float (&sums)[count], int offset, const int (&rows)[2],
                                        const HopperColumns& columns) {
    constexpr int near = 63;  // two such powers make a normal number
    const auto is_near = [offset](int exponent) {
        return static_cast<unsigned>(exponent - offset + near) <= 2 * near;
    };
    // All are loaded before the first is needed.
    int2 pairs[count / 4];
    bool all_near = is_near(rows[0]) & is_near(rows[1]);
#pragma unroll
    for (int j = 0; j < count / 4; ++j) pairs[j] = columns.of(j);
#pragma unroll
    for (int j = 0; j < count / 4; ++j)
        all_near = all_near & is_near(pairs[j].x) & is_near(pairs[j].y);
    if (__all_sync(~0u, all_near)) {
        const float row[2] = {gemm_power(rows[0] - offset), gemm_power(rows[1] - offset)};
#pragma unroll
        for (int j = 0; j < count / 4; ++j)
            scale_four(sums, j, row, gemm_power(pairs[j].x - offset),
                       gemm_power(pairs[j].y - offset));
    } else {
#pragma unroll
        for (int e = 0; e < count; ++e) {
            const int2 pair = pairs[e / 4];
            const int exponent = rows[e / 2 % 2] + (e % 2 ? pair.y : pair.x) - 2 * offset;
            const int bounded = max(-252, min(254, exponent));
            sums[e] = sums[e] * gemm_power(bounded / 2) * gemm_power(bounded - bounded / 2);
        }
    }
}

/// Form paired: leaves a slice's sums for the block of the tile that ends last. That one gets all
/// slices' sums; for the others, returns false.
template <int count>
__device__ __forceinline__ bool add_cut_slices(float (&sums)[count], const HopperWork& work,
                                               HopperShared& shared, const HopperUnit& at) {
    constexpr unsigned stride = hopper_multipliers * 4, tile = hopper_multipliers * count;
    const unsigned slices = work.plan.slices, thread = hopper_thread();
    float* const first = work.partials + std::size_t{at.cut_tile} * slices * tile + thread * 4;
    float* const own = first + std::size_t{at.slice} * tile;
#pragma unroll
    for (int e = 0; e < count; e += 4)
        __stcg(reinterpret_cast<float4*>(own + e / 4 * stride),
               make_float4(sums[e], sums[e + 1], sums[e + 2], sums[e + 3]));
    __threadfence();
    device::barrier_of(1, hopper_multipliers);
    if (thread == 0) shared.turn = device::take_turn(work.counters + at.cut_tile, slices - 1);
    device::barrier_of(1, hopper_multipliers);
    if (shared.turn != slices - 1) return false;
    __threadfence();
    set_to_zero(sums);
#pragma unroll 1
    for (unsigned slice = 0; slice < slices; ++slice) {
        const float* const from = first + std::size_t{slice} * tile;
#pragma unroll
        for (int e = 0; e < count; e += 4) {
            const float4 sum = __ldcg(reinterpret_cast<const float4*>(from + e / 4 * stride));
            sums[e] += sum.x;
            sums[e + 1] += sum.y;
            sums[e + 2] += sum.z;
            sums[e + 3] += sum.w;
        }
    }
    return true;
}

/// The sums' tile of C.
template <int count>
__device__ __forceinline__ void store_tile(const float (&sums)[count],
                                           const GemmPlanesProduct& product, const HopperUnit& at) {
    constexpr int columns = 2 * count;
    const MatrixView<float>& c = product.c;
    const float alpha = product.alpha, beta = product.beta;
    const std::int64_t top = std::int64_t{at.tile_i} * hopper_block_m;
    const std::int64_t left = std::int64_t{at.tile_j} * columns;
    const bool inside = top + hopper_block_m <= c.rows && left + columns <= c.columns;
    const std::int64_t i = top + first_row(), j = left + first_column();
    float* to = &c(i, j);
    const bool pairs = c.column_stride == 1 && c.row_stride % 2 == 0 &&
                       reinterpret_cast<std::uintptr_t>(c.data) % 8 == 0;
    const std::int64_t down = 8 * c.row_stride;
    if (inside && pairs && beta == 0) {
#pragma unroll
        for (int e = 0; e < count; e += 2)
            *reinterpret_cast<float2*>(to + e / 4 * 8 + (e / 2 % 2 ? down : 0)) =
                make_float2(alpha * sums[e], alpha * sums[e + 1]);
        return;
    }
    const bool rows[2] = {i < c.rows, i + 8 < c.rows};
    auto right = static_cast<int>(c.columns - j < columns ? c.columns - j : columns);
#pragma unroll
    for (int e = 0; e < count; e += 4, right -= 8, to += 8 * c.column_stride)
#pragma unroll
        for (int h = 0; h < 2; ++h)
#pragma unroll
            for (int f = 0; f < 2; ++f)
                if (rows[h] && f < right)
                    store(to[(h ? down : 0) + (f ? c.column_stride : 0)], alpha,
                          sums[e + 2 * h + f], beta);
}

/// Form sliced: each block of the cluster gets all slices' sums of some rows of the tile, and
/// stores them. `shared`: the ring, which no one uses any more once all blocks have arrived.
template <int count>
__device__ __forceinline__ void exchange_slices(const float (&sums)[count], const HopperWork& work,
                                                HopperShared& shared, GemmParts kind,
                                                const HopperUnit& at) {
    constexpr unsigned columns = 2 * count;
    constexpr unsigned pitch = columns + 8;  // pairs of 8 rows lie in distinct banks
    static_assert((hopper_block_m * pitch) * sizeof(float) <= sizeof(HopperShared::slots));
    const GemmPlanesProduct& product = work.product;
    const HopperPlan& plan = work.plan;
    const unsigned slices = plan.slices, rows = hopper_block_m / slices;  // of a block
    auto* const kept = reinterpret_cast<float*>(&shared);                 // (slices, rows, pitch)

    // What the block stores: each thread four columns, of some of the block's rows.
    constexpr unsigned across = columns / 4;  // threads
    const unsigned thread = hopper_thread(), j = thread % across * 4;
    int* const row_exponents = shared.exponents[0];
    int column_exponents[4];
    device::load_vector(column_exponents,
                        hopper_exponents(work.b(kind), plan.b_bricks,
                                         at.tile_j * (columns / gemm_brick) + j / gemm_brick, plan,
                                         plan.groups - 1) +
                            j % gemm_brick);
    device::barrier_of(1, hopper_multipliers);  // the exponents of B are no longer needed
    if (thread < rows) {
        const unsigned row = at.slice * rows + thread;
        row_exponents[thread] = hopper_exponents(work.a(kind), plan.a_bricks,
                                                 at.tile_i * hopper_a_halves + row / gemm_brick,
                                                 plan, plan.groups - 1)[row % gemm_brick];
    }
    device::cluster_arrive();
    device::cluster_wait();

    const auto row = static_cast<unsigned>(first_row());
    float* const to = device::of_block(
        kept + ((at.slice * rows + row % rows) * pitch + first_column()), row / rows);
#pragma unroll
    for (int e = 0; e < count; e += 2)
        *reinterpret_cast<float2*>(to + e / 4 * 8 + (e / 2 % 2 ? 8 * pitch : 0)) =
            make_float2(sums[e], sums[e + 1]);
    device::cluster_arrive();
    device::cluster_wait();

    // A short loop: for so small a product, fetching instructions takes long.
    const std::int64_t top = std::int64_t{at.tile_i} * hopper_block_m + at.slice * rows;
    const std::int64_t left = std::int64_t{at.tile_j} * columns + j;
    if (left >= product.c.columns) return;
#pragma unroll 1
    for (unsigned i = thread / across; i < rows; i += hopper_multipliers / across) {
        const float* from = kept + (i * pitch + j);
        float sum[4] = {};
        for (unsigned slice = 0; slice < slices; ++slice, from += rows * pitch) {
            float part[4];
            device::load_vector(part, from);
#pragma unroll
            for (int e = 0; e < 4; ++e) sum[e] += part[e];
        }
#pragma unroll
        for (int e = 0; e < 4; ++e)
            sum[e] =
                gemm_scaled(sum[e], row_exponents[i] + column_exponents[e] - 2 * gemm_offset(kind));
        store_row(product.c, top + i, left, product.alpha, sum, product.beta);
    }
}

}  // namespace tinyblas
