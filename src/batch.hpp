// SPDX-License-Identifier: MIT
// Batches of views, a stride apart, and which of their elements share an address.
#pragma once

#include <cstdint>

#include "check.hpp"

namespace tinyblas {

/// Whether all elements of `count` views like the first, `stride` elements from one to the next,
/// have addresses.
template <class T>
bool has_addresses(MatrixView<T> view, std::int64_t stride, std::int64_t count) {
    if (!has_addresses(view)) return false;
    auto address = reinterpret_cast<std::intptr_t>(view.data);
    std::int64_t bytes = sizeof(T);
    if (count > 1 && (__builtin_mul_overflow(count - 1, stride, &stride) ||
                      __builtin_mul_overflow(stride, bytes, &bytes) ||
                      __builtin_add_overflow(address, bytes, &address) || address < 0))
        return false;
    view.data = reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr): never read
    return has_addresses(view);
}

/// `count` views like the first, `stride` bytes from one to the next.
struct Batch {
    template <class T>
    Batch(MatrixView<T> view, std::int64_t element_stride, std::int64_t matrices)
        : first(view),
          stride(matrices > 1 ? element_stride * static_cast<std::int64_t>(sizeof(T)) : 0),
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
