// SPDX-License-Identifier: MIT
// The ceiling of every SIMT kernel, measured: a kernel of fused multiply-adds and next to nothing
// else.
#include <algorithm>
#include <vector>

#include "../machine.hpp"
#include "check.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {
namespace {

constexpr int chains = 16;  // independent sums a thread: hides the latency of one
constexpr int unrolled =
    32;  // steps of all chains between two branches: 512 of 515 instructions multiply
constexpr int loops = 2048;
constexpr int threads = 256;

struct Span {
    long long cycles, nanoseconds;
};

__device__ long long nanoseconds() {
    long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

template <class T>
__global__ void __launch_bounds__(threads) fma_only(T x, T y, T* sums, Span* span) {
    T sum[chains];
    for (int i = 0; i < chains; ++i) sum[i] = T(threadIdx.x + i);
    const Span start = {clock64(), nanoseconds()};
#pragma unroll 1
    for (int loop = 0; loop < loops; ++loop) {
#pragma unroll
        for (int step = 0; step < unrolled; ++step)
#pragma unroll
            for (int i = 0; i < chains; ++i) sum[i] = fma(sum[i], x, y);
    }
    const Span end = {clock64(), nanoseconds()};
    T total = 0;
    for (int i = 0; i < chains; ++i) total += sum[i];
    if (threadIdx.x == 0) sums[blockIdx.x] = total;  // so that nothing is optimized away
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *span = {end.cycles - start.cycles, end.nanoseconds - start.nanoseconds};
}

}  // namespace

template <class T>
Peak fma_peak(Context& context) {
    const int blocks = context.multiprocessors() * (2048 / threads);
    Matrix<T> sums(1, blocks);
    Matrix<Span> span(1, 1, Memory::mapped);
    const auto batch = make_batch(context, 1, [&] {
        fma_only<<<blocks, threads, 0, context.stream()>>>(T(0.999), T(0.5), sums.view().data,
                                                           span.view().data);
        check(cudaGetLastError(), "fma_only");
    });
    // The first half of a second warms the chip up, the rest counts.
    std::vector<double> seconds;
    double elapsed = 0;
    while (elapsed < 1) {
        const double time = batch->seconds();
        if (elapsed > 0.5) seconds.push_back(time);
        elapsed += time;
    }
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    const double flops = 2.0 * chains * unrolled * loops * threads * blocks;
    return {flops / seconds[seconds.size() / 2], 1e9 * static_cast<double>(span(0, 0).cycles) /
                                                     static_cast<double>(span(0, 0).nanoseconds)};
}

template Peak fma_peak<float>(Context&);
template Peak fma_peak<double>(Context&);

}  // namespace tinyblas::bench
