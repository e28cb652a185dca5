// SPDX-License-Identifier: MIT
// The pre-pass of gemm's rungs split and hopper: operands in parts (planes.hpp), A and B in one
// launch. Memory is read once and written once: a block keeps its patch of an operand in registers
// from the search for the rows' maxima to the split.
//
//      k: group 0       group 1
//       +-------------+-------------+---     block: a patch, 32 rows x 256 k
//   32  |             |             |          1. read           planes_runs.cuh
//       +-------------+-------------+---       2. exponents      planes_guard.cuh
//   32  |             |             |          3. scale, split, write
//       +-------------+-------------+---
//
// A row's scale belongs to its patch alone, so no block waits for another, and blocks may start in
// any order. How far a row drifts from group to group is no question where its elements are near 1.
// Else the rung hopper's blocks judge it first (hopper_first.cuh), and for others
// gemm_planes_drift. Always to let a strip's last block judge it would take 1.5 to 3 us, most of it
// for the tickets that tell which one that is.
//
// Limit: memory bandwidth.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "planes.hpp"
#include "planes_guard.cuh"
#include "planes_runs.cuh"
#include "verdict.cuh"

namespace tinyblas {

/// pieces = a run's parts; returns the low part's bits together, for fp16x2.
template <GemmParts kind>
__device__ __forceinline__ unsigned split(const float (&y)[planes_run],
                                          unsigned (&pieces)[gemm_parts(kind)][planes_run / 2]) {
    unsigned low = 0;
#pragma unroll
    for (int e = 0; e < planes_run; e += 2) {
        float rest[2] = {y[e], y[e + 1]}, high[2];
        if constexpr (kind == GemmParts::fp16x2) {
            pieces[0][e / 2] = device::to_fp16_pair(rest[0], rest[1]);
            device::from_fp16_pair(pieces[0][e / 2], high[0], high[1]);
            pieces[1][e / 2] =
                device::to_fp16_pair((rest[0] - high[0]) * 0x1p11f, (rest[1] - high[1]) * 0x1p11f);
            low |= pieces[1][e / 2];
        } else {
#pragma unroll
            for (int part = 0; part < gemm_parts(kind); ++part) {
                pieces[part][e / 2] = device::to_bf16_pair(rest[0], rest[1]);
                device::from_bf16_pair(pieces[part][e / 2], high[0], high[1]);
                rest[0] -= high[0];
                rest[1] -= high[1];
            }
        }
    }
    return low & 0x7FFF7FFFu;  // -0 is zero
}

/// Scales the runs by their rows' exponents, splits them and stores the parts, as far as the
/// operand's bricks reach. Returns what split does.
template <GemmParts kind, class Owner>
__device__ __forceinline__ unsigned store_parts(const Owner& owner, const PlanesRuns& runs,
                                                const int (&exponents)[planes_runs],
                                                const GemmPlanes& planes, PlanesPatch patch) {
    constexpr int parts = gemm_parts(kind), brick = gemm_brick * gemm_brick;
    constexpr unsigned group_chunks = gemm_group / gemm_brick;
    const std::int64_t first_chunk = std::int64_t{patch.group} * group_chunks;
    const std::int64_t chunks_left = planes.chunks() - first_chunk;
    const unsigned chunks =
        chunks_left < group_chunks ? static_cast<unsigned>(chunks_left) : group_chunks;
    std::uint16_t* const to = planes.brick(patch.strip / 2, first_chunk, 0, parts) +
                              patch.strip % 2 * gemm_strip * gemm_brick;
    unsigned low = 0;
#pragma unroll
    for (unsigned run = 0; run < planes_runs; ++run) {
        const int scale = gemm_offset(kind) - exponents[run];
        float y[planes_run];
#pragma unroll
        for (int e = 0; e < planes_run; ++e)
            y[e] = runs[run][e] * gemm_power(scale < 127 ? scale : 127);
        if (scale > 127) {
#pragma unroll
            for (int e = 0; e < planes_run; ++e) y[e] *= gemm_power(scale - 127);
        }
        unsigned pieces[parts][planes_run / 2];
        low |= split<kind>(y, pieces);
        const unsigned chunk = owner.k() / gemm_brick;
        if (chunk >= chunks) continue;
        std::uint16_t* const at =
            to + (chunk * parts * brick +
                  static_cast<unsigned>(gemm_brick_place(
                      static_cast<int>(owner.row(run)), static_cast<int>(owner.k() % gemm_brick))));
#pragma unroll
        for (int part = 0; part < parts; ++part)
            device::store_global(reinterpret_cast<unsigned*>(at + part * brick), pieces[part]);
    }
    return low;
}

/// A patch's elements; zeros outside the operand.
template <class Owner>
__device__ __forceinline__ void read_patch(const Owner& owner, PlanesRuns& runs,
                                           const GemmPlanesTask& task, PlanesPatch patch,
                                           bool vectors) {
    const std::int64_t first_row = std::int64_t{patch.strip} * gemm_strip;
    const std::int64_t first_k = std::int64_t{patch.group} * gemm_group;
    const std::int64_t rows = task.planes.rows - first_row, ks = task.planes.k - first_k;
    const unsigned m = rows < 0 ? 0 : rows < gemm_strip ? static_cast<unsigned>(rows) : gemm_strip;
    const unsigned n = ks < gemm_group ? static_cast<unsigned>(ks) : gemm_group;
    const auto read = [&]<bool whole, bool by_vectors>() {
        owner.template read<whole, by_vectors>(
            runs, task.data + first_row * task.row_stride + first_k * task.k_stride,
            task.row_stride, task.k_stride, m, n);
    };
    if (m == gemm_strip && n == gemm_group)
        vectors ? read.template operator()<true, true>() : read.template operator()<true, false>();
    else
        vectors ? read.template operator()<false, true>()
                : read.template operator()<false, false>();
}

/// Both operands' patches in one line, A's first. Neighbours in it are neighbours in memory.
struct GemmPlanesWork {
    GemmPlanesTask tasks[2];
    unsigned patches[2];
};
constexpr std::int64_t patches_of(const GemmPlanesTask& task) {
    return task.data ? 2 * task.planes.row_bricks() * task.planes.groups() : 0;
}

inline GemmPlanesWork planes_work(const GemmPlanesTask& a, const GemmPlanesTask& b) {
    return {{a, b}, {static_cast<unsigned>(patches_of(a)), static_cast<unsigned>(patches_of(b))}};
}

/// maker.make(task, patch, whether vectors can be read) for who holds what of patch number `patch`.
template <class Maker>
__device__ __forceinline__ void with_patch(const GemmPlanesWork& work, unsigned patch,
                                           const Maker& maker) {
    const int which = patch < work.patches[0] ? 0 : 1;
    const GemmPlanesTask& task = work.tasks[which];
    if (which == 1) patch -= work.patches[0];
    const bool aligned = reinterpret_cast<std::uintptr_t>(task.data) % 16 == 0;
    const std::int64_t row_stride = task.row_stride, k_stride = task.k_stride;
    if ((k_stride < 0 ? -k_stride : k_stride) <= (row_stride < 0 ? -row_stride : row_stride)) {
        const auto groups = static_cast<unsigned>(task.planes.groups());
        maker.template make<PlanesAlongK>(task, {patch / groups, patch % groups},
                                          aligned && k_stride == 1 && row_stride % 4 == 0);
    } else {
        const auto strips = static_cast<unsigned>(2 * task.planes.row_bricks());
        maker.template make<PlanesAlongRows>(task, {patch % strips, patch / strips},
                                             aligned && row_stride == 1 && k_stride % 4 == 0);
    }
}

/// A block's patch.
template <GemmParts kind>
struct WholePatch {
    template <class Owner>
    __device__ __forceinline__ void make(const GemmPlanesTask& task, PlanesPatch patch,
                                         bool vectors) const {
        const Owner owner(threadIdx.x);
        PlanesRuns runs;
        read_patch(owner, runs, task, patch, vectors);
        int exponents[planes_runs];
        if constexpr (kind == GemmParts::fp16x2) {
            unsigned found = measure(owner, runs, exponents);
            if (store_parts<kind>(owner, runs, exponents, task.planes, patch) != 0)
                found |= gemm_has_low;
            report(owner, task, patch, found);
        } else {
            widest_exponents(owner, task, patch, exponents);
            store_parts<kind>(owner, runs, exponents, task.planes, patch);
            __syncthreads();  // the next patch's exponents take the place of these
        }
    }
};

template <GemmParts kind>
__global__ void __launch_bounds__(planes_threads, 4)
    gemm_planes(const __grid_constant__ GemmPlanesWork work) {
    // Parts pay where the rung hopper runs: other GPUs' machine code is never asked for them.
    if constexpr (!device::reallocates_registers) return device::trap();
    device::let_dependents_start();
    device::wait_for_launcher();
    if constexpr (kind == GemmParts::fp16x2) {
        with_patch(work, blockIdx.x, WholePatch<kind>());
    } else {
        const unsigned verdict = gemm_verdict(work.tasks[0].planes, work.tasks[1].planes);
        if (!gemm_is_meant(kind, verdict)) return;
        const unsigned patches = work.patches[0] + work.patches[1];
        for (unsigned patch = blockIdx.x; patch < patches; patch += gridDim.x)
            with_patch(work, patch, WholePatch<kind>());
    }
}

/// The strips of both operands in one line, A's first.
__device__ __forceinline__ bool is_of_b(const GemmPlanes& a, unsigned& strip) {
    const auto strips = static_cast<unsigned>(a.strips());
    if (strip < strips) return false;
    strip -= strips;
    return true;
}

/// For bf16x3, as many blocks as an H200 holds at once: most often there is nothing to do, and so
/// few have soon seen it.
inline constexpr unsigned planes_most_wide_blocks = 528;

template <GemmParts kind>
void launch_gemm_planes(device::Stream stream, const GemmPlanesTask& a, const GemmPlanesTask& b) {
    const unsigned blocks = device::grid(patches_of(a) + patches_of(b), "gemm");
    if (blocks == 0) return;
    constexpr unsigned most = kind == GemmParts::fp16x2 ? ~0u : planes_most_wide_blocks;
    device::launch_dependent("gemm", gemm_planes<kind>, blocks < most ? blocks : most,
                             planes_threads, stream, planes_work(a, b));
}

}  // namespace tinyblas
