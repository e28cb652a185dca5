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

/// Whether all lines of an operand, of neighbours, begin at multiples of 16 bytes, as far as the
/// host knows: by pointers, where each matrix does.
template <class T>
bool in_vectors(const GemmBatchOperand<T>& x) {
    constexpr std::int64_t vector = 16 / sizeof(T);
    const MatrixView<T>& v = x.first;
    const MatrixView<T> lines = v.column_stride == 1 ? v : v.transposed();
    return lines.column_stride == 1 && lines.row_stride % vector == 0 && x.stride % vector == 0 &&
           (x.pointers || reinterpret_cast<std::uintptr_t>(v.data) % 16 == 0);
}

/// Whether batched_elements.cuh can count how far a tile's elements are from its first one, of an
/// operand seen as (extent, k).
template <class T>
constexpr bool elements_reach(const MatrixView<T>& x) {
    constexpr std::int64_t rows = 256, columns = 8, end = std::int64_t{1} << 30;
    const auto fits = [](std::int64_t stride, std::int64_t many) {
        return stride <= end / many && stride >= -end / many;
    };
    return fits(x.row_stride, rows) && fits(x.column_stride, columns);
}

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

/// Whether each matrix of each operand is one piece of memory, without gaps, C row by row; and
/// whether from each of them to the next there is none either.
enum class GemmPieces { none, apart, together };

template <class T>
constexpr GemmPieces gemm_pieces(const GemmBatch<T>& x) {
    const auto is_piece = [](const auto& v) {
        return v.column_stride == 1 && v.row_stride == v.columns;
    };
    const auto follow = [](const auto& operand) {
        const auto& v = operand.first;
        return !operand.pointers && operand.stride == v.rows * v.columns;
    };
    const auto &a = x.a.first, &b = x.b.first;
    if ((!is_piece(a) && !is_piece(a.transposed())) ||
        (!is_piece(b) && !is_piece(b.transposed())) || !is_piece(x.c.first))
        return GemmPieces::none;
    return follow(x.a) && follow(x.b) && follow(x.c) ? GemmPieces::together : GemmPieces::apart;
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
