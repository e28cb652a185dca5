// SPDX-License-Identifier: MIT
// MatrixArray: matrices of the same extents and strides, each at an address of its own.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tinyblas/view.hpp"

namespace tinyblas {

/// Element (i, j) of matrix e lies at data[e][i * row_stride + j * column_stride]. The pointers,
/// and what they point to, are in memory that the device reads.
template <class T>
struct MatrixArray {
    T* const* data = nullptr;        ///< where each matrix has its element (0, 0)
    std::int64_t rows = 0;           ///< of each
    std::int64_t columns = 0;        ///< of each
    std::int64_t row_stride = 0;     ///< elements from (i, j) to (i + 1, j)
    std::int64_t column_stride = 1;  ///< elements from (i, j) to (i, j + 1)

    /// As MatrixView::row_major and MatrixView::column_major.
    static MatrixArray row_major(T* const* data, std::int64_t rows, std::int64_t columns,
                                 std::int64_t ld) {
        return like(data, MatrixView<T>::row_major(nullptr, rows, columns, ld));
    }
    static MatrixArray column_major(T* const* data, std::int64_t rows, std::int64_t columns,
                                    std::int64_t ld) {
        return like(data, MatrixView<T>::column_major(nullptr, rows, columns, ld));
    }
    /// Matrices of the extents and strides of `view`.
    static constexpr MatrixArray like(T* const* data, MatrixView<T> view) {
        return {data, view.rows, view.columns, view.row_stride, view.column_stride};
    }

    /// A matrix of these extents and strides.
    constexpr MatrixView<T> view(T* matrix) const {
        return {matrix, rows, columns, row_stride, column_stride};
    }
    /// The same elements with rows and columns exchanged; no data moves.
    constexpr MatrixArray transposed() const {
        return {data, columns, rows, column_stride, row_stride};
    }

    /// Matrices that cannot be written.
    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) constexpr operator MatrixArray<U>()
        const {
        return {data, rows, columns, row_stride, column_stride};
    }
};

/// The same elements with rows and columns exchanged; no data moves.
template <class T>
constexpr MatrixArray<T> transposed(MatrixArray<T> a) {
    return a.transposed();
}

}  // namespace tinyblas
