#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that ctest runs beside the programs:
# check.sh example PROGRAM SOURCE | log PROGRAM BENCHMARKS | headers | readme | exports | blas_exports | dependencies | size LIBRARY |
# faults LIBRARY OBJECT...
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# An example prints what its head comment promises, indented below "Prints:".
example() {  # PROGRAM SOURCE
    local printed promised
    promised=$(sed -nE '/Prints:/,/^[^ /]/s/^(\/\/| \*)   //p' "$2")
    [[ -n $promised ]] || fail "$2 promises nothing"
    printed=$("$1") || fail "$1 ended with status $?: $printed"
    [[ $printed == "$promised" ]] || fail "$1 printed '$printed', not '$promised'"
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

# Every function that the library exports is called by the objects with the cases of tests/faults, but for those that only look
# at their arguments.
faults() {
    local looks='(\w+::)?(to_string\(|\w*(kernel|precision)\(std::|require_|set_precision\(|gemm_scratch_bytes\(|Error\()'
    looks+='|PackedMatrix::(PackedMatrix\(\)|PackedMatrix\(std|rows|columns|device|bytes)|Context::(adopt|release|workspace)\('
    local exported called missing
    exported=$(nm -D --defined-only -C "$1" | sed -nE 's/^\S+ T (tinyblas.*)/\1/p' | grep -vE "^tinyblas::($looks)" | sort -u)
    called=$(nm --undefined-only -C "${@:2}" | sed -nE 's/^ +U (tinyblas.*)/\1/p' | sort -u)
    (($(wc -l <<<"$exported") > 90)) || fail "too few functions were found in $1"
    missing=$(comm -23 <(echo "$exported") <(echo "$called"))
    [[ -z $missing ]] || fail "no case calls: $missing"
    echo "$(wc -l <<<"$exported") exported functions, each called by a case"
}

# libtinyblas_blas exports what its linker script lists, and its error handlers are weak.
blas_exports() {
    local names listed
    names=$(nm -D --defined-only "$1")
    listed=$(sed -n '/global:/,/local:/p' "$root/src/blas/blas.map" | grep -oE '\w+;' | tr -d ';' | sort)
    grep -qx cblas_dgemm <<<"$listed" || fail "no name was found in blas.map"
    diff <(cut -d' ' -f3 <<<"$names" | sort) - <<<"$listed" || fail "exported or listed in blas.map, but not both: see above"
    (($(grep -cE ' W (cblas_xerbla|xerbla_)$' <<<"$names") == 2)) || fail "xerbla_ and cblas_xerbla must be weak"
}

# cuBLAS is for the benchmark alone, and the CUDA runtime is inside.
dependencies() {
    local needed
    needed=$(ldd "$1")
    ! grep -iE 'cublas|cudart|not found' <<<"$needed" || fail "the library needs the above"
}

# Stripped, less than 4 MB.
size() {
    local bytes stripped
    stripped=$(mktemp)
    strip -o "$stripped" "$1"
    bytes=$(stat -c %s "$stripped")
    rm "$stripped"
    echo "$bytes bytes stripped"
    ((bytes < 4000000)) || fail "$1: $bytes bytes stripped: must be less than 4,000,000"
}

# TINYBLAS_LOG=1 prints a line a call, and the benchmark that a line names prints that line's end again: same shape, strides,
# rung and entry. Otherwise the library prints nothing.
log() {  # PROGRAM FOLDER_OF_BENCHMARKS
    local lines command again count=0
    lines=$("$1" 2>&1) || fail "$1 ended with status $?"
    [[ -z $lines ]] || fail "printed without TINYBLAS_LOG: $lines"
    lines=$(TINYBLAS_LOG=1 "$1" 2>&1)
    echo "$lines"
    ! grep -v '^tinyblas: ' <<<"$lines" || fail "the above is no line of the log"
    while read -r command; do
        count=$((count + 1))
        # shellcheck disable=SC2086
        again=$(TINYBLAS_LOG=1 "$2"/$command --benchmark_format=json 2>&1 >/dev/null) ||
            fail "$command: $(tail -1 <<<"$again")"
        [[ $again$'\n' == *"; $command"$'\n'* ]] || fail "not repeated: $command"
    done < <(sed -n 's/.*; \(bench_.*\)/\1/p' <<<"$lines" | sort -u)
    ((count >= 20)) || fail "only $count lines name a benchmark"
    echo "$count calls repeated"
}

case ${1-} in
    example | headers | readme | exports | blas_exports | dependencies | size | log | faults) "$@" ;;
    *) fail "usage: $0 example PROGRAM SOURCE | headers | readme | exports | blas_exports | dependencies | size LIBRARY |
log PROGRAM BENCHMARKS | faults LIBRARY OBJECT..." ;;
esac
