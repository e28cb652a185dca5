// SPDX-License-Identifier: MIT
// The tuning data of polyval: how many coefficients travel as kernel parameters, and one line a
// variant of the tuned rung. The first line that fits a call is taken; the last one of a walk and
// kind of chain fits always.
#pragma once

#include <cstdint>
#include <iterator>

namespace tinyblas {

/// How a thread walks x and y: 16 bytes at a time, neighbours and aligned; or single elements, any
/// increments.
enum class PolyvalWalk { vectors, elements };

/// Places of the straight code for chains shorter than this.
inline constexpr int polyval_short_slots = 64;
/// Longer chains go on in blocks of so many.
inline constexpr int polyval_block = 32;

/// What kernels may take as parameters beside the coefficients, in bytes.
inline constexpr int polyval_other_parameters = 128;
/// Slots for coefficients in parameters of `bytes` bytes.
template <class T>
constexpr int polyval_slots(int bytes) {
    return (bytes - polyval_other_parameters) / static_cast<int>(sizeof(T)) / polyval_block *
           polyval_block;
}
/// 4,096 bytes of parameters are what every launch carries; 32,764 are the most.
template <class T>
inline constexpr int polyval_medium_slots = polyval_slots<T>(4096);
template <class T>
inline constexpr int polyval_long_slots = polyval_slots<T>(32764);
/// The most steps of one launch: the slots but for a block, whose place is kept for what whole
/// blocks leave over.
template <class T>
inline constexpr int polyval_most_steps = polyval_long_slots<T> - polyval_block;

struct PolyvalEntry {
    PolyvalWalk walk;
    int longest;        // chain in steps; 0: any, in blocks
    double least_fill;  // of the elements that the GPU could own, this part at least must exist
    int vectors;        // of 16 bytes that a thread owns
    int threads;        // of a block
    int min_blocks;     // launch bounds: blocks that must fit a multiprocessor

    constexpr int elements(int element_size) const { return vectors * 16 / element_size; }
    constexpr bool in_blocks() const { return longest == 0; }
};

// Few steps: memory decides, and fine blocks with two to four vectors a thread keep it busiest.
// From 40 steps on arithmetic decides: a coefficient that is fetched once must meet many elements
// (48 steps on an H200: 4 vectors x 64 threads 0.91 of a copy's speed, 8 x 128 0.95).
// clang-format off
inline constexpr PolyvalEntry polyval_table[] = {
    // walk                 longest  fill  vectors  threads  blocks
    {PolyvalWalk::vectors,       16, 0.50,       1,     256,      6},
    {PolyvalWalk::vectors,       32, 0.50,       2,     128,     10},
    {PolyvalWalk::vectors,       40, 0.50,       4,      64,     24},
    {PolyvalWalk::vectors,       63, 0.50,       8,     128,      5},
    {PolyvalWalk::vectors,       63, 0.00,       1,      64,     16},
    {PolyvalWalk::vectors,        0, 0.85,       8,     256,      2},
    {PolyvalWalk::vectors,        0, 0.85,       4,      64,     16},
    {PolyvalWalk::vectors,        0, 0.00,       1,      64,     16},
    {PolyvalWalk::elements,      63, 0.50,       2,     128,     10},
    {PolyvalWalk::elements,      63, 0.00,       1,      64,     16},
    {PolyvalWalk::elements,       0, 0.85,       4,      64,     16},
    {PolyvalWalk::elements,       0, 0.00,       1,      64,     16},
};
// clang-format on
inline constexpr int polyval_entries = std::size(polyval_table);

constexpr bool valid(const PolyvalEntry& entry) {
    // Multiprocessors hold 1,536 threads and 24 blocks at least (8.6: 16 blocks).
    const int registers = 2 * 4 * entry.vectors + 8;  // x, accumulators, and a few others
    return entry.vectors > 0 && entry.threads % 32 == 0 && entry.threads > 0 &&
           entry.threads <= 1024 && entry.min_blocks * entry.threads <= 1536 &&
           entry.min_blocks <= 24 && registers <= 65536 / (entry.min_blocks * entry.threads) &&
           entry.longest >= 0 && entry.longest < polyval_short_slots;
}

constexpr bool polyval_table_valid() {
    for (const PolyvalEntry& entry : polyval_table)
        if (!valid(entry)) return false;
    return true;
}
static_assert(polyval_table_valid(), "a line of polyval_table exceeds the hardware");

/// How much of what the GPU owns while the last blocks are under way exists: low if there are few
/// elements, or if the last blocks leave most of the GPU idle.
constexpr double polyval_fill(const PolyvalEntry& entry, int element_size, int multiprocessors,
                              std::int64_t size) {
    const std::int64_t round =
        std::int64_t{multiprocessors} * entry.threads * entry.elements(element_size);
    const std::int64_t rounds = size / round + (size % round > 0);
    return static_cast<double>(size) / static_cast<double>(round) / static_cast<double>(rounds);
}

/// The first line that fits a chain of `steps` over `size` elements; the last one of a walk and
/// kind of chain fits always.
constexpr int choose_polyval_entry(PolyvalWalk walk, int element_size, int multiprocessors,
                                   int steps, std::int64_t size) {
    const bool in_blocks = steps >= polyval_short_slots;
    for (int i = 0; i < polyval_entries; ++i) {
        const PolyvalEntry& entry = polyval_table[i];
        if (entry.walk == walk && entry.in_blocks() == in_blocks &&
            (in_blocks || steps <= entry.longest) &&
            polyval_fill(entry, element_size, multiprocessors, size) >= entry.least_fill)
            return i;
    }
    return -1;
}

constexpr bool polyval_table_complete() {
    for (const PolyvalWalk walk : {PolyvalWalk::vectors, PolyvalWalk::elements})
        for (int steps = 1; steps <= polyval_short_slots; ++steps)
            if (choose_polyval_entry(walk, 4, 1000, steps, 1) < 0) return false;
    return true;
}
static_assert(polyval_table_complete(), "no line of polyval_table fits some chain");

}  // namespace tinyblas
