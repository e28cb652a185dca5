// SPDX-License-Identifier: MIT
// The tuning data of gemm: one line a variant of the tuned rung. The first line that fits a call is
// taken; the last of each type fits every call. bench/tune_gemm measures the candidates and prints
// these lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace tinyblas {

inline constexpr int gemm_multiprocessors = 132;  // of an H200

enum class Scalar { float32, float64 };

constexpr int size_of(Scalar type) { return type == Scalar::float32 ? 4 : 8; }

/// Who owns what of C, from the block down to the thread, and how k is walked.
struct GemmTile {
    int block_m, block_n;      // block tile
    int block_k;               // elements of k a stage holds
    int warp_m, warp_n;        // warp tile
    int thread_m, thread_n;    // thread tile
    int stages;                // tiles of A and B in flight
    int min_blocks;            // launch bounds: blocks that must fit a multiprocessor
    int loaders = 0;           // threads that only load; 0: all threads load and multiply
    int loader_registers = 0;  // that these keep, a multiple of 8
    // Multiply-adds of a line of k before the first load for the next line, and from one load to
    // the next, as measured best with an assembler that reorders little (src/gemm_in_order.cu); 0:
    // with one that reorders them all.
    int first_load = 0, load_spacing = 0;

    constexpr int lanes_m() const { return warp_m / thread_m; }
    constexpr int lanes_n() const { return warp_n / thread_n; }
    constexpr int warps_n() const { return block_n / warp_n; }
    constexpr int multipliers() const { return block_m / warp_m * warps_n() * 32; }
    constexpr int threads() const { return multipliers() + loaders; }
    // Lines of k that the main loop's body holds: more would not stay in the instruction cache.
    constexpr int lines(int element_size) const {
        const int most = 4096 / (thread_m * thread_n * element_size);
        return block_k < most ? block_k : most;
    }
    // What is left of a block's registers for the others where some threads only load. At most 240
    // can be claimed.
    constexpr int multiplier_registers() const {
        const int at_start = 65536 / min_blocks / threads() / 8 * 8 * threads();
        const int share = (at_start - loaders * loader_registers) / multipliers() / 8 * 8;
        return share < 240 ? share : 240;
    }
    constexpr bool in_order() const { return load_spacing > 0; }
    constexpr bool is_ring() const { return loaders == 32; }  // tuned_ring.cuh
    constexpr int loading_threads() const { return loaders > 0 ? loaders : threads(); }
};

struct GemmEntry {
    Scalar type;
    int oldest, newest;  // compute capabilities, 10 * major + minor, from ... to
    double least_fill;  // of all block tiles that the GPU runs at once, this part at least must lie
                        // in C
    GemmTile tile;
    double tflops, turn;  // TFLOP/s at best, measured; microseconds that a block tile's start and
                          // end take, measured for float, estimated for double
};

// Figures: NVIDIA H200; bench/tune_gemm prints these lines. Lines for 90 rely on warps that pass
// registers on, which machine code for 9.0a alone can do.
// clang-format off
inline constexpr GemmEntry gemm_table[] = {
    // type            cc   fill    block m,n,k   warp m,n  thread m,n  stages  blocks  loaders, registers, loads  TFLOP/s, turn
    {Scalar::float32, 90, 90,  0.00, { 64,  64, 16,  32, 32,   8, 4,  6,  4,  32, 0},       44.8, 0.6},
    {Scalar::float32, 80, 999, 0.50, { 64, 128,  8,  32, 64,   8, 8,  4,  2},               44.2, 2.5},
    {Scalar::float32, 80, 999, 0.00, { 32,  32, 32,  16, 32,   4, 4,  3,  4},               31.7, 2.0},
    {Scalar::float64, 90, 90,  0.90, {128, 128,  8,  64, 32,   8, 8,  4,  1,  128, 72, 3, 6},  24.5, 6.0},
    {Scalar::float64, 80, 999, 0.50, { 64,  64,  8,  32, 32,   8, 4,  4,  2},               19.9, 2.5},
    {Scalar::float64, 80, 999, 0.00, { 32,  32, 16,  16, 16,   4, 2,  4,  4},               15.0, 2.0},
};
// clang-format on
inline constexpr int gemm_entries = std::size(gemm_table);

/// Elements between two k of an operand's tile in shared memory. The pad of one vector keeps a
/// transposing store of 8 k x 4 rows and the 16-byte loads free of bank conflicts.
constexpr int gemm_pitch(int extent, Scalar type) { return extent + 16 / size_of(type); }

constexpr bool valid(const GemmEntry& entry) {
    const GemmTile& t = entry.tile;
    const int vector = 16 / size_of(entry.type);
    const int shared = t.stages * t.block_k * size_of(entry.type) *
                       (gemm_pitch(t.block_m, entry.type) + gemm_pitch(t.block_n, entry.type));
    const int shared_allowed = entry.oldest == 90 ? 227 * 1024 / t.min_blocks : 99 * 1024;
    // Accumulators, two lines of k and a few others, in 32-bit registers.
    const int registers =
        (t.thread_m * t.thread_n + 2 * (t.thread_m + t.thread_n)) * (size_of(entry.type) / 4) + 16;
    const int registers_allowed =
        t.loaders > 0 ? t.multiplier_registers() : 65536 / (t.min_blocks * t.threads());
    return t.block_m % t.warp_m == 0 && t.block_n % t.warp_n == 0 && t.warp_m % t.thread_m == 0 &&
           t.warp_n % t.thread_n == 0 && t.lanes_m() * t.lanes_n() == 32 &&
           t.first_load + t.load_spacing * ((t.thread_m + t.thread_n) / vector - 1) <
               t.thread_m * t.thread_n &&
           t.thread_m % vector == 0 && t.thread_n % vector == 0 && t.threads() <= 1024 &&
           t.loaders % 32 == 0 && t.multipliers() % (t.loaders > 0 ? 128 : 32) == 0 &&
           t.loader_registers % 8 == 0 && t.block_k % t.lines(size_of(entry.type)) == 0 &&
           t.lines(size_of(entry.type)) % 2 == 0 && t.stages >= 2 && shared <= shared_allowed &&
           registers <= registers_allowed;
}

constexpr bool gemm_table_valid() {
    for (const GemmEntry& entry : gemm_table)
        if (!valid(entry)) return false;
    return true;
}
static_assert(gemm_table_valid(), "a line of gemm_table does not divide, or exceeds the hardware");

/// Longer k would overflow the count of steps of the tuned rung.
inline constexpr std::int64_t gemm_tuned_longest_k = std::int64_t{1} << 34;

/// Whether a GPU of this compute capability can run the entry.
constexpr bool runs_on(const GemmEntry& entry, int compute_capability) {
    return entry.oldest <= compute_capability && compute_capability <= entry.newest;
}

/// How much of the tiles that the GPU computes while C, m x n, is under way lies in C: low if C is
/// small, or if the last tiles leave most of the GPU idle.
constexpr double gemm_fill(const GemmTile& t, int multiprocessors, std::int64_t m, std::int64_t n) {
    const std::int64_t tiles =
        ((m + t.block_m - 1) / t.block_m) * ((n + t.block_n - 1) / t.block_n);
    const std::int64_t at_once = std::int64_t{multiprocessors} * t.min_blocks;
    const std::int64_t rounds = (tiles + at_once - 1) / at_once;
    return static_cast<double>(m) / static_cast<double>(rounds * at_once) * static_cast<double>(n) /
           (t.block_m * t.block_n);
}

/// How the entry of tuned_ring.cuh brings operands: the copy engine does, by maps that the host has
/// made or, of arrays of pointers, a kernel; or at least for one of them a warp, 16 bytes at a
/// time; or an element at a time for one, or both.
enum class GemmRingLoads { mapped, mapped_by_kernel, vectors, elements_of_one, elements };

/// Of products of floats, what to multiply estimated times by to compare them: of two that take
/// about as long, the one whose chains of multiply-adds are shorter has the smaller errors.
/// `chain`: k of the longest one. Beyond 256, twice as long weighs `twice` more.
constexpr double gemm_chain_weight(std::int64_t chain, double twice = 0.035) {
    double weight = 1;
    for (; chain > 512; chain = (chain + 1) / 2) weight += twice;
    return chain > 256 ? weight + twice * static_cast<double>(chain - 256) / 256 : weight;
}
/// The same if all of k is one chain. Much more beyond a k of 1024, where cuBLAS cuts it.
constexpr double gemm_whole_chain_weight(std::int64_t k) {
    return gemm_chain_weight(k, k > 1024 ? 0.2 : 0.035);
}

/// All of k, as steps of a chain of multiply-adds.
inline constexpr unsigned gemm_ring_one_chain = 0xFFFFFFFF;

/// How that entry takes one product: which operands it packs first, k by k, for the copy engine.
struct GemmRingPlan {
    bool pack_a = false, pack_b = false;
    unsigned chain = gemm_ring_one_chain;
    bool in_fours = false;  // a chain for each four k
    std::size_t scratch_bytes = 0;
    double seconds = 0;  // estimated, on an H200

    constexpr void make_one_chain() {
        chain = gemm_ring_one_chain;
        in_fours = false;
    }
    /// See gemm_chain_weight(). Of a longer k, fours err up to a tenth more than the rung sliced.
    constexpr double weight(std::int64_t k) const {
        if (in_fours) return k > 16 ? 1.05 : 1;
        return chain == gemm_ring_one_chain ? gemm_whole_chain_weight(k) : 1;
    }
};

/// That entry's tiles of `count` products, for each multiprocessor of an H200.
constexpr std::int64_t gemm_ring_tiles_each(std::int64_t m, std::int64_t n, std::int64_t count) {
    const GemmTile t = gemm_table[0].tile;
    const std::int64_t tiles =
        ((m + t.block_m - 1) / t.block_m) * ((n + t.block_n - 1) / t.block_n) * count;
    return (tiles + gemm_multiprocessors - 1) / gemm_multiprocessors;
}

/// Steps of that entry's chains of multiply-adds, as long as each other: some where C has so few
/// tiles that cuBLAS cuts k, and multiprocessors have room to set sums aside.
constexpr unsigned gemm_ring_chain(std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr int block_k = gemm_table[0].tile.block_k, shortest = 7;
    const std::int64_t steps = (k + block_k - 1) / block_k;
    if (gemm_ring_tiles_each(m, n, 1) > 2 || k <= 256) return gemm_ring_one_chain;
    const std::int64_t most = steps / 8 > shortest ? steps / 8 : shortest;
    const std::int64_t chains = (steps + most - 1) / most;
    return static_cast<unsigned>((steps + chains - 1) / chains);
}

/// Whether it makes a chain of each four k, to be as exact as cuBLAS: that cuts the k of so few
/// elements of C, unless neither operand lies along k (cuBLAS 13.1, by its errors and times). Of
/// five k, a chain and one term would round once more than a chain does.
constexpr bool gemm_ring_in_fours(std::int64_t m, std::int64_t n, std::int64_t k, bool along_k) {
    constexpr std::int64_t most = 230'000;
    return along_k && k > 5 && (k <= 16 || (k <= 40 && m <= most && n <= most && m * n <= most));
}

/// Of operands that are copied by elements, in how many first steps that entry's multiplying warps
/// share the copies: there is nothing to multiply yet, unless a multiprocessor has other tiles.
constexpr unsigned gemm_ring_shared_steps(std::int64_t tiles_each) {
    return tiles_each == 1 ? 6 : 4;
}

/// Whether tiles of one product follow each other on a multiprocessor.
constexpr bool gemm_ring_tiles_follow(std::int64_t tiles_each) {
    return tiles_each > gemm_table[0].tile.min_blocks;
}

/// Estimated microseconds of that entry for `count` products, fitted to 2,100 batches on an H200
/// (the root mean square is 4 to 6 %; with maps by a kernel, to fewer): of the launch; of a k while
/// few tiles share a multiprocessor, and each tile's share of it while many do; of a tile besides.
/// Where tiles follow each other, the shares are a little smaller, and of a tile more is left.
/// Where a kernel writes maps, 1.0 more and 0.2 more of a tile, which has to fetch them: fitted to
/// 12 batches. How much longer a k takes where A, B or both lie along k (`a_along_k`, `b_along_k`),
/// and both of a batch whose blocks follow each other and fill what others leave; elements then
/// come from many lines at once. How much sooner a multiprocessor's only tile ends.
constexpr double gemm_ring_microseconds(std::int64_t m, std::int64_t n, std::int64_t k,
                                        std::int64_t count, GemmRingLoads loads, bool a_along_k,
                                        bool b_along_k) {
    struct Times {
        double start, latency, load, tile, a, b, both, both_follow, turns, soon;
    };
    constexpr Times times[] = {
        {1.87, 0.0259, 0.0216, 0.212, 1.045, 1.133, 1.263, 1.25, 0, 0.52},
        {2.9, 0.0259, 0.0216, 0.45, 1, 1.1, 1.3, 1.15, 1.3, 0.5},
        {2.05, 0.0321, 0.0241, 0.189, 1.052, 1.184, 1.3, 1.178, 0.851, 0.719},
        {1.64, 0.0337, 0.0267, 0.3, 1.034, 1.118, 1.3, 1.157, 0.668, 0.302},
        {1.80, 0.0340, 0.0250, 0.474, 1.175, 1.231, 1.255, 1.31, 1.485, 0.763}};
    const Times& time = times[static_cast<int>(loads)];
    constexpr int block_k = gemm_table[0].tile.block_k;
    const auto each = static_cast<double>(gemm_ring_tiles_each(m, n, count));
    const auto lines = static_cast<double>((k + block_k - 1) / block_k * block_k);
    const bool follow = each > gemm_table[0].tile.min_blocks;
    const double shares = time.load * each * (follow ? 0.95 : 1);
    const double of_k = shares > time.latency ? shares : time.latency;
    const double as_they_lie = a_along_k && b_along_k ? (follow ? time.both_follow : time.both)
                               : a_along_k            ? time.a
                               : b_along_k            ? time.b
                                                      : 1;
    return time.start - (each == 1 && k > block_k ? time.soon : 0) + lines * of_k * as_they_lie +
           time.tile * each + (follow ? time.turns + 0.35 * each : 0);
}

/// How an operand of one product comes to that entry.
struct GemmRingWay {
    bool along_k, by_elements;
};
/// The same for one product, fitted to 1,000 on an H200, with a k of 4 to 2,900: where tiles follow
/// each other, and where they do not.
constexpr double gemm_ring_microseconds(std::int64_t m, std::int64_t n, std::int64_t k,
                                        GemmRingWay a, GemmRingWay b, bool in_fours) {
    struct Times {
        double start, tile, ragged, load, tail;  // tail: of a k, however many tiles there are
        double a, b, both;
        // Of operands by elements: of a tile, and how much longer a k takes, first and later.
        double tile_along, tile_across, first, along, across;
    };
    constexpr Times few = {1.03,  0.646, 0.12,  0.0223, 0,     1.076, 1.144,
                           1.269, 0.089, 0.123, 0,      0.153, 0.103};
    constexpr Times many = {1.9,  0.583, 0, 0.0199, 0.0084, 1.024, 1.168,
                            1.23, 0,     0, 0.154,  0.266,  0.121};
    constexpr GemmTile t = gemm_table[0].tile;
    const std::int64_t tiles_each = gemm_ring_tiles_each(m, n, 1);
    const auto each = static_cast<double>(tiles_each);
    const Times& time = gemm_ring_tiles_follow(tiles_each) ? many : few;
    const std::int64_t lines = (k + t.block_k - 1) / t.block_k * t.block_k;
    const std::int64_t shared = gemm_ring_shared_steps(tiles_each) * std::int64_t{t.block_k};
    const bool by_elements = a.by_elements || b.by_elements;
    const auto first = static_cast<double>(by_elements && lines > shared ? shared : lines);
    const double later = static_cast<double>(lines) - first;
    const int along = (a.by_elements && a.along_k) + (b.by_elements && b.along_k);
    const int across = (a.by_elements && !a.along_k) + (b.by_elements && !b.along_k);
    const double lie = a.along_k && b.along_k ? time.both
                       : a.along_k            ? time.a
                       : b.along_k            ? time.b
                                              : 1;
    // A k takes no less than `latency`; where the loader alone copies, than `loader`.
    constexpr double latency = 0.0253;
    const double loader = 0.0378 + 0.0048 * along + 0.0011 * across;
    const double share = time.load * each;
    const double copied = share * (lie + time.along * along + time.across * across);
    return time.start +
           each * (time.tile + time.tile_along * along + time.tile_across * across +
                   (n % 4 == 0 ? 0 : time.ragged)) +
           first * (share > latency ? share : latency) * (lie + time.first * (along + across)) +
           later * (copied > loader ? copied : loader) + time.tail * static_cast<double>(lines) +
           (in_fours ? 0.005 * each * static_cast<double>(lines) : 0);
}
/// To set sums aside after each chain and add them in the end.
constexpr double gemm_ring_chains_microseconds(std::int64_t m, std::int64_t n, std::int64_t k) {
    const std::int64_t chain = gemm_ring_chain(m, n, k) * std::int64_t{gemm_table[0].tile.block_k};
    const std::int64_t chains = k > chain ? (k + chain - 1) / chain : 0;
    return 0.15 * static_cast<double>(gemm_ring_tiles_each(m, n, 1) * chains);
}
/// Of its pre-pass, before tiles that follow each other (`follow`) or do not.
constexpr double gemm_ring_pack_microseconds(std::size_t packed_bytes, bool follow) {
    const double megabytes = 1e-6 * static_cast<double>(packed_bytes);
    return follow ? 3 + 0.6 * megabytes : 1.2 + 0.33 * megabytes;
}

/// Estimated seconds of an entry for m x n x k. Turns follow each other, in each of which a
/// multiprocessor has min_blocks block tiles; in the last one perhaps fewer, which then take longer
/// each than their share. Operands lie as the entry likes best.
constexpr double gemm_tuned_seconds(const GemmEntry& entry, int multiprocessors, std::int64_t m,
                                    std::int64_t n, std::int64_t k) {
    if (entry.tile.is_ring())
        return 1e-6 * gemm_ring_microseconds(m, n, k, {true, false}, {false, false}, false);
    constexpr double launch = 2e-6, alone = 1.4;
    constexpr int measured_on = 132;  // multiprocessors
    const GemmTile& t = entry.tile;
    const std::int64_t tiles =
        ((m + t.block_m - 1) / t.block_m) * ((n + t.block_n - 1) / t.block_n);
    const std::int64_t at_once = std::int64_t{multiprocessors} * t.min_blocks;
    const auto turns = static_cast<double>(tiles / at_once);
    const std::int64_t last = (tiles % at_once + multiprocessors - 1) / multiprocessors;
    const double blocks = static_cast<double>(last) / t.min_blocks;
    const double turn = 2.0 * t.block_m * t.block_n * static_cast<double>(k) * t.min_blocks *
                        measured_on / (entry.tflops * 1e12);
    return launch + turns * (turn + entry.turn * 1e-6) +
           (last > 0 ? blocks * (alone - (alone - 1) * blocks) * turn + entry.turn * 1e-6 : 0);
}

/// The first line that fits C of m x n on a GPU of this kind; the last one of its type fits always.
constexpr int choose_gemm_entry(Scalar type, int compute_capability, int multiprocessors,
                                std::int64_t m, std::int64_t n) {
    for (int i = 0; i < gemm_entries; ++i) {
        const GemmEntry& entry = gemm_table[i];
        if (entry.type == type && runs_on(entry, compute_capability) &&
            gemm_fill(entry.tile, multiprocessors, m, n) >= entry.least_fill)
            return i;
    }
    return -1;
}

}  // namespace tinyblas
