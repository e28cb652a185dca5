// SPDX-License-Identifier: MIT
// The tuning data of transpose: one line a variant of the tuned rung. The first line that fits a
// call is taken; a line behind one of its form and size that fits always runs only when asked for.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>

namespace tinyblas {

/// How the tuned rung moves elements, kernels/transpose/3_tuned_<form>.cuh.
enum class TransposeForm { slim, vectors, skewed, in_place };

constexpr const char* to_string(TransposeForm form) {
    switch (form) {
        case TransposeForm::slim: return "slim";
        case TransposeForm::vectors: return "vectors";
        case TransposeForm::skewed: return "skewed";
        case TransposeForm::in_place: return "in_place";
    }
    return "unknown";
}

/// What a block moves.
struct TransposeTile {
    int rows, columns;  // of A; slim: 1 x the most elements
    int threads;
    int min_blocks;  // launch bounds: blocks that must fit a multiprocessor
    // Blocks walk down strips of this many tiles of A, side by side: 1 is along the rows of B, 0
    // along the rows of A. Slim and in_place have one order only: 0.
    int strip;
};

struct TransposeEntry {
    TransposeForm form;
    int element_size;  // bytes
    // Of A: this is for matrices of as few of any of them.
    std::int64_t most_elements, most_rows, most_columns;
    TransposeTile tile;

    /// Whether all matrices that this is for stay in an L2 cache of 50 MB, and B with them.
    constexpr bool stays_in_cache() const {
        return most_rows == 0 && most_columns == 0 && most_elements <= (1 << 24) / element_size;
    }
};

inline constexpr std::int64_t any_extent = std::numeric_limits<std::int64_t>::max();

// clang-format off
inline constexpr TransposeEntry transpose_table[] = {
    // form                size  at most elements, rows, columns    rows, columns, threads, blocks, strip     GB/s on an H200 (a plain copy: 4,270)
    {TransposeForm::slim,      2, any_extent,             0,  0, {  1, 8192, 256,  4, 0}},
    {TransposeForm::slim,      4, any_extent,             0,  0, {  1, 4096, 256,  4, 0}},  // 3 x 2^24: 4,153; 2^24 x 5: 3,954
    {TransposeForm::slim,      8, any_extent,             0,  0, {  1, 2048, 256,  4, 0}},
    {TransposeForm::slim,     16, any_extent,             0,  0, {  1, 1024, 256,  4, 0}},

    {TransposeForm::vectors,   2, std::int64_t{1} << 22, 64,  0, { 64,   64,  64,  8, 1}},
    {TransposeForm::vectors,   2, any_extent,             0,  0, {128,  128, 256,  2, 1}},  // 16384^2: 4,168
    {TransposeForm::vectors,   4, std::int64_t{1} << 22, 32,  0, { 32,   64, 128,  8, 1}},  // 2048^2: 6,049 (in cache); 32 x 2^22: 4,215
    {TransposeForm::vectors,   4, 0,                      0, 32, { 64,   32, 128,  8, 1}},  // 2^22 x 32: 4,074
    {TransposeForm::vectors,   4, any_extent,             0,  0, { 64,   64, 256,  5, 1}},  // 16384^2: 4,183
    {TransposeForm::vectors,   8, any_extent,             0,  0, { 32,   32, 128,  8, 1}},  // 16384^2: 4,204
    {TransposeForm::vectors,  16, any_extent,             0,  0, { 16,   32, 128,  8, 1}},  // 8192^2: 3,985

    {TransposeForm::skewed,    2, any_extent,             0,  0, { 64,   64, 512,  3, 4}},
    {TransposeForm::skewed,    4, std::int64_t{1} << 22,  0,  0, { 64,   32, 256,  8, 1}},  // 2047 x 2045: 4,242 (in cache)
    {TransposeForm::skewed,    4, std::int64_t{1} << 27,  0,  0, { 64,   64, 512,  4, 8}},  // 4097 x 4095: 3,742; 100003 x 1021: 3,700
    {TransposeForm::skewed,    4, any_extent,             0,  0, { 64,   64, 512,  4, 2}},  // 16383 x 16381: 3,974
    {TransposeForm::skewed,    8, any_extent,             0,  0, { 32,   32, 256,  8, 4}},  // 16384^2: 4,125

    {TransposeForm::in_place,  2, any_extent,             0,  0, { 64,   64,  64,  8, 0}},
    {TransposeForm::in_place,  4, any_extent,             0,  0, { 64,   64, 128,  5, 0}},  // 16384^2: 4,071
    {TransposeForm::in_place,  8, any_extent,             0,  0, { 32,   32, 256,  5, 0}},
    {TransposeForm::in_place, 16, any_extent,             0,  0, { 16,   16, 256,  6, 0}},
};
// clang-format on
inline constexpr int transpose_entries = std::size(transpose_table);

/// Fewer rows or columns than this are slim, if there are more elements than a tile or two has.
inline constexpr std::int64_t transpose_slim_below = 32;
inline constexpr std::int64_t transpose_slim_elements = 1 << 13;

/// Elements of a sector, the 32 bytes in which memory is written.
constexpr int transpose_sector(int element_size) { return 32 / element_size; }
/// Elements of a pad, one bank of shared memory at least.
constexpr int transpose_pad(int element_size) { return element_size < 4 ? 4 / element_size : 1; }

/// 16-byte accesses, squares of as many rows as elements in 16 bytes. A tile turned holds at least
/// 8 chunks a row, which the swizzle exchanges, and is filled by 8 lanes along a row at least.
constexpr bool valid_vectors(const TransposeEntry& entry) {
    const TransposeTile& t = entry.tile;
    const int vector = 16 / entry.element_size;
    const int across = t.columns / vector, down = t.rows / vector;
    const int tiles = entry.form == TransposeForm::in_place ? 2 : 1;
    const int shared = tiles * t.rows * t.columns * entry.element_size;
    return t.columns % (8 * vector) == 0 && t.rows % (8 * vector) == 0 && t.threads % across == 0 &&
           t.threads % down == 0 && across * down % t.threads == 0 &&
           shared <= (tiles == 2 ? 99 : 48) << 10 && (tiles == 1 || t.rows == t.columns);
}

constexpr bool valid(const TransposeEntry& entry) {
    const TransposeTile& t = entry.tile;
    const int size = entry.element_size;
    if (size != 2 && size != 4 && size != 8 && size != 16) return false;
    if (t.threads % 32 != 0 || t.threads > 1024 || t.min_blocks * t.threads > 2048) return false;
    if (t.strip < 0) return false;
    switch (entry.form) {
        case TransposeForm::slim:
            return t.rows == 1 && t.strip == 0 && t.columns * size <= 32 << 10 &&
                   t.columns / transpose_slim_below >= 16 / size &&
                   t.columns % (t.threads * (16 / size)) == 0;
        case TransposeForm::vectors: return valid_vectors(entry);
        case TransposeForm::skewed:
            return size < 16 && t.rows % 32 == 0 && t.columns % 32 == 0 &&
                   t.threads % t.rows == 0 && t.threads % t.columns == 0 &&
                   t.columns % (t.threads / t.rows) == 0 &&
                   (t.rows + transpose_sector(size)) * (t.columns + transpose_pad(size)) * size <=
                       48 << 10;
        case TransposeForm::in_place: return valid_vectors(entry) && t.strip == 0;
    }
    return false;
}

constexpr bool transpose_table_valid() {
    for (const TransposeEntry& entry : transpose_table)
        if (!valid(entry)) return false;
    return true;
}
static_assert(transpose_table_valid(),
              "a line of transpose_table does not divide, or is too large");

/// What the choice depends on. `unit_strides`: rows of A and rows of B are contiguous, and all
/// elements lie at multiples of their size (16: of 8). `aligned`: all rows of A and of B start at
/// multiples of 16 bytes.
struct TransposeOperands {
    int element_size;
    std::int64_t m, n;  // of A
    bool unit_strides, aligned, in_place;
};

/// Whether an entry can do a call at all.
constexpr bool can_run(const TransposeEntry& entry, const TransposeOperands& o) {
    if (entry.element_size != o.element_size || !o.unit_strides) return false;
    if ((entry.form == TransposeForm::in_place) != o.in_place) return false;
    switch (entry.form) {
        case TransposeForm::slim:
            return (o.m < transpose_slim_below || o.n < transpose_slim_below) &&
                   (o.element_size < 16 || o.aligned);
        case TransposeForm::skewed: return true;
        default: return o.aligned;
    }
}

/// What can_run asks of the operands, in words.
constexpr const char* requirement(const TransposeEntry& entry) {
    switch (entry.form) {
        case TransposeForm::slim:
            return "contiguous rows of aligned elements, fewer than 32 rows or columns, and lie "
                   "apart";
        case TransposeForm::skewed: return "contiguous rows of aligned elements, and lie apart";
        case TransposeForm::in_place:
            return "contiguous, 16-byte aligned rows, and be the same view";
        default: return "contiguous, 16-byte aligned rows, and lie apart";
    }
}

/// The first line that can do a call and is meant for its extents; -1 if there is none.
constexpr int choose_transpose_entry(const TransposeOperands& o) {
    for (int i = 0; i < transpose_entries; ++i) {
        const TransposeEntry& entry = transpose_table[i];
        const bool tiny = entry.form == TransposeForm::slim && o.m <= transpose_slim_elements / o.n;
        const bool meant = !tiny && (o.m <= entry.most_elements / o.n || o.m <= entry.most_rows ||
                                     o.n <= entry.most_columns);
        if (can_run(entry, o) && meant) return i;
    }
    return -1;
}

}  // namespace tinyblas
