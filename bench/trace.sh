#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Counts what every kernel asks of memory, line by line, with all set-up: bank conflicts and sectors under device emulation,
# which needs no GPU. bench/trace.sh [FILTER]: only kernels whose title contains FILTER, such as 'transpose padded float'.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/setup.sh
source bench/setup.sh
stop() {
    say "$*" >&2
    exit 1
}

prepare() {
    install_missing g++ cmake ninja-build libboost-context-dev
    if ! has c++ || ! has cmake; then stop "a C++20 compiler and CMake 3.25 are needed"; fi
    local preset=emulated-traced log=build/emulated-traced-bench.log
    mkdir -p build
    say "$preset: building"
    if ! cmake --preset $preset -DTINYBLAS_BUILD_BENCH=ON -DTINYBLAS_BUILD_TESTS=OFF >"$log" 2>&1 </dev/null ||
        ! cmake --build --preset $preset -j "$(nproc)" --target trace_kernels >>"$log" 2>&1 </dev/null; then
        grep -E -A 12 'FAILED:|Error |error[ :]' "$log" | head -60
        stop "the build failed; the whole log is in $log"
    fi
}
prepare >&2
exec build/emulated-traced/bench/trace_kernels "$*"
