#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# amalgamation.sh [BUILD_FOLDER]: makes the library's single-file form, compiles it as its head says, but without optimizing, and
# builds the examples of gemm with it. Ends with 'N passed, N failed'.
set -uo pipefail
# shellcheck source=tests/consume/checks.sh
source "$(dirname "$0")/checks.sh"
build=$(cd "${1-$root/build/emulated}" && pwd) || exit
backend=$(sed -n 's/^TINYBLAS_BACKEND:.*=//p' "$build/CMakeCache.txt")
single=$build/single

make_files() { rm -rf "$single" && cmake --build "$build" --target amalgamation && [[ -s $single/tinyblas_single.cu ]]; }
compile_emulated() {
    g++ -x c++ -std=c++20 -O0 -ffp-contract=off -mno-mmx -Wall -Wextra -Werror -Wno-unknown-pragmas -c \
        "$single/tinyblas_single.cu" -o "$work/single.o"
}
compile_cuda() {  # two architectures, to PTX alone: ptxas would take minutes for all kernels
    local nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
    libraries=("-L$(dirname "$nvcc")/../lib64" -lcudart_static -ldl -lrt -lpthread)
    backend_flags=("-I$(dirname "$nvcc")/../include")
    "$nvcc" -std=c++20 --expt-relaxed-constexpr -Xcicc -O0 -Xcompiler -O0,-Wall,-Wextra,-Werror,-ffp-contract=off \
        -DTINYBLAS_HAS_SM_90A=1 -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90a,code=compute_90a --threads=2 \
        -c "$single/tinyblas_single.cu" -o "$work/single.o"
}
libraries=(-lboost_context)
backend_flags=(-DEMULATED)
link() {  # LANGUAGE COMPILER...
    local source=$work/main.$1 header=hpp
    [[ $1 == c ]] && header=h
    sed "s|<tinyblas/tinyblas.$header>|\"tinyblas_single.h\"|" "$root/examples/gemm.$1" >"$source"
    "${@:2}" "${backend_flags[@]}" -Wall -Wextra -Werror "-I$single" -c "$source" -o "$work/main.o" &&
        g++ "$work/main.o" "$work/single.o" "${libraries[@]}" -o "$work/program-$1"
}
has_all_names() {  # of the C interface
    local missing
    missing=$(comm -13 <(nm -g --defined-only "$work/single.o" | cut -d' ' -f3 | sort) \
        <(sed -nE 's/^TINYBLAS_API .*\<(tinyblas_\w+)\(.*/\1/p' "$root/include/tinyblas/tinyblas.h" | sort))
    echo "$missing"
    [[ -z $missing ]] && nm -gC --defined-only "$work/single.o" | grep -c ' tinyblas::gemm('
}

check "the two files are made" make_files
check "they compile for $backend" "compile_$backend"
check "they define the C interface, and tinyblas::gemm" has_all_names
check "a program in C++ links" link cpp g++ -std=c++20
check "a program in C links" link c gcc -std=c11
if [[ $backend == emulated ]]; then
    for language in cpp c; do
        check "the program in $language runs" "$root/tests/check.sh" example "$work/program-$language" \
            "$root/examples/gemm.$language"
    done
fi
finish
