// SPDX-License-Identifier: MIT
// Bad arguments end in xerbla_ or cblas_xerbla, as in the reference BLAS: the caller's, if there is
// one, or else ours, which print a line and end the process.
#pragma once

#include <cstddef>

extern "C" {
/// A bad argument of the Fortran name `routine` (blank-padded, `length` characters): number *info.
void xerbla_(const char* routine, const int* info, std::size_t length);
/// A bad argument of the CBLAS name `routine`. The reference BLAS computes a row-major product as
/// the column-major one with A and B, m and n exchanged and numbers the arguments of that one (5 is
/// m, 4 is n, 11 is lda, 9 is ldb); handlers know.
void cblas_xerbla(int number, const char* routine, const char* form, ...);
}

namespace tinyblas::blas {

/// Argument `number` of a Fortran name, six characters long, is bad.
void refuse(const char* routine, int number);

/// While one lives, the thread reports an error of a call of CBLAS; our handlers, and those of a
/// reference BLAS in the same process, ask.
class CallFromC {
  public:
    explicit CallFromC(bool row_major);
    ~CallFromC();
    CallFromC(const CallFromC&) = delete;
    CallFromC& operator=(const CallFromC&) = delete;
};

}  // namespace tinyblas::blas
