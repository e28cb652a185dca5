// SPDX-License-Identifier: MIT
// gemm on real numbers: the promised chain of roundings bit for bit, the tolerance against a wide
// reference, the bias of the errors.

#include <set>

#include "gemm_problem.hpp"

namespace tinyblas::test {
namespace {

class GemmReals : public GemmVariants {};
TINYBLAS_FOR_EACH_GEMM_VARIANT(GemmReals);

template <class T>
constexpr int significand = std::numeric_limits<T>::digits;

// (1 + e)(1 - e) = 1 - e^2 needs every bit of the type: inputs or products rounded to a shorter
// type give 1.
TEST_P(GemmReals, PrecisionProbe) {
    run([&]<class T>(T) {
        const T e = std::ldexp(T(1), -significand<T> / 2);
        for (std::int64_t k = 1; k <= 8; ++k) {
            GemmProblem<T> p({17, 9, k}, 100 + k);
            p.a.fill([&] { return 1 + e; });
            p.b.fill([&] { return 1 - e; });
            EXPECT_TRUE(strict(p, p.run(context, options)));
            EXPECT_TRUE(close(p));
            if (k > 1) continue;
            EXPECT_EQ(p.c.after()(16, 8), 1 - e * e);
            EXPECT_NE(p.c.after()(16, 8), 1);
        }
    });
}

TEST_P(GemmReals, FullSignificands) {
    run([&]<class T>(T) {
        const std::int64_t top = std::int64_t{1} << (significand<T> - 1);
        for (std::int64_t k = 1; k <= 8; ++k) {
            GemmProblem<T> p({19, 34, k}, 200 + k, storages[k % input_storages]);
            p.alpha = T(1) / 3;
            p.beta = T(-1) / 7;
            p.fill([&](Random& r) { return (top + r.integer(0, top - 1)) | 1; });
            EXPECT_TRUE(strict(p, p.run(context, options)));
            EXPECT_TRUE(close(p));
        }
    });
}

double unit(Random& r) { return r.uniform(); }
double symmetric(Random& r) { return 2 * r.uniform() - 1; }
double normal(Random& r) { return r.normal(); }
double graded(Random& r) {
    return std::exp2(16 * r.uniform() - 8) * (r.integer(0, 1) == 0 ? 1 : -1);
}

TEST_P(GemmReals, WithinToleranceAndChained) {
    run([&]<class T>(T) {
        std::uint64_t seed = 300;
        for (auto draw : {unit, symmetric, normal, graded})
            for (const Shape shape : {Shape{65, 33, 257}, Shape{129, 130, 20}, Shape{4, 7, 1000}}) {
                ++seed;
                GemmProblem<T> p(shape, seed, storages[seed % input_storages],
                                 storages[seed / 2 % input_storages]);
                p.alpha = T(1.7);
                p.beta = T(-0.6);
                p.fill(draw);
                EXPECT_TRUE(strict(p, p.run(context, options)));
                EXPECT_TRUE(close(p));
            }
    });
}

// Rounding to nearest errs to both sides alike. Truncated inputs or sums show here, at any k, and
// in no maximum.
TEST_P(GemmReals, NoSignedBias) {
    run([&]<class T>(T) {
        GemmProblem<T> p({96, 96, 256}, 400);
        p.fill(unit);
        p.run(context, options);
        const WideMatrix<T> error = widen(p.c.after()) - wide_gemm(p);
        const Wide<T> bias = error.cwiseQuotient(wide_gemm(p, true)).mean();
        const Wide<T> u = std::numeric_limits<T>::epsilon() / 2;
        EXPECT_TRUE(std::abs(bias) <= u) << static_cast<double>(bias / u) << " u; " << p;
    });
}

TEST_P(GemmReals, SameBitsOnEveryRun) {
    run([&]<class T>(T) {
        GemmProblem<T> p({67, 45, 61}, 500);
        p.fill(normal);
        ASSERT_TRUE(strict(p, p.run(context, options)));
        const WideMatrix<T> first = widen(p.c.after());
        for (int repeat = 0; repeat < 100; ++repeat) {
            p.run(context, options);
            ASSERT_TRUE(
                judge(p, "what it was", [&](auto i, auto j, T x) { return x == first(i, j); }))
                << "repeat " << repeat;
        }
    });
}

// The choice.

TEST_P(GemmReals, ReportsWhatRan) {
    run([&]<class T>(T) {
        GemmProblem<T> p({40, 40, 4}, 600);
        p.fill(unit);
        const GemmChoice choice = p.run(context, options);
        if (options.kernel == GemmKernel::best)
            EXPECT_TRUE(choice.kernel != GemmKernel::best && choice.kernel != GemmKernel::none);
        else
            EXPECT_EQ(choice.kernel, options.kernel);
        if (choice.kernel != GemmKernel::tuned) {
            EXPECT_EQ(choice.entry, -1);
        } else if (options.entry >= 0) {
            EXPECT_EQ(choice.entry, options.entry);
        } else {
            ASSERT_TRUE(choice.entry >= 0 && choice.entry < gemm_entries) << choice.entry;
            EXPECT_EQ(gemm_table[choice.entry].type, GetParam().type);
        }
    });
}

TEST(GemmKernelNames, RoundTrip) {
    for (GemmKernel kernel :
         {GemmKernel::best, GemmKernel::naive, GemmKernel::tiled, GemmKernel::tuned,
          GemmKernel::sliced, GemmKernel::pipelined, GemmKernel::tensor, GemmKernel::gemv,
          GemmKernel::split, GemmKernel::hopper})
        EXPECT_EQ(gemm_kernel(to_string(kernel)), kernel);
    EXPECT_STREQ(to_string(GemmKernel::none), "none");
    EXPECT_TRUE(refuses([] { gemm_kernel("fast"); },
                        {"fast", "best", "naive", "tiled", "tuned", "split", "hopper"}));
    EXPECT_TRUE(refuses([] { gemm_kernel(""); }, {"best", "naive", "tiled", "tuned"}));
}

TEST(GemmTable, EveryTypeHasALineThatAlwaysFits) {
    for (Scalar type : {Scalar::float32, Scalar::float64})
        for (int compute_capability : {80, 86, 90, 100, 120})
            for (std::int64_t extent : {1, 31, 64, 100, 5000}) {
                const int entry = choose_gemm_entry(type, compute_capability, 132, extent, extent);
                ASSERT_GE(entry, 0);
                EXPECT_EQ(gemm_table[entry].type, type);
                EXPECT_TRUE(runs_on(gemm_table[entry], compute_capability));
                EXPECT_LE(gemm_table[entry].least_fill,
                          gemm_fill(gemm_table[entry].tile, 132, extent, extent));
            }
}

// By the table's lines as they stand there, not by the function that chooses among them.
template <class T>
int taken_lines() {
    Context context;
    std::set<int> taken;
    for (const Shape shape : {Shape{1, 1, 1}, Shape{64, 64, 1}, Shape{129, 1000, 1},
                              Shape{1000, 1000, 1}, Shape{4096, 64, 1}, Shape{1536, 1536, 1}}) {
        GemmProblem<T> p(shape, 700);
        const GemmChoice choice = explain(context, p.alpha, MatrixView<const T>(p.a.device()),
                                          MatrixView<const T>(p.b.device()), p.beta, p.c.device(),
                                          {.kernel = GemmKernel::tuned})
                                      .choice;
        EXPECT_TRUE(choice.entry >= 0 && choice.entry < gemm_entries) << choice.entry;
        taken.insert(choice.entry);
        for (int entry = 0; entry <= choice.entry; ++entry) {
            const GemmEntry& line = gemm_table[entry];
            const bool fits = line.type == (sizeof(T) == 4 ? Scalar::float32 : Scalar::float64) &&
                              runs_on(line, context.compute_capability()) &&
                              gemm_fill(line.tile, context.multiprocessors(), shape.m, shape.n) >=
                                  line.least_fill;
            EXPECT_EQ(fits, entry == choice.entry)
                << shape.m << " x " << shape.n << ", entry " << entry;
        }
    }
    return static_cast<int>(taken.size());
}
TEST(GemmTable, TunedTakesTheFirstLineThatFits) {
    taken_lines<float>();
    EXPECT_GT(taken_lines<double>(), 1);
}

}  // namespace
}  // namespace tinyblas::test
