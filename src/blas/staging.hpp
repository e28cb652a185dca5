// SPDX-License-Identifier: MIT
// The way of host memory to the device and back: the calling thread's context, pinned memory that
// operands pass through in pieces, and device memory that grows to the largest operands seen. The
// processor packs one piece while the bus carries the one before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>

#include "tinyblas/context.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::blas {

/// Says `why` on stderr and aborts.
[[noreturn]] void end_process(const std::exception& why) noexcept;

class Staging {
  public:
    /// The thread's own, made by the first call; null if there is no device (said once on stderr).
    static Staging* of_this_thread();

    Context& context() { return context_; }

    /// Device memory for operand 0, 1 or 2, which stays until the operand's next room(): columns
    /// are contiguous and begin at multiples of 16 bytes.
    template <class T>
    MatrixView<T> room(int operand, std::int64_t rows, std::int64_t columns) {
        constexpr std::int64_t step = 16 / sizeof(T);
        const std::int64_t ld = columns > 1 ? (rows + step - 1) / step * step : rows;
        void* const memory =
            device_memory(operand, ld * columns * static_cast<std::int64_t>(sizeof(T)));
        return MatrixView<T>::column_major(static_cast<T*>(memory), rows, columns, ld);
    }

    /// Enqueues the copy of `from`, in host memory, to the room of an operand; zeros to what lies
    /// between its columns, which kernels may read along with them.
    template <class T>
    MatrixView<T> upload(int operand, MatrixView<const T> from) {
        const auto to = room<T>(operand, from.rows, from.columns);
        const MatrixView<T> whole = {to.data, to.column_stride, to.columns, 1, to.column_stride};
        for_each_piece(whole, [&](std::int64_t i, std::int64_t j, MatrixView<T> piece) {
            const auto packed = pinned_like(piece);
            const std::int64_t rows = std::clamp<std::int64_t>(from.rows - i, 0, piece.rows);
            copy_on_host(from.block(i, j, rows, piece.columns),
                         packed.block(0, 0, rows, piece.columns));
            for (std::int64_t column = 0; column < piece.columns; ++column)
                for (std::int64_t row = rows; row < piece.rows; ++row) packed(row, column) = T(0);
            copy<T>(context_, packed, piece);
        });
        return to;
    }

    /// Copies `from`, in a room, to host memory once all work is done. Nothing is written if any of
    /// it failed; a device that fails later, amid the copies, ends the process: there is no result
    /// to go on with.
    template <class T>
    void download(MatrixView<T> from, MatrixView<T> to) {
        bool begun = false;
        for_each_piece(from, [&](std::int64_t i, std::int64_t j, MatrixView<T> piece) {
            try {
                const auto packed = pinned_like(piece);
                copy<T>(context_, piece, packed);
                synchronize();
                begun = true;
                copy_on_host<T>(packed, to.block(i, j, piece.rows, piece.columns));
            } catch (const std::exception& error) {
                if (begun) end_process(error);
                throw;
            }
        });
    }

    /// Waits for the device. What was pinned for its copies is free again.
    void synchronize();

  private:
    static constexpr std::int64_t pinned_bytes = 8 << 20;
    static constexpr std::int64_t piece_bytes = 1 << 20;

    Staging();

    /// Blocks of at most piece_bytes that cover `view`: some columns, or some of a column.
    template <class T, class Body>
    static void for_each_piece(MatrixView<T> view, Body body) {
        constexpr std::int64_t most = piece_bytes / sizeof(T);
        const std::int64_t rows = std::clamp<std::int64_t>(view.rows, 1, most);
        const std::int64_t columns = most / rows;
        for (std::int64_t j = 0; j < view.columns; j += columns)
            for (std::int64_t i = 0; i < view.rows; i += rows)
                body(i, j,
                     view.block(i, j, std::min(rows, view.rows - i),
                                std::min(columns, view.columns - j)));
    }

    template <class T>
    static void copy_on_host(MatrixView<const T> from, MatrixView<T> to) {
        for (std::int64_t j = 0; j < to.columns; ++j) {
            const VectorView<const T> x = from.column(j);
            const VectorView<T> y = to.column(j);
            if (x.increment == 1 && y.increment == 1)
                std::copy_n(x.data, x.size, y.data);
            else
                for (std::int64_t i = 0; i < x.size; ++i) y(i) = x(i);
        }
    }

    /// A packed matrix of the same extents in pinned memory that no copy in progress uses.
    template <class T>
    MatrixView<T> pinned_like(MatrixView<T> piece) {
        void* const memory =
            pinned_memory(piece.rows * piece.columns * static_cast<std::int64_t>(sizeof(T)));
        return MatrixView<T>::column_major(static_cast<T*>(memory), piece.rows, piece.columns);
    }

    void* device_memory(int operand, std::int64_t bytes);
    void* pinned_memory(std::int64_t bytes);

    Context context_;
    Matrix<std::byte> pinned_, operands_[3];
    std::int64_t pinned_used_ = 0;
};

}  // namespace tinyblas::blas
