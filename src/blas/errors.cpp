// SPDX-License-Identifier: MIT
// xerbla_ and cblas_xerbla, weak. A program's own ones win because a program comes before its
// libraries; those of a library behind us (we may be preloaded) win because ours ask for them.
#include "blas/errors.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tinyblas/export.h"

extern "C" {
// The reference BLAS's own notes about the call in progress, null without one in the process.
extern TINYBLAS_API __attribute__((weak)) int CBLAS_CallFromC;
extern TINYBLAS_API __attribute__((weak)) int RowMajorStrg;
}

namespace tinyblas::blas {
namespace {

struct Call {
    bool from_c = false, row_major = false;
};
thread_local Call call;

void note(bool from_c, bool row_major) {
    call = {from_c, row_major};
    if (&CBLAS_CallFromC) __atomic_store_n(&CBLAS_CallFromC, from_c, __ATOMIC_RELAXED);
    if (&RowMajorStrg) __atomic_store_n(&RowMajorStrg, row_major, __ATOMIC_RELAXED);
}

/// The next definition of `name` in the order in which the linker searches, or null.
template <class Function>
Function* next_definition(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The letters and digits of a Fortran string. C programs may have left its length out: names are
/// short.
std::string name_of(const char* routine, std::size_t length) {
    const char* const last = routine + std::min<std::size_t>(length, 16);
    return {routine, std::find_if_not(routine, last,
                                      [](unsigned char c) { return std::isalnum(c) || c == '_'; })};
}

/// The number that the caller knows, of a product in row-major order.
int row_major_number(int number, const char* routine) {
    if (!std::strstr(routine, "gemm")) return number;
    switch (number) {
        case 4: return 5;
        case 5: return 4;
        case 9: return 11;
        case 11: return 9;
        default: return number;
    }
}

}  // namespace

void refuse(const char* routine, int number) { xerbla_(routine, &number, 6); }

CallFromC::CallFromC(bool row_major) { note(true, row_major); }
CallFromC::~CallFromC() { note(false, false); }

}  // namespace tinyblas::blas

using namespace tinyblas::blas;

extern "C" {

TINYBLAS_API __attribute__((weak)) void xerbla_(const char* routine, const int* info,
                                                std::size_t length) {
    if (auto* const next = next_definition<decltype(xerbla_)>("xerbla_"))
        return next(routine, info, length);
    std::string name = name_of(routine, length);
    if (call.from_c) {
        for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return cblas_xerbla(*info + 1, ("cblas_" + name).c_str(), "");
    }
    std::fprintf(stderr, " ** On entry to %s parameter number %d had an illegal value\n",
                 name.c_str(), *info);
    std::exit(EXIT_FAILURE);
}

TINYBLAS_API __attribute__((weak)) void cblas_xerbla(int number, const char* routine,
                                                     const char* form, ...) {
    char detail[256];
    std::va_list values;
    va_start(values, form);
    std::vsnprintf(detail, sizeof detail, form, values);
    va_end(values);
    if (auto* const next = next_definition<decltype(cblas_xerbla)>("cblas_xerbla"))
        return next(number, routine, "%s", detail);
    std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n%s",
                 call.row_major ? row_major_number(number, routine) : number, routine, detail);
    std::exit(EXIT_FAILURE);
}
}
