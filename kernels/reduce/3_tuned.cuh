// SPDX-License-Identifier: MIT
// Reductions, rung 3. New over rung 2: plain loads of 16 bytes, which the read-only cache serves
// sooner than a texture; the launch bounds and the grid come from the table in entries.hpp. See
// walk.cuh for who reads what.
//
//   blocks   [0][1][2] ... [7]      up to 2^17 elements: a cluster, totals in block 0's shared
//             ^--+--+-------+       memory, no trip through global memory
//   blocks   [0] [1] ... [255]      above: totals in global memory; a counter tells which block is
//             v   v        v        the last, and that one adds them up
//            totals -> last block
//
// Limit: memory bandwidth (99 % of what a kernel that only reads gets on an H200); for short
// vectors the launch and two trips to memory.
#pragma once

#include "walk.cuh"

namespace tinyblas {

template <class Sum, class Operand, ReduceFinish finish>
__global__ void __launch_bounds__(reduce_most_threads, reduce_resident_blocks)
    reduce_tuned(Operand x, Operand y, std::int64_t n, ReduceEnd<Sum> end) {
    device::wait_for_launcher();
    reduce_groups<finish>(x, y, n, end);
}

/// The kernel for n elements; one for all n where speed is not all.
template <class Sum, class Operand>
auto reduce_tuned_kernel(std::int64_t n, bool cluster) {
    if constexpr (Operand::one_kernel) {
        return reduce_tuned<Sum, Operand, ReduceFinish::any>;
    } else {
        const ReduceEntry& entry = reduce_entry(n);
        return entry.most_blocks == 1     ? reduce_tuned<Sum, Operand, ReduceFinish::alone>
               : entry.cluster && cluster ? reduce_tuned<Sum, Operand, ReduceFinish::cluster>
                                          : reduce_tuned<Sum, Operand, ReduceFinish::last>;
    }
}

template <class Sum, class Operand>
void launch_reduce_tuned(const char* operation, device::Stream stream, const Operand& x,
                         const Operand& y, std::int64_t n, const ReduceEnd<Sum>& end) {
    launch_reduce_groups(operation, reduce_tuned_kernel<Sum, Operand>(n, end.cluster), stream, x, y,
                         n, end);
}

}  // namespace tinyblas
