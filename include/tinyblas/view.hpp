// SPDX-License-Identifier: MIT
// Views: a pointer, extents and strides. They own nothing, are trivially copyable and travel by
// value, into kernels too. Transpose, sub-block, row-major and column-major are all the same thing:
// other strides.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tinyblas/export.h"

namespace tinyblas {

namespace detail {
/// Throws Error unless 0 <= first, 0 <= count and first + count <= extent; the sentence names
/// `what` and the values.
TINYBLAS_API void require_range(const char* what, std::int64_t first, std::int64_t count,
                                std::int64_t extent);
/// Throws Error unless rows >= 0, columns >= 0 and ld >= max(1, run), where a run is a contiguous
/// row or column.
TINYBLAS_API void require_layout(std::int64_t rows, std::int64_t columns, std::int64_t ld,
                                 std::int64_t run);
}  // namespace detail

/// A vector of `size` elements, `increment` elements apart.
/// As in BLAS, `data` is the lowest address the vector touches when it is walked in either
/// direction: with a negative increment element 0 is the one at data[(1 - size) * increment].
/// Source: BLAS Technical Forum standard, 2.2.
template <class T>
struct VectorView {
    T* data = nullptr;           ///< the lowest address
    std::int64_t size = 0;       ///< in elements
    std::int64_t increment = 1;  ///< elements from one to the next; may be negative, or 0

    /// Element i, 0 <= i < size (not checked).
    constexpr T& operator()(std::int64_t i) const {
        return data[increment < 0 ? (i + 1 - size) * increment : i * increment];
    }

    /// A view that cannot write.
    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) constexpr operator VectorView<U>()
        const {
        return {data, size, increment};
    }
};

/// A matrix of `rows` x `columns` elements; element (i, j) lies at data[i * row_stride + j *
/// column_stride]. Strides count elements and may be any integers; `data` points at element (0, 0).
/// Source of the idea: BLIS, std::mdspan.
template <class T>
struct MatrixView {
    T* data = nullptr;               ///< element (0, 0)
    std::int64_t rows = 0;           ///< how many
    std::int64_t columns = 0;        ///< how many
    std::int64_t row_stride = 0;     ///< elements from (i, j) to (i + 1, j)
    std::int64_t column_stride = 1;  ///< elements from (i, j) to (i, j + 1)

    /// Rows are contiguous and `ld` elements apart; throws Error if an extent is negative or ld <
    /// max(1, columns).
    static MatrixView row_major(T* data, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
        detail::require_layout(rows, columns, ld, columns);
        return {data, rows, columns, ld, 1};
    }
    /// The same without gaps between the rows.
    static MatrixView row_major(T* data, std::int64_t rows, std::int64_t columns) {
        return row_major(data, rows, columns, columns > 1 ? columns : 1);
    }

    /// Columns are contiguous and `ld` elements apart; throws Error if an extent is negative or ld
    /// < max(1, rows).
    static MatrixView column_major(T* data, std::int64_t rows, std::int64_t columns,
                                   std::int64_t ld) {
        detail::require_layout(rows, columns, ld, rows);
        return {data, rows, columns, 1, ld};
    }
    /// The same without gaps between the columns.
    static MatrixView column_major(T* data, std::int64_t rows, std::int64_t columns) {
        return column_major(data, rows, columns, rows > 1 ? rows : 1);
    }

    /// Element (i, j), 0 <= i < rows, 0 <= j < columns (not checked).
    constexpr T& operator()(std::int64_t i, std::int64_t j) const {
        return data[i * row_stride + j * column_stride];
    }

    /// The same elements with rows and columns exchanged; no data moves.
    constexpr MatrixView transposed() const {
        return {data, columns, rows, column_stride, row_stride};
    }

    /// The sub-matrix of `block_rows` x `block_columns` elements whose element (0, 0) is this
    /// view's (i, j). Throws Error if it does not lie inside.
    MatrixView block(std::int64_t i, std::int64_t j, std::int64_t block_rows,
                     std::int64_t block_columns) const {
        detail::require_range("block: rows", i, block_rows, rows);
        detail::require_range("block: columns", j, block_columns, columns);
        return {block_rows > 0 && block_columns > 0 ? &(*this)(i, j) : data, block_rows,
                block_columns, row_stride, column_stride};
    }

    /// Row i, 0 <= i < rows, as a vector of `columns` elements; throws Error if there is no such
    /// row.
    VectorView<T> row(std::int64_t i) const {
        detail::require_range("row", i, 1, rows);
        return vector(data + i * row_stride, columns, column_stride);
    }

    /// Column j, 0 <= j < columns, as a vector of `rows` elements; throws Error if there is no such
    /// column.
    VectorView<T> column(std::int64_t j) const {
        detail::require_range("column", j, 1, columns);
        return vector(data + j * column_stride, rows, row_stride);
    }

    /// A view that cannot write.
    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) constexpr operator MatrixView<U>()
        const {
        return {data, rows, columns, row_stride, column_stride};
    }

  private:
    // A VectorView's data is its lowest address, a MatrixView's is element (0, 0).
    static constexpr VectorView<T> vector(T* first, std::int64_t size, std::int64_t stride) {
        return {stride < 0 && size > 0 ? first + (size - 1) * stride : first, size, stride};
    }
};

/// The same elements with rows and columns exchanged; no data moves.
template <class T>
constexpr MatrixView<T> transposed(MatrixView<T> a) {
    return a.transposed();
}

}  // namespace tinyblas
