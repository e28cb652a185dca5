// SPDX-License-Identifier: MIT
// The order in which the rung `tuned` adds, written down a second time, for the host: what it
// promises is the same bits on every GPU and under device emulation.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "kernels/gemv/plan.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas::test {

/// Adds up by halves of any number: the first value of the upper half goes to the first one.
template <class T>
T sum_by_halves(std::vector<T> values) {
    while (values.size() > 1) {
        const std::size_t half = (values.size() + 1) / 2;
        for (std::size_t v = half; v < values.size(); ++v) values[v - half] += values[v];
        values.resize(half);
    }
    return values.at(0);
}

/// Adds up in line, or, beyond `in_line` values, by `shares`: every shares-th value, then halves.
template <class T>
T sum_of_terms(const std::vector<T>& terms, std::size_t in_line, std::size_t shares) {
    if (terms.size() <= in_line) shares = 1;
    std::vector<T> sums(shares);
    for (std::size_t t = 0; t < terms.size(); ++t) sums[t % shares] += terms[t];
    return sum_by_halves(sums);
}

/// A sum of products: add(sum, p) adds the p-th one.
template <class T, class Add>
class GemvModel {
  public:
    GemvModel(const GemvPlan& plan, std::int64_t terms, Add add)
        : plan_(plan), terms_(terms), add_(add) {}

    T sum() const {
        if (plan_.form == GemvForm::short_rows) return short_row();
        std::vector<T> pieces;
        for (std::int64_t begin = 0; begin < terms_; begin += plan_.piece) {
            const std::int64_t end = std::min(begin + plan_.piece, terms_);
            pieces.push_back(plan_.form == GemvForm::columns ? column(begin, end)
                                                             : long_row(begin, end));
        }
        const std::int64_t of_block = plan_.form == GemvForm::columns ? plan_.lanes * size
                                      : plan_.many_rows               ? size
                                                                      : 1;
        return sum_of_terms(pieces, 8, static_cast<std::size_t>(plan_.threads / of_block));
    }

  private:
    static constexpr std::int64_t size = 16 / sizeof(T);

    T short_row() const {
        std::vector<T> lanes(static_cast<std::size_t>(plan_.lanes));
        for (std::int64_t p = 0; p < terms_; ++p)
            add_(lanes[static_cast<std::size_t>(p / size % plan_.lanes)], p);
        return sum_by_halves(lanes);
    }
    T long_row(std::int64_t begin, std::int64_t end) const {
        const std::int64_t chunk = 32 * size;
        std::vector<std::vector<T>> warps(static_cast<std::size_t>(plan_.team_warps),
                                          std::vector<T>(chunk));
        for (std::int64_t p = begin; p < end; ++p) {
            const std::int64_t number = (p - begin) / chunk;
            add_(warps[static_cast<std::size_t>(number % plan_.team_warps)]
                      [static_cast<std::size_t>((p - begin) % chunk)],
                 p);
        }
        T total = 0;
        for (const std::vector<T>& elements : warps) {
            std::vector<T> groups;
            for (std::size_t e = 0; e < elements.size(); e += size) {
                const T* at = &elements[e];
                if constexpr (size == 2)
                    groups.push_back(at[0] + at[1]);
                else
                    groups.push_back((at[0] + at[1]) + (at[2] + at[3]));
            }
            const T sum = sum_by_halves(groups);
            if (warps.size() == 1) return sum;
            total += sum;
        }
        return total;
    }
    T column(std::int64_t begin, std::int64_t end) const {
        const std::int64_t number = plan_.threads / plan_.lanes;
        std::vector<T> groups(static_cast<std::size_t>(number));
        for (std::int64_t p = begin; p < end; ++p)
            add_(groups[static_cast<std::size_t>((p - begin) % number)], p);
        if (number == 1) return groups[0];
        std::vector<T> warps;  // of each, its groups by halves
        const std::int64_t of_warp = 32 / plan_.lanes;
        for (auto group = groups.begin(); group != groups.end(); group += of_warp)
            warps.push_back(sum_by_halves(std::vector<T>(group, group + of_warp)));
        return sum_of_terms(warps, 32, 1);  // there are at most 32
    }

    GemvPlan plan_;
    std::int64_t terms_;
    Add add_;
};

/// A x, bit for bit.
template <class T>
std::vector<T> gemv_model(MatrixView<const T> a, VectorView<const T> x) {
    const bool down = a.rows == 1 || a.columns == 1 ? a.rows != 1 && a.row_stride == 1
                                                    : a.row_stride == 1 && a.column_stride != 1;
    const GemvPlan plan = down ? plan_gemv(sizeof(T), true, a.columns, a.rows)
                               : plan_gemv(sizeof(T), false, a.rows, a.columns);
    std::vector<T> y;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const auto add = [&](T& sum, std::int64_t p) { sum = std::fma(a(i, p), x(p), sum); };
        y.push_back(GemvModel<T, decltype(add)>(plan, a.columns, add).sum());
    }
    return y;
}

}  // namespace tinyblas::test
