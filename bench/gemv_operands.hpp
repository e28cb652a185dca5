// SPDX-License-Identifier: MIT
// The products of matrix and vector that are measured, and their operands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data.hpp"
#include "place.hpp"
#include "session.hpp"
#include "tinyblas/gemv.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {

enum class GemvOperation { along, down, ger };  // A x, transposed(A) x, the update of A

struct GemvCase {
    GemvOperation operation;
    std::string group;  // warm, cold, misaligned
    std::int64_t m, n;  // A's rows and columns
    GemvKernel rung = GemvKernel::best;
    std::vector<Place> places = {};  // of A, x and y; empty: as the group says

    Place place_of_a() const {
        if (!places.empty()) return places[0];
        return {n + (group == "misaligned" ? 1 : 0), 1};
    }
    /// Of the vector of m elements, and of that of n.
    Place place_of_rows() const { return place(operation == GemvOperation::along ? 2 : 1); }
    Place place_of_columns() const { return place(operation == GemvOperation::along ? 1 : 2); }
    Place place(std::size_t operand) const { return places.empty() ? Place{} : places[operand]; }
    bool transposed() const { return operation == GemvOperation::down; }
    /// Whether cuBLAS can do it.
    bool is_for_blas() const {
        const Place a = place_of_a();
        const bool rows = operation == GemvOperation::ger;
        return (rows ? a.rows_are_contiguous() : a.is_for_blas()) && place(1).column_stride != 0 &&
               place(2).column_stride != 0;
    }
};

/// A, in so many copies that a cache has forgotten the first when the last was read, if that is the
/// point, else one; and vectors of m and of n elements.
template <class T>
class GemvOperands {
  public:
    GemvOperands(Context& context, const GemvCase& one)
        : one_(one),
          extent_of_a_(one.place_of_a(), one.m, one.n, sizeof(T)),
          copies_(one.group == "cold" ? copies_beyond_caches(bytes_of_a()) : 1),
          a_(stored(context, copies_ * span(), 1)),
          start_(a_.view().data),
          of_rows_(one.place_of_rows(), one.m),
          of_columns_(one.place_of_columns(), one.n) {
        fill(context, of_rows_, 2);
        fill(context, of_columns_, 3);
    }

    int rotation() const { return copies_; }
    std::int64_t bytes_of_a() const { return span() * std::int64_t(sizeof(T)); }
    /// What memory has to deliver and to take.
    double bytes() const {
        const double vectors = static_cast<double>((one_.m + one_.n) * std::int64_t(sizeof(T)));
        const bool updates = one_.operation == GemvOperation::ger;
        return static_cast<double>(one_.m * one_.n * std::int64_t(sizeof(T))) * (updates ? 2 : 1) +
               vectors;
    }

    MatrixView<T> a(int copy = 0) const {
        const Place place = one_.place_of_a();
        const std::int64_t first = one_.places.empty() ? 0 : extent_of_a_.first;
        return {start_ + first + copy * span(), one_.m, one_.n, place.row_stride,
                place.column_stride};
    }
    /// Where the reading of limits starts: 16-byte aligned.
    const T* memory_of_a(int copy) const { return start_ + copy * span(); }
    MatrixView<T> op_a(int copy = 0) const {
        return one_.transposed() ? a(copy).transposed() : a(copy);
    }
    VectorView<T> rows() const { return of_rows_.view; }
    VectorView<T> columns() const { return of_columns_.view; }
    /// x and y of gemv.
    VectorView<T> x() const { return one_.transposed() ? rows() : columns(); }
    VectorView<T> y() const { return one_.transposed() ? columns() : rows(); }
    /// All of y's memory becomes NaN.
    void poison_y(Context& context) const {
        const VectorView<T> all = (one_.transposed() ? of_columns_ : of_rows_).all;
        poison(context, all.data, all.size * std::int64_t(sizeof(T)));
    }

  private:
    std::int64_t span() const {
        return one_.places.empty() ? one_.m * one_.place_of_a().row_stride : extent_of_a_.elements;
    }
    static void fill(Context& context, const PlacedVector<T>& vector, std::uint64_t seed) {
        fill_random(context, vector.all.data, vector.all.size, seed);
    }
    static Matrix<T> stored(Context& context, std::int64_t count, std::uint64_t seed) {
        Matrix<T> memory(1, count);
        fill_random(context, memory.view().data, count, seed);
        return memory;
    }

    GemvCase one_;
    Extent extent_of_a_;
    int copies_;
    Matrix<T> a_;
    T* start_;  // of it
    PlacedVector<T> of_rows_, of_columns_;
};

}  // namespace tinyblas::bench
