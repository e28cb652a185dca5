// SPDX-License-Identifier: MIT
// transpose: the elements moved, not the strides (for those, transposed() of view.hpp is free).
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "tinyblas/context.hpp"
#include "tinyblas/matrix.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas {

/// The rungs of the ladder, kernels/transpose/N_<name>.cuh, and two words of choice: `best` asks
/// the library to choose, `none` says that no kernel was needed.
enum class TransposeKernel { best, naive, padded, tuned, none };

/// The name of a rung, such as "naive".
TINYBLAS_API const char* to_string(TransposeKernel kernel) noexcept;
/// The rung called `name` ("best", "naive", "padded", "tuned"). Throws Error (invalid_argument)
/// that lists them if there is none.
TINYBLAS_API TransposeKernel transpose_kernel(std::string_view name);

/// What a caller may ask for.
struct TransposeOptions {
    TransposeKernel kernel = TransposeKernel::best;  ///< a rung
    /// The line of the tuning table (kernels/transpose/tiles.hpp) for `tuned`; -1: chosen.
    int entry = -1;
};

/// What was chosen: the rung, and for `tuned` its line of the tuning table, else -1.
struct TransposeChoice {
    TransposeKernel kernel = TransposeKernel::none;  ///< the rung that ran
    int entry = -1;                                  ///< of `tuned`
};

namespace detail {
TINYBLAS_API TransposeChoice transpose(Context& context, std::size_t element_size,
                                       MatrixView<const std::byte> a, MatrixView<std::byte> b,
                                       TransposeOptions options);
template <class T>
MatrixView<std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>> bytes_of(
    MatrixView<T> view) {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    // Beyond all addresses: no further, so that nothing overflows.
    const auto bytes = [](std::int64_t stride) {
        constexpr std::int64_t most = INT64_MAX / size;
        return stride > most ? INT64_MAX : stride < -most ? -INT64_MAX : stride * size;
    };
    return {reinterpret_cast<Byte*>(view.data), view.rows, view.columns, bytes(view.row_stride),
            bytes(view.column_stride)};
}
template <class T>
inline constexpr bool can_transpose = std::is_trivially_copyable_v<T> &&
                                      (sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 ||
                                       sizeof(T) == 16);
}  // namespace detail

/// B = transposed(A): b(j, i) = a(i, j), bit for bit, in one kernel on the context's stream.
/// T is any trivially copyable type of 2, 4, 8 or 16 bytes.
///
/// @param a  m x n, any strides
/// @param b  n x m, any strides that keep its elements apart; must not overlap A, unless it is the
/// very same square view: then A is transposed in place. Nothing outside the view changes.
/// @return what ran; TransposeKernel::none if m or n is 0. Where a rung cannot do a call, the best
/// one below it that can runs: `tuned` needs contiguous rows (or columns) of A and of B; elements
/// that are not aligned to their size, or lie in the same order in A and B, are for `naive`.
/// @throws Error  invalid_argument (names the argument, its value and the bound; nothing is
/// written), device_error
template <class T>
TransposeChoice transpose(Context& context, std::type_identity_t<MatrixView<const T>> a,
                          MatrixView<T> b, TransposeOptions options = {}) {
    static_assert(detail::can_transpose<T>);
    return detail::transpose(context, sizeof(T), detail::bytes_of(a), detail::bytes_of(b), options);
}
template <class T>
TransposeChoice transpose(Context& context, std::type_identity_t<MatrixView<const T>> a,
                          Matrix<T>& b, TransposeOptions options = {}) {
    return transpose(context, a, b.view(), options);
}

/// A = transposed(A), for a square A, in place.
template <class T>
TransposeChoice transpose(Context& context, MatrixView<T> a, TransposeOptions options = {}) {
    return transpose<T>(context, a, a, options);
}
template <class T>
TransposeChoice transpose(Context& context, Matrix<T>& a, TransposeOptions options = {}) {
    return transpose(context, a.view(), options);
}

}  // namespace tinyblas
