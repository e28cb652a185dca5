// SPDX-License-Identifier: MIT
// polyval: every rung, degree by degree, size by size, however the vectors lie, in place, past what
// kernel parameters hold, and from several contexts at once.
#include <algorithm>
#include <thread>

#include "polyval_problem.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class SmallPolyval : public testing::Test {
  protected:
    /// Whether every rung gives the very bits of Horner's rule.
    testing::AssertionResult every_rung_right(PolyvalProblem<T>& p) {
        for (const PolyvalKernel kernel : polyval_rungs) {
            p.run(context, {kernel});
            if (const auto right = chained(p); !right)
                return testing::AssertionFailure() << to_string(kernel) << ": " << right.message();
        }
        return accurate(p);
    }
    Context context;
};
template <class T>
class Polyval : public SmallPolyval<T> {};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallPolyval, Types);
TYPED_TEST_SUITE(Polyval, Types);

TYPED_TEST(SmallPolyval, EveryShortDegree) {
    for (std::int64_t degree = 0; degree <= 70; ++degree)
        for (const int y : {0, 1}) {
            PolyvalProblem<TypeParam> p(37, degree, 1, vector_storages[0], vector_storages[y]);
            ASSERT_TRUE(this->every_rung_right(p));
        }
}

TYPED_TEST(SmallPolyval, EverySmallSize) {
    for (const std::int64_t size :
         {0,  1,   2,   3,   4,   5,   15,  16,  17,  31,  32,   33,   63,   64,
          65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025})
        for (const std::int64_t degree : {5, 75}) {
            PolyvalProblem<TypeParam> p(size, degree, 2);
            ASSERT_TRUE(this->every_rung_right(p));
        }
}

TYPED_TEST(SmallPolyval, HoweverVectorsLie) {
    for (const Storage& x : vector_storages)
        for (const Storage& y : vector_storages)
            for (const std::int64_t size : {1, 2, 257, 600})
                for (const std::int64_t degree : {6, 70}) {
                    PolyvalProblem<TypeParam> p(size, degree, 3, x, y);
                    ASSERT_TRUE(this->every_rung_right(p));
                }
}

TYPED_TEST(SmallPolyval, InPlace) {
    for (const Storage& x : vector_storages)
        for (const std::int64_t size : {1, 2, 257, 600})
            for (const std::int64_t degree : {0, 1, 6, 70}) {
                PolyvalProblem<TypeParam> p(size, degree, 4, x);
                p.in_place = true;
                ASSERT_TRUE(this->every_rung_right(p));
            }
}

// Increment 0: the same argument for all. A single element may have any increment.
TYPED_TEST(SmallPolyval, IncrementsThatNeverStep) {
    using T = TypeParam;
    for (const PolyvalKernel kernel : polyval_rungs) {
        PolyvalProblem<T> p(70, 9, 5);
        for (std::int64_t i = 1; i < 70; ++i) p.x.before()(0, i) = p.argument(0);
        p.upload(this->context);
        VectorView<T> same = p.device_x();
        same.increment = 0;
        polyval(this->context, std::span<const T>(p.coefficients), same, p.device_y(), {kernel});
        p.download(this->context);
        EXPECT_TRUE(chained(p)) << to_string(kernel);

        PolyvalProblem<T> one(1, 9, 6);
        one.upload(this->context);
        VectorView<T> y = one.device_y();
        y.increment = 0;
        polyval(this->context, std::span<const T>(one.coefficients), one.device_x(), y, {kernel});
        one.download(this->context);
        EXPECT_TRUE(chained(one)) << to_string(kernel);
    }
}

TYPED_TEST(SmallPolyval, SaysWhatRan) {
    PolyvalProblem<TypeParam> p(5, 2, 7), none(0, 2, 7);
    for (const PolyvalKernel kernel : polyval_rungs) {
        EXPECT_EQ(p.run(this->context, {kernel}).kernel, kernel);
        EXPECT_EQ(polyval_kernel(to_string(kernel)), kernel);
        EXPECT_EQ(none.run(this->context, {kernel}).kernel, PolyvalKernel::none);
    }
    EXPECT_EQ(p.run(this->context).kernel, PolyvalKernel::tuned);
    EXPECT_EQ(polyval_kernel("best"), PolyvalKernel::best);
    EXPECT_STREQ(to_string(PolyvalKernel::none), "none");
    EXPECT_EQ(none.run(this->context).kernel, PolyvalKernel::none);
}

// Around every capacity: blocks of 32, the parameters of each size, and pieces.
template <class T>
std::vector<std::int64_t> long_degrees() {
    std::vector<std::int64_t> degrees = {20000};
    const int capacity = polyval_most_steps<T>;
    for (const int around : {96, 128, 256, 1024, polyval_medium_slots<T>, capacity, 2 * capacity})
        for (const int beside : {-1, 0, 1}) degrees.push_back(around + beside);
    return degrees;
}

TYPED_TEST(Polyval, LongDegrees) {
    for (const std::int64_t degree : long_degrees<TypeParam>())
        for (const int storage : {0, 5}) {
            PolyvalProblem<TypeParam> p(19, degree, 10, vector_storages[storage],
                                        vector_storages[storage]);
            ASSERT_TRUE(this->every_rung_right(p));
        }
}

TYPED_TEST(Polyval, LongDegreesInPlace) {
    for (const std::int64_t degree : long_degrees<TypeParam>())
        for (const int storage : {0, 5}) {
            PolyvalProblem<TypeParam> p(19, degree, 11, vector_storages[storage]);
            p.in_place = true;
            ASSERT_TRUE(this->every_rung_right(p));
        }
}

// Every line of the table, at the size that it is made for: full and ragged blocks.
TYPED_TEST(Polyval, EveryEntryOfTheTable) {
    constexpr int element = sizeof(TypeParam);
    for (int entry = 0; entry < polyval_entries; ++entry) {
        const PolyvalEntry& e = polyval_table[entry];
        const int gpu = this->context.multiprocessors();
        const std::int64_t tile = e.threads * e.elements(element);
        const std::int64_t size = e.least_fill > 0 ? gpu * tile - 3 : 3 * tile - 3;
        const int degree = e.in_blocks() ? 64 + 37 : e.longest;
        ASSERT_EQ(choose_polyval_entry(e.walk, element, gpu, degree, size), entry);
        PolyvalProblem<TypeParam> p(size, degree, 12, vector_storages[0],
                                    vector_storages[e.walk == PolyvalWalk::elements]);
        p.run(this->context, {PolyvalKernel::tuned});
        ASSERT_TRUE(chained(p)) << "entry " << entry;
    }
}

// The coefficients were read before the call returned.
TYPED_TEST(SmallPolyval, HostArrayMayChangeAtOnce) {
    using T = TypeParam;
    for (const PolyvalKernel kernel : polyval_rungs)
        for (const std::int64_t degree : {0, 3, 100, 2000, 9000}) {
            PolyvalProblem<T> p(70, degree, 13);
            p.upload(this->context);
            const std::vector<T> kept = p.coefficients;
            p.enqueue(this->context, {kernel});
            std::fill(p.coefficients.begin(), p.coefficients.end(), poison<T>());
            p.coefficients = kept;  // elsewhere in memory
            p.download(this->context);
            EXPECT_TRUE(chained(p)) << to_string(kernel);
        }
}

/// Two polynomials of one degree, turn by turn.
template <class T>
void take_turns(Context& one, Context& other, PolyvalKernel kernel, std::int64_t degree,
                std::uint64_t seed) {
    PolyvalProblem<T> p(300, degree, seed), q(300, degree, seed + 1);
    p.upload(one);
    q.upload(other);
    for (int turn = 0; turn < 5; ++turn) {
        p.enqueue(one, {kernel});
        q.enqueue(other, {kernel});
    }
    p.download(one);
    q.download(other);
    EXPECT_TRUE(chained(p)) << to_string(kernel);
    EXPECT_TRUE(chained(q)) << to_string(kernel);
}

TYPED_TEST(SmallPolyval, PolynomialsDoNotDisturbEachOther) {
    Context other;
    for (const PolyvalKernel kernel : polyval_rungs)
        for (const std::int64_t degree : {4, 70, 9000}) {
            take_turns<TypeParam>(this->context, other, kernel, degree, 14);
            take_turns<TypeParam>(this->context, this->context, kernel, degree, 15);
        }
}

// Not among the small ones: compute-sanitizer loses track of launches from two threads at once.
TYPED_TEST(Polyval, ThreadsDoNotDisturbEachOther) {
    const auto work = [](std::uint64_t seed) {
        Context one, other;
        for (const PolyvalKernel kernel : polyval_rungs)
            for (const std::int64_t degree : {4, 70, 1500})
                take_turns<TypeParam>(one, other, kernel, degree, seed);
    };
    std::thread first(work, 20), second(work, 30);
    first.join();
    second.join();
}

}  // namespace
}  // namespace tinyblas::test
