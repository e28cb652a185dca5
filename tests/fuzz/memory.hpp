// SPDX-License-Identifier: MIT
// The operands of a call: where their elements lie, and memory of exactly these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "draw.hpp"

namespace tinyblas::fuzz {

/// Sums and products of any 64-bit numbers.
__extension__ using Wide = __int128;

/// Element (i, j) lies offset + i * row_stride + j * column_stride elements from a pointer.
struct Grid {
    Wide rows = 0, columns = 0, row_stride = 0, column_stride = 0, offset = 0;

    bool empty() const { return rows <= 0 || columns <= 0; }
    Wide operator()(Wide i, Wide j) const { return offset + i * row_stride + j * column_stride; }
    Grid moved(Wide elements) const {
        return {rows, columns, row_stride, column_stride, offset + elements};
    }
    Grid transposed() const { return {columns, rows, column_stride, row_stride, offset}; }

    /// From the lowest element to behind the highest, if there are any.
    Wide low() const {
        return offset + (rows - 1) * std::min<Wide>(row_stride, 0) +
               (columns - 1) * std::min<Wide>(column_stride, 0);
    }
    Wide high() const {
        return offset + (rows - 1) * std::max<Wide>(row_stride, 0) +
               (columns - 1) * std::max<Wide>(column_stride, 0) + 1;
    }
};
/// A vector as BLAS has it: with a negative increment the first element is the last in memory.
inline Grid vector_grid(Wide n, Wide increment) {
    if (n <= 1) increment = 1;
    return {n, 1, increment, 0, increment < 0 ? (1 - n) * increment : 0};
}
/// A matrix as stored.
inline Grid matrix_grid(bool row_major, Wide rows, Wide columns, Wide ld) {
    return {rows, columns, row_major ? ld : 1, row_major ? 1 : ld};
}

/// Memory of exactly some elements, which AddressSanitizer guards. What no operand has set is NaN.
template <class T>
struct Array {
    explicit Array(std::size_t size)
        : before(size, std::numeric_limits<T>::quiet_NaN()), now(new T[size]) {}

    /// All has been set in `before`.
    void begin() {
        expected = before;
        std::copy(before.begin(), before.end(), now.get());
    }
    bool is_as_expected() const {
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (!(now[i] == expected[i]) && std::memcmp(&now[i], &expected[i], sizeof(T)) != 0)
                return false;
        return true;
    }

    std::vector<T> before, expected;
    std::unique_ptr<T[]> now;
};

/// A matrix or vector, or a batch of them: `count` grids, `stride` elements apart.
template <class T>
struct Operand {
    Grid grid;
    Wide stride = 0, count = 1;
    T* data = nullptr;  // what the call is given
    Array<T>* array = nullptr;
    Wide origin = 0;  // of grid, in the array

    bool empty() const { return grid.empty() || count <= 0; }
    /// Whether there are more elements than `most`, in memory or to visit.
    bool exceeds(Wide most) const {
        return !empty() && (grid.rows > most || grid.columns > most || count > most ||
                            grid.rows * grid.columns * count > most || high() - low() > most);
    }
    Wide low() const { return empty() ? 0 : grid.low() + (count - 1) * std::min<Wide>(stride, 0); }
    Wide high() const {
        return empty() ? 0 : grid.high() + (count - 1) * std::max<Wide>(stride, 0);
    }

    std::size_t index(Wide i, Wide j, Wide e = 0) const {
        return static_cast<std::size_t>(origin + e * stride + grid(i, j));
    }
    T& before(Wide i, Wide j = 0, Wide e = 0) const { return array->before[index(i, j, e)]; }
    T& expected(Wide i, Wide j = 0, Wide e = 0) const { return array->expected[index(i, j, e)]; }

    /// Calls visit(i, j, e) for each element.
    template <class Visit>
    void for_each(Visit visit) const {
        for (Wide e = 0; e < count; ++e)
            for (Wide i = 0; i < grid.rows; ++i)
                for (Wide j = 0; j < grid.columns; ++j) visit(i, j, e);
    }
};

/// Which elements of an array have been seen.
template <class T>
class Marks {
  public:
    explicit Marks(const Operand<T>& written)
        : array_(written.array), seen_(written.array->before.size()) {
        written.for_each([&](Wide i, Wide j, Wide e) {
            auto mark = seen_[written.index(i, j, e)];
            distinct_ = distinct_ && !mark;
            mark = true;
        });
    }
    /// Whether no element shares its place with another one.
    bool distinct() const { return distinct_; }
    bool meet(const Operand<T>& other) const {
        bool met = false;
        if (other.array == array_)
            other.for_each(
                [&](Wide i, Wide j, Wide e) { met = met || seen_[other.index(i, j, e)]; });
        return met;
    }

  private:
    const Array<T>* array_;
    std::vector<bool> seen_;
    bool distinct_ = true;
};

}  // namespace tinyblas::fuzz
