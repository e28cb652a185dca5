#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the emulated library, shared and static, moves the copies, and builds outside projects against them with plain gcc
# and g++: C and C++, through find_package and through pkg-config. Ends with 'N passed, N failed'.
set -uo pipefail
# shellcheck source=tests/consume/checks.sh
source "$(dirname "$0")/checks.sh"

# One folder for both: they differ in how they are linked. In the end it has the shared one, for packages.sh. How fast it runs
# is not looked at, so it is compiled fast.
install_copy() {  # KIND ON|OFF
    cmake -S "$root" -B "$root/build/install" -DTINYBLAS_BACKEND=emulated -DBUILD_SHARED_LIBS="$2" \
        -DTINYBLAS_BUILD_BLAS="$2" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O0 -DNDEBUG" \
        -DTINYBLAS_BUILD_TESTS=OFF -DTINYBLAS_BUILD_BENCH=OFF -DCMAKE_INSTALL_PREFIX="$work/first-$1" &&
        cmake --build "$root/build/install" -j"$(nproc)" &&
        cmake --install "$root/build/install" &&
        mv "$work/first-$1" "$work/moved-$1"
}

check "install, static" install_copy static OFF
check "install, shared" install_copy shared ON
plant_nvcc
for kind in shared static; do
    [[ -d $work/moved-$kind ]] || continue
    for language in c cpp; do
        check "$kind, $language, find_package" use_cmake $kind $language
        check "$kind, $language, pkg-config" use_pkg_config $kind $language
    done
done
check "nvcc was not called" nvcc_was_not_called
check "no path of the source tree or of the first prefix is left in the package files" names_no_path "$work/first"
finish
