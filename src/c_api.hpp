// SPDX-License-Identifier: MIT
// What the files of the C interface share: the context, how an exception becomes a status, and the
// sentences for bad arguments. They check all arguments themselves, so that a sentence has the
// number and the name that the caller knows; what lies below never sees a bad one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>

#include "check.hpp"
#include "tinyblas/gemm.hpp"
#include "tinyblas/gemv.hpp"
#include "tinyblas/polyval.hpp"
#include "tinyblas/reduce.hpp"
#include "tinyblas/tinyblas.h"
#include "tinyblas/transpose.hpp"

namespace tinyblas {

/// The rung that the caller asked for, and the one that ran last.
template <class Kernel>
struct Rung {
    Kernel asked = Kernel::best;
    Kernel ran = Kernel::none;
};

}  // namespace tinyblas

struct tinyblas_context_s {
    tinyblas::Context context;
    tinyblas::Rung<tinyblas::GemmKernel> gemm;
    tinyblas::Rung<tinyblas::TransposeKernel> transpose;
    tinyblas::Rung<tinyblas::ReduceKernel> reduce;
    tinyblas::Rung<tinyblas::PolyvalKernel> polyval;
};

namespace tinyblas {

/// Keeps the sentence for tinyblas_last_error() and returns the status.
tinyblas_status report(Status status, const char* function, const char* sentence) noexcept;

/// Runs `body`; what it throws becomes the status of `function`.
template <class Body>
tinyblas_status guarded(const char* function, Body&& body) noexcept {
    try {
        body();
        return TINYBLAS_SUCCESS;
    } catch (const Error& error) {
        return report(error.status(), function, error.what());
    } catch (const std::bad_alloc&) {
        return report(Status::out_of_memory, function, "no host memory");
    } catch (const std::exception& error) {
        return report(Status::internal_error, function, error.what());
    } catch (...) {
        return report(Status::internal_error, function, "unknown exception");
    }
}

/// "argument 10 (lda) is 3: must be at least 7"
template <class Value, class... Bound>
void require_argument(bool condition, int number, const char* name, const Value& value,
                      const Bound&... bound) {
    require(condition, "argument ", number, " (", name, ") is ", value, ": must be ", bound...);
}

inline void require_pointer(bool condition, int number, const char* name) {
    require_argument(condition, number, name, "null", "a pointer");
}

inline void require_context(tinyblas_context context) {
    require_pointer(context != nullptr, 1, "context");
}

/// With one element or none the increment takes no step; it is 1 from here on.
template <class T>
VectorView<T> vector_argument(int number, const char* name, std::int64_t n, T* data,
                              std::int64_t increment) {
    require_pointer(data || n <= 0, number, name);
    const VectorView<T> view = {data, std::max<std::int64_t>(0, n), n > 1 ? increment : 1};
    if (!has_addresses(view))
        require_argument(false, number + 1, name[0] == 'x' ? "incx" : "incy", increment,
                         "such that ", n, " elements lie within the address space");
    return view;
}

/// The increment of a vector that is written; `extent` is the name of its number of elements.
inline void require_steps(int number, const char* name, std::int64_t n, std::int64_t increment,
                          const char* extent = "n") {
    require_argument(increment != 0 || n <= 1, number, name, increment, "other than 0 for ", extent,
                     " = ", n);
}

// Of the matrix operations: only the C interface knows layout, op and lda.

inline void require_layout(tinyblas_layout layout) {
    require_argument(layout == TINYBLAS_ROW_MAJOR || layout == TINYBLAS_COL_MAJOR, 2, "layout",
                     static_cast<int>(layout), "101 or 102");
}

inline void require_op(int number, const char* name, tinyblas_op op) {
    require_argument(op == TINYBLAS_NO_TRANS || op == TINYBLAS_TRANS || op == TINYBLAS_CONJ_TRANS,
                     number, name, static_cast<int>(op), "111, 112 or 113");
}

/// op(X), `rows` x `columns`, stored with leading dimension ld, which takes no step within a single
/// row or column. The caller has checked ld.
template <class T>
MatrixView<T> view(tinyblas_layout layout, tinyblas_op op, T* data, std::int64_t rows,
                   std::int64_t columns, std::int64_t ld) {
    const bool along_rows = (layout == TINYBLAS_ROW_MAJOR) == (op == TINYBLAS_NO_TRANS);
    if ((along_rows ? rows : columns) <= 1)
        ld = std::max<std::int64_t>(1, along_rows ? columns : rows);
    return {data, rows, columns, along_rows ? ld : 1, along_rows ? 1 : ld};
}

/// The least leading dimension of op(X), `rows` x `columns`.
inline std::int64_t least_ld(tinyblas_layout layout, tinyblas_op op, std::int64_t rows,
                             std::int64_t columns) {
    const bool along_rows = (layout == TINYBLAS_ROW_MAJOR) == (op == TINYBLAS_NO_TRANS);
    return std::max<std::int64_t>(1, along_rows ? columns : rows);
}

/// op(X), `rows` x `columns`, whose leading dimension is argument `number`; `touched`: it is read
/// or written.
template <class T>
MatrixView<T> matrix_argument(int number, const char* name, tinyblas_layout layout, tinyblas_op op,
                              T* data, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                              bool touched) {
    const std::int64_t least = least_ld(layout, op, rows, columns);
    require_argument(ld >= least, number, name, ld, "at least ", least);
    // Of an operand that is not touched, any ld that is large enough will do; no product overflows.
    const MatrixView<T> x = view(layout, op, data, rows, columns, touched ? ld : least);
    require_argument(!touched || has_addresses(x), number, name, ld, "such that ", rows, " x ",
                     columns, " elements lie within the address space");
    return x;
}

}  // namespace tinyblas
