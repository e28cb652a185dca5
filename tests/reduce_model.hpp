// SPDX-License-Identifier: MIT
// The order in which the rungs `texture` and `tuned` add, written down a second time, for the host:
// what they promise is the same bits on every GPU and under device emulation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tinyblas::test {

/// A block's values, one a thread: lanes of 32 in pairs 16, 8, 4, 2, 1 apart, then warps likewise.
template <class T>
T block_sum(std::vector<T> values) {
    const auto of_warp = [](std::vector<T> lanes) {
        lanes.resize(32);
        for (std::size_t step = 16; step > 0; step /= 2)
            for (std::size_t lane = 0; lane < step; ++lane)
                lanes[lane] = lanes[lane] + lanes[lane + step];
        return lanes[0];
    };
    std::vector<T> warps;
    for (auto warp = values.begin(); warp != values.end(); warp += 32)
        warps.push_back(of_warp({warp, warp + 32}));
    return of_warp(warps);
}

/// The total of n elements of T. add(sum, i) adds element i to a Partial sum, of a thread and of a
/// block; a Total is one of blocks.
template <class T, class Partial, class Total, class Add>
Total reduce_model(std::int64_t n, Add add) {
    const std::int64_t size = 16 / sizeof(T), unroll = 4, lanes = 32;
    const std::int64_t threads = n <= 1024 ? 256 : 512;
    const std::int64_t of_block = size * unroll * threads;
    const std::int64_t wanted = (n + of_block - 1) / of_block;
    const std::int64_t blocks = n <= 1 << 13   ? 1
                                : n <= 1 << 17 ? 8
                                               : std::min<std::int64_t>(256, wanted);
    const std::int64_t groups = n / size;
    std::vector<Total> totals(32);  // of a warp's lanes
    for (std::int64_t block = 0; block < blocks; ++block) {
        std::vector<Partial> values;
        for (std::int64_t thread = 0; thread < threads; ++thread) {
            Partial sums[4] = {};
            const std::int64_t warp = thread / lanes;
            for (std::int64_t start = (block * threads + warp * lanes) * unroll + thread % lanes;
                 start < groups; start += blocks * threads * unroll)
                for (std::int64_t u = 0; u < unroll; ++u)
                    for (std::int64_t e = 0; e < size; ++e)
                        if (start + u * lanes < groups)
                            add(sums[e], (start + u * lanes) * size + e);
            if (block == 0 && groups * size + thread < n) add(sums[0], groups * size + thread);
            values.push_back(size == 2 ? sums[0] + sums[1]
                                       : (sums[0] + sums[1]) + (sums[2] + sums[3]));
        }
        const Total of_block(block_sum(values));
        if (blocks == 1) return of_block;
        totals[static_cast<std::size_t>(block) % 32] =
            totals[static_cast<std::size_t>(block) % 32] + of_block;
    }
    return block_sum(totals);
}

}  // namespace tinyblas::test
