// SPDX-License-Identifier: MIT
// One polyval call as a test sees it: coefficients, vectors in poisoned buffers, and three ways to
// judge the result: bit for bit against Horner's rule on the host, by the error bound against
// Eigen's evaluation in a wider type, and by what lies around it.
#pragma once

#include <ostream>

#include <unsupported/Eigen/Polynomials>

#include "kernels/polyval/entries.hpp"
#include "reference.hpp"
#include "tinyblas/polyval.hpp"

namespace tinyblas::test {

/// How a vector lies in its buffer.
inline constexpr Storage vector_storages[] = {
    {.name = "contiguous"},
    {.name = "off_by_1", .offset = 1},
    {.name = "off_by_3", .offset = 3},
    {.name = "every_second", .element_stride = 2},
    {.name = "backwards", .flip_columns = true},
    {.name = "every_third_backwards", .element_stride = 3, .flip_columns = true, .offset = 2},
};

inline constexpr PolyvalKernel polyval_rungs[] = {PolyvalKernel::naive, PolyvalKernel::constant,
                                                  PolyvalKernel::tuned};

template <class T>
using WideVector = Eigen::Matrix<Wide<T>, Eigen::Dynamic, 1>;

template <class T>
struct PolyvalProblem {
    PolyvalProblem(std::int64_t size, std::int64_t degree, std::uint64_t seed,
                   const Storage& x_storage = vector_storages[0],
                   const Storage& y_storage = vector_storages[0])
        : coefficients(static_cast<std::size_t>(degree + 1)),
          x(1, size + spare, x_storage),
          y(1, size, y_storage),
          seed(seed),
          random(seed) {
        // |x| <= 1.25 would overflow float past degree 390.
        const double most = degree <= 300 ? 1.25 : 1;
        for (T& a : coefficients) a = static_cast<T>(2 * random.uniform() - 1);
        x.fill([&] { return static_cast<T>(most * (2 * random.uniform() - 1)); });
    }

    std::int64_t size() const { return y.before().columns; }
    std::int64_t degree() const { return static_cast<std::int64_t>(coefficients.size()) - 1; }
    VectorView<T> device_x() { return x.device().block(0, 0, 1, size()).row(0); }
    VectorView<T> device_y() { return in_place ? device_x() : y.device().row(0); }
    Operand<T>& output() { return in_place ? x : y; }
    T argument(std::int64_t i) const { return x.before()(0, i); }
    T result(std::int64_t i) { return output().after()(0, i); }

    void upload(Context& context) {
        x.upload(context);
        y.upload(context);
    }
    PolyvalChoice enqueue(Context& context, PolyvalOptions options) {
        return polyval(context, std::span<const T>(coefficients), device_x(), device_y(), options);
    }
    void download(Context& context) {
        x.download(context);
        y.download(context);
    }
    PolyvalChoice run(Context& context, PolyvalOptions options = {}) {
        upload(context);
        const PolyvalChoice choice = enqueue(context, options);
        download(context);
        return choice;
    }

    // Arguments behind the last one: numbers, because a polynomial of the poison around them would
    // be poison again, and a result too many might go unseen.
    static constexpr std::int64_t spare = 64;

    std::vector<T> coefficients;
    Operand<T> x, y;
    bool in_place = false;
    std::uint64_t seed;
    Random random;
};

template <class T>
std::ostream& operator<<(std::ostream& out, const PolyvalProblem<T>& p) {
    return out << "degree " << p.degree() << " at " << p.size() << " points, x " << p.x.name()
               << (p.in_place ? ", in place" : ", y ") << (p.in_place ? "" : p.y.name())
               << ", seed " << p.seed;
}

/// Horner's rule with fused multiply-adds.
template <class T>
T horner(const std::vector<T>& coefficients, T x) {
    T acc = coefficients.back();
    for (std::size_t k = coefficients.size() - 1; k-- > 0;) acc = std::fma(acc, x, coefficients[k]);
    return acc;
}

/// Whether all is as it was but the result.
template <class T>
testing::AssertionResult surroundings_intact(PolyvalProblem<T>& p) {
    for (auto intact : {p.x.intact(p.in_place), p.y.intact(!p.in_place)})
        if (!intact) return intact << "; " << p;
    for (std::int64_t i = p.size(); i < p.size() + p.spare; ++i)
        if (bits(p.argument(i)) != bits(p.x.after()(0, i)))
            return testing::AssertionFailure() << "x(" << i << "), past the end, changed; " << p;
    return testing::AssertionSuccess();
}

template <class T>
bool same_bits(T x, T y) {
    return bits(x) == bits(y) || (std::isnan(x) && std::isnan(y));
}

/// Whether the result has the bits of Horner's rule; of many elements, at some of them.
template <class T>
testing::AssertionResult chained(PolyvalProblem<T>& p) {
    const std::int64_t ends = 4096;
    for (std::int64_t i = 0; i < p.size(); i += i < ends || i >= p.size() - ends ? 1 : 61) {
        const T expected = horner(p.coefficients, p.argument(i));
        if (!same_bits(p.result(i), expected))
            return testing::AssertionFailure()
                   << "y(" << i << ") = " << p.result(i) << " is not " << expected
                   << ", x = " << p.argument(i) << "; " << p;
    }
    return surroundings_intact(p);
}

/// Whether every element lies within `tolerance(value, magnitude)` of the polynomial's value, where
/// `magnitude` is the same polynomial of absolute values.
template <class T, class Tolerance>
testing::AssertionResult within(PolyvalProblem<T>& p, Tolerance tolerance) {
    WideVector<T> wide(p.degree() + 1);
    for (std::int64_t k = 0; k <= p.degree(); ++k)
        wide(k) = p.coefficients[static_cast<std::size_t>(k)];
    const WideVector<T> absolute = wide.cwiseAbs();
    for (std::int64_t i = 0; i < p.size(); ++i) {
        const Wide<T> x = p.argument(i);
        const Wide<T> value = Eigen::poly_eval(wide, x);
        const Wide<T> error = std::abs(p.result(i) - value);
        const Wide<T> allowed = tolerance(value, Eigen::poly_eval(absolute, std::abs(x)));
        if (!(error <= allowed))
            return testing::AssertionFailure()
                   << "y(" << i << ") = " << p.result(i) << " misses by " << error << ", allowed "
                   << allowed << "; " << p;
    }
    return surroundings_intact(p);
}

template <class T>
inline constexpr Wide<T> unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

/// The bound that the header promises, and what underflow may add.
template <class T>
testing::AssertionResult accurate(PolyvalProblem<T>& p) {
    const auto degree = static_cast<Wide<T>>(p.degree());
    return within(p, [degree](Wide<T>, Wide<T> magnitude) -> Wide<T> {
        return 2 * degree * unit_roundoff<T> * magnitude +
               degree * std::numeric_limits<T>::denorm_min();
    });
}

}  // namespace tinyblas::test
