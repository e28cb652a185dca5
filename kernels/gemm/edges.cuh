// SPDX-License-Identifier: MIT
// The rows and columns of C that the rung pipelined's tiles leave: those before the first tile, so
// that tiles of operands begin at multiples of 16 bytes, and few beyond the last one.
//
//   . . . . . . .     of each product, one operand has few rows: a block keeps them in
//   . +-------+ .     shared memory, 256 k at a time, and has 64 rows of the other one,
//   . | tiles | .     which it reads once. A thread has 4 of these, and of the 256 k 8,
//   . +-------+ .     which are 32 apart; the sums of all meet in the end.
//   . . . . . . .
//
// This kernel starts once all blocks of the one that multiplies the tiles have. Its blocks take the
// multiprocessors that have none, or no more, and one item of the work after the other: a block
// cannot end before that kernel does, and holds its place.
//
// Limit: the latency of loads; it mostly passes while others multiply.
#pragma once

#include "parts.cuh"
#include "pipelined_plan.hpp"

namespace tinyblas {

struct GemmEdgeShared {
    static constexpr int warps = GemmEdge::threads / 32;
    alignas(16) float across[GemmEdge::depth][GemmEdge::most];
    alignas(16) float sums[warps][GemmEdge::rows][GemmEdge::most];
};

/// `vectors`: the long operand is read 16 bytes at a time.
template <bool vectors>
class GemmEdgeProduct {
    static constexpr int rows = GemmEdge::rows, most = GemmEdge::most;
    static constexpr int depth = GemmEdge::depth, warps = GemmEdgeShared::warps;
    static constexpr int apart = 32, share = depth / apart, quad = 4;
    static constexpr int at_once = vectors ? share : share / 2;

  public:
    __device__ __forceinline__ GemmEdgeProduct(const GemmEdge& edge, unsigned item)
        : edge_(edge), shared_(device::shared<GemmEdge, GemmEdgeShared>()), item_(item) {}

    /// C = alpha sums + beta C.
    __device__ __forceinline__ void run(float alpha, float beta) {
        multiply();
        __syncthreads();
        const int row = thread() / most, e = thread() % most;
        const std::int64_t i = std::int64_t{item_} * rows + row;
        if (row >= rows || e >= edge_.count || i >= edge_.along.rows) return;
        float sum = 0;
#pragma unroll 8
        for (int part = 0; part < (along_k() ? warps / 4 : warps); ++part)
            sum += shared_.sums[part][row][e];
        store(edge_.c(i, edge_.place(e)), alpha, sum, beta);
    }

  private:
    // Found anew rather than kept in a register.
    static __device__ __forceinline__ int thread() {
        return static_cast<int>(device::opaque(threadIdx.x));
    }

    /// Whether neighbours lie along k. These are read by 8 lanes, for 4 of a warp's 16 rows at a
    /// time; others by 16 lanes for 2 k, all rows.
    __device__ __forceinline__ bool along_k() const { return !vectors && edge_.along_k; }
    /// Of the thread's rows in the item the first one, and how far apart they are; of its k in 256
    /// the first one.
    __device__ __forceinline__ int row() const {
        if (along_k()) return thread() / 32 % 4 * 16 + thread() % 32 / 8;
        return thread() % 16 * (vectors ? quad : 1);
    }
    __device__ __forceinline__ int down() const { return vectors ? 1 : along_k() ? 4 : 16; }
    __device__ __forceinline__ int p() const {
        return along_k() ? thread() / 128 * 8 + thread() % 8 : thread() / 16;
    }

    __device__ __forceinline__ void multiply() {
        const MatrixView<const float>& along = edge_.along;
        const std::int64_t i = std::int64_t{item_} * rows + row();
        const int left = static_cast<int>(along.rows - i < rows ? along.rows - i : rows);
        // In place of rows that do not exist, which no one stores, the last ones.
        const std::int64_t last = (along.rows - 1) / (vectors ? quad : 1) * (vectors ? quad : 1);
        const float* from =
            along.data + (left > 0 ? i : last) * along.row_stride + p() * along.column_stride;
        float sums[quad][most] = {};
#pragma unroll 1
        for (int k = static_cast<int>(along.columns); k > 0; k -= depth) {
            if (!vectors) bring(k);
#pragma unroll 1
            for (int first = 0; first < share; first += at_once) {
                const int p0 = p() + first * apart;
                float values[at_once][quad];
#pragma unroll
                for (int s = 0; s < at_once; ++s) {
                    load(values[s], from, p0 + s * apart < k, left);
                    from = device::opaque(from + apart * along.column_stride);
                }
                if (vectors) bring(k);
#pragma unroll
                for (int s = 0; s < at_once; ++s) {
                    float line[most];
                    device::load_vector(line, shared_.across[p0 + s * apart]);
#pragma unroll
                    for (int q = 0; q < quad; ++q)
#pragma unroll
                        for (int e = 0; e < most; ++e)
                            sums[q][e] =
                                device::fused_multiply_add(values[s][q], line[e], sums[q][e]);
                }
            }
        }
        leave(sums);
    }

    /// One k of the thread's rows; zero if it does not exist.
    __device__ __forceinline__ void load(float (&values)[quad], const float* from, bool exists,
                                         int left) const {
#pragma unroll
        for (int q = 0; q < quad; ++q) values[q] = 0;
        if constexpr (vectors) {
            if (exists) device::load_read_only(values, from);
        } else {
#pragma unroll
            for (int q = 0; q < quad; ++q) {
                if (exists) values[q] = __ldg(from);
                if ((q + 1) * down() < left)
                    from = device::opaque(from + down() * edge_.along.row_stride);
            }
        }
    }

    /// The few rows' elements, all threads together; zero beyond.
    __device__ __forceinline__ void bring(int left) const {
        const MatrixView<const float>& across = edge_.across;
        constexpr int lines = GemmEdge::threads / most;  // at once
        const int e = thread() % most, p = thread() / most;
        const float* from = &across(edge_.place(e), across.columns - left + p);
        float values[depth / lines];
#pragma unroll
        for (int s = 0; s < depth / lines; ++s) {
            values[s] = 0;
            if (e < edge_.count && p + s * lines < left) values[s] = __ldg(from);
            from = device::opaque(from + lines * across.column_stride);
        }
        __syncthreads();  // no one reads the last ones any more
#pragma unroll
        for (int s = 0; s < depth / lines; ++s) shared_.across[p + s * lines][e] = values[s];
        __syncthreads();
    }

    /// Leaves a row's sums once for the lanes that share it.
    __device__ __forceinline__ void leave(float (&sums)[quad][most]) const {
#pragma unroll 1
        for (int other = along_k() ? 1 : 16; other < (along_k() ? 8 : 32); other *= 2)
#pragma unroll
            for (int q = 0; q < quad; ++q)
#pragma unroll
                for (int e = 0; e < most; ++e)
                    sums[q][e] += __shfl_xor_sync(0xFFFFFFFF, sums[q][e], other);
        if (along_k() ? thread() % 8 > 0 : thread() % 32 >= 16) return;
#pragma unroll
        for (int q = 0; q < quad; ++q)
            device::store_vector(
                shared_.sums[thread() / (along_k() ? 128 : 32)][row() + q * down()], sums[q]);
    }

    const GemmEdge& edge_;
    GemmEdgeShared& shared_;
    unsigned item_;
};

__global__ void __launch_bounds__(GemmEdge::threads, 2)
    gemm_edges(const __grid_constant__ GemmEdgesWork work) {
    if constexpr (!device::reallocates_registers) {
        device::trap();  // as the rung's
    } else {
        // A and B are there, and packed operands: the kernel that multiplies tiles has waited for
        // what made them before it let others start, or has ended.
        unsigned& next = device::shared<GemmEdgesWork, unsigned>();
        for (;;) {
            if (threadIdx.x == 0)
                next = device::take_turn(work.counter, work.items + gridDim.x - 1);
            __syncthreads();
            unsigned item = next;
            if (item >= work.items) break;
            int number = 0;
            while (item >= work.edges[number].items()) item -= work.edges[number++].items();
            const GemmEdge& edge = work.edges[number];
            if (edge.vectors)
                GemmEdgeProduct<true>(edge, item).run(work.alpha, work.beta);
            else
                GemmEdgeProduct<false>(edge, item).run(work.alpha, work.beta);
            __syncthreads();
        }
        device::let_dependents_start();
        device::wait_for_launcher();  // who waits for this kernel waits for that one, too
    }
}

inline void launch_gemm_edges(device::Stream stream, const GemmEdgesWork& work) {
    constexpr unsigned most = 2 * pipelined_multiprocessors;
    device::launch_beside("gemm", gemm_edges, work.items < most ? work.items : most,
                          GemmEdge::threads, stream, work);
}

}  // namespace tinyblas
