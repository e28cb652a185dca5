// SPDX-License-Identifier: MIT
// The products that are measured, and their operands.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {

/// One product C = A B, and where it comes from.
struct Shape {
    std::string group;  // square, odd, layout, skinny, or the model that it is a layer of
    std::string name;   // of the layer; else empty
    std::int64_t m, n, k;
    bool transposed_a = false, transposed_b = false;  // stored as columns
    std::int64_t pad = 0;                             // elements between two rows of each operand
    bool ladder = false;                              // worth climbing on every rung
    bool float_only = false;                          // not worth the time in double

    std::string layout() const {
        return std::string(transposed_a ? "T" : "N") + (transposed_b ? "T" : "N");
    }
};

/// The built-in shapes of this machine: small ones under emulation. `quick`: a few of them.
std::vector<Shape> built_in_shapes(bool quick);

/// The shapes of a file with a line "m,n,k,name" each; '#' starts a comment. The group is the
/// file's name. Throws Error (invalid_argument) with file and line if a line says anything else.
std::vector<Shape> read_shapes(const std::string& path);

/// A, B and C of one shape: A and B from N(0, 1), C all NaN.
template <class T>
class Operands {
  public:
    Operands(Context& context, const Shape& shape)
        : context_(context),
          shape_(shape),
          a_(stored(shape.m, shape.k, shape.transposed_a, 1)),
          b_(stored(shape.k, shape.n, shape.transposed_b, 2)),
          c_(stored(shape.m, shape.n, false, 3)) {
        poison();
    }
    void poison() { bench::poison(context_, c_.view().data, c_.rows() * c_.columns() * sizeof(T)); }

    MatrixView<const T> a() const { return inside(a_.view(), shape_.transposed_a); }
    MatrixView<const T> b() const { return inside(b_.view(), shape_.transposed_b); }
    MatrixView<T> c() { return c_.view().block(0, 0, shape_.m, shape_.n); }

  private:
    Matrix<T> stored(std::int64_t rows, std::int64_t columns, bool transposed, std::uint64_t seed) {
        if (transposed) std::swap(rows, columns);
        Matrix<T> matrix(rows, columns + shape_.pad);
        fill_random(context_, matrix.view().data, rows * matrix.columns(), seed);
        return matrix;
    }
    MatrixView<const T> inside(MatrixView<const T> view, bool transposed) const {
        view.columns -= shape_.pad;
        return transposed ? view.transposed() : view;
    }

    Context& context_;
    Shape shape_;
    Matrix<T> a_, b_, c_;
};

}  // namespace tinyblas::bench
