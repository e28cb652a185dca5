// SPDX-License-Identifier: MIT
// The tuning table of the reductions: how many blocks of how many threads add up n elements. It
// depends on n alone, not on the GPU, and so do the order of the additions and the bits of the sum.
#pragma once

#include <cstdint>

namespace tinyblas {

/// Blocks of one launch: one block adds up alone; a cluster's blocks run together and the first one
/// adds up what the others put into its shared memory; else the block that comes last adds up what
/// the others left in global memory.
struct ReduceEntry {
    std::int64_t longest;  // n up to which the entry serves
    int threads;           // of a block
    int most_blocks;
    bool cluster;  // where the GPU has clusters, and always of most_blocks
};

inline constexpr ReduceEntry reduce_table[] = {
    {1 << 10, 256, 1, false},
    {1 << 13, 512, 1, false},
    {1 << 17, 512, 8, true},
    {INT64_MAX, 512, 256, false},
};

/// 16-byte loads of each operand that a thread has in flight.
inline constexpr int reduce_unroll = 4;

inline constexpr int reduce_most_threads = 512;
inline constexpr int reduce_most_blocks = 256;
inline constexpr int reduce_naive_blocks = 1024;  // at most, of the rung `naive`
/// Blocks that find room on a multiprocessor at once: the grid of the longest vectors starts as a
/// whole on a GPU of 128 multiprocessors.
inline constexpr int reduce_resident_blocks = 2;

constexpr const ReduceEntry& reduce_entry(std::int64_t n) {
    const ReduceEntry* entry = reduce_table;
    while (n > entry->longest) ++entry;  // the last one serves any length
    return *entry;
}

constexpr bool reduce_table_is_sound() {
    std::int64_t longest = 0;
    for (const ReduceEntry& entry : reduce_table) {
        if (entry.longest <= longest || entry.threads % 32 != 0 ||
            entry.threads > reduce_most_threads || entry.most_blocks > reduce_most_blocks ||
            (entry.cluster && entry.most_blocks > 8))
            return false;
        longest = entry.longest;
    }
    return longest == INT64_MAX;
}
static_assert(reduce_table_is_sound());

}  // namespace tinyblas
