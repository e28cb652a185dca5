// SPDX-License-Identifier: MIT
// gemm's rung pipelined: exact on integers over ragged shapes, storages, cut tiles and fringes;
// clean where C or the gaps are NaN; and its plan.
#include "gemm_pipelined.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "batched_problem.hpp"
#include "large_buffer.hpp"
#if TINYBLAS_EMULATED
#include "device/emulation/fibers.hpp"
#endif

namespace tinyblas::test {
namespace {

constexpr GemmOptions pipelined = {.kernel = GemmKernel::pipelined};

class GemmPipelined : public testing::Test {
  protected:
    Context context_;
    int turn_ = 0;

    void SetUp() override {
        if (context_.compute_capability() != 90) GTEST_SKIP() << "needs compute capability 9.0a";
    }
    /// Runs the call as the plan of a form says, once `change` has had it.
    template <class Change>
    GemmPipelinedPlan run(GemmProblem<float>& p, PipelinedForms forms, Change&& change,
                          bool exchanged = false) {
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context_);
        const GemmCall<float> call = {p.alpha, p.a.device(), p.b.device(), p.beta, p.c.device()};
        GemmPipelinedPlan plan =
            plan_gemm_pipelined(call, static_cast<std::size_t>(-1), forms, exchanged);
        EXPECT_EQ(plan.form.sliced, forms == PipelinedForms::sliced);
        EXPECT_EQ(plan.exchanged, exchanged);
        change(plan);
        enqueue_gemm_pipelined(context_, call, plan);
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->download(context_);
        return plan;
    }
    /// Of integers, with an alpha that is not 1. `reads_c`: beta is -1, else 0.
    static GemmProblem<float> of_integers(const Shape& shape, std::uint64_t seed, const Storage& a,
                                          const Storage& b, bool reads_c) {
        GemmProblem<float> p(shape, seed, a, b);
        p.alpha = 2;
        p.beta = reads_c ? -1 : 0;
        p.fill_integers();
        return p;
    }
    enum class Run { all, in_turn };  // all forms as given and exchanged, or each in one of these
    void expect_exact(GemmProblem<float>& p, Run runs = Run::all) {
        p.fill_integers();
        if (runs == Run::in_turn) ++turn_;
        for (const auto forms : {PipelinedForms::whole, PipelinedForms::sliced})
            for (const bool exchanged : {false, true}) {
                const bool whole = forms == PipelinedForms::whole;
                if (runs == Run::in_turn && (whole == exchanged) == (turn_ % 2 == 0)) continue;
                run(
                    p, forms, [](GemmPipelinedPlan&) {}, exchanged);
                EXPECT_TRUE(exact(p)) << static_cast<int>(forms) << ", " << exchanged;
            }
    }
    /// How all of a call's tiles are cut, among so many blocks. `helped`: the tiles whose last
    /// steps one block has. `each`: the pieces of a tile, for a block each. Or, of both, of those
    /// tiles that make no full turn of `blocks`. If both are 0, all blocks have as many steps, but
    /// for the `margin`. `chain`: as a workload has it.
    struct Cut {
        unsigned blocks = 0;
        bool sums_apart = false;
        unsigned helped = 0, chain = 0, each = 0, margin = 0;
    };
    /// Runs the call so. Plans cut from 264 steps of all tiles on, which take long under emulation.
    /// Returns who has which piece.
    PipelinedWorkload run_cut(GemmProblem<float>& p, PipelinedForms forms, Cut how,
                              bool exchanged = false) {
        const auto cut = [&](GemmPipelinedPlan& plan) {
            plan.sums_apart = how.sums_apart;
            PipelinedWorkload& load = plan.load;
            const unsigned tiles = load.tiles_m * load.tiles_n;
            if (how.helped > 0 && how.blocks == 0)
                how.blocks = tiles + (tiles + how.helped - 1) / how.helped;
            if (how.each > 0 && how.blocks == 0) how.blocks = tiles * how.each;
            const bool in_turns = how.helped + how.each > 0 && how.blocks < tiles;
            const unsigned cut = in_turns ? tiles % how.blocks : tiles;
            load = {load.tiles_m, load.tiles_n, cut, load.steps, how.blocks, how.margin};
            if (how.each > 0) load.cut_each(how.each = std::min(how.each, how.blocks / cut));
            EXPECT_GE(load.cut * load.steps, how.each > 0     ? load.cut * how.each
                                             : how.helped > 0 ? 3 * load.cut
                                                              : 2 * how.blocks);
            if (how.helped > 0) {
                load.own = load.steps - 2;
                load.helped = how.helped;
                load.whole = in_turns ? tiles / how.blocks : 0;
                EXPECT_GE((how.blocks - cut) * how.helped, cut);
            }
            load.chain = how.chain;
            const GemmTile t = plan.form.tile();
            const std::size_t sums =
                how.blocks * sizeof(float) * static_cast<std::size_t>(t.block_m * t.block_n);
            plan.partial_bytes = 2 * sums;
            plan.scratch_bytes = plan.pack_a_bytes + plan.pack_b_bytes + plan.partial_bytes;
        };
        return run(p, forms, cut, exchanged).load;
    }
    /// Rows and columns of C before the first tile, and beyond the last one.
    struct Edges {
        int lead_m = 0, fringe_m = 0, lead_n = 0, fringe_n = 0;
    };
    /// Runs the call with these edges: an operand that has a lead is read in place from there on.
    void run_edges(GemmProblem<float>& p, PipelinedForms forms, const Edges& edges,
                   bool exchanged = false) {
        const auto leave = [&](GemmPipelinedPlan& plan) {
            plan.lead_m = edges.lead_m;
            plan.fringe_m = edges.fringe_m;
            plan.lead_n = edges.lead_n;
            plan.fringe_n = edges.fringe_n;
            if (plan.lead_m > 0) plan.pack_a = false;
            if (plan.lead_n > 0) plan.pack_b = false;
            const MatrixView<float> c = plan.exchanged ? p.c.before().transposed() : p.c.before();
            const auto tiles = [](std::int64_t extent, int block) {
                return static_cast<unsigned>(pipelined_pieces(extent, block));
            };
            const unsigned tiles_m = tiles(c.rows - plan.edge_rows(), plan.form.tile().block_m);
            const unsigned tiles_n =
                tiles(c.columns - plan.edge_columns(), plan.form.tile().block_n);
            plan.load = {tiles_m, tiles_n, 0, plan.load.steps, tiles_m * tiles_n};
        };
        run(p, forms, leave, exchanged);
    }
};

/// Products of a batch in one launch: side by side and one below the other, with gaps and without,
/// in each layout, two of each three with each other; more tiles than blocks; more steps than
/// stages.
TEST_F(GemmPipelined, BatchesExactOnIntegers) {
    int taken = 0;
    const Along alongs[] = {below, beside, {false, 4}, {true, 4}};
    for (const int a : {0, 1, 2, 3})
        for (const int b : {0, 1, 2, 3})
            for (const Along& along : alongs)
                for (const Shape shape :
                     {Shape{132, 132, 32}, Shape{64, 24, 16}, Shape{64, 24, 160}}) {
                    const bool narrow = shape.m == 64;
                    const bool many = shape.k == 16;
                    if ((narrow && (a > 1 || b > 0)) || (many && &along != alongs)) continue;
                    if (!narrow && (a + b + (&along - alongs)) % 2 == 1) continue;
                    const std::int64_t count = many ? 140 : 3;
                    BatchProblem<float> p(shape, count, {along, along, along},
                                          {storages[a], storages[b], storages[0]});
                    p.fill_integers();
                    p.beta = a == 0 ? 0 : -1;
                    for (auto* operand : p.operands()) operand->upload(context_);
                    const GemmBatch<float> batch = {
                        p.alpha, {p.a.device(0), p.a.stride()}, {p.b.device(0), p.b.stride()},
                        p.beta,  {p.c.device(0), p.c.stride()}, count};
                    const std::int64_t most = gemm_pipelined_most(context_, batch);
                    if (most == 0) continue;
                    ++taken;
                    ASSERT_GE(most, count);
                    for (const int products : {1, 2, 4}) {
                        if (!narrow && products != 1 << taken % 3) continue;
                        enqueue_gemm_pipelined(context_, batch, products);
                        for (auto* operand : p.operands()) operand->download(context_);
                        EXPECT_TRUE(exact(p)) << p << ", " << products << " side by side";
                        p.c.upload(context_);
                    }
                }
    EXPECT_EQ(taken, 30);  // the others: B packed with a gap, or products at odd places
}

TEST_F(GemmPipelined, RowsOfABatchAreMultipliedAsTheyLie) {
    for (const int products : {2, 4}) {
        BatchProblem<float> p({70, 24, 32}, 5, {below, below, below});
        p.fill_integers();
        for (auto* operand : p.operands()) operand->upload(context_);
        enqueue_gemm_pipelined(context_,
                               {p.alpha,
                                {p.a.device(0), p.a.stride()},
                                {p.b.device(0), p.b.stride()},
                                p.beta,
                                {p.c.device(0), p.c.stride()},
                                5},
                               products);
        for (auto* operand : p.operands()) operand->download(context_);
        EXPECT_TRUE(exact(p)) << products;
    }
}

/// Matrices that are read as they lie, by pointers and not: that begin at 16 bytes and others, of a
/// product one, both or neither, and from product to product; whose lines do and do not; more tiles
/// than blocks; k that is and is not a multiple of a step; every C, NaN where it is not read.
TEST_F(GemmPipelined, BatchesReadAsTheyLie) {
    int number = 0;
    for (const auto& [shape, count] :
         {std::pair(Shape{130, 262, 40}, 4), {Shape{131, 37, 35}, 3}, {Shape{20, 24, 16}, 140}})
        for (const int a : {0, 1})
            for (const int odd : {0, 1, 2, 3})
                for (const bool by_pointers : {false, true}) {
                    if (count == 140 && odd != 3 * a) continue;
                    const bool turn = count == 4 && (odd / 2 + a) % 2 == 1;
                    if (by_pointers != ((odd % 2 == 1) != turn)) continue;
                    ++number;
                    BatchProblem<float> p(
                        shape, count,
                        {across_lines(a == 1, shape.m, shape.k, odd % 2 == 1),
                         across_lines(false, shape.k, shape.n, odd / 2 == 1),
                         Along{true, number % 2}},
                        {storages[a], storages[0], storages[number % output_storages]});
                    p.fill_integers();
                    p.beta = odd % 2 == 1 ? 0 : -1;
                    if (p.beta == 0) p.c.fill(poison<float>);
                    for (auto* operand : p.operands()) operand->upload(context_);
                    const Matrix<float*> array = on_device(context_, p.pointers());
                    float* const* const pointers = array.view().data;
                    GemmBatch<float> batch = {
                        p.alpha, {p.a.device(0), p.a.stride()}, {p.b.device(0), p.b.stride()},
                        p.beta,  {p.c.device(0), p.c.stride()}, count};
                    if (by_pointers) {
                        batch.a.pointers = pointers;
                        batch.b.pointers = pointers + count;
                        batch.c.pointers = pointers + 2 * count;
                    }
                    ASSERT_GE(gemm_pipelined_most_in_place(context_, batch), count);
                    enqueue_gemm_pipelined_in_place(context_, batch);
                    for (auto* operand : p.operands()) operand->download(context_);
                    EXPECT_TRUE(exact(p)) << p << ", odd " << odd << by_pointers;
                }
}

/// Matrices, of three the last, and rows that lie past 2^31 elements.
TEST_F(GemmPipelined, BatchesReadAsTheyLieFarApart) {
    constexpr std::int64_t count = 3, apart = (std::int64_t{1} << 30) + 7;
    constexpr std::int64_t rows_apart = (std::int64_t{1} << 27) + 1;
    constexpr Shape shape = {17, 18, 19};
    constexpr std::int64_t elements = 2 * apart + 19 * rows_apart;
    LargeBuffer<float> buffers[] = {LargeBuffer<float>(elements), LargeBuffer<float>(elements),
                                    LargeBuffer<float>(elements)};
    for (LargeBuffer<float>& buffer : buffers)
        if (!buffer) GTEST_SKIP() << no_room<float>(3, elements);
    for (const bool far_rows : {false, true}) {
        BatchProblem<float> p(shape, count);
        p.fill_integers();
        for (auto* operand : p.operands()) operand->upload(context_);
        for (auto* operand : p.operands()) operand->download(context_);
        const std::int64_t next = far_rows ? 100 : apart;
        std::array<MatrixView<float>, 3> first;
        for (std::size_t operand = 0; operand < 3; ++operand)
            for (std::int64_t e = 0; e < count; ++e) {
                const MatrixView<float> here = p.operands()[operand]->before(e);
                const MatrixView<float> there = {buffers[operand].data() + e * next, here.rows,
                                                 here.columns, far_rows ? rows_apart : here.columns,
                                                 1};
                copy(context_, here, there);
                if (e == 0) first[operand] = there;
            }
        enqueue_gemm_pipelined_in_place(
            context_,
            {p.alpha, {first[0], next}, {first[1], next}, p.beta, {first[2], next}, count});
        for (std::int64_t e = 0; e < count; ++e) {
            MatrixView<float> there = first[2];
            there.data += e * next;
            copy(context_, there, p.c.after(e));
        }
        context_.synchronize();
        EXPECT_TRUE(exact(p)) << far_rows;
    }
}

TEST_F(GemmPipelined, BatchesOfTheLibrary) {
    for (const auto& [n, count] : {std::pair(196, 231), {100, 463}, {50, 925}}) {
        BatchProblem<float> p({128, n, 64}, count, {below, below, below});
        p.alpha = 0.7f;
        p.beta = -0.3f;
        p.fill_normal();
        EXPECT_EQ(p.run(context_).kernel, GemmKernel::batched);
        EXPECT_TRUE(chained(p));
    }
}

TEST_F(GemmPipelined, ProductsOfABatchAtOnce) {
    // 256 x 256 x 64 each; nothing is read.
    auto* const somewhere = reinterpret_cast<float*>(std::uintptr_t{1} << 20);
    const MatrixView<const float> deep = {somewhere, 256, 64, 1, 256};    // A, mapped
    const MatrixView<const float> along_k = {somewhere, 256, 64, 64, 1};  // A, row by row
    const MatrixView<const float> flat = {somewhere, 64, 256, 256, 1};    // B, mapped
    const MatrixView<const float> upright = {somewhere, 64, 256, 1, 64};  // B, packed
    const MatrixView<const float> general = {somewhere, 256, 64, 128, 2};
    constexpr std::int64_t next = 256 * 64;
    const GemmBatch<float> usual = {
        1, {deep, next}, {flat, next}, 0, {{somewhere, 256, 256, 256, 1}}, 10};
    const auto most = [&](auto change) {
        GemmBatch<float> x = usual;
        change(x);
        return gemm_pipelined_most(context_, x);
    };
    using Batch = GemmBatch<float>;
    const auto packed = [&](Batch& x) { x.b = {upright, next}; };
    const auto shared = [&](Batch& x) { x.b = {upright, 0}; };
    constexpr std::int64_t extents = ((std::int64_t{1} << 31) - 1 - 64) / 64 + 1;
    EXPECT_EQ(most([](Batch&) {}), extents);
    EXPECT_EQ(most([](Batch& x) { x.a.stride = x.b.stride = 0; }), std::int64_t{1} << 27);
    EXPECT_EQ(most([&](Batch& x) { x.a.first = along_k; }),
              ((std::int64_t{1} << 31) - 1 - 256) / 256 + 1);
    EXPECT_EQ(most([&](Batch& x) {  // in lines of 4096
                  x.a.first = along_k;
                  x.a.first.row_stride = 4096;
                  x.a.stride = 512;
              }),
              8);
    EXPECT_EQ(most(packed), 1024);
    EXPECT_EQ(most(shared), extents);
    // Side by side in lines of 4096.
    EXPECT_EQ(most([](Batch& x) {
                  x.b.first.row_stride = 4096;
                  x.b.stride = 512;
              }),
              8);
    EXPECT_EQ(most([&](Batch& x) {
                  x.b = {{somewhere, 64, 256, 1, 0}, 0};
              }),
              extents);  // one column
    EXPECT_EQ(most([&](Batch& x) {
                  x.a.first = along_k;
                  x.a.first.rows = x.c.first.rows = std::int64_t{1} << 31;
              }),
              0);
    EXPECT_EQ(most([](Batch& x) { x.alpha = 0; }), 0);
    EXPECT_EQ(most([](Batch& x) { x.b.stride = -next; }), 0);
    EXPECT_EQ(most([](Batch& x) { ++x.b.first.data; }), 0);
    EXPECT_EQ(most([](Batch& x) {
                  x.b.first.row_stride = 4096;
                  x.b.stride = 514;  // tiles would begin at half of 16 bytes
              }),
              0);
    EXPECT_EQ(most([](Batch& x) { ++x.b.first.row_stride; }), 0);
    EXPECT_EQ(most([](Batch& x) { x.a.first.columns = x.b.first.rows = 40; }), 0);
    EXPECT_EQ(most([&](Batch& x) { x.a = {along_k, next + 2}; }), 0);
    EXPECT_EQ(most([&](Batch& x) {
                  x.a.first = along_k;
                  ++x.a.first.data;
              }),
              0);
    EXPECT_EQ(most([&](Batch& x) { x.a = {general, next}; }), 0);
    EXPECT_EQ(most([&](Batch& x) { x.b = {upright, next + 64}; }), 0);
    EXPECT_EQ(most([](Batch& x) { x.c.pointers = reinterpret_cast<float* const*>(64); }), 0);
    // Each read as it lies: maps take the room.
    const auto in_place = [&](auto change) {
        GemmBatch<float> x = usual;
        change(x);
        return gemm_pipelined_most_in_place(context_, x);
    };
    EXPECT_EQ(in_place([](Batch&) {}), std::int64_t{1} << 29);
    EXPECT_EQ(in_place([&](Batch& x) {
                  x.a.first = along_k;
                  ++x.a.first.row_stride;
                  x.b.first.row_stride += 3;
                  x.a.first.columns = x.b.first.rows = 37;
              }),
              std::int64_t{1} << 29);
    EXPECT_EQ(in_place([&](Batch& x) { x.b.first = upright; }), 0);
    EXPECT_EQ(in_place([&](Batch& x) { x.a.first = general; }), 0);
    EXPECT_EQ(in_place([](Batch& x) { x.alpha = 0; }), 0);
    context_.set_scratch(somewhere, 1 << 20);
    EXPECT_EQ(most(packed), 16);
    EXPECT_EQ(in_place([](Batch&) {}), (1 << 20) / 256);
    EXPECT_EQ(most(shared), extents);
    context_.set_scratch(somewhere, (1 << 16) - 1);
    EXPECT_EQ(most(packed), 0);
    EXPECT_EQ(most(shared), 0);
    context_.set_scratch(nullptr, 0);
}

/// Row-major A from 1 to 3 elements past a multiple of 16 bytes, where the ring's steps begin; what
/// lies before it and between its rows is NaN.
TEST_F(GemmPipelined, MisalignedAIsTurnedInPlace) {
    int turned = 0;
    for (const std::int64_t shift : {1, 2, 3})
        for (const std::int64_t k : {1, 13, 15, 17, 30, 60}) {
            const Storage shifted = {.name = "shifted", .ld_factor = 16, .offset = shift};
            GemmProblem<float> p({131, 32, k}, 60 + k, shifted);
            p.fill_integers();
            const GemmPipelinedPlan plan = run(p, PipelinedForms::whole, [](GemmPipelinedPlan&) {});
            EXPECT_TRUE(exact(p));
            // Another step may cost more than packing.
            EXPECT_TRUE(plan.turn_a || (k + shift + 15) / 16 > (k + 15) / 16) << k;
            EXPECT_EQ(plan.skip, plan.turn_a ? shift : 0);
            turned += plan.turn_a ? 1 : 0;
        }
    EXPECT_EQ(turned, 15);
}

/// Below a tile, whole tiles, 1 to 4 lines below, beside and both, ragged tiles; k that is and is
/// not a multiple of a step; pieces of k.
TEST_F(GemmPipelined, ExactOnIntegers) {
    const Shape shapes[] = {{1, 2, 1},      {2, 3, 17},     {127, 255, 33},  {128, 256, 64},
                            {129, 256, 40}, {128, 257, 16}, {131, 258, 100}, {132, 260, 48},
                            {133, 261, 31}, {260, 30, 70},  {257, 513, 50}};
    std::uint64_t seed = 1;
    for (const Shape& shape : shapes) {
        GemmProblem<float> p(shape, seed++);
        expect_exact(p, Run::in_turn);
        p.alpha = -2;
        p.beta = 3;
        expect_exact(p, Run::in_turn);
        EXPECT_EQ(p.run(context_, pipelined).kernel, GemmKernel::pipelined);
        EXPECT_TRUE(exact(p));
    }
}

TEST_F(GemmPipelined, ExactForEveryStorage) {
    std::uint64_t seed = 100;
    for (int a = 0; a < input_storages; ++a) {
        const int b = (a * 5 + 2) % input_storages, c = a % output_storages;
        GemmProblem<float> p({132, 258, 37}, seed++, storages[a], storages[b], storages[c]);
        if (a % 4 > 1) p.beta = -2;
        expect_exact(p, Run::in_turn);
    }
    for (const int a : {0, 1, 2, 3})  // the combinations of layouts that are read in place
        for (const int b : {0, 1, 2, 3}) {
            GemmProblem<float> p({136, 264, 48}, seed++, storages[a], storages[b]);
            expect_exact(p, a == b ? Run::all : Run::in_turn);
        }
}

/// More tiles than blocks at once: some are cut unevenly, others are whole.
TEST_F(GemmPipelined, ExactWhereOnlySomeTilesAreCut) {
    GemmProblem<float> p({128 * 17 + 1, 256 * 8 + 3, 16 * 20}, 7);
    p.alpha = 2;
    const auto plan = [](const GemmProblem<float>& p, PipelinedForms forms) {
        const auto& c = p.c.before();
        return plan_gemm_pipelined(c.rows, c.columns, p.a.before().columns, PipelinedLayout::other,
                                   PipelinedLayout::other, std::size_t{1} << 34, 0, 0, forms);
    };
    const GemmPipelinedPlan whole = plan(p, PipelinedForms::whole);
    EXPECT_EQ(whole.load.tiles_m * whole.load.tiles_n, 17u * 8);
    EXPECT_EQ(whole.fringe_m, 1);
    EXPECT_EQ(whole.fringe_n, 3);
    GemmProblem<float> q({128 * 17 + 1, 64 * 20, 64 * 12}, 8);
    const GemmPipelinedPlan sliced = plan(q, PipelinedForms::sliced);
    EXPECT_EQ(sliced.load.blocks, 130u);  // two multiprocessors are spared for the edge
    EXPECT_EQ(sliced.load.cut, 340u % 130 + 130);
    EXPECT_EQ(sliced.fringe_m, 1);
    if (emulated) return;  // takes too long
    expect_exact(p);
    expect_exact(q);
}

/// Operands whose lines begin beside multiples of 16 bytes, by every distance: the rows before the
/// first such place are edges. Few and many of them, on all sides or some; neighbours along k and
/// along m or n; k of more and less than the edges' pieces.
TEST_F(GemmPipelined, ExactWhereEdgesAreLeft) {
    const auto shifted = [](bool by_column, std::int64_t offset) {
        return Storage{.name = "shifted", .by_column = by_column, .ld_factor = 4, .offset = offset};
    };
    const auto other = [](Storage storage) {
        storage.by_column = !storage.by_column;
        return storage;
    };
    struct Case {
        Shape shape;
        int shift_a, shift_b;  // 0: not its lead
        Edges edges;
    };
    bool turn = false;
    for (const Case& one :
         {Case{{136, 264, 37}, 1, 3, {3, 1, 1, 3}}, Case{{133, 259, 530}, 3, 2, {1, 0, 2, 1}},
          Case{{67, 70, 130}, 2, 0, {2, 1, 0, 0}}, Case{{130, 258, 513}, 0, 1, {0, 0, 3, 1}},
          Case{{33, 68, 1100}, 0, 0, {0, 1, 0, 4}}}) {
        turn = !turn;
        for (const auto forms : {PipelinedForms::whole, PipelinedForms::sliced})
            for (const bool negates : {false, true}) {
                // What is not led lies along k.
                const Storage a = shifted(one.shift_a > 0, one.shift_a);
                const Storage b = shifted(one.shift_b == 0, one.shift_b);
                const Storage c = negates ? storages[1] : shifted(false, 4 - one.edges.lead_n);
                const bool exchanges = (negates != (forms == PipelinedForms::sliced)) == turn;
                const auto [m, n, k] = one.shape;
                GemmProblem<float> p(exchanges ? Shape{n, m, k} : one.shape, 5,
                                     exchanges ? other(b) : a, exchanges ? other(a) : b,
                                     exchanges ? other(c) : c);
                p.fill_integers();
                p.alpha = negates ? -1 : 2;
                p.beta = negates ? 3 : 0;
                run_edges(p, forms, one.edges, exchanges);
                EXPECT_TRUE(exact(p)) << static_cast<int>(forms) << ", " << exchanges;
            }
    }
}

/// beta = 0 overwrites NaN in edges, too, and what lies beside A, B and C is not read as theirs.
TEST_F(GemmPipelined, EdgesOverwriteNan) {
    const Storage shifted = {.name = "shifted", .ld_extra = 3, .offset = 3};
    GemmProblem<float> p(
        {130, 261, 40}, 9,
        {.name = "shifted_by_column", .by_column = true, .ld_extra = 2, .offset = 2}, shifted,
        shifted);
    p.fill_integers();
    p.c.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
    run_edges(p, PipelinedForms::whole, {2, 0, 1, 3});
    EXPECT_TRUE(exact(p));
}

/// Pieces of three and more blocks, blocks with pieces of two tiles, fringes; as given and
/// exchanged in turn.
TEST_F(GemmPipelined, ExactWhereTilesAreCut) {
    unsigned number = 0;
    for (const auto& [shape, blocks] :
         {std::pair(Shape{20, 30, 100}, 3u), std::pair(Shape{129, 259, 160}, 4u),
          std::pair(Shape{200, 256, 150}, 3u)}) {
        for (const unsigned chain : {0u, 2u})
            for (const bool sums_apart : {false, true}) {
                GemmProblem<float> p(shape, blocks);
                p.alpha = 2;
                p.beta = sums_apart ? 0 : -1;
                p.fill_integers();
                const bool exchanged = (++number + blocks + chain / 2) % 2 == 0;
                run_cut(p, PipelinedForms::whole,
                        {.blocks = blocks,
                         .sums_apart = sums_apart,
                         .chain = chain,
                         .margin = chain > 0 ? 1u : 0u},
                        exchanged);
                EXPECT_TRUE(exact(p)) << chain << ", " << exchanged;
            }
    }
}

/// The same of the sliced form, whose steps have 64 k, where A lies by rows and where it does not;
/// where blocks help others with the ends of their tiles; and where pieces are some chains.
TEST_F(GemmPipelined, ExactWhereSlicedTilesAreCut) {
    struct Case {
        Shape shape;
        unsigned blocks, helped, margin = 0, chain = 0;
    };
    int number = 0;  // as given and exchanged in turn
    for (const Case& one :
         {Case{{20, 30, 500}, 3, 0}, Case{{129, 67, 300}, 4, 0}, Case{{200, 128, 450}, 7, 0},
          Case{{200, 128, 450}, 7, 0, 2}, Case{{260, 64, 260}, 0, 2}, Case{{130, 130, 330}, 0, 4},
          Case{{129, 67, 500}, 3, 0, 1, 2}, Case{{130, 130, 400}, 0, 4, 0, 2}})
        for (const int a : {0, 1, 3}) {
            const bool exchanges = ++number % 2 == 0;
            const auto [m, n, k] = one.shape;
            auto p = of_integers(
                exchanges ? Shape{n, m, k} : one.shape, one.blocks + static_cast<std::uint64_t>(a),
                storages[exchanges ? 0 : a], storages[exchanges ? a : 0], (a == 1) == exchanges);
            run_cut(p, PipelinedForms::sliced,
                    {.blocks = one.blocks,
                     .helped = one.helped,
                     .chain = one.chain,
                     .margin = one.margin},
                    exchanges);
            EXPECT_TRUE(exact(p)) << one.blocks << ", " << exchanges;
        }
}

/// Of tiles that are cut in as many pieces each, for a block's only or last one: two, and more than
/// arrive at once; steps that pieces share unevenly; after whole tiles.
TEST_F(GemmPipelined, ExactWhereEachTileHasAsManyPieces) {
    struct Case {
        Shape shape;
        unsigned blocks, each;
    };
    for (const auto forms : {PipelinedForms::whole, PipelinedForms::sliced})
        for (const Case& one : {Case{{20, 30, 500}, 0, 2}, Case{{129, 67, 330}, 0, 5},
                                Case{{260, 600, 330}, 4, 3}, Case{{390, 330, 200}, 5, 2}})
            for (const int a : {0, 1, 3}) {
                auto p = of_integers(one.shape, one.each + static_cast<std::uint64_t>(a),
                                     storages[a], storages[0], a != 1);
                const bool whole = forms == PipelinedForms::whole;
                for (const bool sums_apart : {false, true}) {
                    if (sums_apart && !whole) continue;
                    const bool exchanged = (a == 1) != sums_apart;
                    const PipelinedWorkload load =
                        run_cut(p, forms,
                                {.blocks = one.blocks, .sums_apart = sums_apart, .each = one.each},
                                exchanged);
                    EXPECT_TRUE(exact(p)) << load.each << " pieces, " << load.whole << " whole, "
                                          << whole << sums_apart << exchanged;
                }
            }
}

/// Blocks that would have no tile have the last steps of some others': in the only turn, and in the
/// last one.
TEST_F(GemmPipelined, ExactWhereBlocksHelp) {
    struct Case {
        Shape shape;
        unsigned blocks, helped, chain;
    };
    for (const auto forms : {PipelinedForms::whole, PipelinedForms::sliced})
        for (const Case& one : {Case{{130, 300, 200}, 0, 3, 0}, Case{{129, 67, 330}, 0, 2, 2},
                                Case{{260, 600, 330}, 4, 1, 2}, Case{{390, 600, 200}, 7, 3, 0}})
            for (const int a : {0, 1, 3}) {
                auto p = of_integers(one.shape, one.helped + static_cast<std::uint64_t>(a),
                                     storages[a], storages[0], a != 1);
                if (p.beta == 0) p.c.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
                const PipelinedWorkload load = run_cut(
                    p, forms, {.blocks = one.blocks, .helped = one.helped, .chain = one.chain},
                    a == 1 && one.blocks == 0);
                EXPECT_EQ(load.whole > 0, one.blocks > 0);
                EXPECT_TRUE(exact(p)) << load.helped << " helped, " << load.whole << " whole, "
                                      << static_cast<int>(forms) << ", " << a;
            }
}

/// Padding and gaps never meet an Inf: k ends within a step.
TEST_F(GemmPipelined, InfAtTheEndOfKStaysInItsRow) {
    for (const Shape shape : {Shape{130, 260, 35}, Shape{64, 100, 17}}) {
        GemmProblem<float> p(shape, 5, storages[2], storages[4]);
        p.fill_integers();
        const float infinity = std::numeric_limits<float>::infinity();
        p.a.before()(1, shape.k - 1) = infinity;
        p.b.before()(shape.k - 1, 2) = 1;
        p.run(context_, pipelined);
        for (std::int64_t i = 0; i < shape.m; ++i)
            for (std::int64_t j = 0; j < shape.n; ++j)
                ASSERT_EQ(std::isfinite(p.c.after()(i, j)), i != 1) << i << ", " << j;
        EXPECT_EQ(p.c.after()(1, 2), infinity);
    }
}

/// Alpha meets whole sums alone: slices and pieces of both signs are no NaN.
TEST_F(GemmPipelined, AlphaOfInfGivesInf) {
    const float infinity = std::numeric_limits<float>::infinity();
    GemmProblem<float> p({20, 30, 300}, 9);
    p.fill_integers();
    for (std::int64_t k = 0; k < 300; ++k) {
        p.a.before()(0, k) = k < 150 ? -1 : k % 16 < 8 ? 1 : 3;
        p.b.before()(k, 0) = 1;
    }
    p.alpha = infinity;
    const auto expect_infinity = [&] { EXPECT_EQ(p.c.after()(0, 0), infinity); };
    run(p, PipelinedForms::sliced, [](GemmPipelinedPlan&) {});
    expect_infinity();
    run_cut(p, PipelinedForms::sliced, {.blocks = 2});
    expect_infinity();
    for (const bool sums_apart : {false, true}) {
        run_cut(p, PipelinedForms::whole, {.blocks = 3, .sums_apart = sums_apart});
        expect_infinity();
    }
    run_cut(p, PipelinedForms::whole, {.blocks = 1, .chain = 5});
    expect_infinity();
}

/// The sums of a piece are one chain in the order of k, or some, which are added in that order, as
/// pieces are. Of a tile's rows, the lower half has a longer first chain.
TEST_F(GemmPipelined, AnElementIsTheSumOfItsPiecesChains) {
    GemmProblem<float> p({70, 30, 700}, 9);
    p.fill([](Random& r) { return r.normal(); });
    for (const Cut& how :
         {Cut{.blocks = 5}, Cut{.blocks = 2, .chain = 4}, Cut{.blocks = 1, .chain = 9},
          Cut{.blocks = 1, .chain = 30}, Cut{.helped = 1, .chain = 9}}) {
        const PipelinedWorkload load = run_cut(p, PipelinedForms::whole, how);
        for (std::int64_t i = 0; i < 70; ++i)
            for (std::int64_t j = 0; j < 30; ++j) {
                float whole = 0;
                for (unsigned block = 0; block < load.blocks; ++block) {
                    const PipelinedPiece piece =
                        how.helped > 0 ? load.helped_piece(block, 0) : load.piece(block, 0);
                    float of_piece = 0;
                    for (unsigned first = piece.first, end; first < piece.last; first = end) {
                        end = first + how.chain + (first == piece.first && i >= 64 ? 2 : 0);
                        if (how.chain == 0 || end + how.chain / 4 >= piece.last) end = piece.last;
                        float sum = 0;
                        for (std::int64_t k = first * 16; k < end * 16 && k < 700; ++k)
                            sum = std::fma(p.a.before()(i, k), p.b.before()(k, j), sum);
                        of_piece = first == piece.first ? sum : of_piece + sum;
                    }
                    whole = block == 0 ? of_piece : whole + of_piece;
                }
                ASSERT_EQ(p.c.after()(i, j), whole) << how.chain << ": " << i << ", " << j;
            }
    }
}

/// In the sliced form 16 of each 64 k are a slice's: from the last slice to the first one their
/// chains are added up, to the sums of the chains before. Tiles cut, with a block that helps, in
/// two pieces, and whole.
TEST_F(GemmPipelined, ASlicedElementIsTheSumOfItsSlicesChains) {
    GemmProblem<float> p({20, 30, 500}, 9);
    p.fill([](Random& r) { return r.normal(); });
    for (const unsigned way : {0, 1, 2, 3})
        for (const unsigned chain : {0, 1, 3}) {
            const bool helped = way == 1, whole = way == 3;
            const auto uncut = [&](GemmPipelinedPlan& plan) {
                plan.load = {1, 1, 0, plan.load.steps, 1};
                plan.load.chain = chain;
            };
            const PipelinedWorkload load = whole ? run(p, PipelinedForms::sliced, uncut).load
                                                 : run_cut(p, PipelinedForms::sliced,
                                                           {.blocks = 2,
                                                            .helped = helped ? 1u : 0u,
                                                            .chain = chain,
                                                            .each = way == 2 ? 2u : 0u});
            ASSERT_EQ(load.blocks, whole ? 1u : 2u);
            for (std::int64_t i = 0; i < 20; ++i)
                for (std::int64_t j = 0; j < 30; ++j) {
                    float pieces[2] = {};
                    for (unsigned block = 0; block < load.blocks; ++block) {
                        const PipelinedPiece piece =
                            helped ? load.helped_piece(block, 0) : load.piece(block, 0);
                        for (unsigned first = piece.first, end; first < piece.last; first = end) {
                            end = chain == 0 ? piece.last : std::min(first + chain, piece.last);
                            float sums[4] = {};
                            for (std::int64_t k = first * 64; k < end * 64 && k < 500; ++k) {
                                float& sum = sums[k / 16 % 4];
                                sum = std::fma(p.a.before()(i, k), p.b.before()(k, j), sum);
                            }
                            float& piece_sum = pieces[block];
                            piece_sum = first == piece.first ? sums[3] : piece_sum + sums[3];
                            for (const int slice : {2, 1, 0}) piece_sum += sums[slice];
                        }
                    }
                    ASSERT_EQ(p.c.after()(i, j), pieces[0] + pieces[1])
                        << way << ", " << chain << ": " << i << ", " << j;
                }
        }
}

/// The transposed product, whose C is stored by columns: tiles whole and cut, operands aligned and
/// with edges; 100 times on two streams at once. NaN in C dies.
TEST_F(GemmPipelined, TransposedProductsHaveTheSameBitsOnEveryStream) {
    Context other;
    for (const auto& [shape, b] :
         {std::pair(emulated ? Shape{70, 140, 200} : Shape{384, 4096, 1024}, 1),
          {emulated ? Shape{130, 60, 70} : Shape{513, 1027, 3000}, 5}})
        for (const auto forms : {PipelinedForms::whole, PipelinedForms::sliced}) {
            GemmProblem<float> p(shape, 3, storages[0], storages[b]);  // B lies along k
            Operand<float> second(shape.m, shape.n, storages[0]);
            p.beta = 0;
            p.fill([](Random& r) { return r.normal(); });
            for (Operand<float>* operand : {&p.a, &p.b}) operand->upload(context_);
            GemmCall<float> call = {p.alpha, p.a.device(), p.b.device(), p.beta, p.c.device()};
            const GemmPipelinedPlan plan =
                plan_gemm_pipelined(call, static_cast<std::size_t>(-1), forms, true);
            std::vector<float> first;
            for (int repeat = 0; repeat < (emulated ? 2 : 100); ++repeat) {
                for (Operand<float>* c : {&p.c, &second}) {
                    c->fill([] { return std::numeric_limits<float>::quiet_NaN(); });
                    c->upload(context_);
                }
                context_.synchronize();
                call.c = p.c.device();
                enqueue_gemm_pipelined(context_, call, plan);
                call.c = second.device();
                enqueue_gemm_pipelined(other, call, plan);
                p.c.download(context_);
                second.download(other);
                for (Operand<float>* c : {&p.c, &second}) {
                    std::vector<float> all;
                    for (std::int64_t i = 0; i < shape.m; ++i)
                        for (std::int64_t j = 0; j < shape.n; ++j) all.push_back(c->after()(i, j));
                    if (first.empty()) first = all;
                    // NaN is not equal to itself.
                    ASSERT_TRUE(all == first) << shape.m << ", repeat " << repeat;
                }
            }
        }
}

#if TINYBLAS_EMULATED
TEST_F(GemmPipelined, TheSameInEveryOrderOfThreads) {
    for (const unsigned schedule : {1, 2, 3}) {
        device::set_schedule(schedule);
        GemmProblem<float> p({130, 257, 70}, schedule);
        expect_exact(p);
        device::set_schedule(0);
    }
}
#endif

/// All steps of all tiles, each once; places of partial sums that are distinct.
void check(const GemmPipelinedPlan& plan) {
    const PipelinedWorkload& load = plan.load;
    const bool helps = load.own > 0;
    const unsigned tiles = load.tiles_m * load.tiles_n;
    std::vector<unsigned> next(tiles, 0);  // step of each tile
    for (unsigned block = 0; block < load.blocks; ++block)
        for (unsigned number = 0;; ++number) {
            const PipelinedPiece piece =
                helps ? load.helped_piece(block, number) : load.piece(block, number);
            if (piece.first == piece.last) break;
            ASSERT_LT(piece.tile, tiles);
            ASSERT_EQ(piece.first, next[piece.tile]);
            next[piece.tile] = piece.last;
            if (!load.cuts(piece)) continue;
            ASSERT_LT(piece.tile, load.cut);
            if (helps) {  // two pieces of each, and as many places as two a block
                ASSERT_TRUE(piece.first == 0 || piece.last == load.steps);
                ASSERT_LT(piece.tile, load.blocks);
                continue;
            }
            if (load.each > 0) {  // a block's last piece, the only one that is cut
                ASSERT_EQ(piece.tile, block / load.each);
                ASSERT_EQ(number, load.whole);
                continue;
            }
            ASSERT_EQ(load.block_of(piece.tile * load.apart() + piece.first), block);
            ASSERT_EQ(load.block_of(piece.tile * load.apart() + piece.last - 1), block);
        }
    for (const unsigned end : next) ASSERT_EQ(end, load.steps);
    std::vector<int> seen(tiles, 0);
    for (unsigned tile = 0; tile < tiles; ++tile) {
        const auto place = load.place(tile);
        ASSERT_LT(place.i, load.tiles_m);
        ASSERT_LT(place.j, load.tiles_n);
        ++seen[place.i * load.tiles_n + place.j];
    }
    for (const int times : seen) ASSERT_EQ(times, 1);
}

TEST(GemmPipelinedPlan, CoversEveryShapeOnce) {
    using L = PipelinedLayout;
    for (const std::int64_t m : {1, 128, 129, 132, 133, 1000, 1024, 4097, 5000})
        for (const std::int64_t n : {1, 256, 257, 261, 2048, 4099})
            for (const std::int64_t k : {1, 16, 100, 1024, 4096, 1 << 20})
                for (const L a : {L::mapped, L::by_rows, L::along_k, L::other})
                    for (const auto forms : {PipelinedForms::whole, PipelinedForms::sliced}) {
                        SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
                        const auto plan = plan_gemm_pipelined(m, n, k, a, L::mapped,
                                                              std::size_t{1} << 40, 0, 0, forms);
                        ASSERT_TRUE(plan.fits);
                        ASSERT_LE(plan.load.cut, 2 * pipelined_multiprocessors);
                        ASSERT_LE(plan.load.blocks, pipelined_multiprocessors);
                        ASSERT_NO_FATAL_FAILURE(check(plan));
                    }
}

/// As many tiles as leave few multiprocessors for their ends: 896 squares have 98, and three of
/// them share a helper.
TEST(GemmPipelinedPlan, BlocksThatWouldIdleHelpOthers) {
    using L = PipelinedLayout;
    const auto plan = [](std::int64_t n) {
        return plan_gemm_pipelined(n, n, n, L::by_rows, L::mapped, std::size_t{1} << 40);
    };
    const GemmPipelinedPlan helped = plan(896);
    EXPECT_TRUE(helped.form.sliced);
    EXPECT_EQ(helped.load.own, 11u);  // of 14
    EXPECT_EQ(helped.load.helped, 3u);
    EXPECT_EQ(helped.load.blocks, 98u + 33);
    EXPECT_NO_FATAL_FAILURE(check(helped));
    // 120 tiles of 12 steps: the last ones of ten tiles would take a helper longer.
    const GemmPipelinedPlan short_k = plan_gemm_pipelined(
        512, 1920, 768, L::mapped, L::mapped, std::size_t{1} << 40, 0, 0, PipelinedForms::sliced);
    EXPECT_EQ(short_k.load.tiles_m * short_k.load.tiles_n, 120u);
    EXPECT_EQ(short_k.load.steps, 12u);
    EXPECT_EQ(short_k.load.own, 0u);
    EXPECT_TRUE(plan(1024).form.sliced);
    EXPECT_EQ(plan(1024).load.cut, 0u);  // 128 tiles
    // Whole tiles, too, and after turns of these; but of 2048 squares a helper would have 32.
    const auto mapped = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        return plan_gemm_pipelined(m, n, k, L::mapped, L::mapped, std::size_t{1} << 40);
    };
    const GemmPipelinedPlan whole = mapped(1408, 2304, 1280);
    EXPECT_FALSE(whole.form.sliced);
    EXPECT_EQ(whole.load.whole, 0u);
    EXPECT_EQ(whole.load.own, 61u);  // of 80
    EXPECT_EQ(whole.load.helped, 3u);
    EXPECT_NO_FATAL_FAILURE(check(whole));
    const GemmPipelinedPlan last = mapped(4900, 3924, 512);
    EXPECT_EQ(last.load.whole, 4u);
    EXPECT_EQ(last.load.cut, 39u * 16 - 4 * 132);
    EXPECT_EQ(last.load.helped, 3u);
    EXPECT_NO_FATAL_FAILURE(check(last));
    const GemmPipelinedPlan sliced = mapped(640, 2816, 2048);
    EXPECT_TRUE(sliced.form.sliced);
    EXPECT_EQ(sliced.load.whole, 1u);
    EXPECT_EQ(sliced.load.own, 22u);  // of 32
    EXPECT_NO_FATAL_FAILURE(check(sliced));
    EXPECT_EQ(mapped(2048, 2048, 2048).load.own, 0u);
    EXPECT_FALSE(plan(4096).form.sliced);
}

/// Where there are half as many tiles as multiprocessors or fewer: as many pieces each, no more
/// than it takes for pieces as short; of 64 x 4096 x 4096, four of 16 steps. Or of the tiles of the
/// last turn.
TEST(GemmPipelinedPlan, FewTilesAreCutInAsManyPiecesEach) {
    using L = PipelinedLayout;
    const auto plan = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        return plan_gemm_pipelined(m, n, k, L::mapped, L::mapped, std::size_t{1} << 40, 0, 0,
                                   PipelinedForms::sliced);
    };
    const GemmPipelinedPlan few = plan(4096, 64, 4096);
    EXPECT_EQ(few.load.tiles_m * few.load.tiles_n, 32u);
    EXPECT_EQ(few.load.each, 4u);
    EXPECT_EQ(few.load.blocks, 128u);
    EXPECT_EQ(few.load.share, 16u);
    EXPECT_NO_FATAL_FAILURE(check(few));
    // There are 13 blocks for each of 10 tiles, whose 20 steps 10 of them share as well.
    const GemmPipelinedPlan short_k = plan(640, 128, 1280);
    EXPECT_EQ(short_k.load.steps, 20u);
    EXPECT_EQ(short_k.load.each, 10u);
    EXPECT_NO_FATAL_FAILURE(check(short_k));
    const GemmPipelinedPlan rest = plan(512, 2368, 1024);
    EXPECT_EQ(rest.load.tiles_m * rest.load.tiles_n, 132u + 16);
    EXPECT_EQ(rest.load.whole, 1u);
    EXPECT_EQ(rest.load.cut, 16u);
    EXPECT_EQ(rest.load.each, 8u);
    EXPECT_NO_FATAL_FAILURE(check(rest));
}

/// Where blocks share the steps of all tiles, one that goes on from a tile's end to the next tile
/// has fewer: of 50 tiles of 32 steps, 83 blocks have a piece of one alone.
TEST(GemmPipelinedPlan, BlocksThatGoOnHaveFewerSteps) {
    const PipelinedWorkload load(5, 10, 50, 32, 132, 2);
    EXPECT_EQ(load.line(), 50u * 34 - 2);
    unsigned alone = 0;
    for (unsigned block = 0; block < load.blocks; ++block) {
        const PipelinedPiece piece = load.piece(block, 0), next = load.piece(block, 1);
        const unsigned steps = piece.last - piece.first + next.last - next.first;
        EXPECT_LE(steps, load.share + 1);
        if (next.first == next.last)
            ++alone;
        else
            EXPECT_LE(steps, load.share - 1);
    }
    EXPECT_GE(alone, 83u);
    GemmPipelinedPlan plan;
    plan.load = load;
    EXPECT_NO_FATAL_FAILURE(check(plan));
    // All of a share may be a margin: such a block begins with the next tile.
    plan.load = {1, 3, 3, 10, 7, 3};
    EXPECT_NO_FATAL_FAILURE(check(plan));
    using L = PipelinedLayout;
    EXPECT_EQ(plan_gemm_pipelined(640, 640, 2048, L::mapped, L::mapped, std::size_t{1} << 40, 0, 0,
                                  PipelinedForms::sliced)
                  .load.margin,
              1u);
}

/// The sliced form, whose tiles are smaller, where whole ones would fill less of the last turn, or
/// be cut; its chains are of 16 steps at most, or of a fourth of a tile's.
TEST(GemmPipelinedPlan, TheSlicedFormWhereItIsFaster) {
    const auto plan = [](std::int64_t n, std::int64_t k) {
        constexpr auto mapped = PipelinedLayout::mapped, by_rows = PipelinedLayout::by_rows;
        return plan_gemm_pipelined(n, n, k, by_rows, mapped, std::size_t{1} << 40);
    };
    const auto sliced = [&](std::int64_t n, std::int64_t k) { return plan(n, k).form.sliced; };
    EXPECT_TRUE(sliced(1408, 2048));
    EXPECT_TRUE(sliced(1408, 16384));
    EXPECT_TRUE(sliced(1664, 4096));
    EXPECT_TRUE(sliced(896, 16384));
    EXPECT_FALSE(sliced(2048, 2048));
    EXPECT_FALSE(sliced(2944, 4096));
    EXPECT_EQ(plan(1024, 1024).load.chain, 0u);   // 16 steps
    EXPECT_EQ(plan(1408, 2048).load.chain, 16u);  // of 32
    EXPECT_EQ(plan(1664, 4096).load.chain, 16u);
    EXPECT_EQ(plan(1408, 16384).load.chain, 64u);
}

/// Of two plans that take about as long, the one with shorter chains.
TEST(GemmPipelinedPlan, ChainsWeigh) {
    EXPECT_EQ(gemm_chain_weight(0), 1);
    EXPECT_EQ(gemm_chain_weight(256), 1);
    EXPECT_DOUBLE_EQ(gemm_chain_weight(384), 1.0175);
    EXPECT_DOUBLE_EQ(gemm_chain_weight(512), 1.035);
    EXPECT_DOUBLE_EQ(gemm_chain_weight(4096), 1.14);
    for (std::int64_t chain = 1; chain < 5000; ++chain)
        EXPECT_LE(gemm_chain_weight(chain), gemm_chain_weight(chain + 1) + 1e-12) << chain;
    // More where one is all of a long k.
    EXPECT_DOUBLE_EQ(gemm_whole_chain_weight(512), 1.035);
    EXPECT_DOUBLE_EQ(gemm_whole_chain_weight(2048), 1.6);
}

/// Sums are set aside where cuBLAS cuts k, too: where tiles leave multiprocessors idle, or k is
/// long; more often where tiles are few.
TEST(GemmPipelinedPlan, LongSumsAreSomeChains) {
    const auto plan = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        const auto along_m = PipelinedLayout::mapped;
        return plan_gemm_pipelined(m, n, k, along_m, along_m, std::size_t{1} << 40, 0, 0,
                                   PipelinedForms::whole);
    };
    EXPECT_EQ(plan(2048, 2048, 2048).load.chain, 0u);
    EXPECT_EQ(plan(2048, 2048, 2049).load.chain, 16u);  // of 129 steps
    EXPECT_EQ(plan(4096, 4096, 4096).load.chain, 86u);
    EXPECT_EQ(plan(8192, 8192, 8192).load.chain, 128u);
    EXPECT_EQ(plan(4352, 4352, 4096).load.chain, 26u);
    EXPECT_EQ(plan(4224, 4224, 512).load.chain, 16u);
    EXPECT_EQ(plan(4352, 4352, 16384).load.chain, 96u);
    EXPECT_EQ(plan(1536, 1536, 1536).load.chain, 10u);
    EXPECT_EQ(plan(1536, 1536, 1024).load.chain, 16u);
    EXPECT_EQ(plan(1664, 1664, 16384).load.chain, 32u);
    EXPECT_EQ(plan(128, 256, 8192).load.chain, 0u);  // blocks have 4 steps at most
    // Of a piece, warps take turns; no chain is shorter than three quarters of the others.
    const PipelinedWorkload load = plan(4096, 4096, 4096).load;
    const PipelinedPiece piece = {0, 10, 266};
    EXPECT_EQ(load.chain_end(piece, 10, false), 96u);
    EXPECT_EQ(load.chain_end(piece, 10, true), 98u);
    EXPECT_EQ(load.chain_end(piece, 98, true), 184u);
    EXPECT_EQ(load.chain_end(piece, 160, false), 266u);
}

TEST(GemmPipelinedPlan, WeighsFringesMemoryAndTheLastTurn) {
    using L = PipelinedLayout;
    const auto plan = [](std::int64_t n, L a, L b, std::size_t memory) {
        return plan_gemm_pipelined(n, n, n, a, b, memory);
    };
    constexpr std::size_t much = std::size_t{1} << 40;
    const auto whole = plan(4096, L::mapped, L::mapped, much);
    EXPECT_GT(whole.load.cut, 0u);  // 512 tiles for 132 blocks
    EXPECT_EQ(whole.pack_a_bytes + whole.pack_b_bytes, 0u);
    EXPECT_EQ(plan(4096, L::mapped, L::mapped, 0).load.cut, 0u);
    EXPECT_GT(plan(4096, L::mapped, L::mapped, 0).seconds, whole.seconds);
    EXPECT_TRUE(plan(2048, L::along_k, L::mapped, much).turn_a);
    EXPECT_TRUE(plan(2048, L::by_rows, L::mapped, much).turn_a);
    EXPECT_FALSE(plan(4096, L::other, L::mapped, 0).fits);
    const auto odd = plan(4097, L::other, L::other, much);
    EXPECT_EQ(odd.fringe_m, 1);
    EXPECT_EQ(odd.fringe_n, 1);
    EXPECT_TRUE(odd.pack_a && odd.pack_b);
    EXPECT_LT(odd.seconds, 1.06 * whole.seconds);
    EXPECT_EQ(plan(4101, L::other, L::other, much).fringe_m, 0);
    EXPECT_FALSE(plan_gemm_pipelined(std::int64_t{1} << 31, 1, 1, L::mapped, L::mapped, much).fits);
}

/// Of the transposed product, tiles are as narrow as others are low, and another operand is packed.
TEST(GemmPipelinedPlan, TheTransposedProductWhereThatIsFaster) {
    using View = MatrixView<const float>;
    auto* const at = reinterpret_cast<float*>(std::uintptr_t{1} << 30);  // nothing is read
    const auto plan = [&](std::int64_t m, std::int64_t n, std::int64_t k, bool a_along_k,
                          bool b_along_k, float beta = 0, std::optional<bool> exchanged = {}) {
        const View a = a_along_k ? View::row_major(at, m, k) : View::column_major(at, m, k);
        const View b = b_along_k ? View::column_major(at, k, n) : View::row_major(at, k, n);
        const GemmCall<float> call = {1, a, b, beta, MatrixView<float>::row_major(at, m, n)};
        return plan_gemm_pipelined(call, std::size_t{1} << 40, PipelinedForms::all, exchanged);
    };
    // Weights along k: A, which is small, is packed in place of them.
    for (const bool sliced : {false, true}) {
        const std::int64_t m = sliced ? 384 : 512, n = sliced ? 4096 : 28672;
        const GemmPipelinedPlan layer = plan(m, n, 4096, true, true);
        EXPECT_TRUE(layer.exchanged);
        EXPECT_EQ(layer.form.sliced, sliced);
        EXPECT_FALSE(layer.pack_a);
        EXPECT_EQ(layer.pack_b_bytes, pipelined_packed_bytes(m, 4096));
        EXPECT_EQ(layer.load.tiles_m, n / 128u);
        EXPECT_EQ(layer.load.tiles_n, m / (sliced ? 64u : 256u));
        const GemmPipelinedPlan given = plan(m, n, 4096, true, true, 0, false);
        EXPECT_FALSE(given.exchanged);
        EXPECT_GT(given.scratch_bytes, 5 * layer.scratch_bytes);
        EXPECT_LT(layer.seconds, given.seconds);
        // C is read as it lies.
        EXPECT_FALSE(plan(m, n, 4096, true, true, 1).exchanged);
        EXPECT_FALSE(
            plan(m, n, 4096, true, true, std::numeric_limits<float>::quiet_NaN()).exchanged);
    }
    // Both operands as they lie; tiles of 64 rows waste less of 320.
    const GemmPipelinedPlan both = plan(2048, 2048, 2048, false, true);
    EXPECT_TRUE(both.exchanged && both.turn_a);
    EXPECT_EQ(both.pack_a_bytes + both.pack_b_bytes, 0u);
    EXPECT_EQ(plan(320, 4096, 4096, false, false).load.tiles_n, 5u);
    EXPECT_TRUE(plan(320, 4096, 4096, false, false).exchanged);
    for (const bool a_along_k : {false, true})
        EXPECT_FALSE(plan(4096, 4096, 4096, a_along_k, false).exchanged);
    EXPECT_TRUE(plan(4096, 4096, 4096, true, false, 1, true).exchanged);
}

/// Of operands that begin beside a multiple of 16 bytes, large ones have edges: packing them would
/// take longer. Beside columns of C, so many more that tiles of the others consist of 16 bytes.
TEST(GemmPipelinedPlan, ShiftedOperandsHaveEdgesOrArePacked) {
    using L = PipelinedLayout;
    constexpr std::size_t much = std::size_t{1} << 40;
    const auto plan = [](std::int64_t n, L a, L b) {
        return plan_gemm_pipelined(n, n, n, a, b, much, 1, 3);
    };
    for (const std::int64_t n : {2048, 4096}) {
        const auto both = plan(n, L::shifted, L::shifted);
        EXPECT_FALSE(both.pack_a || both.pack_b);
        EXPECT_EQ(both.pack_a_bytes + both.pack_b_bytes, 0u);
        EXPECT_LT(both.load.blocks, 132u);  // some are spared
        EXPECT_EQ(both.lead_m, 3);
        EXPECT_EQ(both.fringe_m, 1);
        EXPECT_EQ(both.lead_n, 1);
        EXPECT_EQ(both.fringe_n, 3);
        EXPECT_LT(both.seconds, plan(n, L::other, L::other).seconds);
        const auto turned = plan(n, L::along_k, L::shifted);
        EXPECT_EQ(turned.lead_m, 0);
        EXPECT_EQ(turned.lead_n, 1);
        EXPECT_EQ(plan(n, L::shifted, L::other).lead_n, 0);
    }
    EXPECT_TRUE(plan_gemm_pipelined(128, 4096, 4096, L::shifted, L::mapped, much, 1).pack_a);
}

}  // namespace
}  // namespace tinyblas::test
