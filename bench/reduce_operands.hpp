// SPDX-License-Identifier: MIT
// The reductions that are measured, and their operands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "data.hpp"
#include "place.hpp"
#include "session.hpp"
#include "tinyblas/matrix.hpp"
#include "tinyblas/reduce.hpp"

namespace tinyblas::bench {

struct ReduceCase {
    Reduction operation;
    std::string group;  // warm, cold, host, strided, misaligned, huge
    std::int64_t n;
    ReduceKernel rung = ReduceKernel::best;
    std::vector<Place> places = {};  // of x and y; empty: as the group says

    bool two() const { return operation == Reduction::dot; }
    /// Of x (0) or y (1).
    Place place(std::size_t operand) const {
        if (!places.empty()) return places[operand < places.size() ? operand : 0];
        return {0, group == "strided" ? 2 : 1, group == "misaligned" ? 1 : 0};
    }
    /// Elements from one copy of a vector to the next.
    std::int64_t span(std::size_t operand) const {
        return std::max(n * std::abs(place(operand).column_stride), std::int64_t(1));
    }
};

/// The vectors: so many copies that a cache has forgotten the first when the last was read, if that
/// is the point; else one.
template <class T>
class ReduceOperands {
  public:
    ReduceOperands(Context& context, const ReduceCase& one)
        : one_(one),
          copies_(copies(one)),
          x_(stored(context, 0)),
          y_(one.two() ? stored(context, 1) : Matrix<T>()) {}

    int rotation() const { return copies_; }
    /// Of all elements from the first to the last: what memory has to deliver.
    std::int64_t bytes() const { return one_.span(0) * std::int64_t(sizeof(T)); }
    VectorView<const T> x(int copy = 0) const { return vector(x_, 0, copy); }
    VectorView<const T> y(int copy = 0) const { return one_.two() ? vector(y_, 1, copy) : x(copy); }
    /// Where the reading of limits starts: 16-byte aligned.
    const T* x_memory(int copy) const { return x_.view().data + copy * one_.span(0); }
    const T* y_memory(int copy) const {
        return one_.two() ? y_.view().data + copy * one_.span(1) : nullptr;
    }

  private:
    static int copies(const ReduceCase& one) {
        const std::int64_t bytes = one.n * std::int64_t(sizeof(T)) * (one.two() ? 2 : 1);
        return one.group == "cold" ? copies_beyond_caches(bytes) : 1;
    }
    Matrix<T> stored(Context& context, std::size_t operand) const {
        Matrix<T> memory(1, copies_ * one_.span(operand) + one_.place(operand).shift);
        fill_random(context, memory.view().data, memory.columns(), operand + 1);
        return memory;
    }
    VectorView<const T> vector(const Matrix<T>& memory, std::size_t operand, int copy) const {
        const Place place = one_.place(operand);
        return {memory.view().data + place.shift + copy * one_.span(operand), one_.n,
                place.column_stride};
    }

    ReduceCase one_;
    int copies_;
    Matrix<T> x_, y_;
};

}  // namespace tinyblas::bench
