// SPDX-License-Identifier: MIT
// The kernels of gemm's rung sliced, each entry by itself and with every kind of cut along k: exact
// on integers whatever the storage, clean where C or the gaps are NaN, the same bits each time.
#include "gemm_sliced.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "batched_problem.hpp"
#include "device_buffer.hpp"
#include "kernels/gemm/dots_plan.hpp"
#if TINYBLAS_EMULATED
#include "device/emulation/fibers.hpp"
#endif

namespace tinyblas::test {
namespace {

/// How often k is cut, and whether ranks are to be a cluster where there are clusters.
struct Cuts {
    unsigned ranks_log2, parts, fan;
    bool cluster = true;
};
constexpr Cuts no_cuts = {0, 1, 1};
constexpr Cuts all_cuts[] = {no_cuts,   {1, 1, 1},        {0, 3, 3},       {2, 2, 2},
                             {1, 5, 2}, {1, 5, 2, false}, {3, 1, 1, true}, {3, 7, 3}};

/// Runs the entry on the problem's operands.
void multiply(GemmProblem<float>& p, Context& context, int entry, Cuts cuts = no_cuts) {
    constexpr std::size_t most_counters = 4096;
    for (auto* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
    const GemmTile& t = sliced_table[entry].tile.tile;
    SlicedWork work = {};
    work.alpha = p.alpha;
    work.a = p.a.device();
    work.b = p.b.device();
    work.beta = p.beta;
    work.c = p.c.device();
    work.a_walk = sliced_walk(work.a);
    work.b_walk = sliced_walk(work.b.transposed());
    const std::int64_t units = std::int64_t{cuts.parts} << cuts.ranks_log2;
    work.cut = {static_cast<int>((work.a.columns + units - 1) / units), cuts.ranks_log2, cuts.parts,
                cuts.fan};
    work.cut.chain =
        sliced_table[entry].tile.chain_steps((work.cut.depth + t.block_k - 1) / t.block_k);
    work.cluster =
        !emulated && cuts.cluster && cuts.ranks_log2 > 0 && context.compute_capability() == 90;
    const auto tiles = static_cast<std::size_t>((work.c.rows + t.block_m - 1) / t.block_m *
                                                ((work.c.columns + t.block_n - 1) / t.block_n));
    Buffer<float> partials(tiles * work.cut.units() *
                           static_cast<std::size_t>(t.block_m * t.block_n));
    Buffer<unsigned> counters(most_counters);
    ASSERT_LE(tiles * work.cut.counters(), most_counters);
    for (float& x : partials) x = poison<float>();
    for (unsigned& x : counters) x = 0;
    work.partials = partials.data();
    work.counters = counters.data();
    launch_gemm_sliced(context.stream(), entry, work, context.compute_capability());
    for (auto* operand : {&p.a, &p.b, &p.c}) operand->download(context);
    for (const unsigned x : counters) ASSERT_EQ(x, 0u);
}

class GemmSliced : public testing::TestWithParam<int> {
  protected:
    int entry = GetParam();
    const GemmTile& t = sliced_table[entry].tile.tile;
    Context context;

    testing::AssertionResult exact_with(Shape shape, std::uint64_t seed, const Storage& a,
                                        const Storage& b, const Storage& c, Cuts cuts) {
        GemmProblem<float> p(shape, seed, a, b, c);
        constexpr float scalars[] = {1, -2, 3};
        p.alpha = scalars[seed % 3];
        p.beta = static_cast<float>(seed / 3 % 3) - 1;
        p.fill_integers();
        multiply(p, context, entry, cuts);
        return exact(p);
    }
};
INSTANTIATE_TEST_SUITE_P(, GemmSliced, testing::Range(0, sliced_entries));

TEST_P(GemmSliced, EveryPairOfStorages) {
    for (int pair = 0; pair < input_storages * input_storages; ++pair) {
        const auto seed = static_cast<std::uint64_t>(pair);
        Random random(seed);
        const Shape shape = {random.integer(1, t.block_m * 5 / 4),
                             random.integer(1, t.block_n * 5 / 4),
                             random.integer(1, 3 * t.block_k)};
        ASSERT_TRUE(exact_with(
            shape, seed, storages[pair % input_storages], storages[pair / input_storages],
            storages[pair * 5 % output_storages], all_cuts[seed % std::size(all_cuts)]));
    }
}

// Both sides of a tile's edges, and of those of all stages; also less k than units.
TEST_P(GemmSliced, EveryEdge) {
    std::uint64_t seed = 0;
    for (const std::int64_t m : {1, t.block_m - 1, t.block_m, t.block_m + 1})
        for (const std::int64_t n : {1, t.block_n - 1, t.block_n, t.block_n + 1})
            for (const std::int64_t k : {1, t.block_k - 1, t.block_k + 1, t.stages * t.block_k,
                                         (t.stages + 2) * t.block_k + 3}) {
                const Storage& b = storages[seed / 5 % 7];
                ASSERT_TRUE(exact_with({m, n, k}, seed, storages[seed % 7], b,
                                       storages[seed % output_storages],
                                       all_cuts[seed % std::size(all_cuts)]));
                ++seed;
            }
}

TEST_P(GemmSliced, BetaZeroDoesNotReadC) {
    for (const float beta : {0.0f, -0.0f})
        for (const Cuts& cuts : {no_cuts, Cuts{1, 3, 3}}) {
            GemmProblem<float> p({t.block_m + 3, t.block_n + 5, 3 * t.block_k}, 1);
            p.fill_integers();
            p.c.fill([] { return poison<float>(); });
            p.beta = beta;
            multiply(p, context, entry, cuts);
            ASSERT_TRUE(exact(p));
        }
}

// An Inf in the last row and column of each operand stays in its row and column of C: it meets no
// zero that pads a tile.
TEST_P(GemmSliced, PaddingMeetsNoInf) {
    for (const Storage& storage : {storages[0], storages[1], storages[4], storages[5]}) {
        const Shape shape = {t.block_m + 1, t.block_n - 2, t.block_k + 3};
        GemmProblem<float> p(shape, 2, storage, storage);
        p.fill([](Random& r) { return r.integer(1, 3); });
        const float infinity = std::numeric_limits<float>::infinity();
        p.a.before()(shape.m - 1, shape.k - 1) = infinity;
        p.b.before()(shape.k - 1, shape.n - 1) = infinity;
        multiply(p, context, entry, {1, 1, 1});
        ASSERT_TRUE(judge(p, "infinite where it should be", [&](auto i, auto j, float x) {
            return std::isinf(x) == (i == shape.m - 1 || j == shape.n - 1) && !std::isnan(x);
        }));
    }
}

// Whether ranks are clusters or not, whoever loads and whenever blocks run.
TEST_P(GemmSliced, SameBits) {
    GemmProblem<float> p({t.block_m + 7, 2 * t.block_n - 1, 9 * t.block_k + 5}, 3, storages[4]);
    p.fill([](Random& r) { return r.normal(); });
    p.beta = 0.5f;
    const auto result = [&] {
        std::vector<float> all;
        const MatrixView<float> c = p.c.after();
        for (std::int64_t i = 0; i < c.rows; ++i)
            for (std::int64_t j = 0; j < c.columns; ++j) all.push_back(c(i, j));
        return all;
    };
    multiply(p, context, entry, {1, 5, 2});
    ASSERT_TRUE(close(p));
    const std::vector<float> once = result();
    for (unsigned turn = 0; turn < (emulated ? 3 : 20); ++turn) {
#if TINYBLAS_EMULATED
        device::set_schedule(turn);
#endif
        multiply(p, context, entry, {1, 5, 2, turn % 2 == 0});
        EXPECT_EQ(std::memcmp(result().data(), once.data(), once.size() * sizeof(float)), 0);
    }
#if TINYBLAS_EMULATED
    device::set_schedule(0);
#endif
}

/// A slice has one line of k of so many. Its chains end after some steps, the last one earlier;
/// then halves of the slices are added up, and of those likewise. Where the sums of all slices need
/// more room than operands, the upper half of the slices gives its own to the lower half first.
TEST_P(GemmSliced, AnElementIsTheSumOfItsSlicesChains) {
    const SlicedTile& s = sliced_table[entry].tile;
    const auto in_pairs = [](auto&& self, const float* sums, int count) -> float {
        if (count == 1) return *sums;
        return self(self, sums, count / 2) + self(self, sums + count / 2, count - count / 2);
    };
    const int room = t.stages * t.block_k * (t.block_m + 4 + t.block_n + 4);
    const bool in_place = s.slices * t.block_m * (t.block_n + 4) <= room;
    const int left = in_place ? s.slices : s.slices / 2;
    for (const int steps : {1, 8, 9, 27, 33}) {
        const int chain = s.chain_steps(steps);
        GemmProblem<float> p({t.block_m - 1, 7, steps * t.block_k - 3},
                             static_cast<std::uint64_t>(steps));
        p.fill([](Random& r) { return r.normal(); });
        p.alpha = 1;
        p.beta = 0;
        multiply(p, context, entry);
        for (std::int64_t i = 0; i < p.c.after().rows; ++i)
            for (std::int64_t j = 0; j < p.c.after().columns; ++j) {
                std::vector<float> sums(static_cast<std::size_t>(s.slices)), aside(sums);
                std::int64_t k = 0;
                for (int step = 1; step <= steps; ++step) {
                    const int columns = step == 1 ? t.block_k - 3 : t.block_k;
                    for (int line = 0; line < columns; ++line, ++k) {
                        float& sum = sums[static_cast<std::size_t>(line % s.slices)];
                        sum = std::fma(p.a.before()(i, k), p.b.before()(k, j), sum);
                    }
                    if (step % chain != 0) continue;
                    for (std::size_t slice = 0; slice < sums.size(); ++slice)
                        aside[slice] += std::exchange(sums[slice], 0.0f);
                }
                for (std::size_t slice = 0; slice < sums.size(); ++slice)
                    sums[slice] += aside[slice];
                if (!in_place)
                    for (std::size_t slice = 0; slice < sums.size() / 2; ++slice)
                        sums[slice] += sums[slice + sums.size() / 2];
                ASSERT_EQ(p.c.after()(i, j), in_pairs(in_pairs, sums.data(), left))
                    << steps << ": " << i << ", " << j;
            }
    }
}

/// Ranks, clusters or not, and parts, whose slices set sums aside.
TEST_P(GemmSliced, UnitsOfSomeChains) {
    for (const Cuts& cuts : {Cuts{1, 1, 1}, Cuts{1, 2, 2}, Cuts{1, 1, 1, false}}) {
        const std::int64_t units = std::int64_t{cuts.parts} << cuts.ranks_log2;
        GemmProblem<float> p({t.block_m + 1, 7, (units * 18 - 2) * t.block_k - 5}, 1);
        p.fill_integers();
        multiply(p, context, entry, cuts);
        ASSERT_TRUE(exact(p));
    }
}

/// Batches, by the entries that make them.
class GemmSlicedBatch : public testing::Test {
  protected:
    void multiply(BatchProblem<float>& p, int entry, unsigned ranks_log2) {
        const auto [m, n, k] = p.shape;
        const auto plan = gemm_sliced_plan(entry, m, n, k, ranks_log2, 1, p.count());
        ASSERT_TRUE(plan.fits);
        p.run(context, [&](float* const* pointers) {
            enqueue_gemm_sliced(context, p.batch(pointers), plan);
        });
    }
    /// Filled with integers; C with what is not to be read, if beta is 0.
    testing::AssertionResult exact_by(int entry, unsigned ranks_log2, Given given,
                                      BatchProblem<float>& p) {
        p.given = given;
        p.fill_integers();
        if (p.beta == 0) p.c.fill([] { return poison<float>(); });
        multiply(p, entry, ranks_log2);
        return exact(p) << "; entry " << entry << ", " << ranks_log2;
    }
    /// body(entry, its tile, ranks_log2, given)
    template <class Body>
    static void for_each(Body body) {
        int entries = 0;
        for (int entry = 0; entry < sliced_entries; ++entry) {
            if (!sliced_batches(entry)) continue;
            ++entries;
            for (const unsigned ranks_log2 : {0u, 2u})
                for (const Given given : {Given::by_strides, Given::by_pointers})
                    body(entry, sliced_table[entry].tile.tile, ranks_log2, given);
        }
        ASSERT_GT(entries, 0);
    }
    Context context;
};

// Whatever the storage, and with matrices that begin at any alignment.
TEST_F(GemmSlicedBatch, EveryStorage) {
    int number = 0;
    for_each([&](int entry, const GemmTile& t, unsigned ranks_log2, Given given) {
        for (int index = 0; index < input_storages; ++index, ++number) {
            const Along along = {number % 2 == 0, number % 3};
            BatchProblem<float> p({t.block_m + 3 - index % 4, t.block_n - 1 + index % 3,
                                   (t.block_k << ranks_log2) + 5 * index - 7},
                                  3 + index % 2, {along, along, along},
                                  {storages[index], storages[(index + 3) % input_storages],
                                   storages[index % output_storages]});
            ASSERT_TRUE(exact_by(entry, ranks_log2, given, p));
        }
    });
}

// The first matrices of A and B begin at a multiple of 16 bytes, with lines that do, the others
// not.
TEST_F(GemmSlicedBatch, FirstOnesAligned) {
    for_each([&](int entry, const GemmTile& t, unsigned ranks_log2, Given given) {
        BatchProblem<float> p({36, 40, 2 * t.block_k}, 4,
                              {across_lines(true, 36, 2 * t.block_k, true),
                               across_lines(false, 2 * t.block_k, 40, true), below},
                              {storages[1], storages[0], storages[0]});
        ASSERT_EQ(sliced_walk(p.a.device(0)), SlicedWalk::vectors);
        ASSERT_EQ(sliced_walk(p.b.device(0).transposed()), SlicedWalk::vectors);
        ASSERT_TRUE(exact_by(entry, ranks_log2, given, p));
    });
}

// Each product's bits are those of its elements alone, wherever it is in the batch.
TEST_F(GemmSlicedBatch, PlacesDoNotShow) {
    for_each([&](int entry, const GemmTile& t, unsigned ranks_log2, Given given) {
        BatchProblem<float> p({t.block_m + 1, t.block_n + 2, 3 * t.block_k + 5}, 4);
        p.given = given;
        p.alpha = 0.7f;
        p.beta = -0.3f;
        p.fill_normal_alike();
        multiply(p, entry, ranks_log2);
        ASSERT_TRUE(close(p));
        ASSERT_TRUE(alike(p));
        const MatrixView<float> c = p.c.after(0);
        const std::vector<float> once(c.data, c.data + c.rows * c.row_stride);
        for (unsigned turn = 1; turn < 3; ++turn) {
#if TINYBLAS_EMULATED
            device::set_schedule(turn);
#endif
            multiply(p, entry, ranks_log2);
            ASSERT_TRUE(alike(p)) << turn;
            ASSERT_EQ(std::memcmp(p.c.after(0).data, once.data(), once.size() * sizeof(float)), 0);
        }
    });
#if TINYBLAS_EMULATED
    device::set_schedule(0);
#endif
}

TEST_F(GemmSlicedBatch, BetaZeroDoesNotReadC) {
    for_each([&](int entry, const GemmTile& t, unsigned ranks_log2, Given given) {
        BatchProblem<float> p({t.block_m + 2, t.block_n + 3, t.block_k + 1}, 2);
        p.beta = 0;
        ASSERT_TRUE(exact_by(entry, ranks_log2, given, p));
    });
}

// The plan's entry and cut, through the door that gemm uses.
TEST(GemmSlicedCall, FollowsItsPlan) {
    Context context;
    for (const Shape shape : {Shape{5, 3, 2}, Shape{64, 64, 64}, Shape{130, 70, 300},
                              Shape{16, 700, 600}, Shape{900, 4, 530}, Shape{40, 33, 5000}})
        for (const Storage& storage : {storages[0], storages[1], storages[5], storages[7]}) {
            GemmProblem<float> p(shape, 4, storage, storages[1], storage);
            p.fill_integers();
            p.alpha = 2;
            p.beta = -1;
            for (auto* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
            const GemmCall<float> call = {p.alpha, p.a.device(), p.b.device(), p.beta,
                                          p.c.device()};
            for (const std::size_t most : {static_cast<std::size_t>(-1), std::size_t{0}}) {
                const GemmSlicedPlan plan = plan_gemm_sliced(call, most);
                ASSERT_TRUE(plan.fits);
                ASSERT_LE(plan.scratch_bytes, most);
                for (auto* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
                enqueue_gemm_sliced(context, call, plan);
                for (auto* operand : {&p.a, &p.b, &p.c}) operand->download(context);
                ASSERT_TRUE(exact(p));
            }
        }
}

// The form for a C of few columns or rows: asked for directly, whatever is estimated to be faster.
class GemmDots : public testing::Test {
  protected:
    testing::AssertionResult exact_by_dots(Shape shape, int number, const Storage& a,
                                           const Storage& b, const Storage& c) {
        GemmProblem<float> p(shape, 40 + static_cast<std::uint64_t>(number), a, b, c);
        constexpr float alphas[] = {1, -2}, betas[] = {0, 1, -2};
        p.alpha = alphas[number / 2 % 2];
        p.beta = betas[number % 3];
        p.fill_integers();
        if (p.beta == 0) p.c.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
        for (auto* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        GemmSlicedPlan plan;
        plan.fits = plan.dots = true;
        plan.exchange = shape.m < shape.n;
        enqueue_gemm_sliced(context, {p.alpha, p.a.device(), p.b.device(), p.beta, p.c.device()},
                            plan);
        for (auto* operand : {&p.a, &p.b, &p.c}) operand->download(context);
        return exact(p);
    }

    Context context;
};

TEST_F(GemmDots, EveryEdge) {
    int number = 0;
    for (const std::int64_t columns : {1, 2, 3, 4, 5, 7, 8})
        for (const std::int64_t k : {1, 3, 4, 6, 127, 128, 130, 511, 512, 515, 1029, 2048})
            for (const std::int64_t rows : {8, 9, 10, 11}) {
                // Lines that begin at multiples of 16 bytes, though they end anywhere; and others.
                const std::int64_t padding = (4 - k % 4) % 4;
                const Storage of_a[] = {
                    {.name = "padded", .ld_extra = padding}, storages[2], storages[4], storages[9]};
                const Storage of_b[] = {
                    {.name = "padded_by_column", .by_column = true, .ld_extra = padding},
                    storages[3],
                    storages[5]};
                const Storage& a = of_a[number % 2 == 0 ? 0 : number / 2 % 4];
                const Storage& b = of_b[number % 2 == 0 ? 0 : number / 2 % 3];
                const Storage& c = storages[number % output_storages];
                ASSERT_TRUE(exact_by_dots({rows, columns, k}, number, a, b, c));
                ASSERT_TRUE(exact_by_dots({columns, rows, k}, number, a, b, c));
                ++number;
            }
}

// The plan takes them where both operands lie along k, alike for C and C transposed.
TEST(GemmDotsPlan, WantsOperandsAlongK) {
    const auto plan = [](std::int64_t m, std::int64_t n, bool a_along_k, bool b_along_k) {
        constexpr std::int64_t k = 4096;
        const MatrixView<const float> a = {nullptr, m, k, a_along_k ? k : 1, a_along_k ? 1 : m};
        const MatrixView<const float> b = {nullptr, k, n, b_along_k ? 1 : n, b_along_k ? k : 1};
        return plan_gemm_sliced(GemmCall<float>{1, a, b, 0, {nullptr, m, n, n, 1}},
                                static_cast<std::size_t>(-1));
    };
    for (const std::int64_t few : {2, 5, 8}) {
        EXPECT_TRUE(plan(few, 4096, true, true).dots);
        EXPECT_TRUE(plan(4096, few, true, true).dots);
        EXPECT_EQ(plan(few, 4096, true, true).seconds, plan(4096, few, true, true).seconds);
        EXPECT_FALSE(plan(few, 4096, true, false).dots);
        EXPECT_FALSE(plan(few, 4096, false, true).dots);
    }
    EXPECT_FALSE(plan(9, 4096, true, true).dots);
    EXPECT_FALSE(plan(4096, 9, true, true).dots);
}

// Measured on an H200, in a graph, microseconds.
TEST(GemmDotsPlan, EstimatesWhatWasMeasured) {
    struct Measured {
        std::int64_t rows, columns, k;
        double microseconds;
    };
    for (const Measured& x : {Measured{4096, 2, 4096, 17.3}, Measured{8192, 4, 8192, 63.1},
                              Measured{13824, 8, 7168, 105}, Measured{2048, 8, 2048, 5.2},
                              Measured{20000, 4, 256, 10.0}, Measured{64, 4, 8192, 4.2}}) {
        const double estimate = gemm_dots_microseconds(x.rows, x.columns, x.k, true);
        EXPECT_LE(estimate, x.microseconds * 1.2) << x.rows << " x " << x.columns << " x " << x.k;
        EXPECT_GE(estimate, x.microseconds * 0.8) << x.rows << " x " << x.columns << " x " << x.k;
    }
}

// Squares may be made transposed, by the layouts of A and B: that does not show in the bits.
TEST(GemmSlicedCall, LayoutsOfSquaresGiveTheSameBits) {
    Context context;
    bool longer_tiles = false;
    for (const std::int64_t n : {24, 60, 128, 260, 500}) {
        const GemmSlicedPlan plan = plan_gemm_sliced(n, n, 64);
        const GemmTile& t = sliced_table[plan.entry].tile.tile;
        longer_tiles |= t.block_n >= 2 * t.block_m;
        std::vector<float> first;
        for (const bool a_turned : {false, true})
            for (const bool b_turned : {false, true}) {
                GemmProblem<float> p({n, n, 64}, 5, storages[a_turned ? 1 : 0],
                                     storages[b_turned ? 1 : 0]);
                p.fill([](Random& r) { return 2 * r.uniform() - 1; });
                EXPECT_EQ(p.run(context, {GemmKernel::sliced}).kernel, GemmKernel::sliced);
                ASSERT_TRUE(close(p));
                const MatrixView<float> c = p.c.after();
                std::vector<float> bits;
                for (std::int64_t i = 0; i < n; ++i)
                    for (std::int64_t j = 0; j < n; ++j) bits.push_back(c(i, j));
                if (first.empty()) first = bits;
                EXPECT_EQ(bits, first) << p;
            }
    }
    EXPECT_TRUE(longer_tiles);
}

}  // namespace
}  // namespace tinyblas::test
