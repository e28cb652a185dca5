// SPDX-License-Identifier: MIT
// Overlap within a batch and between two: pairs of views are compared where their ranges meet.
#include "batch.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tinyblas {
namespace {

std::int64_t span(const Footprint& f) {  // bytes from the first to behind the last
    return (f.runs - 1) * f.run_stride + (f.run_length - 1) * f.element_stride + f.element;
}

/// Whether elements of a line, `view`, meet those of the same line `distance` bytes further up.
bool lines_meet(const Footprint& view, std::int64_t distance) {
    const std::int64_t steps = distance / view.element_stride;
    const std::int64_t rest = distance % view.element_stride;
    return (rest < view.element && steps < view.run_length) ||
           (view.element_stride - rest < view.element && steps + 1 < view.run_length);
}

std::int64_t floor_divide(std::int64_t x, std::int64_t y) { return x / y - (x % y < 0); }

/// From the first byte of all matrices to behind the last.
std::pair<std::intptr_t, std::intptr_t> range(const Batch& batch) {
    const std::int64_t to_last = (batch.count - 1) * batch.stride;
    return {batch.first.first + std::min<std::int64_t>(0, to_last),
            batch.first.first + std::max<std::int64_t>(0, to_last) + span(batch.first)};
}

}  // namespace

bool elements_distinct(const Batch& batch) {
    if (batch.first.empty()) return true;
    const std::int64_t stride = std::abs(batch.stride), end = span(batch.first);
    for (std::int64_t e = 1; e < batch.count && e * stride < end; ++e) {
        Footprint other = batch.first;
        other.first += e * stride;
        if (batch.first.runs == 1 ? lines_meet(batch.first, e * stride)
                                  : overlap(batch.first, other))
            return false;
    }
    return true;
}

bool overlap(const Batch& x, const Batch& y) {
    if (x.first.empty() || y.first.empty()) return false;
    const auto [x_from, x_to] = range(x);
    const auto [y_from, y_to] = range(y);
    if (x_to <= y_from || y_to <= x_from) return false;  // however many there are
    const std::int64_t y_span = span(y.first);
    // Upwards, with a step.
    const std::int64_t step = std::max<std::int64_t>(1, std::abs(y.stride));
    const std::int64_t y_count = y.stride == 0 ? 1 : y.count;
    const std::int64_t lowest = y.first.first + (y.stride < 0 ? (y.count - 1) * y.stride : 0);
    for (std::int64_t e = 0; e < x.count; ++e) {
        Footprint one = x.at(e), other = y.first;
        const std::int64_t from = one.first - y_span - lowest;   // other starts above, and
        const std::int64_t to = one.first + span(one) - lowest;  // below
        const std::int64_t first = std::max<std::int64_t>(0, floor_divide(from, step) + 1);
        const std::int64_t last = std::min(y_count - 1, floor_divide(to - 1, step));
        for (std::int64_t f = first; f <= last; ++f) {
            other.first = lowest + f * step;
            if (overlap(one, other)) return true;
        }
    }
    return false;
}

}  // namespace tinyblas
