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
    if (thread == 0)
        shared.turn = device::take_turn(&work.counters->of_tiles[at.cut_tile], slices - 1);
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

/// Where a warp puts its sums in order: 16 rows of 32 columns, a swizzled line of 128 bytes each.
/// Pieces of 16 bytes are exchanged in pairs, so that both the lanes that put sums there, of 4 rows
/// at a time, and those that take them, of one row, have distinct banks.
struct HopperStage {
    char* lines;

    /// The sums of row first_row() + 8 h, columns first_column() + 8 j and the next, j < 4.
    __device__ __forceinline__ float2& pair(int h, int j) const {
        const unsigned lane = hopper_thread() % 32, row = lane / 4, quarter = lane % 4;
        return *reinterpret_cast<float2*>(
            lines + (row + 8 * static_cast<unsigned>(h)) * 128 +
            ((static_cast<unsigned>(j) ^ row % 4) * 32 + quarter * 8));
    }
    __device__ __forceinline__ const float* piece(unsigned row, unsigned number) const {
        return reinterpret_cast<const float*>(lines + row * 128 + (number ^ row % 4 * 2) * 16);
    }
};

/// Calls store(row) for a warp's 16 rows, or every second.
template <class Store>
__device__ __forceinline__ void for_each_row(unsigned first, unsigned step, Store&& store) {
#pragma unroll 8
    for (unsigned row = 0; row < 16; row += step) store(first + row);
}

/// A warp's rows of a tile: from its threads' sums to C, 64 columns at a time through two stages,
/// so that what is stored together lies together. `row_exponent`: of row lane % 16. `usual`: in
/// vectors where that can be, at the price of more code.
template <bool usual, int count>
__device__ __forceinline__ void store_tile(const float (&sums)[count],
                                           const GemmPlanesProduct& product, const HopperUnit& at,
                                           const HopperStage (&stages)[2], int row_exponent,
                                           const HopperColumns& columns, int offset) {
    const MatrixView<float>& c = product.c;
    const float alpha = product.alpha, beta = product.beta;
    const unsigned lane = device::lane();
    const std::int64_t top = std::int64_t{at.tile_i} * hopper_block_m + hopper_thread() / 32 * 16;
    const std::int64_t left = std::int64_t{at.tile_j} * (2 * count);
    const bool vectors = top + 16 <= c.rows && left + 2 * count <= c.columns && beta == 0 &&
                         c.column_stride == 1 && c.row_stride % 4 == 0 &&
                         reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0;
    constexpr int near = 63;  // two such powers make a normal number
    const auto is_near = [offset](int exponent) {
        return static_cast<unsigned>(exponent - offset + near) <= 2 * near;
    };
    const float row_scale = gemm_power(row_exponent - offset);
#pragma unroll
    for (int brick = 0; brick < count / 32; ++brick) {
        const int* const exponents = columns.bricks[brick];
        const int2 pair = *reinterpret_cast<const int2*>(exponents + 2 * lane);
        const bool all_near =
            __all_sync(~0u, is_near(row_exponent) && is_near(pair.x) && is_near(pair.y));
#pragma unroll
        for (int e = 0; e < 32; e += 2)
            stages[e / 16].pair(e / 2 % 2, e / 4 % 4) =
                make_float2(sums[brick * 32 + e], sums[brick * 32 + e + 1]);
        __syncwarp();
        if (usual && all_near && vectors) {
            // Two rows at a time, 16 lanes each.
            const unsigned piece = lane % 16;
            const HopperStage stage = piece < 8 ? stages[0] : stages[1];
            int own[4];
            device::load_vector(own, exponents + 4 * piece);
            float scales[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) scales[e] = gemm_power(own[e] - offset);
            float* to = &c(top + lane / 16, left + brick * gemm_brick + 4 * piece);
            for_each_row(lane / 16, 2, [&](unsigned row) {
                const float scale = __shfl_sync(~0u, row_scale, row);
                float sum[4];
                device::load_vector(sum, stage.piece(row, piece % 8));
#pragma unroll
                for (int e = 0; e < 4; ++e) sum[e] = alpha * (sum[e] * scale * scales[e]);
                device::store_global(to, sum);
                to += 2 * c.row_stride;
            });
        } else {
            // A row at a time, neighbouring columns.
#pragma unroll 1
            for (unsigned half = 0; half < 2; ++half) {
                const HopperStage stage = half == 0 ? stages[0] : stages[1];
                const int exponent = exponents[32 * half + lane] - offset;
                const std::int64_t column = left + brick * gemm_brick + 32 * half + lane;
                const auto rows_left = static_cast<unsigned>(
                    column >= c.columns || top >= c.rows ? 0 : min(c.rows - top, std::int64_t{16}));
                float* const first = &c(top, column);
                const auto put = [&](unsigned row, float value) {
                    if (row < rows_left) store(first[row * c.row_stride], alpha, value, beta);
                };
                if (usual && all_near) {
                    const float scale = gemm_power(exponent);
                    for_each_row(0, 1, [&](unsigned row) {
                        put(row, stage.piece(row, lane / 4)[lane % 4] *
                                     __shfl_sync(~0u, row_scale, row) * scale);
                    });
                } else {
#pragma unroll 1
                    for (unsigned row = 0; row < 16; ++row)
                        put(row,
                            gemm_scaled(stage.piece(row, lane / 4)[lane % 4],
                                        __shfl_sync(~0u, row_exponent, row) - offset + exponent));
                }
            }
        }
        __syncwarp();
    }
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
