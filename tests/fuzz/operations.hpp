// SPDX-License-Identifier: MIT
// The fuzzed operations: each draws arguments, makes a call and compares. A new function of the C
// interface gets a line in operations() of fuzz_c_api.cpp.
#pragma once

#include "attempt.hpp"

namespace tinyblas::fuzz {

/// The context of most calls; null, now and then.
tinyblas_context draw_context(Draw& draw);
/// The same, never null.
tinyblas_context the_context();

/// Mostly valid ones.
tinyblas_layout draw_layout(Draw& draw);
tinyblas_op draw_op(Draw& draw);
inline bool is_layout(tinyblas_layout layout) {
    return layout == TINYBLAS_ROW_MAJOR || layout == TINYBLAS_COL_MAJOR;
}
inline bool is_op(tinyblas_op op) {
    return op == TINYBLAS_NO_TRANS || op == TINYBLAS_TRANS || op == TINYBLAS_CONJ_TRANS;
}
/// The least leading dimension of a matrix as stored.
inline std::int64_t least_ld(bool row_major, std::int64_t rows, std::int64_t columns) {
    return std::max<std::int64_t>(1, row_major ? columns : rows);
}

template <class T>
void gemm(Draw& draw);
template <class T>
void gemm_strided_batched(Draw& draw);
template <class T>
void gemm_batched(Draw& draw);
void gemm_with_scratch(Draw& draw);
template <class T>
void gemv(Draw& draw);
template <class T>
void ger(Draw& draw);
template <class T>
void transpose(Draw& draw);
template <class T>
void reduce(Draw& draw);  // asum, nrm2, sum, dot, on host and device
template <class T>
void axpy(Draw& draw);
template <class T>
void scal(Draw& draw);
template <class T>
void polyval(Draw& draw);
void context(Draw& draw);
void kernels(Draw& draw);
void tuning(Draw& draw);

}  // namespace tinyblas::fuzz
