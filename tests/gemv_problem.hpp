// SPDX-License-Identifier: MIT
// One gemv call as a test sees it: operands, scalars, what ran, and ways to judge the result.
#pragma once

#include <ostream>

#include "reference.hpp"
#include "tinyblas/gemv.hpp"

namespace tinyblas::test {

/// How the elements of x and y lie.
inline constexpr Storage vector_storages[] = {
    {.name = "side_by_side"},
    {.name = "off_by_1", .offset = 1},
    {.name = "increment_3", .element_stride = 3},
    {.name = "increment_-1", .flip_columns = true},
    {.name = "increment_-2", .element_stride = 2, .flip_columns = true, .offset = 1},
};

constexpr GemvKernel gemv_rungs[] = {GemvKernel::best, GemvKernel::naive, GemvKernel::tuned};

/// y = alpha A x + beta y with A m x n, or transposed(A) in its place.
template <class T>
struct GemvProblem {
    GemvProblem(std::int64_t m, std::int64_t n, const Storage& a_storage = storages[0],
                bool transposed = false, const Storage& x_storage = vector_storages[0],
                const Storage& y_storage = vector_storages[0], std::uint64_t seed = 1)
        : transposed(transposed),
          a(m, n, a_storage),
          x(1, transposed ? m : n, x_storage),
          y(1, transposed ? n : m, y_storage),
          random(seed) {}

    /// Fills the operands, one after the other, with make(random).
    template <class Make>
    void fill(Make make) {
        for (Operand<T>* operand : {&a, &x, &y})
            operand->fill([&] { return static_cast<T>(make(random)); });
    }
    void fill_integers() {
        fill([](Random& r) { return r.integer(-3, 3); });
    }
    void fill_normal() {
        fill([](Random& r) { return r.normal(); });
    }
    /// op(A), before the call.
    MatrixView<T> op_a() { return transposed ? a.before().transposed() : a.before(); }

    void upload(Context& context) {
        for (Operand<T>* operand : {&a, &x, &y}) operand->upload(context);
    }
    GemvChoice enqueue(Context& context, GemvOptions options = {}) {
        const MatrixView<const T> op = transposed ? a.device().transposed() : a.device();
        return gemv(context, alpha, op, x.device().row(0), beta, y.device().row(0), options);
    }
    void download(Context& context) {
        for (Operand<T>* operand : {&a, &x, &y}) operand->download(context);
    }
    GemvChoice run(Context& context, GemvOptions options = {}) {
        upload(context);
        const GemvChoice choice = enqueue(context, options);
        download(context);
        return choice;
    }
    std::vector<T> result() {
        std::vector<T> values;
        for (std::int64_t i = 0; i < y.after().columns; ++i) values.push_back(y.after()(0, i));
        return values;
    }

    bool transposed;
    Operand<T> a, x, y;
    T alpha = 1, beta = 0;
    Random random;
};

template <class T>
std::ostream& operator<<(std::ostream& out, const GemvProblem<T>& p) {
    const MatrixView<const T> a = p.a.before();
    return out << "a " << a.rows << " x " << a.columns << ' ' << p.a.name()
               << (p.transposed ? ", transposed" : "") << ", alpha " << p.alpha << ", beta "
               << p.beta << ", x " << p.x.name() << ", y " << p.y.name();
}

/// Judges every element of y by accept(i, result), and what lies around all operands.
template <class T, class Accept>
testing::AssertionResult judge(GemvProblem<T>& p, const char* kind, Accept accept) {
    for (std::int64_t i = 0; i < p.y.after().columns; ++i)
        if (const T result = p.y.after()(0, i); !accept(i, result))
            return testing::AssertionFailure()
                   << "y(" << i << ") = " << result << " is not " << kind << "; " << p;
    for (auto intact : {p.a.intact(), p.x.intact(), p.y.intact(true)})
        if (!intact) return intact << "; " << p;
    return testing::AssertionSuccess();
}

/// alpha op(A) x + beta y, wide; with `absolute`, of absolute values and without beta y.
template <class T>
WideMatrix<T> wide_gemv(GemvProblem<T>& p, bool absolute = false) {
    const WideMatrix<T> a = widen(p.op_a()), x = widen(p.x.before()).transpose();
    if (absolute) return std::abs(p.alpha) * wide_product<T>(a.cwiseAbs(), x.cwiseAbs());
    WideMatrix<T> result = WideMatrix<T>::Zero(a.rows(), 1);
    if (p.alpha != 0) result = p.alpha * wide_product<T>(a, x);
    if (p.beta != 0) result += p.beta * widen(p.y.before()).transpose();
    return result;
}

/// For small integers: tolerance 0.
template <class T>
testing::AssertionResult exact(GemvProblem<T>& p) {
    const WideMatrix<T> expected = wide_gemv(p);
    return judge(p, "exact", [&](auto i, T result) { return result == expected(i, 0); });
}

/// For reals: within the tolerance of the wide result. Written so that NaN fails.
template <class T>
testing::AssertionResult close(GemvProblem<T>& p) {
    const WideMatrix<T> expected = wide_gemv(p), magnitude = wide_gemv(p, true);
    return judge(p, "within the tolerance", [&](auto i, T result) {
        const Wide<T> scaled = p.beta == 0 ? 0 : std::abs(p.beta * Wide<T>(p.y.before()(0, i)));
        const Wide<T> error = std::abs(result - expected(i, 0));
        return error <= tolerance<T>(p.op_a().columns, magnitude(i, 0), scaled, expected(i, 0));
    });
}

}  // namespace tinyblas::test
