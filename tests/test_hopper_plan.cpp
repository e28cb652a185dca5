// SPDX-License-Identifier: MIT
// How the rung hopper cuts a product into units: all of it, each part once, within what its kernels
// and its memory can hold. Needs no GPU.
#include <gtest/gtest.h>

#include "kernels/gemm/hopper_plan.hpp"

namespace tinyblas {
namespace {

constexpr unsigned counters_of_cut_tiles = 256;  // words, one a block tile

unsigned pieces(std::int64_t extent, std::int64_t piece) {
    return static_cast<unsigned>((extent + piece - 1) / piece);
}

void check(std::int64_t m, std::int64_t n, std::int64_t k) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    const HopperPlan plan(m, n, k);
    const bool paired = plan.form == HopperForm::paired;
    EXPECT_EQ(plan.tiles_m, pieces(m, paired ? 256 : 128));
    EXPECT_EQ(plan.tiles_n, pieces(n, paired ? 128 : 64));
    EXPECT_EQ(plan.chunks, pieces(k, 64));
    EXPECT_EQ(plan.units(), plan.whole + (plan.tiles() - plan.whole) * plan.slices);
    ASSERT_GE(plan.slices, 1u);
    ASSERT_LE(plan.slices, plan.chunks) << "a slice would be empty";
    if (paired) {
        EXPECT_LE(plan.whole, plan.tiles());
        EXPECT_EQ(plan.slices == 1, plan.whole == plan.tiles());
        EXPECT_LE(plan.cut_tiles() * plan.slices, HopperPlan::most_cut_units);
        EXPECT_LE(2 * plan.cut_tiles(), counters_of_cut_tiles);
        EXPECT_EQ(plan.partial_bytes(),
                  std::size_t{2} * plan.cut_tiles() * plan.slices * 128 * 128 * 4);
    } else {
        EXPECT_TRUE(plan.slices == 1 || plan.slices == 2 || plan.slices == 4);
        EXPECT_LE(plan.units(), HopperPlan::blocks);
        EXPECT_EQ(plan.whole, 0u);
        EXPECT_EQ(plan.partial_bytes(), 0u);
    }
}

TEST(HopperPlan, CoversEveryShape) {
    for (const std::int64_t m : {1, 64, 127, 128, 129, 256, 300, 1000, 1024, 1536, 4097, 16384})
        for (const std::int64_t n : {1, 100, 128, 129, 640, 1024, 2048, 4099, 130'000})
            for (const std::int64_t k : {1, 63, 64, 65, 128, 511, 513, 1024, 4096, 65'536, 1 << 20})
                check(m, n, k);
}

TEST(HopperPlan, FillsTheLastTurn) {
    const HopperPlan whole(4096, 4096, 4096);
    EXPECT_EQ(whole.whole, whole.tiles());   // 512 of 528
    const HopperPlan cut(1536, 1536, 1536);  // 72 cluster tiles for 66 clusters
    EXPECT_EQ(cut.whole, 66u);
    EXPECT_GT(cut.slices, 1u);
    const HopperPlan narrow(1024, 1024, 1024);  // 128 tiles for 132 blocks
    EXPECT_EQ(narrow.form, HopperForm::sliced);
    EXPECT_EQ(narrow.slices, 1u);
    const HopperPlan sliced(512, 1024, 4096);  // 64 tiles
    EXPECT_EQ(sliced.form, HopperForm::sliced);
    EXPECT_EQ(sliced.slices, 2u);
}

}  // namespace
}  // namespace tinyblas
