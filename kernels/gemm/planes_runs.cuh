// SPDX-License-Identifier: MIT
// Who holds which elements of a patch of the pre-pass (planes.cuh), how they come from memory, and
// how the threads of a row put together what each knows of it.
//
//   a patch: 32 rows x 256 k, 8 warps; a thread holds 4 runs of 8 k, each a piece of every part
//
//   neighbours along k:  a warp holds 4 rows    neighbours along rows: a warp holds 32 k
//   +-----------------------------------------+  +-------+----+----+-- ... --+
//   | lane 0, lane 1 ...              lane 31 |  | 0 ... |    |    |         |  a load: 4 k, each
//   | lane 0, lane 1 ...              lane 31 |  | 1 ... |    |    |         |  of 8 lanes with 4
//   |                  ...                    |  | ...   | w1 | w2 |   w7    |  rows; so the turn
//   | warp 1                                  |  | 7 ... |    |    |         |  from rows to k is
//   +------------------- ... -----------------+  +-------+----+----+-- ... --+  one of registers
#pragma once

#include <cstdint>

#include <device.hpp>

#include "planes.hpp"

namespace tinyblas {

inline constexpr int planes_threads = 256;
inline constexpr int planes_warps = planes_threads / 32;
inline constexpr int planes_runs = 4;
inline constexpr int planes_run = 8;
static_assert(planes_threads * planes_runs * planes_run == gemm_strip * gemm_group);

using PlanesRuns = float[planes_runs][planes_run];

/// line = 4 elements, `stride` apart, of which the first `valid` exist (`whole`: all of them);
/// `vectors`: they are neighbours, from a multiple of 16 bytes on.
template <bool whole, bool vectors>
__device__ __forceinline__ void load_line(float (&line)[4], const float* from, std::int64_t stride,
                                          int valid) {
    if (vectors && (whole || valid >= 4)) {
        device::load_read_only(line, from);
    } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            line[e] = whole || e < valid ? __ldg(from) : 0.0f;
            from = device::opaque(from + stride);  // else each product would have a register
        }
    }
}

struct Largest {
    static __device__ unsigned of(unsigned x, unsigned y) { return x > y ? x : y; }
    static __device__ unsigned of_warp(unsigned x) { return __reduce_max_sync(~0u, x); }
};
struct Either {
    static __device__ unsigned of(unsigned x, unsigned y) { return x | y; }
    static __device__ unsigned of_warp(unsigned x) { return __reduce_or_sync(~0u, x); }
};
struct Total {
    static __device__ unsigned of(unsigned x, unsigned y) { return x + y; }
    static __device__ unsigned of_warp(unsigned x) { return __reduce_add_sync(~0u, x); }
};

/// Neighbours lie along k: a warp has its rows to itself.
struct PlanesAlongK {
    unsigned warp, lane;
    __device__ explicit PlanesAlongK(unsigned thread) : warp(thread / 32), lane(thread % 32) {}

    __device__ unsigned row(unsigned run) const { return planes_runs * warp + run; }
    __device__ unsigned k() const { return planes_run * lane; }
    /// Whether the thread is the one that speaks for all of its rows.
    __device__ bool speaks() const { return lane == 0; }

    /// From a patch's first element on; m rows and n elements of k lie inside the operand.
    template <bool whole, bool vectors>
    __device__ __forceinline__ void read(PlanesRuns& runs, const float* from,
                                         std::int64_t row_stride, std::int64_t k_stride, unsigned m,
                                         unsigned n) const {
        if (vectors) k_stride = 1;
        from += row(0) * row_stride + k() * k_stride;
#pragma unroll
        for (unsigned run = 0; run < planes_runs; ++run)
#pragma unroll
            for (unsigned e = 0; e < planes_run; e += 4) {
                float line[4];
                load_line<whole, vectors>(line, from + run * row_stride + e * k_stride, k_stride,
                                          row(run) < m ? static_cast<int>(n - k() - e) : 0);
#pragma unroll
                for (int i = 0; i < 4; ++i) runs[run][e + i] = line[i];
            }
    }

    /// Combines the values of a row's runs, and gives each the result.
    template <class Combine>
    __device__ __forceinline__ void combine(unsigned (&values)[planes_runs]) const {
#pragma unroll
        for (int run = 0; run < planes_runs; ++run) values[run] = Combine::of_warp(values[run]);
    }
    /// Whether it is so in some thread that shares a row with this one.
    __device__ __forceinline__ bool any(bool so) const { return __any_sync(~0u, so) != 0; }
};

/// Neighbours lie along rows: all warps share all rows.
struct PlanesAlongRows {
    unsigned warp, lane;
    __device__ explicit PlanesAlongRows(unsigned thread) : warp(thread / 32), lane(thread % 32) {}

    __device__ unsigned row(unsigned run) const { return planes_runs * (lane % 8) + run; }
    __device__ unsigned k() const { return planes_run * (4 * warp + lane / 8); }
    __device__ bool speaks() const { return warp == 0 && lane < 8; }

    template <bool whole, bool vectors>
    __device__ __forceinline__ void read(PlanesRuns& runs, const float* from,
                                         std::int64_t row_stride, std::int64_t k_stride, unsigned m,
                                         unsigned n) const {
        if (vectors) row_stride = 1;
        from += row(0) * row_stride + k() * k_stride;
#pragma unroll
        for (unsigned e = 0; e < planes_run; ++e) {
            float line[4];
            load_line<whole, vectors>(line, from + e * k_stride, row_stride,
                                      k() + e < n ? static_cast<int>(m - row(0)) : 0);
#pragma unroll
            for (int run = 0; run < planes_runs; ++run) runs[run][e] = line[run];
        }
    }

    template <class Combine>
    __device__ __forceinline__ void combine(unsigned (&values)[planes_runs]) const {
        // Rows lie `pitch` words apart: the lanes that write and those that read have distinct
        // banks.
        constexpr unsigned pitch = planes_warps + 1;
        auto& of_warps = device::shared<Combine, unsigned[gemm_strip * pitch]>();
        auto& of_rows = device::shared<Combine, unsigned[gemm_strip]>();
        // Lanes 8 apart have the same rows. Each keeps what it is to combine, and hands on the
        // rest.
        const bool upper = lane >= 16, odd = lane / 8 % 2 != 0;
        unsigned half[2];
#pragma unroll
        for (int i = 0; i < 2; ++i)
            half[i] = Combine::of(upper ? values[2 + i] : values[i],
                                  __shfl_xor_sync(~0u, upper ? values[i] : values[2 + i], 16));
        of_warps[row(lane / 8) * pitch + warp] =
            Combine::of(odd ? half[1] : half[0], __shfl_xor_sync(~0u, odd ? half[0] : half[1], 8));
        __syncthreads();
        const unsigned mine = warp + lane / planes_warps * planes_warps;
        unsigned value = of_warps[mine * pitch + lane % planes_warps];
#pragma unroll
        for (int apart = planes_warps / 2; apart > 0; apart /= 2)
            value = Combine::of(value, __shfl_xor_sync(~0u, value, apart));
        if (lane % planes_warps == 0) of_rows[mine] = value;
        __syncthreads();
        device::load_vector(values, &of_rows[row(0)]);
    }
    __device__ __forceinline__ bool any(bool so) const { return __syncthreads_or(so) != 0; }
};

}  // namespace tinyblas
