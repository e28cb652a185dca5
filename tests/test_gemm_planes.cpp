// SPDX-License-Identifier: MIT
// gemm's pre-pass: parts, exponents and findings bit for bit as a model in double has them, for all
// ways in which an operand can lie in memory; and the guard at its thresholds.
#include <gtest/gtest.h>

#include "needs_90.hpp"
#include "planes_model.hpp"
#if defined(TINYBLAS_TRACED)
#include "device/emulation/trace.hpp"
#endif

namespace tinyblas::test {
namespace {

constexpr GemmParts fp16x2 = GemmParts::fp16x2, bf16x3 = GemmParts::bf16x3;

/// Normal numbers, times 2^scale(row, k).
template <class Scale>
Rows normal(std::int64_t rows, std::int64_t k, std::uint64_t seed, Scale scale) {
    Random random(seed);
    Rows x(rows, k);
    x.fill([&](auto row, auto p) { return std::ldexp(random.normal(), scale(row, p)); });
    return x;
}
Rows normal(std::int64_t rows, std::int64_t k, std::uint64_t seed) {
    return normal(rows, k, seed, [](auto, auto) { return 0; });
}
/// Its findings are gemm_wide, whatever lies beside it.
Rows wide_row() {
    Rows x(1, 4);
    x.fill([](auto, auto p) { return std::ldexp(1.5, static_cast<int>(-20 * p)); });
    x(0, 3) = 0;
    return x;
}

/// Both passes over two operands, the second with its gate opened by one more.
testing::AssertionResult both_kinds(const Rows& x, const PlanesLayout& layout, const Rows& y,
                                    const PlanesLayout& y_layout) {
    Planes a(x, layout), b(y, y_layout);
    make_planes<fp16x2>(a, b);
    for (Planes* planes : {&a, &b})
        if (auto good = planes->as_defined(fp16x2); !good) return good;
    Planes opener(wide_row());
    make_planes<fp16x2>(opener.task(fp16x2), opener.packed(fp16x2));
    for (Planes* planes : {&a, &b}) {
        // The gate looks at both operands' findings.
        make_planes<bf16x3>(planes->task(bf16x3), opener.packed(bf16x3));
        if (auto good = planes->as_defined(bf16x3); !good) return good << ", bf16x3";
    }
    return testing::AssertionSuccess();
}

class PlanesLayouts : public testing::TestWithParam<PlanesLayout> {};
INSTANTIATE_TEST_SUITE_P(, PlanesLayouts, testing::ValuesIn(planes_layouts),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(PlanesLayouts, PartsAreAsDefinedAndPaddedWithZeros) {
    for (const auto& [rows, k] : {std::pair{32, 512}, {64, 1024}, {70, 600}, {5, 7}})
        EXPECT_TRUE(both_kinds(normal(rows, k, 1), GetParam(), normal(3, k, 2), row_neighbours))
            << rows << " x " << k;
}

TEST(PlanesExtents, AllEdgesOfStripsBricksAndGroups) {
    std::uint64_t seed = 100;
    for (const int rows : {1, 31, 32, 33, 63, 64, 65, 97})
        for (const int k : {1, 8, 31, 33, 63, 64, 65, 255, 256, 257, 513}) {
            if (rows > 33 && k > 65 && (rows + k) % 3 != 0) continue;  // enough is enough
            EXPECT_TRUE(both_kinds(normal(rows, k, seed), k_neighbours, normal(rows, k, seed + 1),
                                   row_neighbours))
                << rows << " x " << k;
            seed += 2;
        }
}

TEST(PlanesExtents, RowsThatCoincide) {
    Rows x(40, 530);
    Random random(5);
    x.fill([&](auto, auto p) { return p == 0 ? 0.0 : random.normal(); });
    for (std::int64_t row = 1; row < x.rows; ++row)
        for (std::int64_t p = 0; p < x.k; ++p) x(row, p) = x(0, p);
    EXPECT_TRUE(both_kinds(x, {.name = "same", .factor = 0}, normal(1, 530, 6), k_neighbours));
}

TEST(PlanesExtents, ManyGroups) {
    // More than the notes that are loaded at once; exponents that wander and zero groups.
    const auto scale = [](auto row, auto p) { return static_cast<int>((p / 256 * 7 + row) % 39); };
    Rows x = normal(33, 256 * 35 + 100, 7, scale);
    for (std::int64_t p = 0; p < x.k; ++p) {
        if (p / 256 < 3 || p / 256 == 20 || p / 256 == 35) x(0, p) = 0;
        if (p / 256 < 18) x(5, p) = 0;
        if (p / 256 > 0) x(6, p) = 0;
        x(7, p) = 0;
    }
    EXPECT_TRUE(both_kinds(x, k_neighbours, normal(2, x.k, 8), row_neighbours));
}

TEST(PlanesExponents, AreTheNextOfEveryEight) {
    constexpr int powers[] = {-9, -8, -1, 0, 7, 8}, expected[] = {-9, -1, -1, 7, 7, 15};
    for (const PlanesLayout& layout : {k_neighbours, row_neighbours}) {
        // The last two rows: ones, and the smallest number that the seventh bit leaves room for, or
        // the next smaller one.
        Rows x(8, 256);
        x.fill([&](auto row, auto) { return row < 6 ? std::ldexp(1.5, powers[row]) : 1.0; });
        x(6, 200) = 0x1p-21f;
        x(7, 200) = std::nextafter(0x1p-21f, 0.0f);
        Planes a(x, layout);
        make_planes<fp16x2>(a.task(fp16x2), a.packed(fp16x2));
        const int* const exponents = a.view(fp16x2).exponents;
        for (int row = 0; row < 6; ++row) EXPECT_EQ(exponents[row], expected[row]);
        EXPECT_EQ(exponents[6], 7);
        EXPECT_EQ(exponents[7], 0);
        EXPECT_EQ(a.findings()[0], gemm_has_low);
    }
}

TEST(PlanesExponents, OfNormalNumbersAreTheSameInAllGroups) {
    for (const PlanesLayout& layout : {k_neighbours, row_neighbours}) {
        Planes a(normal(64, 2048, 3), layout), b(normal(64, 2048, 4), layout);
        make_planes<fp16x2>(a, b);
        for (Planes* planes : {&a, &b})
            for (std::int64_t group = 0; group < 8; ++group)
                for (int row = 0; row < 64; ++row)
                    EXPECT_EQ(planes->view(fp16x2).exponents_of(0, group)[row], 7);
    }
}

TEST(PlanesExtents, NothingToDo) {
    Rows none(0, 5), empty(5, 0);
    for (const Rows* x : {&none, &empty}) {
        const float never_read = 0;
        const GemmPlanes planes = {nullptr, nullptr, nullptr, x->rows, x->k};
        const GemmPlanesTask task = {&never_read, 1, 1, planes, nullptr, nullptr};
        EXPECT_NO_THROW(make_planes<fp16x2>(task, task));
        EXPECT_NO_THROW(make_planes<bf16x3>(task, task));
    }
}

TEST(PlanesValues, SubnormalsLargeSmallAndZeroRows) {
    for (const PlanesLayout& layout : {k_neighbours, row_neighbours}) {
        Random random(11);
        const auto scale = [&](auto row, auto) {
            const int scales[] = {0, -100, 100, -140, -149, 124, -126, -113, -77, -20};
            return scales[row % 10];
        };
        Rows x = normal(75, 1200, 12, scale);
        // Subnormal rows have few bits, and bits may end anywhere.
        for (std::int64_t row = 0; row < x.rows; ++row)
            for (std::int64_t p = 0; p < x.k; ++p) {
                if (row == 20 || (row == 21 && p >= 512 && p < 1024)) x(row, p) = 0;
                if (row == 22) x(row, p) = p % 2 == 0 ? -0.0f : 0x1p-149f;
                if (row == 32) x(row, p) = random.integer(0, 3) == 0 ? 3.0f : 0.0f;
                if (row == 33) x(row, p) = std::ldexp(1.0f, static_cast<int>(p % 28));
                if (row == 34) x(row, p) = std::numeric_limits<float>::max();
            }
        EXPECT_TRUE(both_kinds(x, layout, normal(40, 1200, 13), layout));
    }
}

TEST(PlanesValues, PartsAddUpToTheElement) {
    // Within 2^-23 of it down to 2^27 below the row's largest; from there on to 2^(e - 50).
    Rows x(64, 2048);
    Random random(17);
    x.fill([&](auto row, auto) {
        const int down = static_cast<int>(random.integer(0, row < 32 ? 27 : 48));
        return std::ldexp(1 + random.uniform(), -down) * (random.integer(0, 1) == 0 ? 1 : -1);
    });
    for (std::int64_t row = 0; row < x.rows; ++row)
        for (std::int64_t p = 0; p < x.k; p += 256) x(row, p) = 1.75f;
    Planes a(x), b(wide_row());
    make_planes<fp16x2>(a, b);
    const PlanesModel model(x, fp16x2), wide(x, bf16x3);  // for places only
    double worst = 0, worst_tail = 0, worst_wide = 0;
    const std::uint16_t* bricks = a.view(fp16x2).bricks;
    for (std::int64_t row = 0; row < x.rows; ++row)
        for (std::int64_t p = 0; p < x.k; ++p) {
            const double y = value_of_fp16(bricks[model.place(row, p, 0)]) +
                             std::ldexp(value_of_fp16(bricks[model.place(row, p, 1)]), -11);
            const double error = std::fabs(std::ldexp(y, -14) - x(row, p));
            const double size = std::fabs(static_cast<double>(x(row, p)));
            if (row < 32)
                worst = std::max(worst, error / size);
            else
                worst_tail = std::max(worst_tail, error - std::ldexp(size, -23));
        }
    EXPECT_LE(worst, 0x1p-23);
    EXPECT_LE(worst_tail, 0x1p-50);
    EXPECT_GT(worst_tail, 0x1p-53);

    make_planes<bf16x3>(a, b);
    ASSERT_FALSE(a.untouched(bf16x3));
    bricks = a.view(bf16x3).bricks;
    for (std::int64_t row = 0; row < x.rows; ++row)
        for (std::int64_t p = 0; p < x.k; ++p) {
            double y = 0;
            for (int part = 0; part < 3; ++part)
                y += std::bit_cast<float>(std::uint32_t{bricks[wide.place(row, p, part)]} << 16);
            const double size = std::fabs(static_cast<double>(x(row, p)));
            worst_wide = std::max(worst_wide, std::fabs(std::ldexp(y, -50) - x(row, p)) / size);
        }
    EXPECT_LE(worst_wide, 0x1p-24);
}

/// What the guard finds in row 1 of two rows of ones, but for some elements that `change` sets.
template <class Change>
unsigned found(std::int64_t k, Change change, int exponent = 0) {
    unsigned both[2];
    for (const bool along_rows : {false, true}) {
        Rows x(70, k);
        x.fill([&](auto, auto) { return std::ldexp(1, exponent); });
        change([&](std::int64_t p, double value) {
            x(40, p) = static_cast<float>(std::ldexp(value, exponent));
        });
        Planes a(x, along_rows ? row_neighbours : k_neighbours), b(Rows(1, k));
        make_planes<fp16x2>(a, b);
        const auto findings = a.findings();
        EXPECT_EQ(findings[0], 0u);
        EXPECT_EQ(findings[2], 0u);
        EXPECT_EQ(b.findings()[0], 0u);
        both[along_rows] = findings[1];
        if (!(findings[1] & gemm_strict)) {
            EXPECT_TRUE(a.as_defined(fp16x2));
        }
    }
    EXPECT_EQ(both[0], both[1]);
    return both[0];
}

/// The bits that decide; whether there are low parts is another question.
template <class Change>
unsigned route(std::int64_t k, Change change, int exponent = 0) {
    return found(k, change, exponent) & (gemm_wide | gemm_strict);
}

TEST(Guard, ManyElementsMayLieAtTheSpread) {
    EXPECT_EQ(route(600,
                    [](auto set) {
                        for (int p = 0; p < 512; p += 3) set(p, p % 2 == 0 ? 0x1p-28 : -0x1p-28);
                        set(1, 1.999);
                    }),
              0u);
}

TEST(Guard, FewElementsOfARowAndGroupMayLieBelowTheSpread) {
    const double below = std::nextafter(0x1p-28f, 0.0f);
    const auto some = [&](std::initializer_list<int> places) {
        return route(1100, [&](auto set) {
            for (const int p : places) set(p, p % 2 == 0 ? below : -0x1p-36);
        });
    };
    EXPECT_EQ(some({7, 200}), 0u);
    EXPECT_EQ(some({7, 8, 200}), gemm_wide);
    EXPECT_EQ(some({0, 1, 2}), gemm_wide);
    EXPECT_EQ(some({253, 254, 255}), gemm_wide);
    EXPECT_EQ(some({254, 255, 256, 257, 1099, 1098}), 0u);  // two of each group
    EXPECT_EQ(some({1024, 1098, 1099}), gemm_wide);
    EXPECT_EQ(some({0, 32, 64, 96, 128, 160, 192, 224}), gemm_wide);
}

TEST(Guard, ElementsBelowTheSpreadAreCountedByRow) {
    for (const PlanesLayout& layout : {k_neighbours, row_neighbours}) {
        Rows x(32, 512);
        x.fill([](auto row, auto p) { return p % 100 == row && p < 200 ? 0x1p-30 : 1.0; });
        Planes a(x, layout), b(Rows(1, 512));
        make_planes<fp16x2>(a, b);
        EXPECT_EQ(a.findings()[0], 0u);
        a.set(31, 250, 0x1p-30f);
        make_planes<fp16x2>(a, b);
        EXPECT_EQ(a.findings()[0], gemm_wide);
    }
}

TEST(Guard, ZerosAreNotSmall) {
    EXPECT_EQ(found(512,
                    [](auto set) {
                        for (int p = 1; p < 512; ++p) set(p, p % 2 == 0 ? 0.0 : -0.0);
                    }),
              0u);
}

TEST(Guard, NoElementMayLieFurtherDown) {
    const auto one = [](double value, int exponent = 0) {
        return route(
            512, [&](auto set) { set(77, value); }, exponent);
    };
    EXPECT_EQ(one(0x1p-36), 0u);
    EXPECT_EQ(one(std::nextafter(0x1p-36f, 0.0f)), gemm_wide);
    EXPECT_EQ(one(-0x1p-37), gemm_wide);
    EXPECT_EQ(one(0x1p-48), gemm_wide);
    EXPECT_EQ(one(-std::nextafter(0x1p-48f, 0.0f)), gemm_wide | gemm_strict);
    EXPECT_EQ(one(0x1p-100), gemm_wide | gemm_strict);
    EXPECT_EQ(one(0x1p-149), gemm_wide | gemm_strict);
    // The same where the thresholds are subnormal, or below all numbers.
    EXPECT_EQ(one(0x1p-36, -100), 0u);
    EXPECT_EQ(one(0x1p-37, -100), gemm_wide);
    EXPECT_EQ(one(0x1p-48, -100), gemm_wide);
    EXPECT_EQ(one(0x1p-49, -100), gemm_wide | gemm_strict);
    EXPECT_EQ(one(0x1p-36, -113), 0u);
    EXPECT_EQ(one(0x1p-19, -130), 0u);
    EXPECT_EQ(one(0x1p-149, 127), gemm_wide | gemm_strict);
}

TEST(Guard, ThreeSubnormalElementsBelowTheSpread) {
    const auto three = [](int down) {
        return route(
            512,
            [&](auto set) {
                for (const int p : {3, 4, 5}) set(p, std::ldexp(1, -down));
            },
            -105);
    };
    EXPECT_EQ(three(28), 0u);
    EXPECT_EQ(three(29), gemm_wide);
}

TEST(Guard, GroupsMayDriftSoFar) {
    const auto drift = [](int by, std::int64_t zero_groups) {
        const std::int64_t first = 256 * (1 + zero_groups);
        return route(first + 256, [&](auto set) {
            for (std::int64_t p = 256; p < first + 256; ++p)
                set(p, p < first ? 0.0 : std::ldexp(1, by));
        });
    };
    for (const std::int64_t zero_groups : {0, 1, 20}) {
        EXPECT_EQ(drift(40, zero_groups), 0u);
        EXPECT_EQ(drift(-40, zero_groups), 0u);
        EXPECT_EQ(drift(41, zero_groups), gemm_wide);
        EXPECT_EQ(drift(-41, zero_groups), gemm_wide);
        EXPECT_EQ(drift(48, zero_groups), gemm_wide);
        EXPECT_EQ(drift(49, zero_groups), gemm_wide | gemm_strict);
        EXPECT_EQ(drift(-49, zero_groups), gemm_wide | gemm_strict);
    }
}

TEST(Guard, DriftIsJudgedOnlyWhereARowIsFarFromOne) {
    const auto exponents = [](double first, double last) {
        Rows x(40, 768);  // a group of zeros between two others
        x.fill([&](auto row, auto p) {
            return row != 35 ? 1.0 : p < 256 ? first : p < 512 ? 0.0 : last;
        });
        Planes a(x), b(Rows(1, 768));
        make_planes<fp16x2>(a, b);
        EXPECT_TRUE(a.as_defined(fp16x2));
        std::vector<int> of_row;
        for (int group = 0; group < 3; ++group)
            of_row.push_back(a.view(fp16x2).exponents_of(0, group)[35]);
        of_row.push_back(static_cast<int>(a.findings()[1]));
        return of_row;
    };
    const auto wide = static_cast<int>(gemm_wide);
    EXPECT_EQ(exponents(0x1p20, 0x1p-20), (std::vector{23, 7, -17, 0}));
    EXPECT_EQ(exponents(0x1p-20, 0x1.8p20), (std::vector{-17, 7, 23, 0}));
    EXPECT_EQ(exponents(0x1p21, 0x1p-19), (std::vector{23, 23, -17, 0}));
    EXPECT_EQ(exponents(0x1p-21, 0x1p19), (std::vector{-17, -17, 23, 0}));
    EXPECT_EQ(exponents(0x1p21, 0x1p-20), (std::vector{23, 23, -17, wide}));
    EXPECT_EQ(exponents(0, 0x1p-40), (std::vector{-33, -33, -33, 0}));
}

TEST(Guard, DriftIsThatOfARowNotOfNeighbours) {
    // 30 up, then 30 more: 60 in all. Another row goes 30 down.
    EXPECT_EQ(route(1536,
                    [](auto set) {
                        for (int p = 512; p < 1536; ++p) set(p, p < 1024 ? 0x1p30 : 0x1p60);
                    }),
              gemm_wide | gemm_strict);
    Rows x(32, 1024);
    x.fill([](auto row, auto p) { return p < 512 ? 1.0 : row == 3 ? 0x1p30 : 0x1p-30; });
    Planes a(x), b(Rows(1, 1024));
    make_planes<fp16x2>(a, b);
    EXPECT_EQ(a.findings()[0], 0u);
}

TEST(Guard, NumbersThatAreNotFinite) {
    const float inf = std::numeric_limits<float>::infinity();
    for (const float bad : {inf, -inf, std::nanf(""), -std::nanf(""),
                            std::bit_cast<float>(0x7F800001u), std::bit_cast<float>(0xFFFFFFFFu)})
        for (const std::int64_t k : {1, 512, 700})
            for (const std::int64_t p : {std::int64_t{0}, k / 2, k - 1}) {
                const unsigned findings =
                    found(k, [&](auto set) { set(p, static_cast<double>(bad)); });
                EXPECT_TRUE(findings & gemm_strict) << bad << " at " << p << " of " << k;
            }
    EXPECT_EQ(route(
                  512, [](auto set) { set(3, std::numeric_limits<float>::max()); }, 0) &
                  gemm_strict,
              gemm_strict);  // the ones lie far below it
}

TEST(Guard, LowPartsAreFound) {
    EXPECT_EQ(found(600, [](auto set) { set(599, 2047.0 / 2048); }), 0u);            // 11 bits
    EXPECT_EQ(found(600, [](auto set) { set(599, 4095.0 / 4096); }), gemm_has_low);  // 12
    EXPECT_EQ(found(600, [](auto set) { set(0, 1 + 0x1p-23); }), gemm_has_low);
    EXPECT_EQ(found(600, [](auto set) { set(0, 1 + 0x1p-10); }), 0u);
    EXPECT_EQ(found(600, [](auto set) { set(0, 0x1p-24 * 1023); }), 0u);
}

TEST(Guard, FindingsAreThoseOfTheLastCall) {
    for (const std::int64_t k : {512, 1000}) {
        Planes a(normal(40, k, 1)), b(normal(64, k, 2), row_neighbours);
        const float good = a.values()(33, k - 1);
        a.set(33, k - 1, std::numeric_limits<float>::infinity());
        make_planes<fp16x2>(a, b);
        EXPECT_EQ(a.findings()[0], gemm_has_low);
        EXPECT_TRUE(a.findings()[1] & gemm_strict);
        a.set(33, k - 1, good);
        make_planes<fp16x2>(a, b);
        EXPECT_TRUE(a.as_defined(fp16x2));
        EXPECT_TRUE(b.as_defined(fp16x2));
    }
}

TEST(Gate, Bf16IsMadeOnlyIfItIsMeant) {
    const auto touched = [](const Rows& x, const Rows& y) {
        Planes a(x), b(y, row_neighbours);
        make_planes<fp16x2>(a, b);
        make_planes<bf16x3>(a, b);
        const bool bf16_made = !a.untouched(bf16x3);
        // With one group, the first pass leaves nothing where these exponents lie.
        EXPECT_EQ(bf16_made, !b.untouched(bf16x3));
        EXPECT_TRUE((bf16_made ? a.as_defined(bf16x3) : a.as_defined(fp16x2)));
        return bf16_made;
    };
    const Rows plain = normal(33, 250, 1);
    Rows wide = plain, strict = plain;
    wide(32, 249) = std::ldexp(wide(32, 249), -40);
    strict(0, 0) = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(touched(plain, plain));
    EXPECT_TRUE(touched(wide, plain));
    EXPECT_TRUE(touched(plain, wide));
    EXPECT_TRUE(touched(wide, wide));
    Planes a(wide), b(strict);
    make_planes<fp16x2>(a, b);
    make_planes<bf16x3>(a, b);
    EXPECT_TRUE(a.untouched(bf16x3));
    EXPECT_TRUE(b.untouched(bf16x3));
}

TEST(Gate, AnOperandInPartsIsLeftAloneButItsFindingsCount) {
    const Rows plain = normal(50, 250, 1);
    Rows wide = plain;
    wide(49, 0) = std::ldexp(1.0f, -39);
    Planes a(plain), b(wide);
    make_planes<fp16x2>(b.task(fp16x2), b.packed(fp16x2));
    EXPECT_TRUE(b.as_defined(fp16x2));
    make_planes<fp16x2>(a.task(fp16x2), b.packed(fp16x2));
    EXPECT_TRUE(a.as_defined(fp16x2));
    EXPECT_TRUE(b.as_defined(fp16x2));
    make_planes<bf16x3>(a.task(bf16x3), b.packed(bf16x3));
    EXPECT_TRUE(a.as_defined(bf16x3));
    EXPECT_TRUE(b.untouched(bf16x3));
    EXPECT_TRUE(b.as_defined(fp16x2));
}

#if defined(TINYBLAS_TRACED)

TEST(PlanesTrace, MovesWholeSectorsWithoutBankConflicts) {
    for (const PlanesLayout& layout : {k_neighbours, row_neighbours}) {
        Planes a(normal(64, 1024, 1), layout), b(normal(64, 1024, 2), layout);
        device::Trace trace;
        make_planes<fp16x2>(a, b);
        const device::TracedLaunch launch = trace.take().at(0);
        SCOPED_TRACE(testing::Message() << launch);
        int vectors = 0;
        for (const device::TraceRow& row : launch.rows) {
            EXPECT_EQ(row.extra_wavefronts(), 0u);
            if (row.space != device::Space::global || row.bytes != 16) continue;
            ++vectors;
            // Along k, each of two loads takes one half of its sectors.
            const bool halves = row.access == device::Access::read && !layout.along_rows;
            EXPECT_EQ(row.sectors, row.ideal_sectors * (halves ? 2 : 1));
            EXPECT_EQ(row.threads, 128u * 1024 / 4);  // 4 elements of 4 bytes, or 2 parts of 8
        }
        EXPECT_EQ(vectors, 2);  // one line of the source that reads, one that writes
    }
}

#endif

}  // namespace
}  // namespace tinyblas::test
