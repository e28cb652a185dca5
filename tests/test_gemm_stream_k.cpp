// SPDX-License-Identifier: MIT
// Stream-k: which products are made so, by how many blocks, however operands and C lie, to the end
// and no further, in the order that is promised, with and without memory for it.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "gemm_call.hpp"
#include "gemm_elements.hpp"
#include "gemm_problem.hpp"
#include "gemm_slabs.hpp"
#include "kernels/gemm/stream_k_plan.hpp"
#include "needs_90.hpp"

namespace tinyblas::test {
namespace {

/// A piece's sum, in chains that are added up in the order of k.
float sum_of_piece(const MatrixView<float>& a, const MatrixView<float>& b, std::int64_t i,
                   std::int64_t j, int from, int to) {
    float all = 0, sum = 0;
    for (int q = from; q < to; ++q) {
        // The first chain and its first step take what is not whole.
        if (q > from && (to - q) % (8 * stream_k_chain) == 0) all += std::exchange(sum, 0.0f);
        sum = std::fma(a(i, q), b(q, j), sum);
    }
    return all + sum;
}

/// alpha times the sum of its tile's pieces, one after the other, + beta C, bit for bit: what up to
/// eight pieces are of a C of one tile.
testing::AssertionResult in_pieces(GemmProblem<float>& p, const StreamK& work) {
    const MatrixView<float> a = p.a.before(), b = p.b.before(), c = p.c.before();
    return judge(p, "the sum of pieces", [&](auto i, auto j, float x) {
        float all = 0;
        for (unsigned block = 0; block < work.blocks(); ++block) {
            const auto piece = work.piece(block, 0);
            const float sum =
                sum_of_piece(a, b, i, j, work.k_of(piece.first), work.k_of(piece.end));
            all = block == 0 ? sum : all + sum;
        }
        const float value = p.alpha * all;
        return same(x, p.beta == 0 ? value : std::fma(p.beta, c(i, j), value));
    });
}

class SmallGemmStreamK : public testing::Test {
  protected:
    GemmCall<float> call_of(GemmProblem<float>& p) {
        return prepare_gemm<float>(context, p.alpha, p.a.device(), p.b.device(), p.beta,
                                   p.c.device(), {});
    }
    /// By blocks of so many steps each, if gemm would choose that or not, in each entry's tiles in
    /// turn.
    StreamK run(GemmProblem<float>& p, unsigned each, int number) {
        const int entry = number % stream_k_entries;
        const GemmTile& t = stream_k_table[entry].tile;
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        const GemmCall<float> call = call_of(p);  // C by columns is made as its transpose
        const auto pieces = [](std::int64_t of, int extent) {
            return static_cast<unsigned>((of + extent - 1) / extent);
        };
        const unsigned tiles = pieces(call.c.rows, t.block_m) * pieces(call.c.columns, t.block_n);
        const std::int64_t k = call.a.columns;
        const unsigned steps = pieces(k, t.block_k);
        GemmSlabsPlan plan = {call.c.rows, false, {}, 1, true};
        plan.stream_k = {entry, {tiles, tiles * steps, steps, each}};
        enqueue_gemm_slabs(context, call, plan);
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
        return {plan.stream_k.cut, k, t.block_k};
    }

    Context context;
};

// The first step has up to 7 k less. Blocks have a part of a tile, parts of two, or whole ones
// between parts.
TEST_F(SmallGemmStreamK, HoweverOperandsLie) {
    int number = 0;
    for (int a = 0; a < input_storages; ++a)
        for (const int b : {a, (a + 5) % input_storages}) {
            const std::int64_t steps = 2 + number % 20;
            GemmProblem<float> p(
                {2 + number * 37 % 260, 2 + number * 53 % 270, 8 * steps - number % 8},
                800 + static_cast<std::uint64_t>(number), storages[a], storages[b],
                storages[number % output_storages]);
            constexpr float alphas[] = {1, -2, 3};
            p.alpha = alphas[number % 3];
            p.beta = static_cast<float>(number / 3 % 3 - 1);
            p.fill_integers();
            run(p, 1 + static_cast<unsigned>(number * 7 % 45), number);
            ASSERT_TRUE(exact(p));
            ++number;
        }
}

// Of a tile as many as one to eight warps share, and more; C to the end of a tile and beyond.
TEST_F(SmallGemmStreamK, InPiecesOfEveryNumber) {
    int number = 0;
    for (const auto& [m, n] :
         {std::pair<std::int64_t, std::int64_t>(1, 1), {5, 3}, {64, 64}, {65, 63}, {130, 129}})
        for (const int pieces : {1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 64})
            for (const unsigned each : {1U, 2U}) {
                GemmProblem<float> p({m, n, 8 * static_cast<int>(each) * pieces - number % 8},
                                     850 + static_cast<std::uint64_t>(number));
                p.beta = number % 2 == 0 ? 0.0f : 2.0f;
                p.fill_integers();
                run(p, each, number);
                ASSERT_TRUE(exact(p));
                ++number;
            }
    for (int entry = 0; entry < stream_k_entries; ++entry) {  // a warp has all pieces
        GemmProblem<float> p({901, 1067, 40}, 899);
        p.fill_integers();
        run(p, 2, entry);
        ASSERT_TRUE(exact(p));
    }
}

TEST_F(SmallGemmStreamK, EachPieceIsMadeOfChains) {
    int number = 0;
    for (const auto& [k, each] : {std::pair<std::int64_t, unsigned>(96, 7),
                                  {300, 10},
                                  {1000, 43},
                                  {611, 39},
                                  {1277, 20},
                                  {530, 67}}) {
        GemmProblem<float> p({61, 31, k}, 900 + static_cast<std::uint64_t>(k));
        p.alpha = 0.7f;
        p.beta = number % 2 == 0 ? 0.0f : -0.3f;
        p.fill([](Random& r) { return 2 * r.uniform() - 1; });
        const StreamK work = run(p, each, number++);
        EXPECT_TRUE(in_pieces(p, work));
    }
}

// A product's place in a batch does not show, however many blocks a tile has.
TEST_F(SmallGemmStreamK, ProductsOfABatchAlike) {
    constexpr std::int64_t m = 70, n = 131, k = 131, count = 3;
    for (int entry = 0; entry < stream_k_entries; ++entry)
        for (const unsigned blocks : {1U, 2U, 5U}) {
            GemmProblem<float> p({m, n, k}, 950 + blocks);
            p.fill([](Random& r) { return 2 * r.uniform() - 1; });
            Operand<float> all(count * m, n);
            for (Operand<float>* operand : {&p.a, &p.b, &p.c, &all}) operand->upload(context);
            const MatrixView<float> c = all.device();
            enqueue_stream_k(context, entry, stream_k_alike(entry, m, n, k, count, blocks),
                             {p.alpha,
                              {p.a.device()},
                              {p.b.device()},
                              0,
                              {c.block(0, 0, m, n), m * c.row_stride},
                              count});
            for (Operand<float>* operand : {&p.a, &p.b, &p.c, &all}) operand->download(context);
            for (std::int64_t i = 0; i < m; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                    p.c.after()(i, j) = all.after()(i, j);
                    for (std::int64_t e = 1; e < count; ++e)
                        ASSERT_TRUE(same(all.after()(e * m + i, j), all.after()(i, j)))
                            << e << ": " << i << " " << j;
                }
            p.beta = 0;
            EXPECT_TRUE(close(p));
        }
}

// Pieces know no alpha: infinity times their sums, not the sum of infinities. C is not read.
TEST_F(SmallGemmStreamK, WithAnInfiniteAlpha) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    GemmProblem<float> p({3, 2, 17}, 880);
    p.alpha = infinity;
    p.a.fill([] { return 1.0f; });
    for (int q = 8; q < 17; ++q) p.a.before()(1, q) = -1;
    p.b.fill([] { return 1.0f; });
    p.c.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
    run(p, 1, 0);
    for (int j = 0; j < 2; ++j) {
        EXPECT_EQ(p.c.after()(0, j), infinity);
        EXPECT_EQ(p.c.after()(1, j), -infinity);
        EXPECT_EQ(p.c.after()(2, j), infinity);
    }
}

// As gemm chooses, with and without memory for all pieces.
TEST_F(SmallGemmStreamK, WhereThereIsRoom) {
    GemmProblem<float> p({183, 185, 1121}, 890);
    p.fill([](Random& r) { return 2 * r.uniform() - 1; });
    const auto bytes = [&] {
        const GemmStreamKPlan& plan = call_of(p).plans.slabs.stream_k;
        return plan.fits() ? stream_k_bytes(plan.entry, plan.cut) : 0;
    };
    EXPECT_EQ(p.run(context).kernel, GemmKernel::batched);
    EXPECT_TRUE(close(p));
    const std::int64_t all = bytes();
    ASSERT_GT(all, 100'000);
    for (const std::int64_t room : {all, all - 4, all / 4, std::int64_t{64}}) {
        Matrix<float> memory(1, room / 4);
        context.set_scratch(memory.view().data, static_cast<std::size_t>(room));
        EXPECT_EQ(bytes() == all, room == all);
        EXPECT_LE(bytes(), room);
        p.run(context);
        EXPECT_TRUE(close(p));
        context.set_scratch(nullptr, 0);
    }
}

TEST_F(SmallGemmStreamK, WhereThatIsEstimatedToBeFaster) {
    const auto told = [&](Shape s) {
        const auto view = [](std::uintptr_t address, std::int64_t rows, std::int64_t columns) {
            return MatrixView<float>::row_major(reinterpret_cast<float*>(address << 40), rows,
                                                columns);
        };
        return explain(context, 1.0f, view(1, s.m, s.k), view(2, s.k, s.n), 0.0f,
                       view(3, s.m, s.n));
    };
    EXPECT_EQ(told({2329, 117, 3121}).choice.kernel, GemmKernel::batched);
    EXPECT_THAT(told({2329, 117, 3121}).reason,
                testing::ContainsRegex("stream-k, by [0-9]+ blocks, is estimated at .* us "
                                       ".tuned: "));
    for (const Shape shape : {Shape{1024, 1024, 1024}, Shape{128, 128, 65536}, Shape{246, 35, 90}})
        EXPECT_NE(told(shape).choice.kernel, GemmKernel::batched) << shape.m << " " << shape.n;
}

// However many tiles and steps: each step of each tile is one block's, and each piece has a place
// of its own within what is planned for.
TEST(StreamK, BlocksShareAllSteps) {
    for (const unsigned tiles : {1U, 2U, 7U, 300U})
        for (const unsigned steps : {1U, 2U, 13U, 100U})
            for (const unsigned each : {1U, 2U, 3U, 12U, 13U, 14U, 64U, 150U, 250U, 40'000U}) {
                const StreamK work({tiles, tiles * steps, steps, each}, 8 * steps - 3, 8);
                std::vector<unsigned> made(tiles * steps);
                std::vector<bool> taken(work.blocks() + tiles);
                bool cut = false;
                for (unsigned block = 0; block < work.blocks(); ++block)
                    for (unsigned turn = 0;; ++turn) {
                        const auto piece = work.piece(block, turn);
                        if (!piece.exists()) break;
                        ASSERT_LT(piece.tile, tiles);
                        ASSERT_LE(work.first_block(piece.tile), block);
                        ASSERT_GE(work.last_block(piece.tile), block);
                        for (int step = piece.first; step < piece.end; ++step)
                            ++made[piece.tile * steps + static_cast<unsigned>(step)];
                        if (work.is_whole(piece)) continue;
                        cut = true;
                        ASSERT_FALSE(taken[block + piece.tile]);
                        taken[block + piece.tile] = true;
                    }
                ASSERT_THAT(made, testing::Each(1U)) << tiles << " " << steps << " " << each;
                ASSERT_EQ(cut, work.cuts()) << tiles << " " << steps << " " << each;
                EXPECT_EQ(work.k_of(0), 0);
                EXPECT_EQ(work.k_of(static_cast<int>(steps)), 8 * static_cast<int>(steps) - 3);
            }
}

TEST(StreamKPlan, BlocksAndMemoryAreThere) {
    for (const std::int64_t k : {95, 96, 97, 641, 5000, 1 << 20, (1 << 20) + 1})
        for (const std::int64_t m : {1, 70, 3000, 1 << 24})
            for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 20, SIZE_MAX}) {
                const GemmStreamKPlan plan = plan_gemm_stream_k(m, 501, k, memory);
                const bool possible = k >= 96 && k <= 1 << 20 && m < 1 << 24;
                EXPECT_TRUE(possible || !plan.fits()) << m << " " << k;
                if (memory == SIZE_MAX && m < 3000) {
                    EXPECT_EQ(plan.fits(), possible) << k;
                }
                if (!plan.fits()) continue;
                const StreamKEntry& e = stream_k_table[plan.entry];
                EXPECT_LE(plan.cut.blocks(), e.most());
                EXPECT_GE(plan.cut.each, 3U);
                EXPECT_EQ(plan.cut.all, plan.cut.tiles * plan.cut.apart);
                EXPECT_GE(plan.cut.apart, plan.cut.steps);
                EXPECT_LE(static_cast<std::size_t>(stream_k_bytes(plan.entry, plan.cut)), memory);
                EXPECT_GT(plan.microseconds, 2);
            }
}

}  // namespace
}  // namespace tinyblas::test
