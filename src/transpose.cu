// SPDX-License-Identifier: MIT
// transpose: check, trivial cases, orient, choose, launch. Elements are moved as words of their
// size, whatever they mean.
#include "tinyblas/transpose.hpp"

#include <type_traits>

#include "check.hpp"
#include "device/runtime.hpp"
#include "kernels/transpose/1_naive.cuh"
#include "kernels/transpose/2_padded.cuh"
#include "kernels/transpose/3_tuned.cuh"
#include "log.hpp"

namespace tinyblas {
namespace {

using From = MatrixView<const std::byte>;  // strides in bytes
using To = MatrixView<std::byte>;

void check_extents(const char* name, const From& view) {
    require(view.rows >= 0 && view.columns >= 0, "transpose: ", name, " is ", view.rows, " x ",
            view.columns, ": extents must be at least 0");
}

void check_shapes(std::size_t size, const From& a, const From& b) {
    require(size == 2 || size == 4 || size == 8 || size == 16, "transpose: element_size is ", size,
            ": must be 2, 4, 8 or 16");
    check_extents("a", a);
    check_extents("b", b);
    require(b.rows == a.columns, "transpose: b has ", b.rows, " rows but a has ", a.columns,
            " columns: must be equal");
    require(b.columns == a.rows, "transpose: b has ", b.columns, " columns but a has ", a.rows,
            " rows: must be equal");
}

void check_options(const TransposeOptions& options, std::size_t size) {
    require(options.kernel >= TransposeKernel::best && options.kernel <= TransposeKernel::tuned,
            "transpose: options.kernel is ", static_cast<int>(options.kernel),
            ": must be best, naive, padded or tuned");
    require(options.entry >= -1 && options.entry < transpose_entries,
            "transpose: options.entry is ", options.entry, ": must lie in -1 to ",
            transpose_entries - 1);
    if (options.entry < 0) return;
    require(options.kernel == TransposeKernel::best || options.kernel == TransposeKernel::tuned,
            "transpose: options.entry is ", options.entry, ": must be -1 for the rung ",
            to_string(options.kernel));
    const int entry_size = transpose_table[options.entry].element_size;
    require(entry_size == static_cast<int>(size), "transpose: options.entry is ", options.entry,
            ", for elements of ", entry_size, " bytes: must be an entry for ", size, " bytes");
}

void check_data(const char* name, const From& view) {
    require(view.data, "transpose: ", name, " is null: must point to ", view.rows, " x ",
            view.columns, " elements");
    require(
        has_addresses(view.data, view.rows, view.columns, view.row_stride, view.column_stride, 1),
        "transpose: ", name, " has strides of ", view.row_stride, " and ", view.column_stride,
        " bytes: ", view.rows, " x ", view.columns, " elements must lie within the address space");
}

/// An extent of 1 never takes a step. Its stride is set to what a packed matrix has, so that it
/// does not count in any question about strides.
template <class View>
View settled(View view, std::int64_t size) {
    if (view.rows == 1 && view.columns == 1) view.column_stride = size;
    if (view.rows == 1)
        view.row_stride = view.columns * view.column_stride;
    else if (view.columns == 1)
        view.column_stride = view.rows * view.row_stride;
    return view;
}

bool same_view(const From& a, const From& b) {
    return a.data == b.data && a.rows == b.rows && a.columns == b.columns &&
           a.row_stride == b.row_stride && a.column_stride == b.column_stride;
}

void check_overlap(std::int64_t size, const From& a, const From& b, bool in_place) {
    const auto footprint = [size](const From& view) {
        return Footprint(reinterpret_cast<std::intptr_t>(view.data), view.rows, view.columns,
                         view.row_stride, view.column_stride, size);
    };
    require(elements_distinct(footprint(b)), "transpose: b has strides of ", b.row_stride / size,
            " and ", b.column_stride / size, ": its elements must not overlap");
    require(in_place || !overlap(footprint(b), footprint(a)),
            "transpose: b overlaps a: must lie apart or be the same square view");
}

template <class Unit, class Byte>
auto in_units(const MatrixView<Byte>& view) {
    using Word = std::conditional_t<std::is_const_v<Byte>, const Unit, Unit>;
    constexpr std::int64_t unit = sizeof(Unit);
    return MatrixView<Word>{reinterpret_cast<Word*>(view.data), view.rows, view.columns,
                            view.row_stride / unit, view.column_stride / unit};
}

/// Whether addresses are multiples of Unit's alignment, strides and `size` of its size.
template <class Unit>
bool divides(std::int64_t size, const From& a, const From& b) {
    const auto addresses =
        reinterpret_cast<std::intptr_t>(a.data) | reinterpret_cast<std::intptr_t>(b.data);
    const std::int64_t strides =
        a.row_stride | a.column_stride | b.row_stride | b.column_stride | size;
    constexpr std::int64_t unit = sizeof(Unit), alignment = alignof(Unit);
    return addresses % alignment == 0 && strides % unit == 0;
}

// --- Naive: any strides, any alignment -----------------------------------------------------------

template <class Unit>
bool launch_in_units(device::Stream stream, std::int64_t size, const From& a, const To& b,
                     bool in_place) {
    if (!divides<Unit>(size, a, b)) return false;
    const int units = static_cast<int>(size / static_cast<std::int64_t>(sizeof(Unit)));
    if (in_place)
        launch_transpose_naive_in_place<Unit>(stream, in_units<Unit>(b), units);
    else
        launch_transpose_naive<Unit>(stream, in_units<Unit>(a), in_units<Unit>(b), units);
    return true;
}

void launch_naive(device::Stream stream, std::int64_t size, const From& a, const To& b,
                  bool in_place) {
    launch_in_units<TransposeChunk>(stream, size, a, b, in_place) ||
        launch_in_units<TransposeUnit16>(stream, size, a, b, in_place) ||
        launch_in_units<std::uint64_t>(stream, size, a, b, in_place) ||
        launch_in_units<std::uint32_t>(stream, size, a, b, in_place) ||
        launch_in_units<std::uint16_t>(stream, size, a, b, in_place) ||
        launch_in_units<std::uint8_t>(stream, size, a, b, in_place);
}

/// Whether `x` and `to` have contiguous rows, so that `to` = `x` moves whole runs of memory.
bool has_rows(const From& x, const From& to, std::int64_t size) {
    return x.column_stride == size && to.column_stride == size;
}

/// `to` = `from`, whose rows are contiguous: the elements are the largest words that fit.
void launch_copy(device::Stream stream, std::int64_t size, From from, To to) {
    const std::int64_t width = from.columns * size;
    std::int64_t word = 16;
    const std::int64_t bits = reinterpret_cast<std::intptr_t>(from.data) |
                              reinterpret_cast<std::intptr_t>(to.data) | from.row_stride |
                              to.row_stride | width;
    while (bits % word != 0) word /= 2;
    from.columns = to.columns = width / word;
    from.column_stride = to.column_stride = word;
    if (from.row_stride == width && to.row_stride == width) {  // one run
        from.columns = to.columns = from.rows * from.columns;
        from.rows = to.rows = 1;
        from = settled(from, word);
        to = settled(to, word);
    }
    launch_naive(stream, word, from, to.transposed(), false);
}

// --- Choose and launch ---------------------------------------------------------------------------

template <class Unit>
TransposeOperands facts(const From& a, const From& b, bool in_place) {
    constexpr std::int64_t size = sizeof(Unit);
    const std::int64_t bits = reinterpret_cast<std::intptr_t>(a.data) |
                              reinterpret_cast<std::intptr_t>(b.data) | a.row_stride | b.row_stride;
    return {.element_size = static_cast<int>(size),
            .m = a.rows,
            .n = a.columns,
            .unit_strides =
                a.column_stride == size && b.column_stride == size && divides<Unit>(size, a, b),
            .aligned = bits % 16 == 0,
            .in_place = in_place};
}

/// Padded or tuned. Where no line of the table can do what tuned is asked to do, padded does it.
TransposeChoice choose(const TransposeOptions& options, const TransposeOperands& operands) {
    if (options.entry >= 0) {
        const TransposeEntry& entry = transpose_table[options.entry];
        require(can_run(entry, operands), "transpose: options.entry is ", options.entry,
                ", of the form ", to_string(entry.form), ": a and b must have ",
                requirement(entry));
        return {TransposeKernel::tuned, options.entry};
    }
    const int entry =
        options.kernel == TransposeKernel::padded ? -1 : choose_transpose_entry(operands);
    return {entry < 0 ? TransposeKernel::padded : TransposeKernel::tuned, entry};
}

template <class Unit>
void launch(device::Stream stream, const TransposeChoice& choice, const From& a, const To& b,
            bool in_place) {
    if (choice.kernel == TransposeKernel::tuned)
        transpose_tuned_launchers<Unit>[static_cast<std::size_t>(choice.entry)](
            stream, in_units<Unit>(a), in_units<Unit>(b));
    else if (in_place)
        launch_transpose_padded_in_place<Unit, 1>(stream, in_units<Unit>(b));
    else
        launch_transpose_padded<Unit, 1>(stream, in_units<Unit>(a), in_units<Unit>(b));
}

/// Whether naive does it whatever else was asked for: elements lie where a word of their size may
/// not. Or whether nothing else would be better: a vector, or A and B in the same order in memory.
template <class Unit>
bool left_to_naive(TransposeKernel kernel, const From& a, const From& b, bool in_place) {
    constexpr std::int64_t size = sizeof(Unit);
    if (kernel == TransposeKernel::naive || !divides<Unit>(size, a, b)) return true;
    return kernel != TransposeKernel::padded && !in_place &&
           (a.rows == 1 || a.columns == 1 || has_rows(a, b.transposed(), size));
}

template <class Unit>
TransposeChoice run(device::Stream stream, const TransposeOptions& options, const From& a,
                    const To& b, bool in_place) {
    constexpr std::int64_t size = sizeof(Unit);
    if (options.entry < 0 && left_to_naive<Unit>(options.kernel, a, b, in_place)) {
        if (!in_place && has_rows(a, b.transposed(), size))
            launch_copy(stream, size, a, b.transposed());
        else
            launch_naive(stream, size, a, b, in_place);
        return {TransposeKernel::naive, -1};
    }
    const TransposeChoice choice = choose(options, facts<Unit>(a, b, in_place));
    launch<Unit>(stream, choice, a, b, in_place);
    return choice;
}

TransposeChoice run_in_units(device::Stream stream, std::size_t element_size,
                             const TransposeOptions& options, const From& a, const To& b,
                             bool in_place) {
    switch (element_size) {
        case 2: return run<std::uint16_t>(stream, options, a, b, in_place);
        case 4: return run<std::uint32_t>(stream, options, a, b, in_place);
        case 8: return run<std::uint64_t>(stream, options, a, b, in_place);
        default: return run<TransposeUnit16>(stream, options, a, b, in_place);
    }
}

}  // namespace

const char* to_string(TransposeKernel kernel) noexcept {
    switch (kernel) {
        case TransposeKernel::best: return "best";
        case TransposeKernel::naive: return "naive";
        case TransposeKernel::padded: return "padded";
        case TransposeKernel::tuned: return "tuned";
        case TransposeKernel::none: return "none";
    }
    return "unknown";
}

TransposeKernel transpose_kernel(std::string_view name) {
    for (auto kernel : {TransposeKernel::best, TransposeKernel::naive, TransposeKernel::padded,
                        TransposeKernel::tuned})
        if (name == to_string(kernel)) return kernel;
    fail(Status::invalid_argument, "transpose: there is no rung '", name,
         "': must be best, naive, padded or tuned");
}

TransposeChoice detail::transpose(Context& context, std::size_t element_size, From a, To b,
                                  TransposeOptions options) {
    check_shapes(element_size, a, b);
    check_options(options, element_size);
    if (a.rows == 0 || a.columns == 0) return {};
    check_data("a", a);
    check_data("b", b);
    const auto size = static_cast<std::int64_t>(element_size);
    const From given_a = a;
    const To given_b = b;
    a = settled(a, size);
    b = settled(b, size);
    const bool in_place = same_view(a, b);
    check_overlap(size, a, b, in_place);

    // Orient: where rows are contiguous, it is a's columns and b's columns that are neighbours.
    // transposed(B) = transposed(transposed(A)) is the same operation.
    if (a.column_stride != size && a.row_stride == size) {
        a = a.transposed();
        b = b.transposed();
    }
    const device::Guard guard(context.device(), "transpose");
    context.note("transpose");
    const TransposeChoice choice =
        run_in_units(context.stream(), element_size, options, a, b, in_place);
    if (logs()) log_transpose(element_size, given_a, given_b, choice);
    return choice;
}

}  // namespace tinyblas
