#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Takes the sources into an outside project by add_subdirectory and by FetchContent; see embed/CMakeLists.txt for what it
# checks. Ends with 'N passed, N failed'.
set -uo pipefail
# shellcheck source=tests/consume/checks.sh
source "$(dirname "$0")/checks.sh"

configure() {  # HOW [CONFIGURE_ARGUMENT...]
    local folder=$work/$1
    cmake -S "$root/tests/consume/embed" -B "$folder" -DHOW="$1" -DSOURCES="$root" "${@:2}"
}
shares_the_type() {  # the outside project's BUILD_SHARED_LIBS decides, here as elsewhere
    rm -rf "$work/fetch_content" && configure fetch_content -DBUILD_SHARED_LIBS=ON &&
        grep -rq 'libtinyblas\.so' "$work/fetch_content" --include=link.txt --include=build.ninja &&
        ! grep -rq tinyblas_blas "$work/fetch_content" --include=Makefile2 --include=build.ninja
}
use() { cmake --build "$work/add_subdirectory" -j"$(nproc)" && "$work/add_subdirectory/consumer"; }
installs_nothing() {
    cmake --install "$work/add_subdirectory" --prefix "$work/installed" &&
        [[ -z $(find "$work/installed" -type f 2>/dev/null) ]]
}

check "FetchContent leaves the project as it was" configure fetch_content
if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; then
    check "and so it does with CUDA" configure cuda -DTINYBLAS_BACKEND=cuda
fi
check "BUILD_SHARED_LIBS is the project's" shares_the_type
check "add_subdirectory leaves the project as it was" configure add_subdirectory
check "add_subdirectory, built and used" use
check "nothing is installed that the project does not ask for" installs_nothing
finish
