// SPDX-License-Identifier: MIT
// A product whose C has many rows, as a batch of products of so many rows each, with the same B,
// and one of the rows that are left: kernels for batches read A and write C in pieces of memory
// that may begin anywhere, and have tiles that fit narrow C better. Likewise, one of many columns.
// Or all of C as one slab, or by stream-k: in tiles whose steps multiprocessors share alike.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/batched_extents.hpp"
#include "kernels/gemm/stream_k_plan.hpp"

namespace tinyblas {

class Context;
template <class T>
struct GemmCall;

struct GemmSlabsPlan {
    std::int64_t size = 0;  // rows of a slab, or columns; all rows: one slab
    bool by_columns = false;
    GemmBatchPlan batch = {};
    double seconds = 0;  // estimated, on an H200
    double weight = 1;   // for its errors; see gemm_chain_weight
    bool fits = false;
    GemmStreamKPlan stream_k = {};  // if it fits: that
};

/// Stream-k may take `memory` bytes. `in_fours`: as the ring's plan for the call says.
GemmSlabsPlan plan_gemm_slabs(const Context& context, const GemmCall<float>& call,
                              std::size_t memory, bool in_fours);
/// Of doubles: all of C as one slab, if anything.
GemmSlabsPlan plan_gemm_slabs(const GemmCall<double>& call);
void enqueue_gemm_slabs(Context& context, const GemmCall<double>& call, const GemmSlabsPlan& plan);
void enqueue_gemm_slabs(Context& context, const GemmCall<float>& call, const GemmSlabsPlan& plan);

}  // namespace tinyblas
