// SPDX-License-Identifier: MIT
// Preconditions as sentences.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string_view>

#include "tinyblas/error.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas {

/// A word of a sentence: text, a number or an address. It lives no longer than the statement that
/// has it.
class Word {
  public:
    explicit Word(std::string_view text)
        : text_(text.data()), kind_(static_cast<std::ptrdiff_t>(text.size())) {}
    explicit Word(std::signed_integral auto number) : integer_(number), kind_(integer) {}
    explicit Word(std::unsigned_integral auto number) : natural_(number), kind_(natural) {}
    explicit Word(double number) : real_(number), kind_(real) {}
    template <class T>
    requires(!std::same_as<const T, const char>) explicit Word(T* address)
        : address_(address), kind_(pointer) {}

    friend std::ostream& operator<<(std::ostream& to, const Word& word);

  private:
    enum : std::ptrdiff_t { integer = -1, natural = -2, real = -3, pointer = -4 };
    union {
        const char* text_;
        std::int64_t integer_;
        std::uint64_t natural_;
        double real_;
        const void* address_;
    };
    std::ptrdiff_t kind_;  // or the length of the text
};

/// Throws Error with the words one after the other.
[[noreturn]] void fail(Status status, std::initializer_list<Word> words);
template <class... Words>
[[noreturn]] void fail(Status status, const Words&... words) {
    fail(status, {Word(words)...});
}

/// Throws Error (invalid_argument) unless `condition` holds.
template <class... Words>
void require(bool condition, const Words&... words) {
    if (!condition) [[unlikely]]
        fail(Status::invalid_argument, {Word(words)...});
}

/// body(), a step of `operation` with errors of its own: they name the operation first.
template <class Body>
auto step_of(const char* operation, Body body) {
    try {
        return body();
    } catch (const Error& error) {
        fail(error.status(), operation, ": ", error.what());
    }
}

/// Whether all elements of a view have addresses, its strides being in elements of `size` bytes.
/// Only of such views can footprints and tracks be made: no sum or product of theirs overflows.
bool has_addresses(const void* data, std::int64_t rows, std::int64_t columns,
                   std::int64_t row_stride, std::int64_t column_stride, std::size_t size);
template <class T>
bool has_addresses(const MatrixView<T>& view) {
    return has_addresses(view.data, view.rows, view.columns, view.row_stride, view.column_stride,
                         sizeof(T));
}
template <class T>
bool has_addresses(const VectorView<T>& view) {  // upwards from data, whatever the sign
    const std::int64_t down = view.increment < 0 ? view.increment : -view.increment;
    return view.size <= 1 ||
           (down != INT64_MIN && has_addresses(view.data, view.size, 1, -down, 0, sizeof(T)));
}

/// Throws unless the vector `name` of `operation` has an extent and, if it has elements, data.
template <class T>
void check_vector(const char* operation, const char* name, const VectorView<T>& view) {
    require(view.size >= 0, operation, ": ", name, " has ", view.size,
            " elements: must be at least 0");
    require(view.data || view.size == 0, operation, ": ", name, " is null: must point to ",
            view.size, " elements");
    require(has_addresses(view), operation, ": ", name, " has an increment of ", view.increment,
            ": ", view.size, " elements must lie within the address space");
}

/// From an element of a vector to the next, upwards; 0 if there is no next one.
template <class T>
std::int64_t bytes_between(const VectorView<T>& view) {
    if (view.size <= 1) return 0;
    return (view.increment < 0 ? -view.increment : view.increment) *
           static_cast<std::int64_t>(sizeof(T));
}

/// The elements of a view as byte addresses, in a normal form for overlap tests: strides are
/// positive, and runs are the direction of the shorter stride.
struct Footprint {
    template <class T>
    explicit Footprint(MatrixView<T> view)
        : Footprint(reinterpret_cast<std::intptr_t>(view.data), view.rows, view.columns,
                    view.rows > 1 && view.columns > 0
                        ? view.row_stride * static_cast<std::int64_t>(sizeof(T))
                        : 0,
                    view.columns > 1 && view.rows > 0
                        ? view.column_stride * static_cast<std::int64_t>(sizeof(T))
                        : 0,
                    sizeof(T)) {}
    template <class T>
    explicit Footprint(VectorView<T> view)
        : Footprint(reinterpret_cast<std::intptr_t>(view.data), 1, view.size, 0,
                    bytes_between(view), sizeof(T)) {}
    Footprint(std::intptr_t origin, std::int64_t rows, std::int64_t columns,
              std::int64_t row_stride, std::int64_t column_stride, std::int64_t element);

    bool empty() const { return runs <= 0 || run_length <= 0; }

    std::intptr_t first;  // lowest address
    std::int64_t runs, run_length;
    std::int64_t run_stride, element_stride;  // bytes
    std::int64_t element;                     // bytes
};

/// Whether no two elements of the view share an address.
bool elements_distinct(const Footprint& view);

/// Whether the views share an address. Exact if elements are contiguous within runs or both views
/// have the same strides (blocks of one matrix); other views count as overlapping where the address
/// ranges of their runs do.
bool overlap(const Footprint& x, const Footprint& y);

/// The elements of a vector as addresses: `size` of them, `stride` bytes apart, upwards.
struct Track {
    template <class T>
    explicit Track(const VectorView<T>& view)
        : first(reinterpret_cast<std::intptr_t>(view.data)),
          size(view.increment == 0 ? (view.size > 0) : view.size),
          stride(bytes_between(view)),
          element(sizeof(T)) {}

    std::intptr_t first;
    std::int64_t size, stride, element;
};

/// Whether two vectors of elements of one size share an address. Exact if they lie a whole number
/// of elements apart, as pointers to one type do.
bool overlap(const Track& x, const Track& y);

}  // namespace tinyblas
