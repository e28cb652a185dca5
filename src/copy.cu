// SPDX-License-Identifier: MIT
// copy: one 2D copy where both sides are contiguous the same way; else a kernel; else through
// staging memory.
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "device/runtime.hpp"
#include "kernels/copy/strided.cuh"
#include "log.hpp"
#include "tinyblas/context.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas {
namespace {

using From = MatrixView<const std::byte>;  // strides in bytes
using To = MatrixView<std::byte>;

/// Whether `view` is rows of neighbouring elements that a 2D copy can walk.
bool has_rows(const From& view, std::int64_t size) {
    return (view.columns == 1 || view.column_stride == size) &&
           (view.rows == 1 || view.row_stride >= view.columns * size);
}

void copy_rows(Context& context, std::int64_t size, const From& from, const To& to) {
    constexpr std::int64_t longest_pitch = std::numeric_limits<std::int32_t>::max();
    const std::int64_t width = to.columns * size;
    const bool at_once = to.rows == 1 || (from.row_stride == width && to.row_stride == width) ||
                         (from.row_stride <= longest_pitch && to.row_stride <= longest_pitch);
    const std::int64_t rows = at_once ? to.rows : 1;
    for (std::int64_t i = 0; i < to.rows; i += rows)
        device::copy_2d(context.stream(), &to(i, 0), static_cast<std::size_t>(to.row_stride),
                        &from(i, 0), static_cast<std::size_t>(from.row_stride),
                        static_cast<std::size_t>(width), static_cast<std::size_t>(rows), "copy");
}

template <class Unit>
bool launch_in_units(device::Stream stream, std::int64_t size, const From& from, const To& to) {
    constexpr std::int64_t unit = sizeof(Unit);
    const auto bits = reinterpret_cast<std::intptr_t>(from.data) |
                      reinterpret_cast<std::intptr_t>(to.data) | from.row_stride |
                      from.column_stride | to.row_stride | to.column_stride | size;
    if (bits % unit != 0) return false;
    launch_copy_strided<Unit>(stream,
                              {reinterpret_cast<const Unit*>(from.data), from.rows, from.columns,
                               from.row_stride / unit, from.column_stride / unit},
                              {reinterpret_cast<Unit*>(to.data), to.rows, to.columns,
                               to.row_stride / unit, to.column_stride / unit},
                              static_cast<int>(size / unit));
    return true;
}

void copy_by_kernel(Context& context, std::int64_t size, const From& from, const To& to) {
    const auto stream = context.stream();
    launch_in_units<CopyUnit16>(stream, size, from, to) ||
        launch_in_units<std::uint64_t>(stream, size, from, to) ||
        launch_in_units<std::uint32_t>(stream, size, from, to) ||
        launch_in_units<std::uint16_t>(stream, size, from, to) ||
        launch_in_units<std::uint8_t>(stream, size, from, to);
}

void copy_on_host(std::int64_t size, const From& from, const To& to) {
    for (std::int64_t i = 0; i < to.rows; ++i)
        for (std::int64_t j = 0; j < to.columns; ++j)
            std::memcpy(&to(i, j), &from(i, j), static_cast<std::size_t>(size));
}

/// Pageable memory on at least one side, strides that differ: packed rows in between, on the host
/// and, if needed, on the device.
void copy_staged(Context& context, std::int64_t size, const From& from, const To& to,
                 bool from_reachable, bool to_reachable) {
    require(
        !device::is_capturing(context.stream(), "copy"),
        "copy: the context's stream is being captured, where what these views need cannot be "
        "waited for: from and to must be device, pinned or managed memory, or contiguous alike");
    if (!from_reachable && !to_reachable) {
        context.synchronize();
        return copy_on_host(size, from, to);
    }
    const auto packed = [&](std::byte* data) {
        return To{data, to.rows, to.columns, to.columns * size, size};
    };
    const auto bytes = static_cast<std::size_t>(to.rows * to.columns * size);
    std::vector<std::byte> host(bytes);
    const To on_host = packed(host.data());
    if (to_reachable) {
        copy_on_host(size, from, on_host);
        if (has_rows(to, size)) {
            copy_rows(context, size, on_host, to);
        } else {
            const To on_device = packed(static_cast<std::byte*>(context.scratch(bytes)));
            copy_rows(context, size, on_host, on_device);
            copy_by_kernel(context, size, on_device, to);
        }
        context.synchronize();
    } else {
        if (has_rows(from, size)) {
            copy_rows(context, size, from, on_host);
        } else {
            const To on_device = packed(static_cast<std::byte*>(context.scratch(bytes)));
            copy_by_kernel(context, size, from, on_device);
            copy_rows(context, size, on_device, on_host);
        }
        context.synchronize();
        copy_on_host(size, on_host, to);
    }
}

}  // namespace

void detail::copy(Context& context, std::size_t element_size, From from, To to) {
    const auto size = static_cast<std::int64_t>(element_size);
    require(from.rows >= 0 && from.columns >= 0, "copy: from is ", from.rows, " x ", from.columns,
            ": extents must be at least 0");
    require(from.rows == to.rows && from.columns == to.columns, "copy: from is ", from.rows, " x ",
            from.columns, " but to is ", to.rows, " x ", to.columns, ": must be equal");
    if (to.rows == 0 || to.columns == 0) return;
    require(from.data, "copy: from is null: must point to ", from.rows, " x ", from.columns,
            " elements");
    require(to.data, "copy: to is null: must point to ", to.rows, " x ", to.columns, " elements");
    const auto footprint = [&](const auto& view) {
        return Footprint(reinterpret_cast<std::intptr_t>(view.data), view.rows, view.columns,
                         view.row_stride, view.column_stride, size);
    };
    require(elements_distinct(footprint(to)), "copy: to has strides of ", to.row_stride / size,
            " and ", to.column_stride / size, ": its elements must not overlap");
    require(!overlap(footprint(from), footprint(to)), "copy: to overlaps from: must lie apart");

    const device::Guard guard(context.device(), "copy");
    context.note("copy");
    if (logs()) log_copy("copy", element_size, from, to);
    if (has_rows(from, size) && has_rows(to, size)) return copy_rows(context, size, from, to);
    if (has_rows(from.transposed(), size) && has_rows(to.transposed(), size))
        return copy_rows(context, size, from.transposed(), to.transposed());
    const bool from_reachable = device::reachable(from.data);
    const bool to_reachable = device::reachable(to.data);
    if (from_reachable && to_reachable) return copy_by_kernel(context, size, from, to);
    copy_staged(context, size, from, to, from_reachable, to_reachable);
}

}  // namespace tinyblas
