// SPDX-License-Identifier: MIT
// What every test stands on: operands between guard bands, a wide reference, the tolerance. The
// same source serves both back ends: an operand is filled on the host, uploaded whole, and compared
// whole afterwards, gaps and guards included.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "tinyblas/context.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/matrix.hpp"
#include "wide.hpp"

namespace tinyblas::test {

inline constexpr bool emulated = TINYBLAS_EMULATED;  // 0 or 1, from CMake

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
Bits<T> bits(T x) {
    return std::bit_cast<Bits<T>>(x);
}

/// A quiet NaN that no arithmetic makes: a gap that was rewritten, even with NaN, shows.
template <class T>
T poison() {
    return std::bit_cast<T>(bits(std::numeric_limits<T>::quiet_NaN()) | Bits<T>{0xabcd});
}

/// The same number or both NaN. A zero's sign is left out: the zeros that pad a ragged tile turn a
/// sum that underflowed to -0 into +0.
template <class T>
bool same(T x, T y) {
    return x == y || (std::isnan(x) && std::isnan(y));
}

/// Numbers that depend on the seed alone, whatever the standard library.
class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    std::int64_t integer(std::int64_t first, std::int64_t last) {
        return first +
               static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(last - first + 1));
    }
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // [0, 1)
    double normal() {                                                            // Box and Muller
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

  private:
    std::mt19937_64 engine_;
};

/// How an operand lies in its buffer: which neighbours are close, how far apart, in which
/// direction, from which offset.
struct Storage {
    const char* name;
    bool by_column = false;
    std::int64_t element_stride = 1;
    std::int64_t ld_factor = 1, ld_extra = 0;  // ld = factor * (run's elements) + extra
    bool flip_rows = false, flip_columns = false;
    std::int64_t offset = 0;  // of the first element from 16-byte alignment
};

/// The last one puts every row at the same place: for operands that are only read.
inline constexpr Storage storages[] = {
    {.name = "row_major"},
    {.name = "column_major", .by_column = true},
    {.name = "row_major_block", .ld_extra = 40, .offset = 4},
    {.name = "column_major_block", .by_column = true, .ld_extra = 40, .offset = 8},
    {.name = "row_major_odd_ld", .ld_extra = 3, .offset = 1},
    {.name = "column_major_odd_ld", .by_column = true, .ld_extra = 5, .offset = 2},
    {.name = "row_major_aligned_ld_off_3", .ld_factor = 16, .offset = 3},
    {.name = "general", .element_stride = 2, .ld_factor = 3},
    {.name = "general_by_column",
     .by_column = true,
     .element_stride = 3,
     .ld_factor = 2,
     .offset = 1},
    {.name = "rows_backwards", .ld_extra = 2, .flip_rows = true},
    {.name = "all_backwards", .by_column = true, .flip_rows = true, .flip_columns = true},
    {.name = "rows_coincide", .ld_factor = 0},
};
inline constexpr int input_storages = std::size(storages);
inline constexpr int output_storages = input_storages - 1;

/// A matrix in a buffer of poison, twice on the host (before and after) and once on the device.
template <class T>
class Operand {
  public:
    Operand(std::int64_t rows, std::int64_t columns, const Storage& storage = storages[0])
        : name_(storage.name) {
        const std::int64_t runs = storage.by_column ? columns : rows;
        const std::int64_t length = storage.by_column ? rows : columns;
        const std::int64_t step = storage.element_stride;
        const std::int64_t ld =
            std::max<std::int64_t>(1, length * step) * storage.ld_factor + storage.ld_extra;
        const bool empty = runs == 0 || length == 0;
        const std::int64_t span = empty ? 0 : (runs - 1) * ld + (length - 1) * step + 1;
        before_.assign(static_cast<std::size_t>(guard + storage.offset + span + guard),
                       poison<T>());
        after_ = before_;
        device_ = Matrix<T>(1, static_cast<std::int64_t>(before_.size()));

        view_ = {before_.data(), rows, columns, storage.by_column ? step : ld,
                 storage.by_column ? ld : step};
        first_ = guard + storage.offset;
        if (storage.flip_rows && !empty) {
            first_ += (rows - 1) * view_.row_stride;
            view_.row_stride = -view_.row_stride;
        }
        if (storage.flip_columns && !empty) {
            first_ += (columns - 1) * view_.column_stride;
            view_.column_stride = -view_.column_stride;
        }
    }

    const char* name() const { return name_; }
    MatrixView<T> before() { return in(before_.data()); }
    MatrixView<const T> before() const { return in(before_.data()); }
    MatrixView<T> after() { return in(after_.data()); }
    MatrixView<T> device() { return in(device_.view().data); }

    template <class Make>
    void fill(Make make) {
        for (std::int64_t i = 0; i < view_.rows; ++i)
            for (std::int64_t j = 0; j < view_.columns; ++j) before()(i, j) = make();
    }

    void upload(Context& context) { copy(context, whole(before_), device_); }
    void download(Context& context) {
        copy(context, device_, whole(after_));
        context.synchronize();
    }

    /// Whether the buffer is as it was, bit for bit; with `but_view`, whether all of it outside the
    /// view is.
    testing::AssertionResult intact(bool but_view = false) {
        std::vector<bool> may_change(before_.size(), false);
        if (but_view)
            for (std::int64_t i = 0; i < view_.rows; ++i)
                for (std::int64_t j = 0; j < view_.columns; ++j)
                    may_change[static_cast<std::size_t>(&before()(i, j) - before_.data())] = true;
        for (std::size_t at = 0; at < before_.size(); ++at)
            if (!may_change[at] && bits(before_[at]) != bits(after_[at]))
                return testing::AssertionFailure()
                       << "element " << static_cast<std::int64_t>(at) - first_
                       << " from (0, 0) of a " << view_.rows << " x " << view_.columns << " "
                       << name_ << " operand became " << after_[at] << ", was " << before_[at];
        return testing::AssertionSuccess();
    }

  private:
    static constexpr std::int64_t guard = 128;

    static MatrixView<T> whole(std::vector<T>& buffer) {
        return MatrixView<T>::row_major(buffer.data(), 1, static_cast<std::int64_t>(buffer.size()));
    }
    template <class Element>
    MatrixView<Element> in(Element* buffer) const {
        return {buffer + first_, view_.rows, view_.columns, view_.row_stride, view_.column_stride};
    }

    const char* name_;
    std::vector<T> before_, after_;
    Matrix<T> device_;
    MatrixView<T> view_;
    std::int64_t first_ = 0;  // where element (0, 0) lies in the buffers
};
extern template class Operand<float>;  // in reference.cpp
extern template class Operand<double>;

template <class T>
WideMatrix<T> widen(MatrixView<T> view) {
    return WideMatrix<T>::NullaryExpr(
        view.rows, view.columns,
        [view](Eigen::Index i, Eigen::Index j) { return static_cast<Wide<T>>(view(i, j)); });
}

/// How far a sum of k products may lie from `value`, its exact one: `magnitude` is the same sum
/// over absolute values (S), `scaled` is |beta c|. The textbook's k u would let TF32 pass for fp32;
/// this holds for rounding errors that do not conspire.
template <class T>
Wide<T> tolerance(std::int64_t k, Wide<T> magnitude, Wide<T> scaled, Wide<T> value) {
    const Wide<T> u = std::numeric_limits<T>::epsilon() / 2;
    const auto terms = static_cast<Wide<T>>(k);
    return magnitude * u * std::min(terms + 4, 8 + 2 * std::sqrt(terms)) + 3 * u * scaled +
           u * std::abs(value) + (terms + 2) * std::numeric_limits<T>::denorm_min();
}

/// Whether call() throws an Error of this status whose sentence has all of `words`.
template <class Call>
testing::AssertionResult refuses(Call call, std::initializer_list<std::string> words,
                                 Status status = Status::invalid_argument) {
    try {
        call();
    } catch (const Error& error) {
        const std::string sentence = error.what();
        if (error.status() != status)
            return testing::AssertionFailure() << to_string(error.status()) << ": " << sentence;
        for (const std::string& word : words)
            if (sentence.find(word) == std::string::npos)
                return testing::AssertionFailure() << "no '" << word << "' in: " << sentence;
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "it was accepted";
}

}  // namespace tinyblas::test
