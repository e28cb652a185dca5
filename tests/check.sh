#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that ctest runs beside the programs: check.sh example PROGRAM | headers | readme | exports | dependencies | size LIBRARY.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# An example prints the product that it promises.
example() {
    local printed
    printed=$("$1") || fail "$1 ended with status $?: $printed"
    [[ $printed == $'14 32\n32 77' ]] || fail "$1 printed '$printed'"
}

# Every public header compiles alone, with each compiler at hand, and the C header as C11.
headers() {
    local include=$root/include header compiler found=0
    local strict=(-fsyntax-only -Wall -Wextra -Werror -pedantic "-I$include")
    for compiler in "${CXX:-c++}" g++ clang++; do
        command -v "$compiler" >/dev/null || continue
        for header in "$include"/tinyblas/*.hpp "$include"/tinyblas/*.h; do
            echo "#include <tinyblas/${header##*/}>" |
                "$compiler" -x c++ -std=c++20 "${strict[@]}" -isystem "${EIGEN:-/usr/include/eigen3}" - ||
                fail "$compiler on ${header##*/}"
            found=$((found + 1))
        done
    done
    for compiler in "${CC:-cc}" gcc clang; do
        command -v "$compiler" >/dev/null || continue
        echo '#include <tinyblas/tinyblas.h>' | "$compiler" -x c -std=c11 "${strict[@]}" - ||
            fail "$compiler on tinyblas.h"
    done
    ((found > 0)) || fail "no header, or no compiler"
    ! grep -rn 'cuda.*\.h[>"]' "$include" || fail "a public header includes a CUDA header"
}

# The README shows both examples as they are, but for their head comments.
readme() {
    local file body
    for file in gemm.cpp gemm.c; do
        body=$(sed -n '/^#include/,$p' "$root/examples/$file")
        [[ $(<"$root/README.md") == *"$body"* ]] || fail "README.md does not show examples/$file as it is"
    done
}

# Every function of the C header leaves the shared library, and nothing but its own names does.
exports() {
    local names declared missing foreign
    names=$(nm -D --defined-only -C "$1" | cut -d' ' -f3-)
    declared=$(sed -nE 's/^TINYBLAS_API .*\<(tinyblas_\w+)\(.*/\1/p' "$root/include/tinyblas/tinyblas.h" | sort)
    grep -q '^tinyblas_sgemm$' <<<"$declared" || fail "no function was found in tinyblas.h"
    missing=$(comm -3 <(grep '^tinyblas_' <<<"$names" | sort) <(echo "$declared")) || true
    [[ -z $missing ]] || fail "exported or declared in tinyblas.h, but not both: $missing"
    grep -q '^tinyblas::gemm(' <<<"$names" || fail "tinyblas::gemm is not exported"
    foreign=$(grep -vE '^((vtable|typeinfo|typeinfo name) for )?tinyblas(::|_)' <<<"$names") || true
    [[ -z $foreign ]] || fail "exported besides tinyblas's own names: $foreign"
}

# cuBLAS is for the benchmark alone, and the CUDA runtime is inside.
dependencies() {
    local needed
    needed=$(ldd "$1")
    ! grep -iE 'cublas|cudart|not found' <<<"$needed" || fail "the library needs the above"
}

# Stripped, at most 3 MB.
size() {
    local bytes stripped
    stripped=$(mktemp)
    strip -o "$stripped" "$1"
    bytes=$(stat -c %s "$stripped")
    rm "$stripped"
    echo "$bytes bytes stripped"
    ((bytes <= 3000000)) || fail "$1: $bytes bytes stripped, more than 3 MB"
}

case ${1-} in
    example | headers | readme | exports | dependencies | size) "$@" ;;
    *) fail "usage: $0 example PROGRAM | headers | readme | exports | dependencies | size LIBRARY" ;;
esac
