// SPDX-License-Identifier: MIT
// One gemm call as a test sees it: operands, scalars, what ran, and three ways to judge the result,
// from strict to loose.
#pragma once

#include <ostream>
#include <utility>

#include "kernels/gemm/tiles.hpp"
#include "reference.hpp"
#include "tinyblas/gemm.hpp"

namespace tinyblas::test {

struct Shape {
    std::int64_t m, n, k;
};

template <class T>
struct GemmProblem {
    GemmProblem(Shape shape, std::uint64_t seed, const Storage& a_storage = storages[0],
                const Storage& b_storage = storages[0], const Storage& c_storage = storages[0])
        : a(shape.m, shape.k, a_storage),
          b(shape.k, shape.n, b_storage),
          c(shape.m, shape.n, c_storage),
          seed(seed),
          random(seed) {}

    /// Fills the operands, one after the other, with make(random).
    template <class Make>
    void fill(Make make) {
        for (Operand<T>* operand : {&a, &b, &c})
            operand->fill([&] { return static_cast<T>(make(random)); });
    }
    void fill_integers() {
        fill([](Random& r) { return r.integer(-3, 3); });
    }

    GemmChoice run(Context& context, GemmOptions options = {}) {
        for (Operand<T>* operand : {&a, &b, &c}) operand->upload(context);
        const GemmChoice choice =
            gemm(context, alpha, a.device(), b.device(), beta, c.device(), options);
        for (Operand<T>* operand : {&a, &b, &c}) operand->download(context);
        return choice;
    }

    Operand<T> a, b, c;
    T alpha = 1, beta = 0;
    std::uint64_t seed;
    Random random;
};

template <class T>
std::ostream& operator<<(std::ostream& out, const GemmProblem<T>& p) {
    const MatrixView<const T> a = p.a.before(), c = p.c.before();
    return out << c.rows << " x " << c.columns << " x " << a.columns << ", alpha " << p.alpha
               << ", beta " << p.beta << ", a " << p.a.name() << ", b " << p.b.name() << ", c "
               << p.c.name() << ", seed " << p.seed;
}

/// Whether the inputs and everything around the output are as they were.
template <class T>
testing::AssertionResult surroundings_intact(GemmProblem<T>& p) {
    for (auto intact : {p.a.intact(), p.b.intact(), p.c.intact(true)})
        if (!intact) return intact << "; " << p;
    return testing::AssertionSuccess();
}

/// Judges every element of C by accept(i, j, result), and what lies around C.
template <class T, class Accept>
testing::AssertionResult judge(GemmProblem<T>& p, const char* kind, Accept accept) {
    const MatrixView<T> result = p.c.after();
    for (std::int64_t i = 0; i < result.rows; ++i)
        for (std::int64_t j = 0; j < result.columns; ++j)
            if (!accept(i, j, result(i, j)))
                return testing::AssertionFailure()
                       << "c(" << i << ", " << j << ") = " << result(i, j) << " is not " << kind
                       << "; " << p;
    return surroundings_intact(p);
}

/// alpha a b + beta c, wide; with `absolute`, of absolute values and without beta c (the S of the
/// tolerance).
template <class T>
WideMatrix<T> wide_gemm(GemmProblem<T>& p, bool absolute = false) {
    WideMatrix<T> a = widen(p.a.before()), b = widen(p.b.before());
    if (absolute) return std::abs(p.alpha) * wide_product<T>(a.cwiseAbs(), b.cwiseAbs());
    WideMatrix<T> result = WideMatrix<T>::Zero(a.rows(), b.cols());
    if (p.alpha != 0) result = p.alpha * wide_product<T>(a, b);
    if (p.beta != 0) result += p.beta * widen(p.c.before());
    return result;
}

/// For small integers: tolerance 0.
template <class T>
testing::AssertionResult exact(GemmProblem<T>& p) {
    const WideMatrix<T> expected = wide_gemm(p);
    return judge(p, "exact", [&](auto i, auto j, T x) { return x == expected(i, j); });
}

/// For reals: within the tolerance of the wide result. Written so that NaN fails.
template <class T>
testing::AssertionResult close(GemmProblem<T>& p) {
    const WideMatrix<T> expected = wide_gemm(p), magnitude = wide_gemm(p, true);
    const std::int64_t k = p.a.before().columns;
    return judge(p, "within the tolerance", [&](auto i, auto j, T x) {
        const Wide<T> scaled = p.beta == 0 ? 0 : std::abs(p.beta * Wide<T>(p.c.before()(i, j)));
        const Wide<T> error = std::abs(x - expected(i, j));
        return error <= tolerance<T>(k, magnitude(i, j), scaled, expected(i, j));
    });
}

/// Chains of fused multiply-adds, of `length` k in their order (0: of all), started at +0 and added
/// in their order, bit for bit.
template <class T>
testing::AssertionResult in_chains(GemmProblem<T>& p, std::int64_t length) {
    const MatrixView<T> a = p.a.before(), b = p.b.before(), c = p.c.before();
    return judge(p, "the chain of multiply-adds", [&](auto i, auto j, T x) {
        T sum = 0, all = 0;
        for (std::int64_t q = 0; p.alpha != 0 && q < a.columns; ++q) {
            if (length > 0 && q % length == 0) all += std::exchange(sum, T(0));
            sum = std::fma(a(i, q), b(q, j), sum);
        }
        T value = p.alpha * (length > 0 ? all + sum : sum);
        if (p.beta != 0) value = std::fma(p.beta, c(i, j), value);
        return same(x, value);
    });
}
/// What the documentation promises: one such chain.
template <class T>
testing::AssertionResult chained(GemmProblem<T>& p) {
    return in_chains(p, 0);
}

/// A rung, or a line of the tuning table, for one type.
struct GemmVariant {
    Scalar type;
    GemmOptions options;
};

inline std::string name(const GemmVariant& v) {
    const std::string type = v.type == Scalar::float32 ? "float32_" : "float64_";
    const std::string entry = v.options.entry < 0 ? "" : "_" + std::to_string(v.options.entry);
    return type + to_string(v.options.kernel) + entry;
}
inline std::ostream& operator<<(std::ostream& out, const GemmVariant& v) { return out << name(v); }

/// Whether each element is one chain of multiply-adds: of the rung tuned, if it was asked for or k
/// is at most 256.
inline bool is_chain(const GemmChoice& choice) {
    return choice.kernel == GemmKernel::naive || choice.kernel == GemmKernel::tiled ||
           choice.kernel == GemmKernel::tuned || choice.kernel == GemmKernel::skinny;
}

/// What a strict rung promises: the chain's bits, or where it may share k, an error within bounds.
/// The rung tuned, where it was not asked for, may have made chains of four of a short k.
template <class T>
testing::AssertionResult strict(GemmProblem<T>& p, const GemmChoice& choice) {
    if (!is_chain(choice)) return close(p);
    const MatrixView<T> a = p.a.before(), b = p.b.before();
    const bool along_k = a.column_stride == 1 || b.row_stride == 1;
    const bool fours = std::is_same_v<T, float> && choice.kernel == GemmKernel::tuned &&
                       gemm_ring_in_fours(a.rows, b.columns, a.columns, along_k) && in_chains(p, 4);
    return fours ? testing::AssertionSuccess() : chained(p);
}

/// Whether this device has a strict rung, and the line of the table.
inline bool runs_here(const Context& context, GemmOptions options) {
    const int capability = context.compute_capability();
    for (const GemmKernel kernel :
         {GemmKernel::sliced, GemmKernel::pipelined, GemmKernel::skinny, GemmKernel::tensor})
        if (options.kernel == kernel && capability != 90) return false;
    return options.entry < 0 || runs_on(gemm_table[options.entry], capability);
}

/// best, every strict rung for any C and every line of the table, for each type.
inline std::vector<GemmVariant> gemm_variants() {
    std::vector<GemmVariant> all;
    for (Scalar type : {Scalar::float32, Scalar::float64}) {
        for (GemmKernel kernel : {GemmKernel::best, GemmKernel::naive, GemmKernel::tiled})
            all.push_back({type, {kernel, -1}});
        for (int entry = 0; entry < gemm_entries; ++entry)
            if (gemm_table[entry].type == type) all.push_back({type, {GemmKernel::tuned, entry}});
    }
    all.push_back({Scalar::float32, {GemmKernel::sliced, -1}});
    all.push_back({Scalar::float32, {GemmKernel::pipelined, -1}});
    all.push_back({Scalar::float64, {GemmKernel::tensor, -1}});
    return all;
}

/// A suite over all variants: run(test) calls test with a zero of the variant's type, which tells a
/// generic lambda its T.
class GemmVariants : public testing::TestWithParam<GemmVariant> {
  protected:
    template <class Test>
    void run(Test test) {
        if (!runs_here(context, options)) {
            GemmProblem<float> any({1, 1, 1}, 1);
            EXPECT_THROW(any.run(context, options), Error);  // another GPU's
            return;
        }
        if (GetParam().type == Scalar::float32)
            test(0.0f);
        else
            test(0.0);
    }

    Context context;
    GemmOptions options = GetParam().options;
};

#define TINYBLAS_FOR_EACH_GEMM_VARIANT(suite)                             \
    INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(gemm_variants()), \
                             [](const auto& info) { return name(info.param); })

}  // namespace tinyblas::test
