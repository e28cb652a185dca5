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
    return {data, std::max<std::int64_t>(0, n), n > 1 ? increment : 1};
}

}  // namespace tinyblas
