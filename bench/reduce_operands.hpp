// SPDX-License-Identifier: MIT
// The reductions that are measured, and their operands.
#pragma once

#include <cstdint>
#include <string>

#include "data.hpp"
#include "session.hpp"
#include "tinyblas/matrix.hpp"
#include "tinyblas/reduce.hpp"

namespace tinyblas::bench {

struct ReduceCase {
    Reduction operation;
    std::string group;  // warm, cold, host, strided, misaligned, huge
    std::int64_t n;
    ReduceKernel rung = ReduceKernel::best;

    bool two() const { return operation == Reduction::dot; }
    std::int64_t increment() const { return group == "strided" ? 2 : 1; }
    std::int64_t shift() const { return group == "misaligned" ? 1 : 0; }  // elements from the start
};

/// The vectors: so many copies that a cache has forgotten the first when the last was read, if that
/// is the point; else one.
template <class T>
class ReduceOperands {
  public:
    ReduceOperands(Context& context, const ReduceCase& one)
        : one_(one),
          span_(one.n * one.increment()),
          copies_(copies(one)),
          x_(stored(context, 1)),
          y_(one.two() ? stored(context, 2) : Matrix<T>()) {}

    int rotation() const { return copies_; }
    /// Of all elements from the first to the last: what memory has to deliver.
    std::int64_t bytes() const { return span_ * std::int64_t(sizeof(T)); }
    VectorView<const T> x(int copy = 0) const { return vector(x_, copy); }
    VectorView<const T> y(int copy = 0) const { return one_.two() ? vector(y_, copy) : x(copy); }
    /// Where the reading of limits starts: 16-byte aligned.
    const T* x_memory(int copy) const { return x_.view().data + copy * span_; }
    const T* y_memory(int copy) const {
        return one_.two() ? y_.view().data + copy * span_ : nullptr;
    }

  private:
    static int copies(const ReduceCase& one) {
        const std::int64_t bytes = one.n * std::int64_t(sizeof(T)) * (one.two() ? 2 : 1);
        return one.group == "cold" ? copies_beyond_caches(bytes) : 1;
    }
    Matrix<T> stored(Context& context, std::uint64_t seed) const {
        Matrix<T> memory(1, copies_ * span_ + one_.shift());
        fill_random(context, memory.view().data, memory.columns(), seed);
        return memory;
    }
    VectorView<const T> vector(const Matrix<T>& memory, int copy) const {
        return {memory.view().data + one_.shift() + copy * span_, one_.n, one_.increment()};
    }

    ReduceCase one_;
    std::int64_t span_;
    int copies_;
    Matrix<T> x_, y_;
};

}  // namespace tinyblas::bench
