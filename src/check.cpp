// SPDX-License-Identifier: MIT
// Sentences, and overlap of strided views. A view is brought to a normal form first: strides
// positive, the longer one outside.
#include "check.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <utility>

namespace tinyblas {
namespace {

std::int64_t span(const Footprint& f) {  // bytes from the first to behind the last
    return (f.runs - 1) * f.run_stride + (f.run_length - 1) * f.element_stride + f.element;
}

std::int64_t floor_divide(std::int64_t x, std::int64_t y) { return x / y - (x % y < 0); }

/// The number whose product with x leaves 1 when divided by `modulus`; they have no common divisor.
std::int64_t inverse_of(std::int64_t x, std::int64_t modulus) {
    std::int64_t r = modulus, next_r = x, t = 0, next_t = 1;
    while (next_r != 0) {  // Euclid's algorithm: t * x = r modulo modulus
        const std::int64_t quotient = r / next_r;
        r = std::exchange(next_r, r - quotient * next_r);
        t = std::exchange(next_t, t - quotient * next_t);
    }
    return t;
}

/// Whether the byte range [first, first + length) meets a run of `f`, taking each run as solid.
bool meets_run(std::intptr_t first, std::int64_t length, const Footprint& f) {
    const std::int64_t run = (f.run_length - 1) * f.element_stride + f.element;
    const std::int64_t offset = first - f.first;
    if (f.runs == 1 || f.run_stride == 0) return offset < run && offset + length > 0;
    // Runs r with r * run_stride < offset + length and r * run_stride + run > offset.
    const std::int64_t from =
        std::max<std::int64_t>(0, floor_divide(offset - run, f.run_stride) + 1);
    const std::int64_t to = std::min(f.runs - 1, floor_divide(offset + length - 1, f.run_stride));
    return from <= to;
}

/// Views of equal strides: whether some element of x starts within `element` bytes of one of y.
/// Exact for blocks of one matrix.
bool same_lattice_overlap(const Footprint& x, const Footprint& y) {
    const std::int64_t offset = y.first - x.first;
    // y's element (i, j) is x's (i + row, j + column) where offset = row * run_stride + column *
    // element_stride.
    const std::int64_t around = floor_divide(offset, x.run_stride);
    const std::int64_t wrap = (x.run_length + y.run_length) * x.element_stride / x.run_stride + 1;
    for (std::int64_t row = around - wrap; row <= around + wrap; ++row) {
        const std::int64_t rest = offset - row * x.run_stride;
        const std::int64_t column = floor_divide(rest, x.element_stride);
        const bool rows_meet = row < x.runs && row > -y.runs;
        const auto columns_meet = [&](std::int64_t c) {
            return c < x.run_length && c > -y.run_length;
        };
        const std::int64_t remainder = rest - column * x.element_stride;
        if (!rows_meet) continue;
        if (remainder < x.element && columns_meet(column)) return true;
        if (x.element_stride - remainder < y.element && columns_meet(column + 1)) return true;
    }
    return false;
}

}  // namespace

std::ostream& operator<<(std::ostream& to, const Word& word) {
    switch (word.kind_) {
        case Word::integer: return to << word.integer_;
        case Word::natural: return to << word.natural_;
        case Word::real: return to << word.real_;
        case Word::pointer: return to << word.address_;
        default: return to << std::string_view(word.text_, static_cast<std::size_t>(word.kind_));
    }
}

void fail(Status status, std::initializer_list<Word> words) {
    std::ostringstream sentence;
    for (const Word& word : words) sentence << word;
    throw Error(status, sentence.str());
}

bool has_addresses(const void* data, std::int64_t rows, std::int64_t columns,
                   std::int64_t row_stride, std::int64_t column_stride, std::size_t size) {
    if (rows <= 0 || columns <= 0) return true;
    // The lowest byte and the one behind the highest.
    std::int64_t low = reinterpret_cast<std::intptr_t>(data), high = low;
    const auto element = static_cast<std::int64_t>(size);
    const auto reaches = [&](std::int64_t extent, std::int64_t stride) {
        std::int64_t steps = 0, bytes = 0;
        std::int64_t& end = stride < 0 ? low : high;
        return extent == 1 || (!__builtin_mul_overflow(extent - 1, stride, &steps) &&
                               !__builtin_mul_overflow(steps, element, &bytes) &&
                               !__builtin_add_overflow(end, bytes, &end));
    };
    return reaches(rows, row_stride) && reaches(columns, column_stride) && low >= 0 &&
           !__builtin_add_overflow(high, element, &high);
}

Footprint::Footprint(std::intptr_t origin, std::int64_t rows, std::int64_t columns,
                     std::int64_t row_stride, std::int64_t column_stride, std::int64_t element)
    : first(origin),
      runs(rows),
      run_length(columns),
      run_stride(row_stride),
      element_stride(column_stride),
      element(element) {
    if (empty()) return;
    if (run_stride < 0) first += (runs - 1) * run_stride, run_stride = -run_stride;
    if (element_stride < 0)
        first += (run_length - 1) * element_stride, element_stride = -element_stride;
    // An extent of 1 never takes a step: its stride may be anything, so it is made the inner one.
    if (runs == 1 || (run_length > 1 && run_stride < element_stride)) {
        std::swap(runs, run_length);
        std::swap(run_stride, element_stride);
    }
    if (run_length == 1) element_stride = element;
    if (runs == 1) run_stride = run_length * element_stride;
}

bool elements_distinct(const Footprint& view) {
    if (view.empty()) return true;
    if (view.run_length > 1 && view.element_stride < view.element) return false;
    if (view.runs == 1) return true;
    if (view.run_stride < view.element) return false;
    const std::int64_t run = (view.run_length - 1) * view.element_stride + view.element;
    if (view.run_stride >= run) return true;
    // Runs interleave: two elements meet if row * run_stride = column * element_stride within the
    // extents.
    const std::int64_t divisor = std::gcd(view.run_stride, view.element_stride);
    return view.element_stride / divisor >= view.runs ||
           view.run_stride / divisor >= view.run_length;
}

bool overlap(const Footprint& x, const Footprint& y) {
    if (x.empty() || y.empty()) return false;
    if (x.first + span(x) <= y.first || y.first + span(y) <= x.first) return false;
    if (x.run_stride == y.run_stride && x.element_stride == y.element_stride && x.runs > 1)
        return same_lattice_overlap(x, y);
    const Footprint& few = x.runs <= y.runs ? x : y;
    const Footprint& many = x.runs <= y.runs ? y : x;
    const std::int64_t run = (few.run_length - 1) * few.element_stride + few.element;
    for (std::int64_t r = 0; r < few.runs; ++r)
        if (meets_run(few.first + r * few.run_stride, run, many)) return true;
    return false;
}

bool overlap(const Track& x, const Track& y) {
    if (x.size <= 0 || y.size <= 0) return false;
    // In elements: i * a = distance + j * b for some i < x.size and j < y.size?
    const std::int64_t bytes = y.first - x.first;
    const std::int64_t a = x.size > 1 ? x.stride / x.element : 1;
    const std::int64_t b = y.size > 1 ? y.stride / y.element : 1;
    if (bytes % x.element != 0) {  // elements that lie askew: as if there were no gaps
        const std::int64_t x_end = ((x.size - 1) * a + 1) * x.element;
        const std::int64_t y_end = ((y.size - 1) * b + 1) * y.element;
        return bytes < x_end && -bytes < y_end;
    }
    const std::int64_t distance = bytes / x.element;
    const std::int64_t divisor = std::gcd(a, b);
    if (distance % divisor != 0) return false;
    // The solutions are every `period`-th i, beginning with (distance / divisor) / (a / divisor).
    const std::int64_t period = b / divisor;
    const std::int64_t inverse = inverse_of(a / divisor % period, period);
    const __int128 product = static_cast<__int128>(distance / divisor % period) * inverse;
    const auto solution = static_cast<std::int64_t>((product % period + period) % period);
    const std::int64_t from = std::max<std::int64_t>(0, -floor_divide(-distance, a));
    const std::int64_t to = std::min(x.size - 1, floor_divide(distance + (y.size - 1) * b, a));
    const std::int64_t next = from + ((solution - from) % period + period) % period;
    return next <= to;
}

}  // namespace tinyblas
