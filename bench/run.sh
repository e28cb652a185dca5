#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the gemm benchmark with all set-up: on the GPU if there is one, beside cuBLAS; else the ladder under device emulation.
# bench/run.sh [--record] [FLAG OF bench_gemm...]; --record keeps the run in bench/results and rewrites the README's table.
set -euo pipefail
caller=$PWD  # where the flags' files are
cd "$(dirname "$0")/.."
# shellcheck source=bench/setup.sh
source bench/setup.sh

record=0
flags=()
for flag; do
    if [[ $flag == --record ]]; then record=1; else flags+=("$flag"); fi
done
stop() {
    say "$*" >&2
    exit 1
}

prepare() {
    local packages=(g++ cmake ninja-build libbenchmark-dev) options=(-DTINYBLAS_BUILD_BENCH=ON -DTINYBLAS_BUILD_TESTS=OFF)
    if has_gpu && has_nvcc; then
        preset=cuda
        options+=(-DCMAKE_CUDA_ARCHITECTURES="${CUDAARCHS:-$(gpu_architecture)}")
        targets=(bench_gemm bench_startup)
        say "GPU: $(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)"
    else
        preset=emulated
        targets=(bench_gemm)
        packages+=(libboost-context-dev)
        say "no $(has_gpu && echo nvcc || echo GPU) here: device emulation on the CPU, whose times are NOT GPU FIGURES"
        ((record == 0)) || stop "--record needs a GPU and nvcc: emulated times are not kept"
    fi
    install_missing "${packages[@]}"
    if ! has c++ || ! has cmake; then stop "a C++20 compiler and CMake 3.25 are needed"; fi

    local log=build/$preset-bench.log
    mkdir -p build
    say "$preset: building"
    if ! cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 </dev/null ||
        ! cmake --build --preset "$preset" -j "$(nproc)" --target "${targets[@]}" >>"$log" 2>&1 </dev/null; then
        grep -E -A 12 'FAILED:|Error |error[ :]' "$log" | head -60
        stop "the build failed; the whole log is in $log"
    fi
}
prepare >&2

if [[ -z ${TINYBLAS_COMMIT-} ]] && git rev-parse HEAD >/dev/null 2>&1; then
    TINYBLAS_COMMIT=$(git rev-parse --short=12 HEAD)
    git diff --quiet HEAD 2>/dev/null || TINYBLAS_COMMIT+=+changes
fi
export TINYBLAS_COMMIT=${TINYBLAS_COMMIT-unknown}

folder=$PWD/build/$preset
startup=()
if [[ $preset == cuda ]]; then
    say "start-up costs" >&2
    "$folder/bench/bench_startup" --json "$folder/bench_startup.json" >&2
    startup=("$folder/bench_startup.json")
fi
say "bench_gemm ${flags[*]-}" >&2
(cd "$caller" && "$folder/bench/bench_gemm" --benchmark_out="$folder/bench_gemm.json" --benchmark_out_format=json "${flags[@]}")
say "done; every number is in build/$preset/bench_gemm.json" >&2
if ((record)); then python3 bench/table.py --record "$folder/bench_gemm.json" "${startup[@]}" >&2; fi
