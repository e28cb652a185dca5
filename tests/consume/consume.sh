#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the emulated library, shared and static, moves the copies, and builds outside projects against them with plain gcc
# and g++: C and C++, through find_package and through pkg-config. Ends with 'N passed, N failed'.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# check NAME COMMAND...: counts it; a failure shows what the command said.
check() {
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $name"
    else
        failed=$((failed + 1))
        echo "FAILED  $name"
        tail -40 "$work/log" | sed 's/^/        /'
    fi
}

# A nvcc that must not be called.
mkdir "$work/bin"
printf '#!/bin/sh\ntouch "%s/nvcc-was-called"\nexit 1\n' "$work" >"$work/bin/nvcc"
chmod +x "$work/bin/nvcc"

install_copy() {  # KIND ON|OFF
    cmake -S "$root" -B "$root/build/install-$1" -DTINYBLAS_BACKEND=emulated -DBUILD_SHARED_LIBS="$2" \
        -DCMAKE_BUILD_TYPE=Release -DTINYBLAS_WERROR=ON -DTINYBLAS_BUILD_TESTS=OFF -DTINYBLAS_BUILD_BENCH=OFF \
        -DCMAKE_INSTALL_PREFIX="$work/first-$1" &&
        cmake --build "$root/build/install-$1" -j"$(nproc)" &&
        cmake --install "$root/build/install-$1" &&
        mv "$work/first-$1" "$work/moved-$1"
}

use_cmake() {  # KIND LANGUAGE
    cmake -S "$root/tests/consume/$2" -B "$work/$1-$2" -DCMAKE_PREFIX_PATH="$work/moved-$1" &&
        cmake --build "$work/$1-$2" && "$work/$1-$2/consumer"
}

use_pkg_config() {  # KIND LANGUAGE
    local kind=$1 compile=(gcc -std=c11) flags=() static=()
    [[ $2 == cpp ]] && compile=(g++ -std=c++20)
    [[ $kind == static ]] && static=(--static)
    local flag_text
    flag_text=$(PKG_CONFIG_PATH=$(dirname "$(find "$work/moved-$kind" -name tinyblas.pc)") \
        pkg-config "${static[@]}" --cflags --libs tinyblas) || return
    read -ra flags <<<"$flag_text"
    "${compile[@]}" -Wall -Wextra -Werror "$root/tests/consume/$2/main.$2" "${flags[@]}" -o "$work/program" || return
    LD_LIBRARY_PATH=$(dirname "$(find "$work/moved-$kind" -name 'libtinyblas.*' | head -1)") "$work/program"
}

check "install, shared" install_copy shared ON
check "install, static" install_copy static OFF
export PATH=$work/bin:$PATH
unset CUDACXX
for kind in shared static; do
    [[ -d $work/moved-$kind ]] || continue
    for language in c cpp; do
        check "$kind, $language, find_package" use_cmake $kind $language
        check "$kind, $language, pkg-config" use_pkg_config $kind $language
    done
done
check "nvcc was not called" test ! -e "$work/nvcc-was-called"
check "no path of the source tree or of the first prefix is left in the package files" \
    sh -c "! grep -rnE '$root|$work/first' '$work'/moved-*/lib*/cmake '$work'/moved-*/lib*/pkgconfig"

echo "$passed passed, $failed failed"
((failed == 0))
