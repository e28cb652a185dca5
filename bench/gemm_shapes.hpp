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
    bool layer = false;                               // from a file
    std::int64_t shift = 0;  // elements from the start of each operand's memory to element (0, 0)
    Data data = Data::normal;
    bool packed = false;  // B beforehand

    std::string layout() const {
        return std::string(transposed_a ? "T" : "N") + (transposed_b ? "T" : "N");
    }
};

/// The built-in shapes of this machine: small ones under emulation. `quick`: a few of them.
std::vector<Shape> built_in_shapes(bool quick);
/// Those for Precision::fp32.
std::vector<Shape> built_in_fp32_shapes(bool quick);

/// The shapes of a file with a line "m,n,k,name" each; '#' starts a comment. The group is the
/// file's name. Throws Error (invalid_argument) with file and line if a line says anything else.
std::vector<Shape> read_shapes(const std::string& path);

/// A, B and C of one shape. What lies between their rows and around them is NaN, and so is all of
/// C.
template <class T>
class Operands {
  public:
    Operands(Context& context, const Shape& shape)
        : context_(context),
          shape_(shape),
          a_(memory(shape.m, shape.k, shape.transposed_a)),
          b_(memory(shape.k, shape.n, shape.transposed_b)),
          c_(memory(shape.m, shape.n, false)) {
        fill_operand(context, a_view(), Side::left, shape.data, 1);
        fill_operand(context, b_view().transposed(), Side::right, shape.data, 2);
    }
    void poison() { poison(c_); }

    MatrixView<const T> a() { return a_view(); }
    MatrixView<const T> b() { return b_view(); }
    MatrixView<T> c() { return view(c_, shape_.m, shape_.n, false); }

  private:
    void poison(Matrix<T>& all) {
        bench::poison(context_, all.view().data, all.rows() * all.columns() * sizeof(T));
    }
    Matrix<T> memory(std::int64_t rows, std::int64_t columns, bool transposed) {
        if (transposed) std::swap(rows, columns);
        const std::int64_t ld = columns + shape_.pad;
        Matrix<T> all(rows + (shape_.shift + ld - 1) / ld, ld);
        poison(all);
        return all;
    }
    MatrixView<T> view(Matrix<T>& all, std::int64_t rows, std::int64_t columns, bool transposed) {
        T* const first = all.view().data + shape_.shift;
        const std::int64_t ld = all.columns();
        if (transposed) return {first, rows, columns, 1, ld};
        return {first, rows, columns, ld, 1};
    }
    MatrixView<T> a_view() { return view(a_, shape_.m, shape_.k, shape_.transposed_a); }
    MatrixView<T> b_view() { return view(b_, shape_.k, shape_.n, shape_.transposed_b); }

    Context& context_;
    Shape shape_;
    Matrix<T> a_, b_, c_;
};

}  // namespace tinyblas::bench
