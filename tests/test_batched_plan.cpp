// SPDX-License-Identifier: MIT
// How batches of products are made: by a kernel that takes them, in launches that a grid holds.
// Needs no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "kernels/gemm/batched_plan.hpp"

namespace tinyblas {
namespace {

constexpr std::int64_t extents[] = {1,   2,   3,   4,   5,   8,    9,    15,   16,    17,     31,
                                    32,  33,  47,  48,  49,  63,   64,   65,   95,    96,     97,
                                    127, 128, 129, 256, 512, 1023, 1024, 4096, 65536, 1 << 21};
constexpr std::int64_t counts[] = {1, 2, 64, 65, 100, 264, 265, 512, 10000, 65535, 65536, 1 << 22};

template <class Check>
void for_all(Check check) {
    for (const Scalar type : {Scalar::float32, Scalar::float64})
        for (const int compute_capability : {80, 86, 90, 100, 120})
            for (const std::int64_t m : extents)
                for (const std::int64_t n : extents)
                    for (const std::int64_t k : {0, 1, 4, 8, 9, 64, 128, 129, 300, 5000})
                        for (const std::int64_t count : counts)
                            for (const GemmPieces pieces :
                                 {GemmPieces::none, GemmPieces::apart, GemmPieces::together}) {
                                GemmBatchExtents x = {m, n, k, count};
                                x.pieces = pieces;
                                check(type, compute_capability, x);
                            }
}

bool takes(const GemmBatchPlan& plan, Scalar type, int compute_capability,
           const GemmBatchExtents& x) {
    switch (plan.route) {
        case GemmBatchRoute::one_by_one: return true;
        case GemmBatchRoute::rows:
            return x.largest() <= plan.entry && x.k <= plan.entry &&
                   (plan.entry == 4 || plan.entry == 8);
        case GemmBatchRoute::square: return false;  // nobody said that the operands lie so
        case GemmBatchRoute::gemv:
            return x.smallest() == 1 && x.k > 0 && compute_capability == 90 &&
                   x.largest() * plan.most <= gemv_batch_most;
        case GemmBatchRoute::outer:
            return x.k > 0 && x.k <= outer_batch_longest_k && compute_capability == 90 &&
                   plan.entry == 0;
        case GemmBatchRoute::skinny:
            return x.smallest() > 1 && x.smallest() <= skinny_batch_widest && x.k > 0 &&
                   type == Scalar::float32 && compute_capability == 90 && plan.entry >= 0 &&
                   plan.entry < skinny_batch_entries &&
                   skinny_batch_groups(x.largest()) * plan.most <= skinny_batch_most;
        case GemmBatchRoute::pieces:
            return x.pieces != GemmPieces::none && compute_capability == 90 &&
                   gemm_pieces_table[plan.entry].type == type &&
                   plan_gemm_pieces(plan.entry, x.m, x.n, x.k, x.pieces == GemmPieces::together)
                           .entry == plan.entry;
        case GemmBatchRoute::tile: {
            const GemmBatchTile& t = gemm_batch_table[plan.entry];
            const bool fits = t.matrices == 1 || x.largest() <= t.edge;
            return t.type == type && fits &&
                   (gemm_batch_portable(plan.entry) || compute_capability == 90);
        }
        case GemmBatchRoute::tuned: {
            bool compiled = false;
            for (const int entry : gemm_batch_tuned) compiled |= entry == plan.entry;
            const GemmEntry& entry = gemm_table[plan.entry];
            return compiled && entry.type == type && entry.oldest <= compute_capability &&
                   compute_capability <= entry.newest && x.k <= gemm_tuned_longest_k;
        }
        case GemmBatchRoute::elements:
            return type == Scalar::float32 && compute_capability == 90 && x.in_reach && x.k > 16 &&
                   x.k < std::int64_t{1} << 30 && plan.entry < gemm_elements_entries;
        case GemmBatchRoute::stream_k: {
            const StreamKCut cut = stream_k_alike(plan.entry, x.m, x.n, x.k, x.count, plan.parts);
            return type == Scalar::float32 && compute_capability == 90 && x.in_reach &&
                   x.k >= gemm_batch_shortest_cut && cut.tiles_of_all() <= 65535 &&
                   cut.apart == cut.each * plan.parts && cut.apart >= cut.steps &&
                   cut.blocks() <= stream_k_table[plan.entry].most();
        }
        case GemmBatchRoute::pipelined: return false;  // nobody said that it takes them
        case GemmBatchRoute::sliced: {
            const auto ranks_log2 = static_cast<unsigned>(std::countr_zero(plan.parts));
            return type == Scalar::float32 && compute_capability == 90 && x.count > 1 &&
                   x.k >= gemm_batch_shortest_cut && sliced_batches(plan.entry) &&
                   gemm_sliced_plan(plan.entry, x.m, x.n, x.k, ranks_log2, 1, x.count).fits;
        }
        case GemmBatchRoute::tensor: {
            const GemmTensorTile& t = gemm_tensor_table[plan.entry];
            const bool all_at_once =
                x.k >= gemm_batch_shortest_cut &&
                x.tiles(t.block_m, t.block_n) * plan.parts <= std::int64_t{t.at_once()};
            return type == Scalar::float64 && compute_capability == 90 &&
                   gemm_tensor_most(plan.entry, x.m, x.n, x.k) > 0 &&
                   (plan.parts == 1 || all_at_once);
        }
    }
    return false;
}

bool grid_holds(const GemmBatchPlan& plan, const GemmBatchExtents& x) {
    if (plan.route == GemmBatchRoute::one_by_one) return true;
    if (plan.most < 1) return false;
    if (plan.route == GemmBatchRoute::tuned || plan.route == GemmBatchRoute::elements)
        return plan.most <= 65535;
    if (plan.route == GemmBatchRoute::tensor)
        return plan.most <= gemm_tensor_most(plan.entry, x.m, x.n, x.k);
    if (plan.route != GemmBatchRoute::tile) return plan.most <= std::int64_t{1} << 31;
    const GemmBatchTile& t = gemm_batch_table[plan.entry];
    if (t.matrices > 1) return plan.most / t.matrices < std::int64_t{1} << 31;
    return plan.most <= 65535 && (x.m + t.edge - 1) / t.edge <= 65535;
}

TEST(BatchedPlan, KernelsTakeWhatTheyAreGiven) {
    for_all([](Scalar type, int compute_capability, const GemmBatchExtents& x) {
        for (const bool pointers : {false, true}) {
            GemmBatchExtents given = x;
            given.pointers = pointers;
            const auto plan = plan_gemm_batch(type, compute_capability, given, -1);
            ASSERT_TRUE(takes(plan, type, compute_capability, x) && grid_holds(plan, x))
                << x.count << " times " << x.m << " x " << x.n << " x " << x.k << ", "
                << (type == Scalar::float32 ? "float" : "double") << ", " << compute_capability
                << ": route " << static_cast<int>(plan.route) << ", entry " << plan.entry;
            ASSERT_FALSE(pointers && plan.route == GemmBatchRoute::one_by_one);
        }
    });
}

// Wherever a plan is made, the block has room for it, and threads to make it.
TEST(BatchedPlan, PiecesFitTheirBlock) {
    int made = 0, refused = 0;
    for (int entry = 0; entry < gemm_pieces_entries; ++entry)
        for (const bool together : {false, true})
            for (const std::int64_t m : extents)
                for (const std::int64_t n : extents)
                    for (const std::int64_t k : {1, 2, 5, 17, 64, 97, 500, 5000}) {
                        const GemmPiecesPlan plan = plan_gemm_pieces(entry, m, n, k, together);
                        if (plan.entry < 0 && ++refused) continue;
                        ++made;
                        const GemmPiecesTile& t = gemm_pieces_table[entry];
                        const std::int64_t size = size_of(t.type), vector = 16 / size;
                        const auto end = [&](std::int64_t first, std::int64_t apart,
                                             std::int64_t elements) {
                            return first + (plan.each - 1) * apart + elements + vector - 1;
                        };
                        ASSERT_GE(plan.each, 1);
                        ASSERT_LE(plan.each * plan.lanes(), plan.threads());
                        ASSERT_LE(plan.threads(), t.threads);
                        ASSERT_GE(plan.lanes_m * t.share_m, m);
                        ASSERT_GE(plan.lanes_n * t.share_n, n);
                        ASSERT_LE(end(0, plan.a_apart, m * k), plan.of_b);
                        ASSERT_LE(end(plan.of_b, plan.b_apart, k * n) * size, plan.bytes);
                        ASSERT_LE(end(0, plan.c_apart, m * n) * size, plan.bytes);
                        ASSERT_LE(plan.bytes, 72 << 10);
                        ASSERT_EQ(plan.of_b % vector, 0);
                        ASSERT_FALSE(plan.reads_c());
                        // With C's old elements behind the new ones.
                        const GemmPiecesPlan reads =
                            plan_gemm_pieces(entry, m, n, k, together, false, true);
                        ASSERT_TRUE(reads.reads_c());
                        ASSERT_EQ(reads.each, plan.each);
                        ASSERT_EQ(reads.of_old % vector, 0);
                        ASSERT_LE(end(0, plan.c_apart, m * n), reads.of_old);
                        ASSERT_LE(end(reads.of_old, plan.c_apart, m * n) * size, reads.bytes);
                        ASSERT_LE(reads.bytes, 144 << 10);
                        ASSERT_GE(reads.bytes, plan.bytes);
                        if (together) continue;
                        for (const int apart : {plan.a_apart, plan.b_apart, plan.c_apart})
                            ASSERT_EQ(apart % vector, 0);
                        ASSERT_GE(plan.a_apart, m * k + vector - 1);
                        ASSERT_GE(plan.b_apart, k * n + vector - 1);
                        ASSERT_GE(plan.c_apart, m * n + vector - 1);
                    }
    EXPECT_GT(made, 1000);
    EXPECT_GT(refused, 1000);
}

// For many products whose operands have no gaps; not where lines or matrices meet in a bank, nor
// where other tiles are used well.
TEST(BatchedPlan, PiecesWhereTheyPay) {
    const auto entry = [](Scalar type, std::int64_t n, std::int64_t count, GemmPieces pieces,
                          bool a_along_k = true, bool b_along_k = false) {
        GemmBatchExtents x = {n, n, n, count, a_along_k, b_along_k};
        x.pieces = pieces;
        x.by_elements = n % (type == Scalar::float32 ? 4 : 2) == 0 ? 0 : 2;
        if (x.by_elements > 0) x.loads = GemmRingLoads::elements;
        const GemmBatchPlan plan = plan_gemm_batch(type, 90, x, -1);
        return plan.route == GemmBatchRoute::pieces ? plan.entry : -1;
    };
    constexpr GemmPieces none = GemmPieces::none, apart = GemmPieces::apart,
                         together = GemmPieces::together;
    constexpr Scalar single = Scalar::float32, twice = Scalar::float64;
    std::set<int> taken;
    const auto expect = [&](Scalar type, std::int64_t n, std::int64_t count, GemmPieces pieces) {
        const int of = entry(type, n, count, pieces);
        EXPECT_GE(of, 0) << count << " of " << n;
        taken.insert(of);
    };
    for (const auto& [n, few, many] : {std::tuple(9, 300, 10000),
                                       {17, 100, 1000},
                                       {33, 16, 1000},
                                       {40, 100, 1000},
                                       {47, 100, 1000},
                                       {51, 50, 1000},
                                       {65, 16, 500},
                                       {84, 100, 1000}}) {
        for (const GemmPieces pieces : {apart, together}) {
            expect(single, n, many, pieces);
            expect(single, n, 20 * many, pieces);
            EXPECT_EQ(entry(single, n, few, pieces), -1) << n;
        }
        EXPECT_EQ(entry(single, n, many, none), -1) << n;
    }
    for (const auto& [n, few, many] :
         {std::tuple(9, 200, 20000), {17, 200, 20000}, {33, 100, 5000}, {65, 16, 500}})
        for (const GemmPieces pieces : {apart, together}) {
            expect(twice, n, many, pieces);
            EXPECT_EQ(entry(twice, n, few, pieces), -1) << n;
        }
    // Tiny ones, many at a time.
    for (const auto& [n, few, many] :
         {std::tuple(2, 5000, 1000000), {3, 5000, 200000}, {5, 1000, 100000}, {7, 1000, 100000}})
        for (const Scalar type : {single, twice}) {
            expect(type, n, many, together);
            EXPECT_EQ(entry(type, n, few, together), -1) << n;
        }
    EXPECT_EQ(taken, (std::set{0, 1, 2, 3, 4, 5, 6}));
    for (const std::int64_t n : {31, 48, 63, 72})
        EXPECT_EQ(entry(twice, n, 50000, together), -1) << n;
    for (const std::int64_t n : {4, 8, 16, 32, 64, 96})
        EXPECT_EQ(entry(single, n, 50000, together), -1) << n;
    // 32 rows of B by columns begin in one bank.
    EXPECT_EQ(entry(single, 32, 5000, together, false, true), -1);
    EXPECT_GE(entry(single, 33, 5000, together, false, true), 0);
    // Other GPUs have no such kernels.
    GemmBatchExtents x = {17, 17, 17, 10000};
    x.pieces = together;
    EXPECT_EQ(plan_gemm_batch(single, 80, x, -1).route, GemmBatchRoute::tile);
}

// As often as a warp's first 32 lanes load different elements of a bank.
TEST(BatchedPlan, PiecesKnowWhichLoadsMeet) {
    int met = 0;
    for (int entry = 0; entry < gemm_pieces_entries; ++entry)
        for (const std::int64_t m : {3, 8, 17, 32, 48, 63})
            for (const std::int64_t n : {2, 9, 16, 31, 64})
                for (const std::int64_t k : {1, 5, 16, 32, 63}) {
                    const GemmPiecesPlan plan = plan_gemm_pieces(entry, m, n, k, true);
                    if (plan.entry < 0) continue;
                    const int size = size_of(gemm_pieces_table[entry].type);
                    for (const bool of_a : {true, false}) {
                        const std::int64_t lines = of_a ? m : n;
                        const std::int64_t apart = of_a ? plan.a_apart : plan.b_apart;
                        std::map<std::int64_t, std::set<std::int64_t>> banks;
                        for (int lane = 0; lane < 32; ++lane) {
                            const int g = lane / plan.lanes(), own = lane % plan.lanes();
                            const std::int64_t line =
                                of_a ? own / plan.lanes_n : own % plan.lanes_n;
                            if (g >= plan.each) continue;
                            const std::int64_t at = g * apart + std::min(line, lines - 1) * k;
                            banks[at % (128 / size)].insert(at);
                        }
                        std::size_t most = 0;
                        for (const auto& bank : banks) most = std::max(most, bank.second.size());
                        ASSERT_EQ(gemm_pieces_turns(plan, size, lines, k, apart, of_a), most)
                            << m << " x " << n << " x " << k << ", entry " << entry;
                        met += most > 1 ? 1 : 0;
                    }
                }
    EXPECT_GT(met, 100);
}

// Small ones are made by the kernel that is estimated to be the fastest of all.
TEST(BatchedPlan, SmallOnesByTheirTime) {
    std::set<std::pair<GemmBatchRoute, int>> chosen;
    for (const Scalar type : {Scalar::float32, Scalar::float64})
        for (const std::int64_t m : {2, 3, 8, 9, 17, 33, 50, 65, 96, 112})
            for (const std::int64_t n : {2, 4, 8, 16, 31, 48, 63, 80, 110})
                for (const std::int64_t k : {1, 4, 8, 20, 64, 130, 500})
                    for (const std::int64_t count : {2, 20, 132, 300, 1000, 4000, 30000}) {
                        GemmBatchExtents x = {m, n, k, count};
                        x.by_elements = static_cast<int>(m % 3);
                        if (n % 2 == 0) x.pieces = GemmPieces::apart;
                        const GemmBatchPlan plan = plan_gemm_batch(type, 90, x, -1);
                        chosen.emplace(plan.route, plan.entry);
                        double own = 0, least = 1e9;
                        GemmBatchRoute fastest = {};
                        const auto see = [&](GemmBatchRoute route, int entry, double time) {
                            ASSERT_GT(time, 0.5);
                            if (plan.route == route && plan.entry == entry) own = time;
                            if (time < least) least = time, fastest = route;
                        };
                        for (const GemmSmallTimes& t : gemm_small_times)
                            if (t.type == type && gemm_small_most(t, x) > 0)
                                see(t.route, t.entry, gemm_small_microseconds(t, x));
                        for (int e = 0; e < gemm_pieces_entries; ++e)
                            if (gemm_pieces_table[e].type == type && x.pieces != GemmPieces::none &&
                                plan_gemm_pieces(e, m, n, k, false).entry == e)
                                see(GemmBatchRoute::pieces, e, gemm_pieces_microseconds(e, x));
                        if (type == Scalar::float32) {  // or what makes larger ones, too
                            const GemmBatchPlan other = plan_gemm_batch_anywhere(type, 90, x, 0);
                            if (other.microseconds > 0)
                                see(other.route, other.entry, other.microseconds);
                        }
                        GemmBatchFastest skinny;
                        if (type == Scalar::float32) skinny.consider_skinny(x);
                        if (skinny.plan.microseconds > 0)
                            see(skinny.plan.route, skinny.plan.entry, skinny.plan.microseconds);
                        // Beside these, the rung tensor is known to take longer to store C.
                        GemmBatchFastest outer;
                        outer.consider_outer(type, x);
                        if (outer.plan.microseconds > 0) {
                            const double storing = fastest == GemmBatchRoute::tensor
                                                       ? gemm_tensor_storing(n) * x.bytes_of_c(type)
                                                       : 0;
                            ASSERT_EQ(plan.route == GemmBatchRoute::outer,
                                      outer.plan.microseconds < least + storing);
                            if (plan.route == GemmBatchRoute::outer) continue;
                        }
                        GemmBatchFastest cut;
                        for (int e = 0; e < gemm_tensor_entries && type == Scalar::float64; ++e)
                            cut.consider_cut_tensor(e, 1, x);
                        if (type == Scalar::float64 && plan.parts > 1) {
                            ASSERT_LE(cut.plan.microseconds, least);
                            continue;
                        }
                        ASSERT_TRUE(cut.plan.microseconds == 0 || own <= cut.plan.microseconds);
                        ASSERT_EQ(own, least) << m << " x " << n << " x " << k << ", " << count
                                              << " of them: entry " << plan.entry;
                    }
    // All but a few that other extents want.
    std::size_t met = 0;
    for (const GemmSmallTimes& t : gemm_small_times) met += chosen.contains({t.route, t.entry});
    for (int e = 0; e < gemm_pieces_entries; ++e)
        met += chosen.contains({GemmBatchRoute::pieces, e});
    EXPECT_GE(met, std::size(gemm_small_times) + gemm_pieces_entries - 5);
    for (const auto& [route, entries] : {std::pair(GemmBatchRoute::elements, 5),
                                         {GemmBatchRoute::tile, 5},
                                         {GemmBatchRoute::sliced, 1},
                                         {GemmBatchRoute::stream_k, 1}})
        EXPECT_GE(std::count_if(chosen.begin(), chosen.end(),
                                [&](const auto& x) { return x.first == route; }),
                  entries);
}

TEST(BatchedPlan, SquaresWhereTheyPay) {
    const auto route = [](std::int64_t n, std::int64_t count, int square) {
        return plan_gemm_batch(Scalar::float32, 90, {n, n, n, count}, square).route;
    };
    for (const auto& [n, square, least] : {std::tuple(16, 0, 512), {32, 1, 512}, {64, 2, 100}}) {
        const GemmBatchRoute other = n == 64   ? GemmBatchRoute::tuned
                                     : n == 32 ? GemmBatchRoute::elements
                                               : GemmBatchRoute::tile;
        EXPECT_EQ(route(n, least, square), GemmBatchRoute::square);
        EXPECT_EQ(route(n, least - 1, square), other);
        EXPECT_EQ(route(n, least, -1), other);
    }
    // By elements, the ring is slower.
    const auto by = [](int elements) {
        GemmBatchExtents x = {63, 63, 63, 1000};
        x.by_elements = elements;
        if (elements > 0) x.loads = GemmRingLoads::elements;
        return plan_gemm_batch(Scalar::float32, 90, x, -1);
    };
    EXPECT_EQ(by(0).route, GemmBatchRoute::tuned);
    EXPECT_EQ(by(2).route, GemmBatchRoute::elements);
    EXPECT_EQ(by(2).entry, 2);
}

// Where its tiles, 128 x 256 or 2 x 128 x 128 or 4 x 128 x 64, are estimated to take least time; as
// many as it takes at once.
TEST(BatchedPlan, PipelinedWhereItPays) {
    const auto plan = [](const GemmBatchExtents& x, std::int64_t most) {
        return plan_gemm_batch(Scalar::float32, 90, x, -1, most);
    };
    constexpr GemmBatchRoute pipelined = GemmBatchRoute::pipelined;
    for (const GemmBatchExtents& x : {GemmBatchExtents{256, 256, 64, 66},
                                      {128, 128, 128, 256},
                                      {128, 200, 64, 264},
                                      {224, 224, 224, 64},
                                      {256, 256, 256, 66},
                                      {512, 512, 512, 33},
                                      {1024, 1024, 1024, 16}}) {
        EXPECT_EQ(plan(x, x.count).route, pipelined) << x.count;
        EXPECT_EQ(plan(x, 1 << 20).most, x.count);
        EXPECT_NE(plan(x, 0).route, pipelined) << x.count;
    }
    for (const GemmBatchExtents& x : {GemmBatchExtents{256, 256, 64, 67},  // a second turn for one
                                      {256, 256, 256, 16},
                                      {64, 256, 64, 1000},
                                      {256, 256, 16, 1000},
                                      {128, 128, 128, 512, true, true}})  // B would be packed
        EXPECT_NE(plan(x, x.count).route, pipelined) << x.count;
    EXPECT_EQ(plan({128, 128, 128, 512, true, true, true}, 512).route, pipelined);  // but once
    for (const auto& [n, entry] : {std::pair(256, 1), {128, 2}, {200, 1}, {384, 2}, {512, 1}})
        EXPECT_EQ(plan({256, n, 512, 1000}, 1000).entry, entry) << n;
    EXPECT_EQ(plan({256, 64, 256, 1000}, 1000).entry, 4);
    EXPECT_EQ(plan({256, 256, 64, 1000}, 132).most, 125);        // 8 launches alike
    EXPECT_NE(plan({256, 256, 64, 1000}, 30).route, pipelined);  // too few at once
    // The ring, but not if elements come one by one.
    GemmBatchExtents x = {192, 192, 320, 132};
    EXPECT_EQ(plan(x, 0).route, GemmBatchRoute::tuned);
    EXPECT_EQ(plan(x, 0).entry, 0);
    x.loads = GemmRingLoads::elements;
    for (const bool along_k : {false, true}) {
        x.b_along_k = along_k;
        EXPECT_EQ(plan(x, 0).route, GemmBatchRoute::elements);
    }
    x.in_reach = false;  // and a tile's elements are not too far apart
    EXPECT_NE(plan(x, 0).route, GemmBatchRoute::elements);
    // Rows beyond a grid's y, which other tiles cannot have.
    EXPECT_EQ(plan({std::int64_t{1} << 22, 64, 64, 4}, 4).route, pipelined);
}

// Few blocks share a multiprocessor: small tiles, so that there are more of them. Many do: the tile
// that wastes least, then the one with the best rate.
TEST(BatchedPlan, MidSizesByTheirTime) {
    const auto expect = [](std::int64_t n, std::int64_t count, GemmBatchRoute route, int entry) {
        GemmBatchExtents x = {n, n, n, count, true, false, false, GemmRingLoads::vectors};
        x.pointers = true;
        const GemmBatchPlan plan = plan_gemm_batch(Scalar::float32, 90, x, -1);
        EXPECT_EQ(plan.route, route) << n << ", " << count;
        EXPECT_EQ(plan.entry, entry) << n << ", " << count;
    };
    constexpr GemmBatchRoute tile = GemmBatchRoute::tile;
    expect(160, 16, GemmBatchRoute::elements, 8);  // 32 x 32
    expect(160, 8, GemmBatchRoute::sliced, 7);
    expect(96, 8, tile, 2);    // 32 x 32, 64 k a stage
    expect(144, 64, tile, 3);  // 48 x 48
    expect(96, 128, tile, 5);  // 96 x 96
    for (const auto& [n, count] :
         {std::pair(256, 8), {256, 16}, {128, 1000}, {256, 1000}})  // 64 x 64, a ring
        expect(n, count, GemmBatchRoute::tuned, 0);
    expect(160, 64, GemmBatchRoute::elements, 6);  // 96 x 64
    expect(512, 64, GemmBatchRoute::elements, 0);  // 128 x 128
    for (const std::int64_t count : {64, 1000}) {  // but the ring, if the copy engine gets maps
        GemmBatchExtents x = {256,  256,   256,   count,
                              true, false, false, GemmRingLoads::mapped_by_kernel};
        x.pointers = true;
        EXPECT_EQ(plan_gemm_batch(Scalar::float32, 90, x, -1).entry, 0) << count;
    }
}

TEST(BatchedPlan, TimesAreThoseOfTheTilesTheyName) {
    for (const GemmSmallTimes& t : gemm_small_times) {
        const std::array given = {int{t.block_m}, int{t.block_n}, int{t.depth}, int{t.matrices}};
        if (t.route == GemmBatchRoute::tensor) {
            ASSERT_LT(t.entry, gemm_tensor_entries);
            const GemmTensorTile& tile = gemm_tensor_table[t.entry];
            EXPECT_EQ(given, (std::array{tile.block_m, tile.block_n, tile.block_k, 1})) << t.entry;
        }
        if (t.route == GemmBatchRoute::tile) {
            ASSERT_LT(t.entry, gemm_batch_entries);
            const GemmBatchTile& tile = gemm_batch_table[t.entry];
            EXPECT_EQ(t.type, tile.type) << t.entry;
            EXPECT_EQ(given, (std::array{tile.edge, tile.edge, tile.depth, tile.matrices}))
                << t.entry;
        }
    }
}

// In double: small tiles, or the rung tensor's, the larger the more there is to do.
TEST(BatchedPlan, DoublesByTheirTime) {
    const auto expect = [](const GemmBatchExtents& x, GemmBatchRoute route, int entry) {
        const GemmBatchPlan plan = plan_gemm_batch(Scalar::float64, 90, x, -1);
        EXPECT_EQ(plan.route, route) << x.m << ", " << x.count;
        EXPECT_EQ(plan.entry, entry) << x.m << ", " << x.count;
    };
    for (const std::int64_t n : {72, 80, 96}) expect({n, n, n, 1000}, GemmBatchRoute::tensor, 4);
    expect({49, 49, 49, 64}, GemmBatchRoute::tile, 7);
    for (const auto& [n, count, entry] :
         {std::tuple(512, 64, 0), {128, 512, 2}, {64, 1000, 2}, {320, 64, 2}, {512, 2, 3}})
        expect({n, n, n, count}, GemmBatchRoute::tensor, entry);
    // From memory, high tiles read twice as much of A for each B.
    for (const std::int64_t count : {32, 512})
        expect({2048, 64, 2048, count}, GemmBatchRoute::tensor, 1);
    expect({2048, 128, 2048, 512}, GemmBatchRoute::tensor, 0);
    // Tiles that fill a GPU together need not be cut one product after the other; of products that
    // fill it alone, they are.
    for (const std::int64_t count : {6, 8}) {
        const auto plan = plan_gemm_batch(Scalar::float64, 90, {4096, 64, 4096, count}, -1);
        EXPECT_EQ(plan.route, GemmBatchRoute::tensor) << count;
        EXPECT_EQ(plan.parts, 1u) << count;
    }
    expect({2048, 2048, 4096, 8}, GemmBatchRoute::one_by_one, -1);
    // Lines that are no multiples of 128 bytes apart cost small tiles most.
    GemmBatchExtents x = {96, 1824, 1502, 6, true, true};
    expect(x, GemmBatchRoute::tensor, 5);
    x.a_pitch = x.b_pitch = TensorPitch::pairs;
    expect(x, GemmBatchRoute::tensor, 0);
    // Turning an operand takes time, which the rung tensor does not.
    expect({512, 64, 512, 8, true, true}, GemmBatchRoute::tensor, 5);
    expect({64, 64, 64, 64, false, true}, GemmBatchRoute::tensor, 3);
    expect({96, 96, 96, 1000, false, true}, GemmBatchRoute::tensor, 4);
    // Operands that the L2 cache does not hold cost tiles of 48 x 48 most.
    expect({48, 48, 48, 528}, GemmBatchRoute::tile, 8);
    expect({48, 48, 48, 1000}, GemmBatchRoute::tensor, 4);
    expect({100, 100, 0, 1000}, GemmBatchRoute::tile, 7);  // nothing to multiply
    // Larger ones in the tiles of small ones, where k is short; thin ones alone if it is.
    for (const auto& [m, n, k, count, route, entry] :
         {std::tuple(187, 93, 38, 1067, GemmBatchRoute::tile, 8),
          {154, 154, 154, 292, GemmBatchRoute::tensor, 2}}) {
        x = {m, n, k, count, true, m == 187};
        x.a_pitch = x.b_pitch = TensorPitch::pairs;
        expect(x, route, entry);
    }
    expect({16, 504, 244, 789, true, true}, GemmBatchRoute::tensor, 5);
    expect({576, 16, 160, 306, false, false}, GemmBatchRoute::tensor, 6);
    expect({1784, 2, 13, 512, true, true}, GemmBatchRoute::outer, 0);
}

// Few tiles of a long k: they are cut, in one launch, as a product by itself would be.
TEST(BatchedPlan, FewTilesOfLongSumsAreCut) {
    const auto plan = [](Scalar type, const GemmBatchExtents& x) {
        return plan_gemm_batch(type, 90, x, -1);
    };
    constexpr Scalar single = Scalar::float32, twice = Scalar::float64;
    for (const bool pointers : {false, true}) {
        GemmBatchExtents x = {64, 64, 2048, 8};
        x.pointers = pointers;
        x.alone = 20;
        EXPECT_EQ(plan(single, x).route, GemmBatchRoute::stream_k);
        EXPECT_GT(plan(single, x).parts, 3u);
        EXPECT_EQ(plan(single, x).most, 8);
        EXPECT_EQ(plan(twice, x).route, GemmBatchRoute::tensor);
        EXPECT_GT(plan(twice, x).parts, 3u);
        x.scratch = 1 << 20;  // for the sums of a few
        EXPECT_EQ(plan(single, x).route, GemmBatchRoute::sliced);
        EXPECT_EQ(plan(single, x).parts, 4u);  // 128 blocks
        EXPECT_EQ(plan(single, x).most, 8);
        x.scratch = 0;
        EXPECT_EQ(plan(twice, x).parts, 1u);
    }
    // A product that fills the GPU by itself, in tiles that load less; many tiles; a short k.
    GemmBatchExtents large = {2048, 2048, 2048, 4};
    large.alone = 330;
    EXPECT_EQ(plan(single, large).route, GemmBatchRoute::one_by_one);
    for (const GemmBatchExtents& x :
         {GemmBatchExtents{64, 64, 2048, 5000}, {64, 64, gemm_batch_shortest_cut - 1, 8}})
        for (const Scalar type : {single, twice}) {
            EXPECT_NE(plan(type, x).route, GemmBatchRoute::sliced) << x.count;
            EXPECT_EQ(plan(type, x).parts, 1u) << x.count;
        }
    EXPECT_NE(plan(single, {64, 64, 2048, 1}).route, GemmBatchRoute::sliced);  // that is gemm's
}

// A grid's y would end: kernels that number their tiles in one line.
TEST(BatchedPlan, SoManyRows) {
    for (const int compute_capability : {80, 90})
        for (const std::int64_t m : {std::int64_t{65535} * 16 + 1, std::int64_t{1} << 40})
            for (const std::int64_t k : {0, 9}) {
                const auto route = [&](Scalar type) {
                    GemmBatchExtents x = {m, 3, k, 2};
                    x.pointers = true;
                    return plan_gemm_batch(type, compute_capability, x, -1).route;
                };
                const bool skinny = compute_capability == 90 && k > 0 && m < 1 << 30;
                EXPECT_EQ(route(Scalar::float32),
                          skinny ? GemmBatchRoute::skinny : GemmBatchRoute::tuned);
                EXPECT_EQ(route(Scalar::float64), compute_capability != 90 || m > 1 << 30
                                                      ? GemmBatchRoute::tuned
                                                  : k > 0 ? GemmBatchRoute::outer
                                                          : GemmBatchRoute::tensor);
            }
}

// Whatever a gemm of its own can cut or keeps the GPU busy with; but not by pointers.
TEST(BatchedPlan, OneByOne) {
    const auto expect = [](bool one_by_one, std::initializer_list<Scalar> types,
                           const GemmBatchExtents& x) {
        for (const Scalar type : types) {
            EXPECT_EQ(gemm_batch_one_by_one(type, 90, x), one_by_one)
                << x.count << " times " << x.m << ", " << x.n << ", " << x.k;
            GemmBatchExtents by_pointers = x;
            by_pointers.pointers = true;
            EXPECT_NE(plan_gemm_batch(type, 90, by_pointers, -1).route, GemmBatchRoute::one_by_one);
        }
    };
    constexpr Scalar single = Scalar::float32, twice = Scalar::float64;
    for (const GemmBatchExtents& x : {GemmBatchExtents{2048, 2048, 2048, 4},
                                      {4096, 16, 4096, 100},
                                      {4096, 1, 4096, 7},
                                      {1, 4096, 4096, 7},
                                      {4, 4, gemm_tuned_longest_k + 1, 1 << 30}})
        expect(true, {single, twice}, x);
    for (const GemmBatchExtents& x : {GemmBatchExtents{1024, 1024, 511, 1},
                                      {512, 512, 512, 32},
                                      {32, 32, 1024, 3},
                                      {4096, 4, 256, 7}})
        expect(false, {single, twice}, x);
    // In double, a batch has the tiles that a gemm has, and they are cut where they are few.
    for (const GemmBatchExtents& x : {GemmBatchExtents{2048, 2048, 512, 100},
                                      {8192, 64, 8192, 100},
                                      {4096, 63, 4096, 100},
                                      {64, 64, 1 << 20, 100},
                                      {32, 32, 1024, 2},
                                      {2048, 64, 2048, 4}}) {
        expect(true, {single}, x);
        expect(false, {twice}, x);
        EXPECT_TRUE(gemm_batch_one_by_one(twice, 80, x)) << x.m << ", " << x.n;
    }
}

// Of C of one row or column: all but large matrices, which gemv reads as fast, and a long k of few
// elements, which others cut. Threads that share a sum have some k each, and fill a GPU if they
// can.
TEST(BatchedPlan, Vectors) {
    for (const Scalar type : {Scalar::float32, Scalar::float64}) {
        const auto route = [&](const GemmBatchExtents& x, int compute_capability = 90) {
            return plan_gemm_batch(type, compute_capability, x, -1).route;
        };
        EXPECT_EQ(route({1, 600, 300, 50}), GemmBatchRoute::gemv);
        EXPECT_EQ(route({600, 1, 300, 50}), GemmBatchRoute::gemv);
        EXPECT_EQ(route({1, 1, 8192, 2}), GemmBatchRoute::gemv);
        EXPECT_NE(route({1, 1, 8193, 2}), GemmBatchRoute::gemv);
        EXPECT_EQ(route({1, 1, 8193, 132}), GemmBatchRoute::gemv);
        EXPECT_EQ(route({1, 4095, 1024, 2}), GemmBatchRoute::gemv);
        EXPECT_EQ(route({1, 4096, 1024, 2}), GemmBatchRoute::one_by_one);
        GemmBatchExtents pointers = {1, 4096, 1024, 2};
        pointers.pointers = true;
        EXPECT_EQ(route(pointers), GemmBatchRoute::gemv);
        EXPECT_NE(route({1, 600, 0, 50}), GemmBatchRoute::gemv);
        EXPECT_NE(route({2, 600, 300, 50}), GemmBatchRoute::gemv);
        EXPECT_NE(route({1, 600, 300, 50}, 80), GemmBatchRoute::gemv);
    }
    for (const bool along_k : {false, true})
        for (const std::int64_t elements : {1, 132, 5000, 300000, 1 << 30})
            for (const std::int64_t k : {1, 8, 9, 16, 17, 64, 300, 8192, 1 << 30}) {
                const GemvBatchPlan plan = plan_gemv_batch(elements, k, along_k);
                EXPECT_EQ(plan.rows() << plan.sharers_log2, gemv_batch_threads);
                EXPECT_TRUE(plan.sharers_log2 == 0 || (along_k ? 4 : 8) << plan.sharers_log2 < k)
                    << k;
            }
    EXPECT_EQ(plan_gemv_batch(1 << 30, 20, true).sharers_log2, 2u);
    EXPECT_EQ(plan_gemv_batch(1 << 30, 4096, true).sharers_log2, 5u);
    EXPECT_EQ(plan_gemv_batch(1, 8192, true).sharers_log2, 8u);
    EXPECT_EQ(plan_gemv_batch(1 << 30, 4096, false).sharers_log2, 0u);
    EXPECT_EQ(plan_gemv_batch(1, 8192, false).sharers_log2, 8u);
}

// Of floats, skinny C, however they lie, where that is estimated to take least time; not beyond
// what its threads can count.
TEST(BatchedPlan, Skinny) {
    const auto route = [](GemmBatchExtents x, Scalar type = Scalar::float32,
                          int compute_capability = 90) {
        return plan_gemm_batch(type, compute_capability, x, -1).route;
    };
    for (const GemmBatchExtents& x :
         {GemmBatchExtents{720, 4, 101, 55}, {104, 7, 1096, 925}, {2, 715, 7, 204}}) {
        EXPECT_EQ(route(x), GemmBatchRoute::skinny);
        EXPECT_EQ(route({x.n, x.m, x.k, x.count}), GemmBatchRoute::skinny);
        EXPECT_NE(route(x, Scalar::float64), GemmBatchRoute::skinny);
        EXPECT_NE(route(x, Scalar::float32, 80), GemmBatchRoute::skinny);
        GemmBatchExtents far = x;
        far.in_skinny_reach = false;
        EXPECT_NE(route(far), GemmBatchRoute::skinny);
        far.k = 0;
        EXPECT_NE(route(far), GemmBatchRoute::skinny);
    }
    GemmBatchExtents longer = {2, 2000, 2049, 100};
    EXPECT_EQ(route(longer), GemmBatchRoute::skinny);
    longer.by_elements = 1;
    EXPECT_NE(route(longer), GemmBatchRoute::skinny);
    longer.k = 2048;
    EXPECT_EQ(route(longer), GemmBatchRoute::skinny);
    // Wide ones read A once for eight columns, narrow ones keep more threads.
    const auto entry = [](std::int64_t n) {
        return plan_gemm_batch(Scalar::float32, 90, {500, n, 700, 400}, -1).entry;
    };
    EXPECT_EQ(skinny_batch_table[entry(3)].columns, 4);
    EXPECT_EQ(skinny_batch_table[entry(7)].columns, 8);

    const auto reaches = [](std::int64_t rows, std::int64_t stride, std::int64_t k_stride) {
        return skinny_batch_reaches(MatrixView<const float>{nullptr, rows, 5, stride, k_stride});
    };
    EXPECT_TRUE(reaches(1 << 10, 1 << 20, 1));
    EXPECT_FALSE(reaches((1 << 10) + 1, 1 << 20, 1));
    EXPECT_TRUE(reaches(1 << 10, -(1 << 20), -(1 << 28)));
    EXPECT_FALSE(reaches(1 << 10, 1, (1 << 28) + 1));
    EXPECT_FALSE(reaches((1 << 30) + 1, 0, 0));

    for (const SkinnyBatchEntry& of : skinny_batch_table)
        for (const std::int64_t m : {2, 20, 1000, 1 << 20})
            for (const std::int64_t n : {2, 4, 5, 9, 16})
                for (const std::int64_t k : {1, 4, 5, 40, 700, 1 << 20})
                    for (const std::int64_t count : {2, 60, 5000})
                        for (const int along : {0, 1, 2, 3}) {
                            const SkinnyBatchPlan plan = plan_skinny_batch(
                                of, m, n, k, count, (along & 1) != 0, (along & 2) != 0);
                            const std::int64_t columns = std::int64_t{of.columns}
                                                         << plan.columns_log2;
                            EXPECT_TRUE(columns >= n &&
                                        (columns < 2 * n || plan.columns_log2 == 0));
                            EXPECT_LE(plan.sharers_log2(), 5u);
                            EXPECT_LT(1 << plan.sharers_log2(), 2 * skinny_batch_groups(k));
                        }
}

}  // namespace
}  // namespace tinyblas
