// SPDX-License-Identifier: MIT
// Batches of square products of one extent, known to the compiler, whose matrices lie one behind
// the other without gaps: a block brings its own into shared memory as they are.
//
//                        b (n, n)  [ . . q q q q . . ]     A thread owns thread_m rows, lanes_m
//                                  [ . . q q q q . . ]     apart so that lanes of a warp read
//   a (n, n)  [ p p p p . . . . ]        v                 different banks, of 4 columns. Along k
//             [ . . . . . . . . ]  --> c [ . . q q q q . . ]   it takes 4 elements of each of its
//             [ p p p p . . . . ]        [ . . . . . . . . ]   rows of A, and 4 rows of B.
//
// Limit: memory up to 32; at 64 nothing alone: multiply-adds, loads from shared memory and memory
// are all busy more than 60 % of the time.
#pragma once

#include <iterator>
#include <type_traits>

#include "batched_operands.hpp"
#include "parts.cuh"

namespace tinyblas {

struct GemmSquare {
    int n, thread_m;
    int matrices;    // a block
    int lines;       // of 4 k, that the main loop's body holds
    int min_blocks;  // launch bounds
    bool bulk;       // a copy engine brings the matrices, where there is one

    constexpr int size() const { return n * n; }
    constexpr int lanes_m() const { return n / thread_m; }
    constexpr int lanes_n() const { return n / 4; }
    constexpr int threads() const { return matrices * lanes_m() * lanes_n(); }
};

// Figures: NVIDIA H200.
inline constexpr GemmSquare gemm_square_table[] = {
    {16, 4, 2, 4, 16, false},  // 4,280 GB/s
    {32, 4, 1, 8, 12, false},  // 4,120 GB/s
    {64, 8, 1, 8, 5, true},    // 3,620 GB/s
};

/// The entry whose kernel takes these operands; -1: none.
template <class T>
int square_entry(const GemmBatch<T>& x) {
    if constexpr (std::is_same_v<T, float>)
        for (int entry = 0; entry < static_cast<int>(std::size(gemm_square_table)); ++entry) {
            const int n = gemm_square_table[entry].n;
            if (is_packed(x.a, n) && is_packed(x.b, n) && is_packed(x.c, n)) return entry;
        }
    return -1;
}

template <int entry>
__global__ void __launch_bounds__(gemm_square_table[entry].threads(),
                                  device::resident_blocks(gemm_square_table[entry].min_blocks,
                                                          gemm_square_table[entry].threads()))
    gemm_batched_square(float alpha, const float* a_data, const float* b_data, float beta,
                        float* c_data, std::int64_t batch, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    constexpr GemmSquare s = gemm_square_table[entry];
    using Matrices = float[s.matrices][s.n][s.n];
    auto& a_tile = device::shared<struct SquaresOfA, Matrices>();
    auto& b_tile = device::shared<struct SquaresOfB, Matrices>();
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t e = std::int64_t{blockIdx.x} * s.matrices;
    const int count =
        s.matrices == 1 || batch - e >= s.matrices ? s.matrices : static_cast<int>(batch - e);
    const std::int64_t offset = e * s.size();
    if constexpr (s.bulk && device::has_clusters) {
        auto& word = device::shared<struct Arrival, std::uint64_t>();
        const auto barrier = device::SharedPointer<std::uint64_t>(&word).address();
        if (thread == 0) {
            const unsigned bytes = count * s.size() * sizeof(float);
            device::make_barrier(barrier, 1);
            device::publish_barriers();
            begin_in_turn(s.min_blocks);
            device::arrive_expecting(barrier, 2 * bytes);
            device::copy_bulk(device::SharedPointer<float>(&a_tile[0][0][0]).address(),
                              a_data + offset, bytes, barrier);
            device::copy_bulk(device::SharedPointer<float>(&b_tile[0][0][0]).address(),
                              b_data + offset, bytes, barrier);
        }
        __syncthreads();
        device::wait_for_phase(barrier, 0);
    } else {
        constexpr int step = s.threads() * 4;
        const int first = thread * 4;
        const device::SharedPointer<float> to_a(&a_tile[0][0][0] + first);
        const device::SharedPointer<float> to_b(&b_tile[0][0][0] + first);
        const float *from_a = a_data + (offset + first), *from_b = b_data + (offset + first);
#pragma unroll
        for (int at = 0; at < s.matrices * s.size(); at += step) {
            if (s.matrices > 1 && first + at >= count * s.size()) break;
            device::copy_async<4>(to_a + at, from_a + at);
            device::copy_async<4>(to_b + at, from_b + at);
        }
        device::close_copy_group();
        device::wait_for_copies<0>();
        __syncthreads();
    }

    constexpr int lanes = s.lanes_m() * s.lanes_n();
    const int g = thread / lanes;
    if (g >= count) return;
    const int row = thread % lanes / s.lanes_n(), column = thread % s.lanes_n() * 4;
    float acc[s.thread_m][4] = {};
#pragma unroll(s.lines)
    for (int p = 0; p < s.n; p += 4) {
        float a[s.thread_m][4], b[4][4];
#pragma unroll
        for (int i = 0; i < s.thread_m; ++i)
            device::load_vector(a[i], &a_tile[g][row + i * s.lanes_m()][p]);
#pragma unroll
        for (int q = 0; q < 4; ++q) device::load_vector(b[q], &b_tile[g][p + q][column]);
#pragma unroll
        for (int q = 0; q < 4; ++q)
#pragma unroll
            for (int i = 0; i < s.thread_m; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    acc[i][j] = device::fused_multiply_add(a[i][q], b[q][j], acc[i][j]);
    }

    float* const to = c_data + (offset + g * s.size() + row * s.n + column);
    constexpr int apart = s.lanes_m() * s.n;
    float old[s.thread_m][4] = {};
    if (beta != 0)
#pragma unroll
        for (int i = 0; i < s.thread_m; ++i) device::load_vector(old[i], to + i * apart);
#pragma unroll
    for (int i = 0; i < s.thread_m; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) store(old[i][j], alpha, acc[i][j], beta);
        device::store_global<true>(to + i * apart, old[i]);  // the L2 cache gives C up first
    }
}

template <int entry>
void launch_gemm_batched_square(device::Stream stream, const GemmBatch<float>& x) {
    constexpr GemmSquare s = gemm_square_table[entry];
    const unsigned blocks = device::grid((x.count + s.matrices - 1) / s.matrices, "gemm");
    device::launch_evenly("gemm", gemm_batched_square<entry>, blocks, s.threads(), 0, stream,
                          x.alpha, x.a.first.data, x.b.first.data, x.beta, x.c.first.data, x.count,
                          leaves_places(blocks));
}

}  // namespace tinyblas
