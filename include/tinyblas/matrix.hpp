// SPDX-License-Identifier: MIT
// Matrix<T>: a matrix that owns memory of a stated kind; copy(): between any two matrices or views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tinyblas/view.hpp"

namespace tinyblas {

class Context;

/// The memory spaces that CUDA offers, and who can reach them. Names in brackets are the CUDA calls
/// behind them. Under device emulation every kind is host memory.
enum class Memory {
    device,          ///< the GPU's own memory [cudaMalloc]
    device_pitched,  ///< the same, each row (column, if column-major) padded to an aligned pitch
                     ///< [cudaMallocPitch]
    pinned,  ///< page-locked host memory: copies overlap with the GPU's work [cudaHostAlloc]
    pinned_portable,  ///< pinned for every CUDA context of the process [cudaHostAllocPortable]
    write_combined,   ///< pinned, fast for the GPU to read, slow for the CPU to read
                      ///< [cudaHostAllocWriteCombined]
    mapped,           ///< pinned, read and written by kernels across the bus: zero-copy
                      ///< [cudaHostAllocMapped]
    managed,          ///< one address on both sides, pages move on demand [cudaMallocManaged]
};

/// Which neighbours are contiguous in a Matrix.
enum class Layout { row_major, column_major };

namespace detail {
struct Allocation {
    void* data = nullptr;
    std::size_t pitch = 0;  // bytes from one run to the next
};
/// `runs` runs of `run_length` elements of `element_size` bytes; throws Error (invalid_argument,
/// out_of_memory).
TINYBLAS_API Allocation allocate(Memory memory, std::int64_t run_length, std::int64_t runs,
                                 std::size_t element_size);
TINYBLAS_API void release(Memory memory, void* data) noexcept;
TINYBLAS_API void copy(Context& context, std::size_t element_size, MatrixView<const std::byte> from,
                       MatrixView<std::byte> to);
}  // namespace detail

/// A `rows` x `columns` matrix of T in memory of one kind. Movable, not copyable (copies cost: call
/// copy()). The elements start uninitialized. Memory comes from the calling thread's current
/// device.
template <class T>
class Matrix {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Matrix() = default;

    /// Throws Error: invalid_argument if an extent is negative or the bytes exceed the address
    /// space; out_of_memory.
    Matrix(std::int64_t rows, std::int64_t columns, Memory memory = Memory::device,
           Layout layout = Layout::row_major)
        : memory_(memory) {
        const bool by_row = layout == Layout::row_major;
        const auto [data, pitch] =
            detail::allocate(memory, by_row ? columns : rows, by_row ? rows : columns, sizeof(T));
        const auto ld = static_cast<std::int64_t>(pitch / sizeof(T));
        view_ = {static_cast<T*>(data), rows, columns, by_row ? ld : 1, by_row ? 1 : ld};
    }

    /// Takes over the other's memory.
    Matrix(Matrix&& other) noexcept
        : memory_(other.memory_), view_(std::exchange(other.view_, {})) {}
    /// Exchanges memory with the other.
    Matrix& operator=(Matrix&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(view_, other.view_);
        return *this;
    }
    ~Matrix() {
        if (view_.data) detail::release(memory_, view_.data);
    }

    /// What the matrix was made with.
    std::int64_t rows() const noexcept { return view_.rows; }
    std::int64_t columns() const noexcept { return view_.columns; }
    Memory memory() const noexcept { return memory_; }

    /// All of it; the matrix must outlive the view.
    MatrixView<T> view() noexcept { return view_; }
    MatrixView<const T> view() const noexcept { return view_; }
    operator MatrixView<T>() noexcept { return view_; }
    operator MatrixView<const T>() const noexcept { return view_; }

    /// Element (i, j): only for memory that the host can reach (everything but device and
    /// device_pitched).
    T& operator()(std::int64_t i, std::int64_t j) const { return view_(i, j); }

  private:
    Memory memory_ = Memory::device;
    MatrixView<T> view_;
};

/// to(i, j) = from(i, j) for matrices of equal extents, in any two memory spaces and with any
/// strides. Runs on the context's stream. Asynchronous where the memory allows it: between device,
/// pinned and managed memory; a copy that touches pageable host memory returns when that memory may
/// be reused. Rows or columns contiguous on both sides go as one 2D copy; other strides go through
/// a kernel, and through the context's scratch if pageable memory is involved.
/// @param from, to  extents equal; their elements must not overlap; nothing is done if there are
/// none
/// @throws Error  invalid_argument (extents differ, null data; pageable memory and other strides
/// while the stream is being captured), out_of_memory (scratch), device_error
template <class T>
void copy(Context& context, std::type_identity_t<MatrixView<const T>> from, MatrixView<T> to) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto size = static_cast<std::int64_t>(sizeof(T));
    detail::copy(context, sizeof(T),
                 {reinterpret_cast<const std::byte*>(from.data), from.rows, from.columns,
                  from.row_stride * size, from.column_stride * size},
                 {reinterpret_cast<std::byte*>(to.data), to.rows, to.columns, to.row_stride * size,
                  to.column_stride * size});
}
template <class T>
void copy(Context& context, std::type_identity_t<MatrixView<const T>> from, Matrix<T>& to) {
    copy(context, from, to.view());
}

}  // namespace tinyblas
