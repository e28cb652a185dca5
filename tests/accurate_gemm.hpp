// SPDX-License-Identifier: MIT
// What the tests of gemm from parts share: the rungs, data that take each route of the guard, and a
// suite that runs over the rungs that this device has.
#pragma once

#include "gemm_problem.hpp"
#include "kernels/gemm/planes.hpp"
#include "kernels/gemm/precision_choice.hpp"

namespace tinyblas {

// How gtest shows them.
inline void PrintTo(GemmKernel kernel, std::ostream* out) { *out << to_string(kernel); }
inline void PrintTo(GemmVerdict verdict, std::ostream* out) { *out << to_string(verdict); }

}  // namespace tinyblas

namespace tinyblas::test {

inline double unit(Random& r) { return r.uniform(); }
inline double symmetric(Random& r) { return 2 * r.uniform() - 1; }
inline double normal(Random& r) { return r.normal(); }
inline double spread_out(Random& r) {  // sign * 2^U(-8, 8)
    return std::exp2(16 * r.uniform() - 8) * (r.integer(0, 1) == 0 ? 1 : -1);
}

/// A of 2^(-span p / k) N(0,1) along k, and B the other way round: all products are alike.
inline void fill_graded(GemmProblem<float>& p, int span) {
    p.fill(normal);
    const auto a = p.a.before(), b = p.b.before();
    for (std::int64_t q = 0; q < a.columns; ++q) {
        const auto grade = static_cast<int>(span * q / a.columns);
        for (std::int64_t i = 0; i < a.rows; ++i) a(i, q) = std::ldexp(a(i, q), -grade);
        for (std::int64_t j = 0; j < b.columns; ++j) b(q, j) = std::ldexp(b(q, j), grade);
    }
}

/// What the documentation promises: (50 + k / 32) u |alpha| |A| |B|, and roundings of the scalars'
/// products; Inf where no float is near.
inline testing::AssertionResult promised(GemmProblem<float>& p) {
    const WideMatrix<float> expected = wide_gemm(p), magnitude = wide_gemm(p, true);
    const auto k = static_cast<double>(p.a.before().columns);
    return judge(p, "within the promised bound", [&](auto i, auto j, float x) {
        const double exact = expected(i, j);
        if (std::abs(exact) > 0x1p128) return x == std::copysign(INFINITY, exact);
        const double scaled = p.beta == 0 ? 0 : std::abs(p.beta * double{p.c.before()(i, j)});
        return std::abs(x - exact) <= (50 + k / 32) * 0x1p-24 * magnitude(i, j) +
                                          0x1p-23 * (std::abs(exact) + scaled) + 0x1p-148;
    });
}

/// 640 x 512, with the least k for which Precision::fp32 is made from parts: among the products
/// with the fewest multiply-adds that are.
inline Shape paying_shape() {
    Shape shape = {640, 512, gemm_costs.least_k};
    while (!gemm_fp32_pays(shape.m, shape.n, shape.k)) shape.k += 64;
    return shape;
}

/// Bits of C as it is after the run.
template <class T>
std::vector<Bits<T>> bits_after(GemmProblem<T>& p) {
    const MatrixView<T> c = p.c.after();
    std::vector<Bits<T>> all;
    for (std::int64_t i = 0; i < c.rows; ++i)
        for (std::int64_t j = 0; j < c.columns; ++j) all.push_back(bits(c(i, j)));
    return all;
}

/// explain() of the problem as run() would compute it.
inline GemmExplanation explain(GemmProblem<float>& p, Context& context, GemmOptions options) {
    for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
    const GemmExplanation explanation =
        explain(context, p.alpha, p.a.device(), p.b.device(), p.beta, p.c.device(), options);
    p.c.download(context);
    EXPECT_TRUE(p.c.intact()) << p;
    return explanation;
}

inline bool runs_split(const Context& context) { return context.compute_capability() == 90; }
inline bool runs_hopper(const Context& context) { return !emulated && runs_split(context); }
/// The rung split, or best where it does not run.
inline GemmKernel split_or_best(const Context& context) {
    return runs_split(context) ? GemmKernel::split : GemmKernel::best;
}

/// The rungs from parts: hopper where it is built.
inline std::vector<GemmKernel> accurate_rungs() {
    if (emulated) return {GemmKernel::split};
    return {GemmKernel::split, GemmKernel::hopper};
}

/// A suite over them. Where they are built but do not run, they must be refused.
class AccurateRungs : public testing::TestWithParam<GemmKernel> {
  protected:
    void SetUp() override {
        if (GetParam() == GemmKernel::hopper ? runs_hopper(context) : runs_split(context)) return;
        GemmProblem<float> any({1, 1, 1}, 1);
        const std::string name = to_string(GetParam());
        EXPECT_TRUE(
            refuses([&] { any.run(context, options); }, {"gemm: options.kernel is " + name}));
        GTEST_SKIP() << "this device does not run the rung " << name;
    }

    Context context;
    GemmOptions options = {.kernel = GetParam()};
};

#define TINYBLAS_FOR_EACH_ACCURATE_RUNG(suite)                             \
    INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(accurate_rungs()), \
                             [](const auto& info) { return to_string(info.param); })

}  // namespace tinyblas::test
