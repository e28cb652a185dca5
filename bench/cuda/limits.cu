// SPDX-License-Identifier: MIT
// What memory allows: the runtime's own copy, and a kernel that reads and does nothing else.
#include <algorithm>
#include <memory>

#include "../machine.hpp"
#include "check.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {
namespace {

constexpr int threads = 512;
constexpr int loads = 4;  // of 16 bytes, in flight a thread
constexpr int most_blocks = 512;

/// Reads every word of x, and of y if it is there. The sum is hardly ever stored, but might be, so
/// that no load can be left out.
template <bool two>
__global__ void __launch_bounds__(threads)
    read_only(const uint4* x, const uint4* y, std::int64_t count, unsigned* sums) {
    constexpr int step = threads * loads / (two ? 2 : 1);
    unsigned sum = 0;
    const auto add = [&](uint4 v) { sum += v.x ^ v.y ^ v.z ^ v.w; };
    for (std::int64_t start = std::int64_t(blockIdx.x) * step; start < count;
         start += std::int64_t(gridDim.x) * step) {
        uint4 vectors[loads] = {};
#pragma unroll
        for (int l = 0; l < loads; ++l) {
            const std::int64_t i = start + (two ? l / 2 : l) * threads + threadIdx.x;
            if (i < count) vectors[l] = __ldg((two && l % 2 == 1 ? y : x) + i);
        }
#pragma unroll
        for (int l = 0; l < loads; ++l) add(vectors[l]);
    }
    if (sum == 0x5EED) sums[blockIdx.x] = sum;
}

}  // namespace

Work plain_copy(Context& context, void* to, const void* from, std::int64_t bytes) {
    return [=, &context] {
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                              context.stream()),
              "plain_copy");
    };
}

Work plain_read(Context& context, const void* x, const void* y, std::int64_t bytes) {
    const auto sums = std::make_shared<Matrix<unsigned>>(1, most_blocks);
    const std::int64_t count = bytes / 16, step = threads * loads / (y ? 2 : 1);
    const int blocks = static_cast<int>(
        std::clamp((count + step - 1) / step, std::int64_t(1), std::int64_t(most_blocks)));
    return [=, &context] {
        const auto kernel = y ? read_only<true> : read_only<false>;
        kernel<<<blocks, threads, 0, context.stream()>>>(
            static_cast<const uint4*>(x), static_cast<const uint4*>(y), count, sums->view().data);
        check(cudaGetLastError(), "plain_read");
    };
}

}  // namespace tinyblas::bench
