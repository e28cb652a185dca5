#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs a benchmark with all set-up: on the GPU if there is one, beside cuBLAS; else the ladder under device emulation.
# bench/run.sh [--cuda-from-pip] [gemm|batched|gemv|transpose|reduce|polyval|vector|all] [--record] [--trace [FILTER]]
#              [BENCHMARK'S FLAG...]
#   --record  keeps the run in bench/results, rewrites the README's tables and draws the plots
#   --cuda-from-pip  brings nvcc, CUDA's runtime and cuBLAS from the Python package index into build/ and builds with them
#   --trace   counts what the kernels ask of memory instead, bank conflicts and sectors, under device emulation
set -euo pipefail
caller=$PWD  # where the flags' files are
cd "$(dirname "$0")/.."
# shellcheck source=bench/setup.sh
source bench/setup.sh
stop() {
    say "$*" >&2
    exit 1
}

from_pip=0
if [[ ${1-} == --cuda-from-pip ]]; then from_pip=1 && shift; fi
operations=(gemm)
case ${1-} in
    gemm | batched | gemv | transpose | reduce | polyval | vector) operations=("$1") && shift ;;
    all) operations=(gemm gemv transpose reduce polyval) && shift ;;
    [!-]*) stop "there is no benchmark '$1': must be gemm, batched, gemv, transpose, reduce, polyval, vector or all" ;;
esac
record=0
flags=()
while (($#)); do
    case $1 in
        --record) record=1 ;;
        --cuda-from-pip) from_pip=1 ;;
        --trace) exec bench/trace.sh "${@:2}" ;;
        *) flags+=("$1") ;;
    esac
    shift
done

prepare() {
    local packages=(g++ cmake ninja-build libbenchmark-dev) options=(-DTINYBLAS_BUILD_BENCH=ON -DTINYBLAS_BUILD_TESTS=OFF)
    targets=("${operations[@]/#/bench_}")
    if ((from_pip)); then cuda_from_pip nvidia-cublas==13.1.0.3 || stop "CUDA's log is build/cuda-from-pip.log"; fi
    if has_gpu && has_nvcc; then
        preset=cuda
        options+=(-DCMAKE_CUDA_ARCHITECTURES="${CUDAARCHS:-$(gpu_architecture)}")
        targets+=(bench_startup)
        say "GPU: $(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)"
    else
        preset=emulated
        packages+=(libboost-context-dev)
        say "no $(has_gpu && echo nvcc || echo GPU) here: device emulation on the CPU, whose times are NOT GPU FIGURES"
        has_nvcc || say "$how_to_get_cuda"
        ((record == 0)) || stop "--record needs a GPU and nvcc: emulated times are not kept"
    fi
    install_missing "${packages[@]}"
    if ! has c++ || ! has cmake; then stop "a C++20 compiler and CMake 3.25 are needed"; fi

    local log=build/$preset-bench.log
    mkdir -p build
    say "$preset: building"
    if ((from_pip)) && [[ $preset == emulated ]]; then
        # It shows that what was brought is enough, cuBLAS too, for one architecture.
        say "cuda: there is no GPU to run it on; built all the same, for one architecture"
        if ! cmake --preset cuda "${options[@]}" -DCMAKE_CUDA_ARCHITECTURES="${CUDAARCHS:-90a-real}" >build/cuda-bench.log 2>&1 ||
            ! cmake --build --preset cuda -j "$(nproc)" --target "${targets[@]}" >>build/cuda-bench.log 2>&1 </dev/null; then
            grep -E -A 12 'FAILED:|Error |error[ :]' build/cuda-bench.log | head -60
            stop "the build failed; the whole log is in build/cuda-bench.log"
        fi
        say "cuda: built"
    fi
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
failed=0
for operation in "${operations[@]}"; do
    kept=("$operation" "$folder/bench_$operation.json")
    if [[ $preset == cuda && $operation == gemm ]]; then
        say "start-up costs" >&2
        "$folder/bench/bench_startup" --json "$folder/bench_startup.json" >&2
        kept+=("$folder/bench_startup.json")
    fi
    say "bench_$operation ${flags[*]-}" >&2
    (cd "$caller" && "$folder/bench/bench_$operation" --benchmark_out="${kept[1]}" --benchmark_out_format=json \
        "${flags[@]}") || failed=1
    say "done; every number is in build/$preset/bench_$operation.json" >&2
    if ((record && !failed)); then python3 bench/table.py --record "${kept[@]}" >&2; fi
done
if ((record && !failed)); then python3 bench/plot.py --if-possible >&2; fi
exit $failed
