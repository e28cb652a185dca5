// SPDX-License-Identifier: MIT
// How threads share the sums of a batch of products whose C are columns.
#pragma once

#include <cstdint>

#include "tiles.hpp"

namespace tinyblas {

inline constexpr unsigned gemv_batch_threads = 256;  // a block
/// Elements of all C that a launch can make.
inline constexpr std::int64_t gemv_batch_most = (std::int64_t{1} << 31) - gemv_batch_threads;
/// So that a thread's next place in k fits 31 bits.
inline constexpr std::int64_t gemv_longest_k = std::int64_t{1} << 30;

struct GemvBatchPlan {
    unsigned sharers_log2 = 0;
    bool along_k = false;  // they are neighbours

    constexpr unsigned rows_log2() const { return 8 - sharers_log2; }
    constexpr unsigned rows() const { return 1u << rows_log2(); }  // of a block
    /// Of a thread's number, the first bit that says which sharer it is.
    constexpr unsigned first_bit() const { return along_k ? 0 : rows_log2(); }
};
static_assert(GemvBatchPlan().rows() == gemv_batch_threads);

/// `elements`: of all C. Of neighbours along k a sharer has 8 and more, for few to wait for each
/// other; others have 16 and more, and are as few as fill an H200.
constexpr GemvBatchPlan plan_gemv_batch(std::int64_t elements, std::int64_t k, bool along_k) {
    GemvBatchPlan plan = {0, along_k};
    const auto share = [&](unsigned most, int each, std::int64_t threads) {
        while (plan.sharers_log2 < most && (std::int64_t{each} << plan.sharers_log2) < k &&
               (elements << plan.sharers_log2) < gemm_multiprocessors * threads)
            ++plan.sharers_log2;
    };
    constexpr std::int64_t any = std::int64_t{1} << 32;
    if (along_k) {
        share(2, 8, any);
        share(5, 32, any);
        share(8, 32, 2048);
    } else {
        share(8, 16, 512);
    }
    return plan;
}

}  // namespace tinyblas
