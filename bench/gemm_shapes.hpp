// SPDX-License-Identifier: MIT
// The products that are measured, and their operands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "place.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {

/// What a case should reach; 0: that is not asked for.
struct Goal {
    double ratio = 0;         // to the reference's time, at least
    double microseconds = 0;  // at most
    double of_copy = 0;       // of the speed of a plain copy, at least

    bool is_set() const { return ratio > 0 || microseconds > 0 || of_copy > 0; }
};

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
    bool packed = false;                     // B beforehand
    std::vector<Place> places = {};          // of A, B and C; empty: as the above says
    std::int64_t batch = 0;                  // products; 0: one, and not as a batch
    std::vector<std::int64_t> strides = {};  // from one A, B and C to the next; empty: densely, and
                                             // pointers say where
    bool by_pointers = false;                // even though strides say it too
    double alpha = 1, beta = 0;
    Goal goal = {};

    /// Of operand 0 (A), 1 (B) or 2 (C).
    Place place(std::size_t operand) const {
        if (!places.empty()) return places[operand];
        const std::int64_t rows = operand == 1 ? k : m, columns = operand == 0 ? k : n;
        if (operand == 0 ? transposed_a : operand == 1 && transposed_b)
            return {1, rows + pad, shift};
        return {columns + pad, 1, shift};
    }
    std::int64_t products() const { return std::max(batch, std::int64_t(1)); }
    /// From one matrix to the next.
    std::int64_t stride(std::size_t operand) const {
        if (!strides.empty()) return strides[operand];
        const Extent one(place(operand), operand == 1 ? k : m, operand == 0 ? k : n, 1);
        return (one.elements + 15) / 16 * 16;
    }
    /// Whether cuBLAS can do it: it knows leading dimensions, and C is given to it by rows.
    bool is_for_blas() const {
        return place(0).is_for_blas() && place(1).is_for_blas() && place(2).rows_are_contiguous();
    }
    bool uses_pointers() const { return batch > 0 && (strides.empty() || by_pointers); }
    /// Whether the matrices of a batch lie one behind the other, without gaps.
    bool is_dense() const {
        return pad == 0 && shift == 0 && places.empty() &&
               strides == std::vector<std::int64_t>{m * k, k * n, m * n};
    }
    double flop() const {
        return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
               static_cast<double>(products());
    }

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

/// A, B and C of one shape, or of each product of a batch. What lies between their rows and around
/// them is NaN, and so is all of C.
template <class T>
class Operands {
  public:
    Operands(Context& context, const Shape& shape)
        : context_(context),
          shape_(shape),
          a_(shape.place(0), shape.m, shape.k, shape.products(), shape.stride(0)),
          b_(shape.place(1), shape.k, shape.n, shape.products(), shape.stride(1)),
          c_(shape.place(2), shape.m, shape.n, shape.products(), shape.stride(2)) {
        for (Placed<T>* const operand : {&a_, &b_, &c_}) poison(*operand);
        fill();
        if (!shape.uses_pointers()) return;
        of_a_ = pointers_to<const T>([&](std::int64_t e) { return a(e); });
        of_b_ = pointers_to<const T>([&](std::int64_t e) { return b(e); });
        of_c_ = pointers_to<T>([&](std::int64_t e) { return c(e); });
    }
    void poison() { poison(c_); }

    Product<T> product() const {
        Product<T> all = {a(), b(), c(), T(shape_.alpha), T(shape_.beta), shape_.batch};
        if (shape_.uses_pointers()) {
            all.of_a = of_a_.view().data;
            all.of_b = of_b_.view().data;
            all.of_c = of_c_.view().data;
        } else if (shape_.batch > 0) {
            all.a_stride = shape_.stride(0);
            all.b_stride = shape_.stride(1);
            all.c_stride = shape_.stride(2);
        }
        return all;
    }

    /// Of product e.
    MatrixView<const T> a(std::int64_t e = 0) const { return at(a_, 0, e); }
    MatrixView<const T> b(std::int64_t e = 0) const { return at(b_, 1, e); }
    MatrixView<T> c(std::int64_t e = 0) const { return at(c_, 2, e); }

  private:
    void fill() {
        if (shape_.is_dense() && shape_.data == Data::normal) {  // there may be millions of them
            fill_random(context_, a_.view.data, shape_.products() * shape_.stride(0), 1);
            fill_random(context_, b_.view.data, shape_.products() * shape_.stride(1), 2);
            return;
        }
        for (std::int64_t e = 0; e < shape_.products(); ++e) {
            const auto seed = static_cast<std::uint64_t>(2 * e);
            fill_operand(context_, at(a_, 0, e), Side::left, shape_.data, seed + 1);
            fill_operand(context_, at(b_, 1, e).transposed(), Side::right, shape_.data, seed + 2);
        }
    }
    /// Where each matrix of the batch begins, in device memory.
    template <class U, class View>
    Matrix<U*> pointers_to(const View& matrix) {
        std::vector<U*> host;
        for (std::int64_t e = 0; e < shape_.batch; ++e) host.push_back(matrix(e).data);
        Matrix<U*> device(1, shape_.batch);
        copy(context_, MatrixView<U*>::row_major(host.data(), 1, shape_.batch), device);
        context_.synchronize();
        return device;
    }
    MatrixView<T> at(const Placed<T>& operand, std::size_t which, std::int64_t e) const {
        MatrixView<T> view = operand.view;
        view.data += e * shape_.stride(which);
        return view;
    }
    void poison(Placed<T>& operand) {
        bench::poison(context_, operand.memory.view().data, operand.layout.elements * sizeof(T));
    }

    Context& context_;
    Shape shape_;
    Placed<T> a_, b_, c_;
    Matrix<const T*> of_a_, of_b_;
    Matrix<T*> of_c_;
};

}  // namespace tinyblas::bench
