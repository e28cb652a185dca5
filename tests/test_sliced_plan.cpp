// SPDX-License-Identifier: MIT
// How the rung sliced cuts a product: all of k, each part once, within what its kernels and its
// memory can hold, alike for C and C transposed, in the time that was measured. Needs no GPU.
#include <gtest/gtest.h>

#include <cstdint>

#include "kernels/gemm/sliced_plan.hpp"

namespace tinyblas {
namespace {

void check(std::int64_t m, std::int64_t n, std::int64_t k) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    const GemmSlicedPlan plan = plan_gemm_sliced(m, n, k);
    ASSERT_TRUE(plan.fits);
    ASSERT_GE(plan.entry, 0);
    ASSERT_LT(plan.entry, sliced_entries);
    const SlicedTile& s = sliced_table[plan.entry].tile;
    const SlicedCut& cut = plan.cut;
    const std::int64_t depth = cut.depth;
    EXPECT_EQ(depth % s.tile.block_k, 0);
    EXPECT_GE(depth * cut.units(), k);
    EXPECT_LT(depth * cut.ranks() * (cut.parts - 1), k) << "a part would be empty";
    EXPECT_LE(cut.ranks_log2, 3u);
    EXPECT_GE(cut.fan * cut.groups(), cut.parts);
    const std::int64_t rows = plan.exchange ? n : m, columns = plan.exchange ? m : n;
    const std::int64_t tiles = (rows + s.tile.block_m - 1) / s.tile.block_m *
                               ((columns + s.tile.block_n - 1) / s.tile.block_n);
    if (cut.units() > 1) {
        EXPECT_LE(tiles * cut.units(), (cut.ranks() > 1 ? 1 : 4) * sliced_multiprocessors);
        EXPECT_LE(tiles * cut.counters(), sliced_most_counters);
        EXPECT_EQ(plan.scratch_bytes, static_cast<std::size_t>(tiles) * cut.units() *
                                          static_cast<std::size_t>(s.vectors()) * 16);
    } else {
        EXPECT_EQ(plan.scratch_bytes, 0u);
    }
    EXPECT_GT(plan.seconds, 1e-6);

    const GemmSlicedPlan transposed = plan_gemm_sliced(n, m, k);
    EXPECT_EQ(transposed.entry, plan.entry);
    EXPECT_EQ(transposed.cut.depth, depth);
    EXPECT_EQ(transposed.cut.units(), cut.units());
    EXPECT_EQ(transposed.cut.fan, cut.fan);
    const GemmSlicedPlan poor = plan_gemm_sliced(m, n, k, 0);
    EXPECT_TRUE(poor.fits);
    EXPECT_EQ(poor.scratch_bytes, 0u);
    EXPECT_GE(poor.weighed(), plan.weighed());
}

TEST(SlicedPlan, CoversEveryShape) {
    for (const std::int64_t m : {1, 4, 16, 17, 64, 100, 384, 1000, 1025, 4096, 100'000})
        for (const std::int64_t n : {1, 3, 16, 33, 64, 129, 512, 1024, 5000})
            for (const std::int64_t k : {1, 63, 64, 65, 128, 511, 4096, 65'536, 1 << 20})
                check(m, n, k);
}

TEST(SlicedPlan, LeavesWhatItCannotHold) {
    EXPECT_FALSE(plan_gemm_sliced(64, 64, std::int64_t{1} << 35).fits);
    EXPECT_FALSE(plan_gemm_sliced(std::int64_t{1} << 40, 64, 64).fits);
    EXPECT_FALSE(plan_gemm_sliced(64, std::int64_t{1} << 40, 64).fits);
}

// Where tiles leave multiprocessors idle, or most of a second turn of them, parts of k fill these.
TEST(SlicedPlan, PartsFillMultiprocessors) {
    for (const std::int64_t n : {5120, 11'008}) {
        const GemmSlicedPlan plan = plan_gemm_sliced(4, n, 4096);
        const std::int64_t tiles = SlicedTiles(sliced_table[plan.entry].tile.tile, 4, n).count();
        const std::int64_t blocks = tiles * plan.cut.units();
        EXPECT_EQ(plan.cut.parts, 3u) << n;
        EXPECT_GT(blocks % sliced_multiprocessors, 9 * sliced_multiprocessors / 10) << n;
        EXPECT_EQ(blocks / sliced_multiprocessors, n == 5120 ? 0 : 1) << n;
    }
}

// Measured on an H200, in a graph, row-major operands, microseconds.
TEST(SlicedPlan, EstimatesWhatWasMeasured) {
    struct Measured {
        std::int64_t m, n, k;
        double microseconds;
    };
    for (const Measured& x : {Measured{64, 64, 64, 1.70},       Measured{128, 128, 128, 1.99},
                              Measured{256, 256, 256, 3.48},    Measured{384, 384, 384, 7.31},
                              Measured{512, 512, 512, 9.58},    Measured{768, 768, 768, 25.1},
                              Measured{1024, 1024, 1024, 54.3}, Measured{1023, 1025, 1027, 64.7},
                              Measured{16, 4096, 4096, 22.9},   Measured{1000, 64, 1000, 6.68},
                              Measured{64, 4096, 4096, 52.7},   Measured{8192, 64, 8192, 193},
                              Measured{128, 128, 65'536, 56.3}, Measured{64, 64, 1 << 20, 201},
                              Measured{640, 640, 640, 19.0},    Measured{552, 552, 552, 12.9},
                              Measured{560, 560, 560, 13.1},    Measured{832, 832, 832, 32.3},
                              Measured{16, 1024, 4096, 8.37},   Measured{24, 5120, 5120, 43.3},
                              Measured{4, 5120, 5120, 33.4},    Measured{16, 8192, 8192, 71.7},
                              Measured{4, 9216, 5120, 64.7}}) {
        const SlicedWalk b = x.n % 4 == 0 ? SlicedWalk::vectors : SlicedWalk::along_i;
        const double estimate =
            plan_gemm_sliced(x.m, x.n, x.k, SIZE_MAX, 1, {SlicedWalk::along_k, b, true}).seconds *
            1e6;
        EXPECT_LE(estimate, x.microseconds * 1.12) << x.m << " x " << x.n << " x " << x.k;
        EXPECT_GE(estimate, x.microseconds * 0.88) << x.m << " x " << x.n << " x " << x.k;
    }
}

}  // namespace
}  // namespace tinyblas
