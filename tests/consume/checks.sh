# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by the scripts beside it: counted checks, and outside projects against an installed copy. The scripts end with
# 'N passed, N failed'.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
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
finish() {
    echo "$passed passed, $failed failed"
    ((failed == 0))
    exit
}

# An nvcc that must not be called, from here on.
plant_nvcc() {
    mkdir "$work/bin"
    printf '#!/bin/sh\ntouch "%s/nvcc-was-called"\nexit 1\n' "$work" >"$work/bin/nvcc"
    chmod +x "$work/bin/nvcc"
    export PATH=$work/bin:$PATH
    unset CUDACXX
}
nvcc_was_not_called() { test ! -e "$work/nvcc-was-called"; }

# The installed copy of a KIND lies in $work/moved-KIND. COMMAND: what the program is given to, instead of being run.
use_cmake() {  # KIND LANGUAGE [COMMAND]
    cmake -S "$root/tests/consume/$2" -B "$work/$1-$2" -DCMAKE_PREFIX_PATH="$work/moved-$1" &&
        cmake --build "$work/$1-$2" && ${3-} "$work/$1-$2/consumer"
}

use_pkg_config() {  # KIND LANGUAGE [COMMAND]
    local kind=$1 compile=(gcc -std=c11) flags=() static=()
    [[ $2 == cpp ]] && compile=(g++ -std=c++20)
    [[ $kind == static ]] && static=(--static)
    local flag_text
    flag_text=$(PKG_CONFIG_PATH=$(dirname "$(find "$work/moved-$kind" -name tinyblas.pc)") \
        pkg-config "${static[@]}" --cflags --libs tinyblas) || return
    read -ra flags <<<"$flag_text"
    "${compile[@]}" -Wall -Wextra -Werror "$root/tests/consume/$2/main.$2" "${flags[@]}" -o "$work/program" || return
    LD_LIBRARY_PATH=$(dirname "$(find "$work/moved-$kind" -name 'libtinyblas.*' | head -1)") ${3-} "$work/program"
}

# No file of CMake or pkg-config in the copies names a path of the source tree or PATTERN.
names_no_path() {
    ! grep -rnE --include=*.cmake --include=*.pc "$root|$1" "$work"/moved-*
}
