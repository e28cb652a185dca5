// SPDX-License-Identifier: MIT
// Every operation from eight threads at once, a context each: the bits of one thread alone.
#include "mixed_calls.hpp"

namespace tinyblas::test {
namespace {

// The mix is what it claims to be: each call leaves a result, and products from parts take each
// route.
TEST(Threads, CallsOfTheMix) {
    MixedCalls calls;
    for (std::size_t i = 0; i < calls.size(); ++i)
        EXPECT_FALSE(calls.is_untouched(calls.run(i))) << "call " << i;
    if (runs_split(Context())) {
        EXPECT_EQ(calls.verdicts(), (std::vector{GemmVerdict::three_products,
                                                 GemmVerdict::six_products, GemmVerdict::strict}));
    }
}

TEST(Threads, MixedCalls) {
    constexpr int count = emulated ? 25 : 1000;
    const auto alone = bits_alone();
    std::vector<int> wrong(8, -1);
    on_eight_threads([&](unsigned thread) {
        MixedCalls calls;
        wrong[thread] = differing(calls, thread, count, alone);
    });
    EXPECT_EQ(wrong, std::vector<int>(8, 0));
}

}  // namespace
}  // namespace tinyblas::test
