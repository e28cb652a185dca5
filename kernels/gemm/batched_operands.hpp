// SPDX-License-Identifier: MIT
// The operands of a batch of products as kernels are given them: matrices of the same extents and
// strides, a stride apart or wherever an array of pointers says.
#pragma once

#include <cstdint>

#include "tinyblas/view.hpp"

namespace tinyblas {

template <class T>
struct GemmBatchOperand {
    MatrixView<T> first;  // with pointers, its data means nothing
    std::int64_t stride = 0;
    T* const* pointers = nullptr;  // in device memory

    constexpr T* data(std::int64_t e) const {
        return pointers ? pointers[e] : first.data + e * stride;
    }
    constexpr MatrixView<T> at(std::int64_t e) const {
        MatrixView<T> view = first;
        view.data = data(e);
        return view;
    }
    /// From matrix e on.
    constexpr GemmBatchOperand from(std::int64_t e) const {
        GemmBatchOperand rest = *this;
        if (pointers)
            rest.pointers += e;
        else
            rest.first.data += e * stride;
        return rest;
    }
    constexpr GemmBatchOperand transposed() const { return {first.transposed(), stride, pointers}; }
};

/// C_e = alpha A_e B_e + beta C_e for e = 0 ... count - 1.
template <class T>
struct GemmBatch {
    T alpha;
    GemmBatchOperand<const T> a, b;
    T beta;
    GemmBatchOperand<T> c;
    std::int64_t count;

    constexpr std::int64_t m() const { return c.first.rows; }
    constexpr std::int64_t n() const { return c.first.columns; }
    constexpr std::int64_t k() const { return a.first.columns; }

    /// The `most` matrices from e on, or as many as there are.
    constexpr GemmBatch part(std::int64_t e, std::int64_t most) const {
        return {alpha, a.from(e), b.from(e), beta, c.from(e), count - e < most ? count - e : most};
    }
};

/// The same products, transposed.
template <class T>
constexpr GemmBatch<T> transposed(const GemmBatch<T>& x) {
    return {x.alpha, x.b.transposed(), x.a.transposed(), x.beta, x.c.transposed(), x.count};
}

/// Whether the operand's matrices, edge x edge, are one piece of memory, row by row.
template <class T>
bool is_packed(const GemmBatchOperand<T>& x, int edge) {
    const MatrixView<T>& v = x.first;
    return !x.pointers && v.rows == edge && v.columns == edge && v.row_stride == edge &&
           v.column_stride == 1 && x.stride == edge * edge &&
           reinterpret_cast<std::uintptr_t>(v.data) % 16 == 0;
}

}  // namespace tinyblas
