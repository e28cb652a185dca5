// SPDX-License-Identifier: MIT
// The transposes that are measured, and their operands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "place.hpp"
#include "session.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {

struct TransposeCase {
    std::string group;
    std::int64_t rows, columns;
    std::int64_t pad = 0;            // elements between two rows of each matrix
    std::int64_t shift = 0;          // elements from the start of the memory to the first one
    bool ladder = false;             // worth climbing on every rung
    bool quick = false;              // part of a quick run
    std::vector<Place> places = {};  // of A and B; empty: as pad and shift say

    /// Of A (0) or B (1), `columns` columns wide.
    Place place(std::size_t operand, std::int64_t width) const {
        if (places.empty()) return {width + pad, 1, shift};
        return places[in_place() ? 0 : operand];
    }
    /// Whether cuBLAS can do it.
    bool is_for_blas() const {
        return place(0, columns).rows_are_contiguous() && place(1, rows).rows_are_contiguous();
    }
    bool in_place() const { return group == "in_place"; }
    bool cold() const { return group == "cold"; }
};

/// A and B: so many copies that no cache holds the next, if that is the point; else one.
template <class T>
struct TransposeOperands {
    explicit TransposeOperands(const TransposeCase& one) {
        const std::int64_t bytes = 2 * one.rows * one.columns * std::int64_t(sizeof(T));
        const int copies = one.cold() ? copies_beyond_caches(bytes) : 1;
        for (int copy = 0; copy < copies; ++copy) {
            a.emplace_back(one.place(0, one.columns), one.rows, one.columns);
            b.emplace_back(one.place(1, one.rows), one.columns, one.rows);
        }
    }
    /// `use` called with one copy after the other.
    template <class Use>
    Work turns(Use use) {
        return rotating(copies(), [this, use](int copy) { use(a[copy], b[copy]); });
    }
    int copies() const { return static_cast<int>(a.size()); }

    std::vector<Placed<T>> a, b;
};

}  // namespace tinyblas::bench
