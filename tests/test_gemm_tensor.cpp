// SPDX-License-Identifier: MIT
// gemm's rung tensor, each entry by itself and with every way to cut k: exact on integers whatever
// the storage, the chain of multiply-adds where k is whole, clean where C or the gaps are NaN, the
// same bits each time. And its plan.
#include "gemm_tensor.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "batched_problem.hpp"
#include "kernels/gemm/divisor.hpp"
#include "workspace.hpp"
#if TINYBLAS_EMULATED
#include "device/emulation/fibers.hpp"
#endif

namespace tinyblas::test {
namespace {

/// How a plan of whole tiles is cut. The call may exchange m and n, so that this comes last.
using Cut = GemmTensorSplit (*)(const GemmTensorPlan& whole);

constexpr Cut whole = [](const GemmTensorPlan&) { return GemmTensorSplit{}; };
/// All tiles into `parts` each, added up through memory.
template <unsigned parts>
constexpr Cut into = [](const GemmTensorPlan& plan) {
    return GemmTensorSplit{plan.tiles(), std::min(parts, plan.chunks) * plan.tiles()};
};
/// Pieces that cross tiles.
constexpr Cut one_more = [](const GemmTensorPlan& plan) {
    return GemmTensorSplit{plan.tiles(), plan.tiles() + 1};
};
constexpr Cut nearly_twice = [](const GemmTensorPlan& plan) {
    return GemmTensorSplit{plan.tiles(), 2 * plan.tiles() - 1};
};
/// Pieces that are longer than a tile.
constexpr Cut fewer = [](const GemmTensorPlan& plan) {
    return GemmTensorSplit{plan.tiles(), plan.tiles() / 2 + 1};
};
/// Two tiles among three workers, the last one perhaps between two.
constexpr Cut by_twos = [](const GemmTensorPlan& plan) {
    return GemmTensorSplit{plan.tiles(), plan.tiles() + (plan.tiles() + 1) / 2, 2};
};
/// Some tiles alone.
constexpr Cut last_one = [](const GemmTensorPlan& plan) {
    return GemmTensorSplit{1, std::min(5u, plan.chunks)};
};
constexpr Cut last_few = [](const GemmTensorPlan& plan) {
    const unsigned cut = std::min(5u, plan.tiles());
    return GemmTensorSplit{cut, 2 * cut + 1};
};

void run(GemmProblem<double>& p, Context& context, int entry, Cut cut) {
    for (auto* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
    const auto call = prepare_gemm<double>(context, p.alpha, p.a.device(), p.b.device(), p.beta,
                                           p.c.device(), {GemmKernel::naive, -1});
    const std::int64_t m = call.c.rows, n = call.c.columns, k = call.a.columns;
    const GemmTensorSplit split = cut(gemm_tensor_plan(entry, m, n, k));
    enqueue_gemm_tensor(context, call, gemm_tensor_plan(entry, m, n, k, split));
    for (auto* operand : {&p.a, &p.b, &p.c}) operand->download(context);
}

class GemmTensor : public testing::TestWithParam<int> {
  protected:
    void SetUp() override {
        if (context.compute_capability() != 90) GTEST_SKIP() << "needs compute capability 9.0a";
    }

    const int entry = GetParam();
    const GemmTensorTile& t = gemm_tensor_table[entry];
    Context context;

    testing::AssertionResult exact_with(Shape shape, std::uint64_t seed, const Storage& a,
                                        const Storage& b, const Storage& c, Cut cut = whole) {
        GemmProblem<double> p(shape, seed, a, b, c);
        constexpr double scalars[] = {1, -2, 3};
        p.alpha = scalars[seed % 3];
        p.beta = static_cast<double>(seed / 3 % 3) - 1;
        p.fill_integers();
        run(p, context, entry, cut);
        return exact(p);
    }
};
INSTANTIATE_TEST_SUITE_P(Entries, GemmTensor, testing::Range(0, gemm_tensor_entries));

// All ways that two operands can lie, with C's varying along.
TEST_P(GemmTensor, EveryPairOfStorages) {
    for (int pair = 0; pair < input_storages * input_storages; ++pair) {
        const Shape shape = {1 + pair * 7 % 45, 1 + pair * 11 % 53, 1 + pair * 5 % 39};
        ASSERT_TRUE(exact_with(shape, static_cast<std::uint64_t>(pair),
                               storages[pair % input_storages], storages[pair / input_storages],
                               storages[pair * 5 % output_storages]));
    }
}

// Both sides of the tile's edges, and of a warp's; k on both sides of a chunk and of the ring.
TEST_P(GemmTensor, EveryEdge) {
    const int ring = t.block_k * t.stages;
    std::uint64_t seed = 0;
    for (const int m : {1, t.warp_m + 1, t.block_m - 1, t.block_m, t.block_m + 1})
        for (const int n : {1, t.warp_n - 1, t.block_n, t.block_n + 1})
            for (const int k : {1, t.block_k, t.block_k + 1, ring - 1, ring + 2}) {
                if ((m * 3 + n + k) % 4 != 0) continue;
                ++seed;
                ASSERT_TRUE(exact_with({m, n, k}, seed, storages[seed % 4], storages[seed / 4 % 4],
                                       storages[seed % output_storages]));
            }
}

TEST_P(GemmTensor, CutsOfK) {
    std::uint64_t seed = 100;
    for (const Shape shape : {Shape{t.block_m + 3, 2 * t.block_n, 7 * t.block_k - 1},
                              Shape{2 * t.block_m + 3, t.block_n, 9 * t.block_k - 1},
                              Shape{t.block_m, t.block_n, 40 * t.block_k + 5},
                              Shape{5, 7, 2 * t.block_k}, Shape{3 * t.block_m, 5, t.block_k}}) {
        int number = 0;
        for (const Cut cut :
             {into<2>, into<3>, into<33>, one_more, nearly_twice, fewer, by_twos, last_one}) {
            ++seed;
            ASSERT_TRUE(exact_with(shape, seed, storages[seed % 4], storages[seed / 4 % 4],
                                   storages[seed % output_storages], cut))
                << "cut number " << number;
            ++number;
        }
    }
}

// More tiles than blocks: a block's ring goes on from tile to tile.
TEST_P(GemmTensor, MoreTilesThanBlocks) {
    const int tiles = 132 * t.min_blocks + 5;
    ASSERT_TRUE(exact_with({tiles * t.block_m, 3, 2 * t.block_k + 1}, 7, storages[0], storages[1],
                           storages[0], last_few));
    ASSERT_TRUE(exact_with({9 * t.block_m, (tiles + 8) / 9 * t.block_n - 1, 3}, 8, storages[1],
                           storages[0], storages[0]));
}

// Exact, and the counters are left zero for whoever comes next.
TEST_P(GemmTensor, BlocksThatBeginTogether) {
    if (!gemm_tensor_waits(entry)) return;
    for (const unsigned blocks : {1u, 3u})
        for (const Cut cut : {whole, last_one}) {
            GemmProblem<double> p({2 * t.block_m, 3 * t.block_n - 1, 17 * t.block_k}, blocks);
            p.fill_integers();
            for (auto* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
            const auto call = prepare_gemm<double>(context, p.alpha, p.a.device(), p.b.device(),
                                                   p.beta, p.c.device(), {GemmKernel::naive, -1});
            const std::int64_t m = call.c.rows, n = call.c.columns, k = call.a.columns;
            GemmTensorPlan plan =
                gemm_tensor_plan(entry, m, n, k, cut(gemm_tensor_plan(entry, m, n, k)));
            plan.blocks = std::max(blocks, plan.workers);
            plan.together = true;
            enqueue_gemm_tensor(context, call, plan);
            for (auto* operand : {&p.a, &p.b, &p.c}) operand->download(context);
            ASSERT_TRUE(exact(p)) << blocks << " blocks";
        }
    constexpr std::int64_t count = Workspace::counter_bytes / sizeof(unsigned);
    const auto* const counters = static_cast<const unsigned*>(
        context.workspace().counters(context.stream(), Workspace::CountersOf::gemm, "test"));
    Matrix<unsigned> after(1, count, Memory::pinned);
    copy(context, MatrixView<const unsigned>::row_major(counters, 1, count), after);
    context.synchronize();
    EXPECT_EQ(std::count(after.view().data, after.view().data + count, 0u), count);
}

TEST_P(GemmTensor, IsTheChainOfMultiplyAdds) {
    for (int layouts = 0; layouts < 4; ++layouts) {
        GemmProblem<double> p({t.block_m + 5, t.block_n + 2, 3 * t.block_k + 7}, 50,
                              storages[layouts % 2], storages[layouts / 2]);
        p.alpha = 0.7;
        p.beta = -1.5;
        p.fill([](Random& r) { return r.normal(); });
        run(p, context, entry, whole);
        ASSERT_TRUE(chained(p));
    }
}

TEST_P(GemmTensor, CutSumsAreCloseAndTheSameEachTime) {
    const Shape shape = {t.block_m + 5, t.block_n + 2, 12 * t.block_k - 3};
    for (const Cut cut : {into<5>, nearly_twice, fewer, by_twos}) {
        GemmProblem<double> p(shape, 51);
        p.alpha = 1.5;
        p.beta = 1;
        p.fill([](Random& r) { return r.normal(); });
        run(p, context, entry, cut);
        ASSERT_TRUE(close(p));
        const MatrixView<double> c = p.c.after();
        const std::vector<double> once(c.data, c.data + c.rows * c.row_stride);
        for (unsigned repeat = 1; repeat < 4; ++repeat) {
#if TINYBLAS_EMULATED
            device::set_schedule(repeat);
#endif
            run(p, context, entry, cut);
            ASSERT_EQ(std::memcmp(once.data(), p.c.after().data, once.size() * sizeof(double)), 0);
        }
#if TINYBLAS_EMULATED
        device::set_schedule(0);
#endif
    }
}

// What pads a chunk must not meet an Inf, and C is not read where beta is 0.
TEST_P(GemmTensor, InfinityNextToPaddingAndNanInC) {
    for (const Cut cut : {whole, into<2>})
        for (int layouts = 0; layouts < 4; ++layouts) {
            const int k = 2 * t.block_k - 3;
            GemmProblem<double> p({t.block_m - 1, t.block_n - 1, k}, 52, storages[layouts % 2],
                                  storages[layouts / 2]);
            p.fill([](Random& r) { return r.uniform() + 1; });
            for (std::int64_t i = 0; i < p.c.before().rows; ++i)
                for (std::int64_t j = 0; j < p.c.before().columns; ++j)
                    p.c.before()(i, j) = std::nan("");
            for (std::int64_t i = 0; i < p.a.before().rows; ++i)
                p.a.before()(i, k - 1) = std::numeric_limits<double>::infinity();
            p.b.before()(k - 1, 0) = 0;
            p.beta = layouts % 2 == 0 ? 0.0 : -0.0;
            run(p, context, entry, cut);
            ASSERT_TRUE(judge(p, "Inf, or NaN in column 0", [](auto, auto j, double x) {
                return j == 0 ? std::isnan(x) : std::isinf(x);
            }));
        }
}

// Parts that a kernel of its own adds up: nor does that one read C where beta is 0.
TEST_P(GemmTensor, ManyPartsAndNanInC) {
    GemmProblem<double> p({t.block_m - 3, t.block_n - 1, 11 * t.block_k - 2}, 53);
    p.fill_integers();
    for (std::int64_t i = 0; i < p.c.before().rows; ++i)
        for (std::int64_t j = 0; j < p.c.before().columns; ++j) p.c.before()(i, j) = std::nan("");
    p.beta = 0;
    const Cut cut = into<11>;
    run(p, context, entry, cut);
    ASSERT_TRUE(exact(p));
}

// The same where the parts' blocks have pieces of two tiles.
TEST_P(GemmTensor, ManyPartsOfTilesInOneLine) {
    const Cut cut = [](const GemmTensorPlan& all) -> GemmTensorSplit { return {all.tiles(), 25}; };
    const Shape shape = {2 * t.block_m + 3, t.block_n - 1, 37 * t.block_k - 3};
    const GemmTensorPlan plan = gemm_tensor_plan(entry, shape.m, shape.n, shape.k, {3, 25});
    ASSERT_TRUE(plan.sums_apart && plan.straddles());
    ASSERT_TRUE(exact_with(shape, 54, storages[0], storages[1], storages[0], cut));
}

// Batches whose tiles are cut, all alike, added up by their blocks or by a kernel of its own: each
// product's bits are those of its elements alone, wherever it is.
TEST_P(GemmTensor, CutBatches) {
    int number = 0;
    for (const unsigned parts : {2u, 3u, gemm_tensor_many_parts + 1})
        for (const Given given : {Given::by_strides, Given::by_pointers}) {
            for (const int layouts :
                 given == Given::by_strides ? std::array{0, 3} : std::array{1, 2}) {
                const std::int64_t k = (parts + 2) * static_cast<unsigned>(t.block_k) - 3;
                BatchProblem<double> p({t.block_m + 5, t.block_n - 3, k}, 3,
                                       {Along{false, number % 2}, below, Along{false, number % 3}},
                                       {storages[layouts % 2], storages[layouts / 2], storages[0]});
                p.given = given;
                const bool whole_numbers = ++number % 2 == 0;
                p.beta = layouts % 3 - 1;
                if (whole_numbers)
                    p.fill_integers();
                else
                    p.fill_normal_alike();
                if (p.beta == 0) p.c.fill([] { return poison<double>(); });
                const auto plan = gemm_tensor_plan_alike(entry, p.shape.m, p.shape.n, p.shape.k,
                                                         parts, p.count());
                ASSERT_EQ(plan.cut(), 6u);
                ASSERT_EQ(plan.sums_apart, parts > gemm_tensor_many_parts);
                p.run(context, [&](double* const* pointers) {
                    enqueue_gemm_tensor(context, p.batch(pointers), plan);
                });
                if (whole_numbers) {
                    ASSERT_TRUE(exact(p)) << parts << " parts";
                    continue;
                }
                ASSERT_TRUE(close(p)) << parts << " parts";
                ASSERT_TRUE(alike(p)) << parts << " parts";
            }
        }
}

void check_plan(std::int64_t m, std::int64_t n, std::int64_t k) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    const GemmTensorPlan plan = plan_gemm_tensor(m, n, k);
    ASSERT_TRUE(plan.fits);
    EXPECT_GT(plan.seconds, 0);
    const GemmTensorTile& t = gemm_tensor_table[plan.entry];
    EXPECT_GE(std::int64_t{plan.tiles_m} * t.block_m, m);
    EXPECT_LT(std::int64_t{plan.tiles_m - 1} * t.block_m, m);
    EXPECT_GE(std::int64_t{plan.tiles_n} * t.block_n, n);
    EXPECT_LT(std::int64_t{plan.tiles_n - 1} * t.block_n, n);
    EXPECT_GE(std::int64_t{plan.chunks} * t.block_k, k);
    ASSERT_LE(plan.whole, plan.tiles());
    const std::uint64_t chunks = std::uint64_t{plan.cut()} * plan.chunks;
    EXPECT_EQ(std::uint64_t{plan.sharers} * plan.piece + plan.longer_pieces, plan.line);
    // The last line may be shorter, with fewer who share it.
    const unsigned lines = plan.workers > 0 ? plan.workers / plan.sharers : 0;
    EXPECT_LE(std::uint64_t{plan.line} * lines, chunks);
    const unsigned left = plan.workers - lines * plan.sharers;
    EXPECT_EQ(chunks - std::uint64_t{plan.line} * lines,
              left > 0 ? std::uint64_t{left - 1} * plan.chunks : 0);
    EXPECT_EQ(plan.straddles(), plan.cut() > 1 && plan.workers % plan.cut() > 0);
    EXPECT_LE(plan.workers * std::uint64_t{2} * static_cast<unsigned>(t.warps()) * 4, 32u << 10)
        << "counters";
    if (plan.cut() > 0) {
        EXPECT_LT(plan.cut(), 2 * plan.workers) << "a worker cuts at most two tiles";
        EXPECT_LT(plan.longer_pieces, plan.sharers);
        EXPECT_EQ(plan.scratch_bytes, std::size_t{2} * plan.workers *
                                          static_cast<unsigned>(t.block_m * t.block_n) *
                                          sizeof(double));
    } else {
        EXPECT_EQ(plan.scratch_bytes, 0u);
    }
    EXPECT_TRUE(!plan.sums_apart || (plan.whole == 0 && plan.parts() >= gemm_tensor_many_parts));
    EXPECT_GE(plan.blocks, plan.workers);
    EXPECT_GE(plan.blocks, std::min(plan.whole, 1u));
    // Without memory for parts, whole tiles are left.
    EXPECT_EQ(plan_gemm_tensor(m, n, k, TensorPitch::lines, TensorPitch::lines, 0).scratch_bytes,
              0u);
}

TEST(GemmTensorPlan, CoversEveryShape) {
    for (const std::int64_t m : {1, 8, 31, 64, 100, 128, 129, 500, 1000, 1024, 1536, 4097, 100'000})
        for (const std::int64_t n : {1, 16, 33, 64, 128, 257, 768, 1024, 2048, 4096, 70'000})
            for (const std::int64_t k : {1, 15, 16, 17, 64, 500, 1024, 4096, 65'536, 1 << 20})
                check_plan(m, n, k);
}

/// Where memory takes the time for long, blocks have a few tiles each, more than one only if there
/// are 8 times as many blocks as places at once; else these go on until all tiles are done.
TEST(GemmTensorPlan, BlocksBeginInTurnWhereMemoryTakesTheTime) {
    constexpr double h200 = 4.814e12, h100 = 3.352e12;
    struct Case {
        int entry;
        std::int64_t m, n, k, count;
        unsigned h200_tiles, h100_tiles;  // a block's; 0: it goes on
    };
    for (const Case& c : {Case{2, 1 << 20, 64, 64, 1, 2, 2}, Case{3, 1 << 20, 32, 32, 1, 2, 2},
                          Case{2, 8192, 8192, 16, 1, 4, 4}, Case{2, 64, 64, 64, 5461, 1, 1},
                          // arithmetic takes as long on an H200
                          Case{2, 8192, 8192, 32, 1, 0, 4}, Case{2, 128, 128, 128, 1365, 0, 2},
                          Case{2, 128, 128, 128, 682, 0, 1}, Case{5, 96, 96, 96, 2427, 0, 8},
                          Case{5, 96, 96, 96, 1000, 0, 0},  // soon over
                          Case{2, 256, 256, 256, 341, 0, 0}, Case{2, 8192, 8192, 64, 1, 0, 0},
                          Case{1, 1 << 20, 64, 64, 1, 0, 0},  // one at a time
                          Case{2, 64, 64, 64, 1, 0, 0}}) {
        const GemmTensorPlan plan = gemm_tensor_plan_alike(c.entry, c.m, c.n, c.k, 1, c.count);
        const double bytes = static_cast<double>(c.count) * gemm_tensor_bytes(c.m, c.n, c.k);
        for (const auto& [speed, tiles] :
             {std::pair{h200, c.h200_tiles}, std::pair{h100, c.h100_tiles}}) {
            const unsigned blocks =
                gemm_tensor_blocks(plan, bytes, gemm_tensor_bytes_in_microsecond_of(speed));
            const unsigned places = gemm_tensor_table[c.entry].at_once();
            const unsigned expected =
                tiles > 0 ? (plan.whole + tiles - 1) / tiles : std::min(plan.whole, places);
            EXPECT_EQ(blocks, expected) << c.m << " x " << c.n << " x " << c.k << ", " << speed;
        }
        EXPECT_EQ(plan.blocks, gemm_tensor_blocks(plan, bytes)) << "as on an H200";
    }
    EXPECT_EQ(gemm_tensor_bytes_in_microsecond_of(0), gemm_tensor_bytes_in_microsecond);
    EXPECT_NEAR(gemm_tensor_bytes_in_microsecond_of(h200), gemm_tensor_bytes_in_microsecond, 1e4);
}

TEST(GemmTensorPlan, FillsTheGpu) {
    EXPECT_EQ(plan_gemm_tensor(4096, 4096, 4096).cut(), 100u);  // 7 rounds of 132 and these
    EXPECT_EQ(plan_gemm_tensor(2048, 2048, 2048).cut(), 0u);    // 124 left: nearly a round
    EXPECT_GT(plan_gemm_tensor(64, 64, 1 << 20).workers, 100u);
    EXPECT_GE(plan_gemm_tensor(1000, 1000, 1000).blocks, 100u);
    const GemmTensorPlan together = plan_gemm_tensor(896, 896, 896);  // 98 tiles
    EXPECT_EQ(together.line, 3 * together.chunks);
    EXPECT_EQ(together.sharers, 4u);
    EXPECT_TRUE(together.in_two());
    const GemmTensorPlan longer = plan_gemm_tensor(1536, 1536, 512);  // 288 tiles
    EXPECT_EQ(longer.cut(), 288u - 132);
    EXPECT_EQ(longer.workers, 132u);
    EXPECT_TRUE(longer.in_two());
    // One tile for most multiprocessors, none has two: of 32 x 32 there would be 144.
    const GemmTensorPlan one_each = plan_gemm_tensor(384, 384, 384);
    EXPECT_EQ(one_each.whole, 96u);
    EXPECT_EQ(one_each.cut(), 0u);
    // Of workers beside whole tiles, two meet in a multiprocessor unless they are few: 60 tiles had
    // better be cut in four than in two, and 42 in two.
    const auto seconds = [](std::int64_t m, GemmTensorSplit split) {
        return gemm_tensor_seconds(gemm_tensor_plan(2, m, 1104, 1104, split), m, 1104, 1104);
    };
    EXPECT_GT(seconds(1104, {60, 120}), seconds(1104, {60, 240}));
    EXPECT_LT(seconds(1088, {42, 84}), seconds(1088, {42, 168}));
    // Many parts are added up apart, a few meet.
    EXPECT_TRUE(plan_gemm_tensor(64, 64, 16'384).sums_apart);
    EXPECT_TRUE(plan_gemm_tensor(256, 256, 16'384).sums_apart);
    EXPECT_FALSE(plan_gemm_tensor(512, 128, 1024).sums_apart);
    EXPECT_FALSE(plan_gemm_tensor(4096, 4096, 4096).sums_apart);  // whole tiles beside
    // Blocks that share a multiprocessor, and go on to other tiles.
    EXPECT_TRUE(plan_gemm_tensor(720, 720, 720).late_dependents);   // 345 tiles
    EXPECT_FALSE(plan_gemm_tensor(512, 512, 512).late_dependents);  // 256, one turn
    EXPECT_FALSE(plan_gemm_tensor(4096, 4096, 4096).late_dependents);
    EXPECT_TRUE(plan_gemm_tensor(4096, 4096, 4096).together);
    EXPECT_FALSE(plan_gemm_tensor(4096, 4096, 2048).together);    // the cache holds what they share
    EXPECT_FALSE(plan_gemm_tensor(1024, 1024, 65'536).together);  // one turn
    // Small tiles suffer from lines between sectors.
    EXPECT_EQ(plan_gemm_tensor(577, 577, 577).entry, 4);
    EXPECT_LT(plan_gemm_tensor(577, 577, 577, TensorPitch::pairs, TensorPitch::pairs).entry, 3);
    EXPECT_GT(plan_gemm_tensor(577, 577, 577, TensorPitch::pairs, TensorPitch::pairs).seconds,
              plan_gemm_tensor(577, 577, 577, TensorPitch::pairs).seconds);
    // What is copied one by one takes longer.
    EXPECT_GT(plan_gemm_tensor(1023, 1023, 1023, TensorPitch::elements).seconds,
              plan_gemm_tensor(1023, 1023, 1023).seconds);
}

TEST(GemmTensorPlan, DividesAsDivisionDoes) {
    constexpr unsigned most = (1u << 31) - 1;
    for (const unsigned divisor : {1u, 2u, 3u, 5u, 7u, 8u, 132u, 641u, 65'535u, 65'537u, 1u << 30,
                                   (1u << 30) + 1, most - 1, most}) {
        const Divisor divide(divisor);
        for (const unsigned multiple : {0u, 1u, 2u, 1000u, most / divisor / 2, most / divisor})
            for (const unsigned more : {0u, 1u, divisor / 2, divisor - 1}) {
                const std::uint64_t n = std::uint64_t{multiple} * divisor + more;
                if (n > most) continue;
                ASSERT_EQ(divide.quotient(static_cast<unsigned>(n)), n / divisor) << divisor;
            }
        ASSERT_EQ(divide.quotient(most), most / divisor) << divisor;
    }
}

TEST(GemmTensorPlan, RefusesWhatItCannotCount) {
    EXPECT_FALSE(plan_gemm_tensor(64, 64, std::int64_t{1} << 40).fits);
    EXPECT_FALSE(plan_gemm_tensor(std::int64_t{1} << 40, 64, 64).fits);
}

}  // namespace
}  // namespace tinyblas::test
