// SPDX-License-Identifier: MIT
// The tuning data of the rung tensor, and its plan: which entry multiplies, how k is cut, how long
// it takes. All but the memory for parts of sums follows from the extents alone, so that the bits
// do too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace tinyblas {

/// The multiprocessors that work is dealt to: those of an H200. Another number is only less even.
inline constexpr unsigned gemm_tensor_multiprocessors = 132;

/// How far an operand's lines lie apart: a multiple of 128 bytes, of 32 (a sector), of 16 (pairs
/// can be copied) or of 8.
enum class TensorPitch { lines, sectors, pairs, elements };

/// Who owns what of C, and how k is walked.
struct GemmTensorTile {
    int block_m, block_n;  // block tile
    int block_k;           // elements of k a stage holds, a chunk
    int warp_m, warp_n;    // warp tile
    int stages;
    int min_blocks;         // launch bounds: blocks that must fit a multiprocessor
    int loader_registers;   // that the threads that load keep, a multiple of 8
    bool spread, swizzles;  // how tiles lie in shared memory (tensor_loader.cuh)
    // Microseconds, measured on an H200, fitted to 2,900 products on an H100, whose multiprocessors
    // are the same, so that what is chosen takes least time (tiles of 128 x 128 and from 48 x 32
    // on: to 815 on an H200): a chunk of a block alone on its multiprocessor, and of one of many; a
    // tile besides its chunks; two parts that meet; a launch.
    double chunk_alone, chunk, tile, meeting, launch;
    // The parts by which chunks take longer: for each operand, by TensorPitch; in a line that all
    // blocks share, whose pieces begin and end anywhere.
    double longer[4], in_line;

    static constexpr int loaders = 128;  // threads
    constexpr int warps_n() const { return block_n / warp_n; }
    constexpr int warps() const { return block_m / warp_m * warps_n(); }
    constexpr int multipliers() const { return warps() * 32; }
    constexpr int threads() const { return multipliers() + loaders; }
    /// Blocks that run side by side.
    constexpr unsigned at_once() const {
        return gemm_tensor_multiprocessors * static_cast<unsigned>(min_blocks);
    }
    /// What is left of a block's registers for the threads that multiply.
    constexpr int multiplier_registers() const {
        const int at_start = 65536 / min_blocks / threads() / 8 * 8 * threads();
        const int share = (at_start - loaders * loader_registers) / multipliers() / 8 * 8;
        return share < 240 ? share : 240;
    }
};

// clang-format off
inline constexpr GemmTensorTile gemm_tensor_table[] = {
    // block m,n,k   warp m,n  stages  blocks  registers  spread  swizzles  chunk alone, of many, tile, meeting, launch; longer, in line
    {128, 128, 16,   32, 64,   5,      1,      40,        true,   false,    1.011, 1.011, 1.49, 4.42, 4.24, {0, 0.03, 0.03, 0.04}, 0   },
    {128,  64, 16,   32, 32,   5,      1,      56,        false,  false,    0.55,  0.545, 0.9,  2.33, 2.1,  {0, 0.03, 0.08, 0.03}, 0   },
    { 64,  64, 16,   32, 32,   5,      2,      56,        false,  true,     0.335, 0.29,  0.36, 2.7,  1.92, {0, 0.03, 0.14, 0.05}, 0   },
    { 64,  32, 32,   32, 16,   4,      2,      56,        false,  true,     0.347, 0.313, 0.22, 2.3,  2.09, {0, 0.05, 0.28, 0.12}, 0.15},
    { 48,  32, 32,   24, 16,   5,      2,      56,        false,  true,     0.241, 0.24,  0.24, 2.18, 1.89, {0, 0.06, 0.4,  0.28}, 0.15},
    { 32,  32, 32,   16, 16,   5,      2,      56,        false,  true,     0.199, 0.178, 0.22, 2.26, 1.8,  {0, 0.12, 0.39, 0.21}, 0.15},
    { 32,  16, 32,    8, 16,   5,      3,      56,        false,  true,     0.177, 0.177, 0.17, 1.98, 1.76, {0, 0.06, 0.36, 0.2 }, 0   },
};
// clang-format on
inline constexpr int gemm_tensor_entries = std::size(gemm_tensor_table);

constexpr bool valid(const GemmTensorTile& t) {
    const int registers =  // sums, fragments and a few others
        t.warp_m * t.warp_n / 16 + 32 + t.warp_m * (t.warp_n == 16 ? 2 : 1) + 24;
    return t.block_m % t.warp_m == 0 && t.block_n % t.warp_n == 0 && t.warp_m % 8 == 0 &&
           t.warp_n % 16 == 0 && t.block_k % 16 == 0 && t.multipliers() % 128 == 0 &&
           t.loader_registers % 8 == 0 && registers <= t.multiplier_registers() &&
           t.threads() * t.min_blocks <= 2048;
}
constexpr bool gemm_tensor_table_valid() {
    for (const GemmTensorTile& tile : gemm_tensor_table)
        if (!valid(tile)) return false;
    return true;
}
static_assert(gemm_tensor_table_valid(), "a line of gemm_tensor_table does not divide");

/// Whether an entry's blocks can wait for each other: those of the tile of large products.
constexpr bool gemm_tensor_waits(int entry) { return entry == 0; }

/// Parts of a tile, from so many on a kernel of its own adds them up, if all tiles are cut; how
/// long that takes, in microseconds.
inline constexpr unsigned gemm_tensor_many_parts = 8;
constexpr double gemm_tensor_apart(unsigned parts, double bytes) {
    return 2.5 + 0.045 * parts + 6e-8 * bytes;
}

/// The chunks of the last `cut` tiles are shared by `workers` blocks: each tile's by equally many,
/// if that goes; else those of `in_line` tiles form a line, of which as many blocks and one more
/// get an equal piece each, so that tiles have two pieces; or, if that is 0, all form one line.
/// `cut` is less than twice `workers`, so that a block has pieces of two tiles at most, beside a
/// whole one.
struct GemmTensorSplit {
    unsigned cut = 0, workers = 0, in_line = 0;
};

struct GemmTensorPlan {
    int entry = -1;
    unsigned tiles_m = 0, tiles_n = 0;  // of a product
    unsigned products = 1;
    unsigned chunks = 0;                    // of k
    unsigned whole = 0;                     // tiles that are not cut
    unsigned workers = 0;                   // on the others
    unsigned line = 0, sharers = 0;         // chunks, of one tile or all, and who share them
    unsigned piece = 0, longer_pieces = 0;  // chunks of a sharer; of so many, one more
    unsigned blocks = 0;
    bool together = false;    // blocks begin their whole tiles together, turn by turn
    bool sums_apart = false;  // parts of sums are added up by a kernel of their own
    // The kernel that follows gets its places when all of this one's blocks have ended: those that
    // are in their last turn leave places early, and its blocks would gather there.
    bool late_dependents = false;
    std::size_t scratch_bytes = 0;  // for sums of parts
    double seconds = 0;             // estimated, on an H200
    bool fits = false;              // whether this rung can run the call at all

    constexpr unsigned tiles_each() const { return tiles_m * tiles_n; }
    constexpr unsigned tiles() const { return tiles_each() * products; }
    constexpr unsigned cut() const { return tiles() - whole; }
    /// Of a cut tile, at most, or one more where tiles form a line.
    constexpr unsigned parts() const { return (workers + cut() - 1) / cut(); }
    /// Whether workers may have pieces of two tiles.
    constexpr bool straddles() const { return line > chunks; }
    /// Whether then no tile has more than two.
    constexpr bool in_two() const { return straddles() && sharers <= line / chunks + 1; }
};

/// What a product reads and writes, and what memory does in a microsecond.
constexpr double gemm_tensor_bytes(std::int64_t m, std::int64_t n, std::int64_t k) {
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n);
    return sizeof(double) * (static_cast<double>(k) * (rows + columns) + rows * columns);
}
inline constexpr double gemm_tensor_bytes_in_microsecond = 3.9e6;

/// Whether, of lines along k, the L2 cache gets 256 bytes at a time: where operands come from
/// memory, for caches hold but a part, and k is so long that few bytes are not used.
constexpr bool gemm_tensor_reads_ahead(std::int64_t k, double bytes) {
    return k >= 512 && bytes > 120e6;
}

/// The same for a GPU whose memory could move so many bytes a second by its clock and bus (an
/// H200's: 4.81e12); 0: unknown.
constexpr double gemm_tensor_bytes_in_microsecond_of(double memory_speed) {
    return memory_speed > 0 ? 0.81e-6 * memory_speed : gemm_tensor_bytes_in_microsecond;
}

/// Blocks of a plan that moves so many bytes: as many as have places at once, which go on from tile
/// to tile. But these get apart with time, and what they then ask for at once lies in too many of
/// memory's pages: 10 to 20 % less comes. So where memory takes a third more time than arithmetic
/// (`memory`: bytes in a microsecond), and for long, there are more blocks, which begin in turn,
/// with as few tiles each as it takes to hide their start, half of it at least; with more than one
/// only while there are so many turns that it does not matter who is last. The bits are the same.
constexpr unsigned gemm_tensor_blocks(const GemmTensorPlan& plan, double bytes,
                                      double memory = gemm_tensor_bytes_in_microsecond) {
    const GemmTensorTile& t = gemm_tensor_table[plan.entry];
    const unsigned places = plan.whole < t.at_once() ? plan.whole : t.at_once();
    if (plan.workers > 0) return plan.workers > places ? plan.workers : places;
    constexpr double long_bytes = 190e6, start = 2;  // microseconds; measured on an H100
    if (t.min_blocks == 1 || places < t.at_once() || bytes < long_bytes) return places;
    constexpr unsigned least_turns = 8;
    const double turns = static_cast<double>(plan.whole) / places;
    const double work = t.min_blocks * (plan.chunks * t.chunk + t.tile);  // a tile's time
    if (0.75 * bytes / memory / turns < work) return places;
    const double idle = bytes / gemm_tensor_bytes_in_microsecond / turns - work;
    unsigned tiles = 1;
    while (tiles * idle < start && turns >= 2 * least_turns * tiles) tiles *= 2;
    return tiles * idle < start / 2 ? places : (plan.whole + tiles - 1) / tiles;
}

/// The plan that says so, of as many products, but for `seconds`. Extents are at least 1; all
/// numbers must fit 31 bits.
constexpr GemmTensorPlan gemm_tensor_plan(int entry, std::int64_t m, std::int64_t n, std::int64_t k,
                                          GemmTensorSplit split = {}, unsigned products = 1) {
    const GemmTensorTile& t = gemm_tensor_table[entry];
    const auto pieces = [](std::int64_t extent, int piece) {
        return static_cast<unsigned>((extent + piece - 1) / piece);
    };
    GemmTensorPlan plan;
    plan.entry = entry;
    plan.tiles_m = pieces(m, t.block_m);
    plan.tiles_n = pieces(n, t.block_n);
    plan.products = products;
    plan.chunks = pieces(k, t.block_k);
    plan.whole = plan.tiles() - split.cut;
    if (split.cut > 0) {
        plan.workers = split.workers;
        const bool alike = split.workers % split.cut == 0;
        const bool some = split.in_line > 0;
        plan.line = (alike ? 1 : some ? split.in_line : split.cut) * plan.chunks;
        plan.sharers = alike ? split.workers / split.cut : some ? split.in_line + 1 : split.workers;
        plan.piece = plan.line / plan.sharers;
        plan.longer_pieces = plan.line % plan.sharers;
        plan.sums_apart = plan.whole == 0 && split.workers / split.cut >= gemm_tensor_many_parts;
        plan.scratch_bytes = std::size_t{2} * split.workers *
                             static_cast<unsigned>(t.block_m * t.block_n) * sizeof(double);
    }
    plan.blocks = gemm_tensor_blocks(plan, products * gemm_tensor_bytes(m, n, k));
    plan.late_dependents = t.min_blocks > 1 && plan.whole > t.at_once();
    // Where k is too long for the L2 cache to hold what blocks are apart.
    constexpr unsigned long_k = 256;  // chunks
    plan.together = gemm_tensor_waits(entry) && products == 1 && plan.whole > plan.blocks &&
                    plan.chunks >= long_k;
    plan.fits = true;
    return plan;
}

/// That of so many products whose tiles are all cut into so many parts; 1: whole.
constexpr GemmTensorPlan gemm_tensor_plan_alike(int entry, std::int64_t m, std::int64_t n,
                                                std::int64_t k, unsigned parts,
                                                std::int64_t count) {
    const auto products = static_cast<unsigned>(count);
    const GemmTensorPlan whole = gemm_tensor_plan(entry, m, n, k, {}, products);
    if (parts == 1) return whole;
    return gemm_tensor_plan(entry, m, n, k, {whole.tiles(), parts * whole.tiles()}, products);
}

/// Products of a batch, at most, that a launch can make.
constexpr std::int64_t gemm_tensor_most(int entry, std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const GemmTensorTile& t = gemm_tensor_table[entry];
    const std::int64_t rows = m / t.block_m + 1, columns = n / t.block_n + 1;
    if (rows >= most || columns >= most || k / t.block_k + 1 >= most) return 0;
    return (most - 1) / (rows * columns);
}

/// Microseconds of work that takes so many, and of memory traffic beside it: the two overlap,
/// nearly.
constexpr double gemm_tensor_with_traffic(double work, double bytes) {
    const double traffic = bytes / gemm_tensor_bytes_in_microsecond;
    return work > traffic ? work + 0.1 * traffic : traffic + 0.1 * work;
}

/// Microseconds that a product with a short k takes besides for each byte of C, whose rows lie so
/// far apart: with a longer one, tiles are stored while others are multiplied. Measured with a k to
/// 48 on an H200.
constexpr double gemm_tensor_storing(std::int64_t apart) {
    return apart % 4 == 0 ? 0.02e-6 : apart % 2 == 0 ? 0.05e-6 : 0.29e-6;
}

/// How long a product takes, on an H200: the longest chain of chunks, tiles and meetings; or its
/// memory traffic.
constexpr double gemm_tensor_seconds(const GemmTensorPlan& plan, std::int64_t m, std::int64_t n,
                                     std::int64_t k, TensorPitch a = TensorPitch::lines,
                                     TensorPitch b = TensorPitch::lines) {
    const GemmTensorTile& t = gemm_tensor_table[plan.entry];
    // `count` blocks side by side.
    const auto chunk = [&](unsigned count) {
        const double shared =
            t.chunk * ((count + gemm_tensor_multiprocessors - 1) / gemm_tensor_multiprocessors);
        return (shared > t.chunk_alone ? shared : t.chunk_alone) *
               (1 + t.longer[static_cast<int>(a)] + t.longer[static_cast<int>(b)]);
    };
    // Of blocks that have more to do than others, some multiprocessors get two unless they are few:
    // of a last turn, of workers beside whole tiles.
    const auto with_gathered = [&](unsigned count) {
        constexpr unsigned layer = gemm_tensor_multiprocessors;
        const bool gather = t.min_blocks > 1 && count > layer * 2 / 3 && count <= layer;
        return gather ? layer + 1 : count;
    };
    const double whole_tile = plan.chunks * chunk(t.at_once()) + t.tile * t.min_blocks;
    unsigned rest = plan.whole % t.at_once();
    if (plan.whole > t.at_once()) rest = with_gathered(rest);
    double time = plan.whole / t.at_once() * whole_tile;
    if (rest > 0) time += plan.chunks * chunk(rest) + t.tile;
    if (plan.workers > 0) {
        const unsigned parts = plan.parts();
        // Where all workers share one line, and have less than a large tile each, parts meet
        // sooner.
        const bool at_ease = plan.whole == 0 && plan.workers > plan.cut() && !plan.in_two() &&
                             t.block_m * t.block_n >= 64 * 64;
        double meetings = !plan.straddles() ? 0 : at_ease ? 0.75 : 1.5;
        if (!plan.in_two())
            for (unsigned apart = 1; apart < parts; apart *= 2) ++meetings;
        const double adding =
            plan.sums_apart
                ? gemm_tensor_apart(parts, 0.5 * static_cast<double>(plan.scratch_bytes))
                : meetings * t.meeting;
        const bool one_line = plan.straddles() && !plan.in_two();
        const unsigned workers = plan.whole > 0 ? with_gathered(plan.workers) : plan.workers;
        time += (plan.piece + 1) * chunk(workers) * (one_line ? 1 + t.in_line : 1) +
                (plan.straddles() ? 2 : 1) * t.tile + adding;
    }
    constexpr double l2_bytes = 55e6, size = sizeof(double);
    const double operands = size * static_cast<double>(k) * static_cast<double>(m + n);
    double bytes = plan.products * gemm_tensor_bytes(m, n, k);
    // Pieces that begin at different k do not find each other's operands in the L2 cache, where
    // these are larger.
    if (plan.straddles() && operands > l2_bytes)
        bytes += size * plan.cut() * static_cast<double>(plan.chunks) * t.block_k *
                 (t.block_m + t.block_n);
    return 1e-6 * (t.launch + gemm_tensor_with_traffic(time, bytes));
}

/// Calls body(parts) for each number of parts, 2, 3, 4, 6, 8, 12 ..., that each of `cut` tiles can
/// be cut in so that all have a place at once.
template <class Body>
constexpr void for_numbers_of_parts(const GemmTensorPlan& whole, unsigned cut, Body body) {
    const unsigned at_once = gemm_tensor_table[whole.entry].at_once();
    for (unsigned parts = 2; parts <= whole.chunks && parts * cut <= at_once;
         parts = (parts & (parts - 1)) == 0 ? parts / 2 * 3 : parts / 3 * 4)
        body(parts);
}

/// The plan that takes the least time; `fits` says whether there is one. Tiles that do not fill the
/// GPU are cut, if the memory for parts suffices: equally for all blocks, with the tiles of another
/// turn or without; into 2, 3, 4, 6 ... each; or a few in a line. `a`, `b`: how operands
/// lie.
constexpr GemmTensorPlan plan_gemm_tensor(std::int64_t m, std::int64_t n, std::int64_t k,
                                          TensorPitch a = TensorPitch::lines,
                                          TensorPitch b = TensorPitch::lines,
                                          std::size_t most_scratch = static_cast<std::size_t>(-1)) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    GemmTensorPlan best;
    for (int entry = 0; entry < gemm_tensor_entries; ++entry) {
        if (gemm_tensor_most(entry, m, n, k) == 0) continue;
        const GemmTensorTile& t = gemm_tensor_table[entry];
        const auto consider = [&](GemmTensorSplit split) {
            GemmTensorPlan plan = gemm_tensor_plan(entry, m, n, k, split);
            plan.seconds = gemm_tensor_seconds(plan, m, n, k, a, b);
            // Of two that take as long, the one whose tiles are whole.
            if (split.cut > 0) plan.seconds += 0.3e-6;
            if (plan.scratch_bytes <= most_scratch && (!best.fits || plan.seconds < best.seconds))
                best = plan;
        };
        consider({});
        const GemmTensorPlan whole = gemm_tensor_plan(entry, m, n, k);
        const unsigned cut = whole.tiles() % t.at_once();
        if (cut == 0 || std::int64_t{cut} * whole.chunks >= most) continue;
        for_numbers_of_parts(whole, cut, [&](unsigned parts) { consider({cut, parts * cut}); });
        if (std::int64_t{cut} * whole.chunks >= t.at_once()) consider({cut, t.at_once()});
        const unsigned others = t.at_once() - cut, in_line = (cut + others - 1) / others;
        if (in_line > 1) consider({cut, cut + (cut + in_line - 1) / in_line, in_line});
        // Smaller tiles are over before their pieces could meet unnoticed.
        if (t.block_m * t.block_n < 64 * 64) continue;
        const unsigned more = cut + t.at_once();
        if (whole.tiles() >= more && std::int64_t{more} * whole.chunks < most)
            consider({more, t.at_once()});
    }
    return best;
}

}  // namespace tinyblas
