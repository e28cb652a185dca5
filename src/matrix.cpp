// SPDX-License-Identifier: MIT
// The memory behind Matrix<T>.
#include "tinyblas/matrix.hpp"

#include "check.hpp"
#include "device/runtime.hpp"

namespace tinyblas::detail {

Allocation allocate(Memory memory, std::int64_t run_length, std::int64_t runs,
                    std::size_t element_size) {
    require(runs >= 0 && run_length >= 0, "matrix: the extents are ", run_length, " and ", runs,
            ": both must be at least 0");
    std::int64_t width = 0;
    std::int64_t bytes = 0;
    const bool fits =
        !__builtin_mul_overflow(run_length, static_cast<std::int64_t>(element_size), &width) &&
        !__builtin_mul_overflow(width, runs, &bytes);
    require(fits, "matrix: ", run_length, " by ", runs, " elements of ", element_size,
            " bytes: must be fewer than 2^63 bytes");

    Allocation allocation;
    allocation.pitch = static_cast<std::size_t>(run_length > 0 ? width : element_size);
    if (bytes > 0)
        allocation.data =
            device::allocate(memory, static_cast<std::size_t>(width),
                             static_cast<std::size_t>(runs), element_size, allocation.pitch);
    return allocation;
}

void release(Memory memory, void* data) noexcept { device::release(memory, data); }

}  // namespace tinyblas::detail
