// SPDX-License-Identifier: MIT
// Operands that lie in memory as a command line says, which is as TINYBLAS_LOG prints it: a matrix
// at "ROW_STRIDE:COLUMN_STRIDE+SHIFT", a vector at "INCREMENT+SHIFT".
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {

/// Strides in elements; elements from a multiple of 16 bytes to the first one. A vector has its
/// increment as column_stride.
struct Place {
    std::int64_t row_stride = 0, column_stride = 1, shift = 0;

    bool rows_are_contiguous() const { return column_stride == 1 && row_stride > 0; }
    bool is_for_blas() const {
        return rows_are_contiguous() || (row_stride == 1 && column_stride > 0);
    }
};

/// As a flag has it.
std::string to_string(const Place& place);
/// "/1:40+0/..." for the end of a case's name; nothing without places.
std::string in_name(const std::vector<Place>& places);

/// What a flag says. Throw Error (invalid_argument) that names the flag and the word.
std::int64_t parse_number(const char* flag, const std::string& word, std::int64_t least);
Place parse_matrix_place(const char* flag, const std::string& word);
Place parse_vector_place(const char* flag, const std::string& word);

/// Where matrices lie in memory of their own: `count` of them, `stride` elements apart.
struct Extent {
    std::int64_t first;     // element (0, 0), from the start
    std::int64_t elements;  // in all, with some behind the last

    Extent(const Place& place, std::int64_t rows, std::int64_t columns, std::int64_t element_bytes,
           std::int64_t count = 1, std::int64_t stride = 0) {
        const std::int64_t apart = (count - 1) * stride;
        const std::int64_t down = (rows - 1) * place.row_stride;
        const std::int64_t along = (columns - 1) * place.column_stride;
        const std::int64_t below =
            -(std::min(down, std::int64_t(0)) + std::min(along, std::int64_t(0)) +
              std::min(apart, std::int64_t(0)));
        const std::int64_t unit = std::max(16 / element_bytes, std::int64_t(1));
        first = (below + unit - 1) / unit * unit + place.shift;
        constexpr std::int64_t behind = 64;
        elements = first + std::max(down, std::int64_t(0)) + std::max(along, std::int64_t(0)) +
                   std::max(apart, std::int64_t(0)) + 1 + behind;
    }
};

/// A matrix at `place`, or `count` of them, in memory of their own.
template <class T>
struct Placed {
    Placed(const Place& place, std::int64_t rows, std::int64_t columns, std::int64_t count = 1,
           std::int64_t stride = 0)
        : layout(place, rows, columns, sizeof(T), count, stride),
          memory(1, layout.elements),
          view{memory.view().data + layout.first, rows, columns, place.row_stride,
               place.column_stride} {}

    Extent layout;
    Matrix<T> memory;
    MatrixView<T> view;  // of the first
};

/// A vector at `place`, whose lowest address is what the shift says, in memory of its own.
template <class T>
struct PlacedVector {
    PlacedVector(const Place& place, std::int64_t size)
        : memory(1, place.shift + (size - 1) * std::abs(place.column_stride) + 1),
          all(memory.view().row(0)),
          view{all.data + place.shift, size, place.column_stride} {}

    Matrix<T> memory;
    VectorView<T> all, view;
};

}  // namespace tinyblas::bench
