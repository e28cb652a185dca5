// SPDX-License-Identifier: MIT
// gemm, rung 6, for double (compute capability 9.0a). New over rung 3, whose sums it makes bit for
// bit: the fp64 tensor cores multiply; warps that only load and warps that only multiply meet at
// barriers of stages rather than of the block; a block goes on from tile to tile, of one product or
// of a batch, and what of one product does not fill the GPU is cut along k (into many parts:
// tensor_apart.cuh).
//
//   loaders      | chunk 3 -> stage 3 | chunk 4 -> stage 4 | (waits until stage 0 is empty) ...
//   a warp       | fragments <- stage 0 | 16 products of 16 x 8 x 16 | leaves stage 0 | ...
//
//   block tile            a warp's tile: 16 accumulators of 16 x 8, each lane with 4 of its sums
//   +--------+--------+   +---------------+---------------+------
//   | warp 0 | warp 1 |   |  s0           |  s1           |        strip 0: 8 rows of A
//   +--------+--------+   +---------------+---------------+------
//   | warp 2 | warp 3 |   |               |               |        strip 1
//   +--------+--------+   +---------------+---------------+------
//   |   ...  |  ...   |     slab 0: 16 columns of B
//
// fp64 tensor cores round each multiply-add as the ordinary ones do, one after the other along k.
// Where C is added to, its old elements come through the ring, too, after a tile's last chunk.
//
// Limit: power, from n = 4096 on when calls follow each other; a multiprocessor's tensor cores are
// busy 97 % of the main loop's cycles. Below n = 1024: the start, and what the L2 cache delivers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor_apart.cuh"
#include "tensor_sums.cuh"

namespace tinyblas {

/// Where a block begins whole tile `tile`: it waits until all others begin theirs of the same turn.
/// Else some get ahead, k far apart, and each fetches from memory what they could share in the L2
/// cache (n = 8192: 9 to 11 GB in place of 7, and the power that it takes). Not for ever: others
/// may not be there, for another kernel has their place.
__device__ __forceinline__ void begin_together(unsigned* begun, unsigned whole, unsigned chunks,
                                               unsigned tile) {
    device::take_turn(begun, whole - 1);
    const unsigned before = tile - blockIdx.x, expected = before + gridDim.x;
    // In the last turn none waits, so that no one still looks when the last one sets it to 0.
    if (before == 0 || expected >= whole) return;
    const unsigned most_looks = chunks / 8;  // each takes about half a chunk's time
    for (unsigned looks = 0; looks < most_looks; ++looks)
        if (device::load_acquire(begun) >= expected) return;
}

/// How much of `extent` is left of C.
__device__ __forceinline__ int inside(std::int64_t left, int extent) {
    return left < extent ? static_cast<int>(left) : extent;
}

/// As load_old(), in few registers: element by element of each strip, or pair by pair.
template <int entry, class Shared>
__device__ __forceinline__ void load_old_in_turn(const MatrixView<double>& c,
                                                 const TensorCorner& corner, int m, int n,
                                                 TensorRing<Shared>& ring) {
    using Old = typename Shared::Old;
    constexpr GemmTensorTile t = gemm_tensor_table[entry];
    const double* const first = &c(corner.i, corner.j);
    const int width = takes_pairs(c) ? 2 : 1;
    const int thread = static_cast<int>(device::opaque(threadIdx.x)) - t.multipliers();
#pragma unroll 1
    for (int strip = 0; strip < Old::strips; ++strip) {
        ring.wait_until_empty();
#pragma unroll 1
        for (int number = thread * width; number < Old::rows * Old::columns;
             number += GemmTensorTile::loaders * width) {
            const int row = number / Old::columns, column = number % Old::columns;
            const int i = Old::tile_row(strip, row);
            const int valid = i < m && column < n ? (n - column < width ? 1 : width) : 0;
            const auto to = ring.old(row / 2, row % 2, column);
            const double* from = first + i * c.row_stride + column * c.column_stride;
            if (width == 2)
                device::copy_async<2>(to, from, valid);
            else
                device::copy_async<1>(to, from, valid);
        }
        ring.fill();
    }
}

/// C's old elements of that tile, after its last chunk: a strip a stage. Of a cut tile, each part's
/// block brings them; a warp uses those alone that it is to replace. All is found out anew rather
/// than kept in registers while chunks are loaded, which takes all that there are.
template <int entry, class Shared>
__device__ __forceinline__ void load_old(const GemmTensorWork& work, unsigned tile,
                                         TensorRing<Shared>& ring) {
    using Old = typename Shared::Old;
    constexpr GemmTensorTile t = gemm_tensor_table[entry];
    const TensorCorner corner = tensor_corner<entry>(work, device::opaque(tile));
    const MatrixView<double> c = matrix_of<entry>(work.c, corner.product);
    const int m = inside(c.rows - corner.i, t.block_m), n = inside(c.columns - corner.j, t.block_n);
    if constexpr (gemm_tensor_waits(entry))  // see store_large_tile()
        return load_old_in_turn<entry>(c, corner, m, n, ring);
    // A thread brings one column, or two, of some of the strip's rows, of each warp's eight the
    // same; of those that are not there, zeros.
    const bool pairs = takes_pairs(c);
    const unsigned thread = device::opaque(threadIdx.x) - t.multipliers();
    const unsigned across = pairs ? Old::columns / 2 : Old::columns;
    const int width = pairs ? 2 : 1, column = static_cast<int>(thread % across) * width;
    const int beyond = n - column, most = beyond < width ? (beyond > 0 ? 1 : 0) : width;
    const double* line = device::opaque(&c(corner.i, corner.j + column));
    const std::int64_t next = t.warp_m * c.row_stride;
#pragma unroll 1
    for (int strip = 0; strip < Old::strips; ++strip, line += 8 * c.row_stride) {
        ring.wait_until_empty();
#pragma unroll 1
        for (unsigned first = thread / across; first < 8; first += t.loaders / across) {
            const auto row = static_cast<int>(first);
            const auto to = ring.old(row / 2, row % 2, column);
            const double* from = line + row * c.row_stride;
            int left = m - strip * 8 - row;
#pragma unroll
            for (int eight = 0; eight < Old::rows; eight += 8, left -= t.warp_m) {
                const int valid = left > 0 ? most : 0;
                if (pairs)
                    device::copy_async<2>(to + eight / 2 * Old::columns, from, valid);
                else
                    device::copy_async<1>(to + eight / 2 * Old::columns, from, valid);
                from = device::opaque(from + next);
            }
        }
        ring.fill();
    }
}

/// The role of the threads that load: all units' chunks through the ring.
template <int entry, class Shared>
__device__ __forceinline__ void load_units(const GemmTensorWork& work, Shared& shared, int thread) {
    constexpr GemmTensorTile t = gemm_tensor_table[entry];
    TensorLoader<typename Shared::A, t.loaders> a(work.a.first, thread, work.ahead);
    TensorLoader<typename Shared::B, t.loaders> b(work.b.first, thread, work.ahead);
    TensorRing<Shared> ring(shared, 1);
    for_each_unit(work, [&](const TensorUnit& unit) {
        if (gemm_tensor_waits(entry) && thread == 0 && work.begun && unit.tile < work.plan.whole)
            begin_together(work.begun, work.plan.whole, work.plan.chunks, unit.tile);
        const TensorCorner corner = tensor_corner<entry>(work, unit.tile);
        const int m = inside(work.c.first.rows - corner.i, t.block_m);
        const int n = inside(work.c.first.columns - corner.j, t.block_n);
        std::int64_t p = std::int64_t{unit.first} * t.block_k;
        a.enter(matrix_of<entry>(work.a, corner.product), corner.i, p);
        b.enter(matrix_of<entry>(work.b, corner.product), corner.j, p);
#pragma unroll 1
        for (unsigned left = unit.chunks(); left > 0; --left, p += t.block_k) {
            const int columns = inside(work.a.first.columns - p, t.block_k);
            ring.wait_until_empty();
            a.load(ring.a(), m, columns);
            b.load(ring.b(), n, columns);
            ring.fill();
        }
        if (work.reads_c) load_old<entry>(work, unit.tile, ring);
    });
    device::close_copy_group();
    device::wait_for_copies<0>();
}

/// The role of a warp that multiplies.
template <int entry, class Shared>
__device__ __forceinline__ void multiply_units(const GemmTensorWork& work, Shared& shared, int warp,
                                               int lane) {
    constexpr GemmTensorTile t = gemm_tensor_table[entry];
    TensorWarpTile<Shared> tile(warp, lane);
    TensorRing<Shared> ring(shared, 0);
    const auto corner = [&](unsigned number) {
        TensorCorner at = tensor_corner<entry>(work, number);
        at.i += warp / t.warps_n() * t.warp_m;
        at.j += warp % t.warps_n() * t.warp_n;
        return at;
    };
    const unsigned strips = work.reads_c ? t.warp_m / 8 : 0;  // of C's old elements
    for_each_unit(work, [&](const TensorUnit& unit) {
        const TensorCorner start = corner(unit.tile);
        if (start.i >= work.c.first.rows ||
            start.j >= work.c.first.columns) {  // nothing but to keep up
            ring.pass(unit.chunks() + strips);
            return;
        }
        tile.multiply(unit.chunks(), ring);
        const bool cut = unit.chunks() < work.plan.chunks;
        if (cut && work.plan.sums_apart) return leave_part<entry>(tile, work, unit, warp, lane);
        if (cut && !add_parts<entry>(tile, work, unit, warp, lane)) {
            ring.pass(strips);
            return;
        }
        // Found out anew rather than kept in registers through the main loop.
        const TensorCorner at = corner(device::opaque(unit.tile));
        if constexpr (gemm_tensor_waits(entry))
            store_large_tile<entry>(tile, work, at, ring, warp, lane);
        else
            store_tile<entry>(tile, work, at, ring, warp, lane);
    });
}

template <int entry, bool a_along_k, bool b_along_k>
__global__ void __launch_bounds__(gemm_tensor_table[entry].threads(),
                                  gemm_tensor_table[entry].min_blocks)
    gemm_tensor(const __grid_constant__ GemmTensorWork work) {
    constexpr GemmTensorTile t = gemm_tensor_table[entry];
    if constexpr (!device::reallocates_registers) {
        device::trap();
    } else {
        using Shared = TensorShared<entry, a_along_k, b_along_k>;
        Shared& shared = device::large_shared<Shared>();
        const int thread = static_cast<int>(threadIdx.x);
        if (thread == 0) TensorRing<Shared>(shared, 0).make_barriers(t.loaders, t.multipliers());
        __syncthreads();
        device::wait_for_launcher();
        if (!work.plan.late_dependents) device::let_dependents_start();
        if (thread >= t.multipliers()) {
            device::give_up_registers<t.loader_registers>();
            load_units<entry>(work, shared, thread - t.multipliers());
        } else {
            device::claim_registers<t.multiplier_registers()>();
            multiply_units<entry>(work, shared, thread / 32, thread % 32);
        }
    }
}

/// One of them, and the bytes of shared memory it takes.
struct GemmTensorKernel {
    void (*kernel)(GemmTensorWork);
    std::size_t shared;
};
template <int entry, bool a_along_k, bool b_along_k>
inline constexpr GemmTensorKernel gemm_tensor_kernel = {
    gemm_tensor<entry, a_along_k, b_along_k>, sizeof(TensorShared<entry, a_along_k, b_along_k>)};

/// `kernel`: of the plan's entry.
inline void launch_gemm_tensor(device::Stream stream, const GemmTensorKernel& kernel,
                               const GemmTensorWork& work) {
    // One more: else, of products that fill more than half of the multiprocessors, only some blocks
    // would begin early, and 257 squares take 14 % longer.
    device::launch_evenly<1>("gemm", kernel.kernel, work.plan.blocks,
                             gemm_tensor_table[work.plan.entry].threads(), kernel.shared, stream,
                             work);
    if (work.plan.sums_apart) launch_gemm_tensor_sums(stream, work);
}

}  // namespace tinyblas
