// SPDX-License-Identifier: MIT
// Batches of views, a stride apart, and which of their elements share an address.
#pragma once

#include <cstdint>

#include "check.hpp"

namespace tinyblas {

/// `count` views like the first, `stride` bytes from one to the next.
struct Batch {
    template <class T>
    Batch(MatrixView<T> view, std::int64_t element_stride, std::int64_t matrices)
        : first(view),
          stride(element_stride * static_cast<std::int64_t>(sizeof(T))),
          count(matrices) {}

    Footprint at(std::int64_t e) const {
        Footprint one = first;
        one.first += e * stride;
        return one;
    }

    Footprint first;
    std::int64_t stride, count;
};

/// Whether no two elements share an address; exact. Those of the first view do not.
bool elements_distinct(const Batch& batch);

/// Whether some view of x overlaps one of y, as overlap() of check.hpp has it.
bool overlap(const Batch& x, const Batch& y);

}  // namespace tinyblas
