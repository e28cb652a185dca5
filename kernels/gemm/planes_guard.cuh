// SPDX-License-Identifier: MIT
// What the pre-pass (planes.cuh) finds out about an operand: the exponents of its rows, and whether
// their elements lie so far apart that parts of some kind cannot hold them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <device.hpp>

#include "planes.hpp"
#include "planes_runs.cuh"

namespace tinyblas {

/// Which patch of an operand.
struct PlanesPatch {
    unsigned strip, group;
};

/// The bits of |x|, in the order of |x|.
__device__ __forceinline__ unsigned magnitude(float x) {
    return std::bit_cast<unsigned>(x) & 0x7FFFFFFFu;
}
/// The bits of 2^exponent; of float's least number where that is larger.
__device__ __forceinline__ unsigned magnitude_of_power(int exponent) {
    const unsigned subnormal = exponent >= -149 ? 1u << ((exponent + 149) & 31) : 1u;
    return exponent >= -126 ? static_cast<unsigned>(exponent + 127) << 23 : subnormal;
}
/// In the order of |x|, but zero comes last. Not made of magnitude(x), which would have to be kept.
__device__ __forceinline__ unsigned rank_of_small(unsigned bits) { return bits * 2 - 2; }
/// floor(log2 |x|) from the bits of |x|; 128 for Inf and NaN, gemm_log2_of_zero for zero.
__device__ __forceinline__ int exponent_of(unsigned magnitude) {
    const auto larger = std::bit_cast<unsigned>(std::bit_cast<float>(magnitude) * 0x1p24f);
    return magnitude >= 0x00800000u ? static_cast<int>(magnitude >> 23) - 127
                                    : static_cast<int>(larger >> 23) - (127 + 24);
}

/// What a block notes of a row, for judge_drift: its exponent and how far that lies above the
/// largest element's; 0 for zeros.
struct PlanesNote {
    int word;
    static constexpr int bias = 256;

    __device__ explicit PlanesNote(int word) : word(word) {}
    __device__ PlanesNote(int exponent, int largest)
        : word(largest == gemm_log2_of_zero ? 0 : (exponent + bias) | (exponent - largest) << 16) {}
    __device__ bool zero() const { return word == 0; }
    __device__ int exponent() const {
        return zero() ? gemm_exponent(gemm_log2_of_zero) : (word & 0xFFFF) - bias;
    }
    __device__ int largest() const { return exponent() - (word >> 16); }
};

/// The rows' notes, from measure to report.
__device__ __forceinline__ int (&notes_of_rows())[gemm_strip] {
    return device::shared<struct PlanesNotes, int[gemm_strip]>();
}

/// The bits of the largest magnitude of each run's row.
template <class Owner>
__device__ __forceinline__ void find_largest(const Owner& owner, const PlanesRuns& runs,
                                             unsigned (&largest)[planes_runs]) {
#pragma unroll
    for (int run = 0; run < planes_runs; ++run) {
        largest[run] = 0;
#pragma unroll
        for (int e = 0; e < planes_run; ++e)
            largest[run] = Largest::of(largest[run], magnitude(runs[run][e]));
    }
    owner.template combine<Largest>(largest);
}

/// What the guard finds where some elements lie below their row's spread: `least` is each run's
/// least rank. Rows that have such elements get the exponents of their largest.
template <class Owner>
__device__ __forceinline__ unsigned judge_small(const PlanesRuns& runs,
                                                const unsigned (&least)[planes_runs],
                                                int (&exponents)[planes_runs]) {
    const Owner owner(device::opaque(threadIdx.x));  // which keeps no register until it is needed
    unsigned small[planes_runs], largest[planes_runs];
#pragma unroll
    for (int run = 0; run < planes_runs; ++run)
        small[run] =
            least[run] < rank_of_small(magnitude_of_power(exponents[run] - gemm_fp16_spread));
    owner.template combine<Either>(small);
    find_largest(owner, runs, largest);
#pragma unroll
    for (unsigned run = 0; run < planes_runs; ++run) {
        if (!small[run]) continue;
        exponents[run] = exponent_of(largest[run]);
        if (owner.speaks())
            notes_of_rows()[owner.row(run)] = PlanesNote(exponents[run], exponents[run]).word;
    }
    unsigned found = 0, below[planes_runs];
#pragma unroll
    for (int run = 0; run < planes_runs; ++run) {
        const auto limit = [&](int spread) {
            return rank_of_small(magnitude_of_power(exponents[run] - spread));
        };
        if (least[run] < limit(gemm_fp16_most_spread)) found |= gemm_wide;
        if (least[run] < limit(gemm_bf16_most_spread)) found |= gemm_strict;
        const auto few =
            std::bit_cast<float>(magnitude_of_power(exponents[run] - gemm_fp16_spread));
        below[run] = 0;
#pragma unroll
        for (int e = 0; e < planes_run; ++e) {
            const float x = runs[run][e], size = std::fabs(x);
            below[run] += x != 0 && size < few ? 1 : 0;
        }
    }
    owner.template combine<Total>(below);
#pragma unroll
    for (int run = 0; run < planes_runs; ++run)
        if (below[run] > gemm_fp16_few) found |= gemm_wide;
    return found;
}

/// The exponents of the runs' rows in this group, and what the guard finds in the elements.
template <class Owner>
__device__ __forceinline__ unsigned measure(const Owner& owner, const PlanesRuns& runs,
                                            int (&exponents)[planes_runs]) {
    unsigned largest[planes_runs];
    find_largest(owner, runs, largest);
    unsigned found = 0;
    bool small = false;
    unsigned least[planes_runs];
#pragma unroll
    for (unsigned run = 0; run < planes_runs; ++run) {
        if (largest[run] >= 0x7F800000u) found |= gemm_strict;
        const int exponent = exponent_of(largest[run]);
        exponents[run] = gemm_exponent(exponent);
        if (owner.speaks())
            notes_of_rows()[owner.row(run)] = PlanesNote(exponents[run], exponent).word;
        least[run] = ~0u;
#pragma unroll
        for (int e = 0; e < planes_run; ++e) {
            const unsigned rank = rank_of_small(std::bit_cast<unsigned>(runs[run][e]));
            least[run] = rank < least[run] ? rank : least[run];
        }
        small |= least[run] < rank_of_small(magnitude_of_power(exponents[run] - gemm_fp16_spread));
    }
    if (owner.any(small)) found |= judge_small<Owner>(runs, least, exponents);
    return found;
}

/// What a patch leaves: its rows' exponents and notes, and its findings.
template <class Owner>
__device__ __forceinline__ void report(const Owner& owner, const GemmPlanesTask& task,
                                       PlanesPatch patch, unsigned found) {
    auto& of_warps = device::shared<struct PlanesFindings, unsigned[planes_warps]>();
    found = __reduce_or_sync(~0u, found);
    if (owner.lane == 0) of_warps[owner.warp] = found;
    __syncthreads();
    if (owner.warp > 0) return;
    const GemmPlanes& planes = task.planes;
    const PlanesNote note(notes_of_rows()[owner.lane]);
    const std::int64_t row = planes.exponents_of(patch.strip / 2, patch.group) - planes.exponents +
                             patch.strip % 2 * gemm_strip + owner.lane;
    const std::int64_t groups = planes.groups();
    planes.exponents[row] = note.exponent();
    if (groups > 1) task.notes[row] = note.word;
    if (patch.strip >= planes.strips()) return;  // only fills its brick
    found = owner.lane < planes_warps ? of_warps[owner.lane] : 0;
    if (groups > 1 && !note.zero() && gemm_is_far(note.largest())) found |= gemm_far;
    found = __reduce_or_sync(~0u, found);
    std::uint8_t* const findings = planes.findings_of(patch.strip);
    if (owner.lane == 0) findings[patch.group] = static_cast<std::uint8_t>(found);
    if (patch.group == groups - 1 && groups + owner.lane < planes.findings_pitch())
        findings[groups + owner.lane] = 0;
}

/// Whether some row of a strip is far from 1. By a warp.
__device__ __forceinline__ bool is_far(const GemmPlanes& planes, unsigned strip) {
    const auto groups = static_cast<unsigned>(planes.groups());
    const std::uint8_t* const findings = planes.findings_of(strip);
    unsigned found = 0;
    for (unsigned group = threadIdx.x % 32; group < groups; group += 32) found |= findings[group];
    return __any_sync(~0u, (found & gemm_far) != 0);
}

/// How far a strip's rows drift from group to group, as findings. In a group in which it is zero, a
/// row gets the exponent of the group before it; at the start, of the first in which it is not. By
/// a warp, a lane a row.
__device__ __forceinline__ unsigned judge_drift(const GemmPlanes& planes, const int* notes,
                                                unsigned strip) {
    constexpr int batch = 16;  // loads under way at once
    const auto groups = static_cast<int>(planes.groups());
    int* const exponents =
        planes.exponents_of(strip / 2, 0) + (strip % 2 * gemm_strip + threadIdx.x % 32);
    notes += exponents - planes.exponents;
    int first = groups, leading = 0, exponent = 0, least = 0, most = 0;
#pragma unroll 1
    for (int group = 0; group < groups; group += batch) {
        int words[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b)
            words[b] = group + b < groups ? notes[std::int64_t{group + b} * gemm_brick] : 0;
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const PlanesNote note(words[b]);
            if (!note.zero()) {
                exponent = note.exponent();
                const int largest = note.largest();
                if (first == groups) {
                    first = group + b;
                    leading = exponent;
                    least = most = largest;
                }
                least = largest < least ? largest : least;
                most = largest > most ? largest : most;
            } else if (group + b < groups && first < groups) {
                exponents[std::int64_t{group + b} * gemm_brick] = exponent;
            }
        }
    }
    for (int group = 0; first < groups && group < first; ++group)
        exponents[std::int64_t{group} * gemm_brick] = leading;
    unsigned found = 0;
    if (most - least > gemm_fp16_drift) found |= gemm_wide;
    if (most - least > gemm_bf16_drift) found |= gemm_strict;
    return __reduce_or_sync(~0u, found);
}

/// For bf16x3, a row has one exponent in all groups: the largest.
template <class Owner>
__device__ __forceinline__ void widest_exponents(const Owner& owner, const GemmPlanesTask& task,
                                                 PlanesPatch patch, int (&exponents)[planes_runs]) {
    auto& of_rows = device::shared<struct PlanesWidest, int[gemm_strip]>();
    const GemmPlanes& planes = task.planes;
    const auto groups = static_cast<unsigned>(planes.groups());
    const std::int64_t first =
        planes.exponents_of(patch.strip / 2, 0) - planes.exponents + patch.strip % 2 * gemm_strip;
    constexpr unsigned of_warp = gemm_strip / planes_warps;
    for (unsigned row = of_warp * owner.warp; row < of_warp * (owner.warp + 1); ++row) {
        int most = -256;
        for (unsigned group = owner.lane; group < groups; group += 32) {
            const int exponent =
                task.narrow_exponents[first + std::int64_t{group} * gemm_brick + row];
            most = exponent > most ? exponent : most;
        }
        most = __reduce_max_sync(~0u, most);
        if (owner.lane == 0) of_rows[row] = most;
    }
    __syncthreads();
#pragma unroll
    for (unsigned run = 0; run < planes_runs; ++run) exponents[run] = of_rows[owner.row(run)];
    if (owner.warp == 0)
        planes.exponents[first + std::int64_t{patch.group} * gemm_brick + owner.lane] =
            of_rows[owner.lane];
}

}  // namespace tinyblas
