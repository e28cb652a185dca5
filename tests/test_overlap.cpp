// SPDX-License-Identifier: MIT
// Whether two strided vectors share an element: against trying every pair.
#include <gtest/gtest.h>

#include "check.hpp"
#include "reference.hpp"

namespace tinyblas::test {
namespace {

bool every_pair(VectorView<float> x, VectorView<float> y) {
    for (std::int64_t i = 0; i < x.size; ++i)
        for (std::int64_t j = 0; j < y.size; ++j)
            if (&x(i) == &y(j)) return true;
    return false;
}

TEST(Overlap, OfVectorsIsExact) {
    Random random(1);
    std::vector<float> memory(400);
    int shared = 0, apart = 0;
    for (int trial = 0; trial < 200000; ++trial) {
        const auto vector = [&] {
            const std::int64_t size = random.integer(0, 9);
            return VectorView<float>{memory.data() + random.integer(0, 60), size,
                                     random.integer(-12, 12)};
        };
        const VectorView<float> x = vector(), y = vector();
        const bool expected = every_pair(x, y);
        (expected ? shared : apart) += 1;
        ASSERT_EQ(overlap(Track(x), Track(y)), expected)
            << x.data - memory.data() << ' ' << x.size << ' ' << x.increment << ", "
            << y.data - memory.data() << ' ' << y.size << ' ' << y.increment;
    }
    EXPECT_GT(shared, 10000);
    EXPECT_GT(apart, 10000);
}

TEST(Overlap, OfLongVectorsTakesNoTime) {
    float* const somewhere = reinterpret_cast<float*>(std::uintptr_t{1} << 20);
    const std::int64_t n = std::int64_t{1} << 40;
    EXPECT_FALSE(overlap(Track(VectorView<float>{somewhere, n, 6}),
                         Track(VectorView<float>{somewhere + 1, n, 4})));
    EXPECT_TRUE(overlap(Track(VectorView<float>{somewhere, n, 6}),
                        Track(VectorView<float>{somewhere + 1, n, 7})));
    EXPECT_FALSE(overlap(Track(VectorView<float>{somewhere, n, 2}),
                         Track(VectorView<float>{somewhere + 2 * n, n, 3})));
}

}  // namespace
}  // namespace tinyblas::test
