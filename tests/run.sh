#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every test that this machine can run: device emulation, plain and under the sanitizers; outside projects against an
# installed copy; on a GPU if there is one. Installs what is missing if it can. Ends with 'N passed, N failed'.
#   --cuda-from-pip  brings nvcc and CUDA's runtime from the Python package index into build/ and builds with them
set -uo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/setup.sh
source bench/setup.sh
passed=0
failed=0
jobs=$(nproc)
from_pip=0
case ${1-} in
    --cuda-from-pip) from_pip=1 ;;
    ?*) say "there is no option '$1': must be --cuda-from-pip, or none" && exit 2 ;;
esac

finish() {
    echo "$passed passed, $failed failed"
    ((failed == 0))
    exit
}
stop() {
    say "$*"
    failed=$((failed + 1))
    finish
}

# --- What the tests need -------------------------------------------------------------------------------------------------------

install_missing libblas-test  # on its own: a system that does not know it knows the others
install_missing g++ cmake ninja-build pkg-config libeigen3-dev libgtest-dev libgmock-dev libbenchmark-dev \
    libboost-context-dev
has c++ && has cmake || stop "a C++20 compiler and CMake 3.25 are needed for anything at all"
[[ $(printf '%s\n' 3.25 "$(cmake --version | sed -n '1s/.* //p')" | sort -V | head -1) == 3.25 ]] ||
    stop "CMake 3.25 or later is needed; this is $(cmake --version | head -1)"

# --- Steps ---------------------------------------------------------------------------------------------------------------------

# build PRESET [CONFIGURE_ARGUMENT...]: false, counted and explained if it fails.
build() {
    local preset=$1 begin=$SECONDS log
    shift
    mkdir -p build
    log=build/$preset.log
    say "$preset: building"
    if cmake --preset "$preset" -DTINYBLAS_BUILD_TESTS=ON "$@" >"$log" 2>&1 </dev/null &&
        cmake --build --preset "$preset" -j "$jobs" >>"$log" 2>&1 </dev/null; then
        say "$preset: built in $((SECONDS - begin)) s"
    else
        grep -E -A 12 'FAILED:|Error |error[ :]' "$log" | head -60
        say "$preset: THE BUILD FAILED; the whole log is in $log"
        failed=$((failed + 1))
        return 1
    fi
}

# suite PRESET [CTEST_ARGUMENT...]: runs it and adds up its test cases.
suite() {
    local preset=$1 begin=$SECONDS log=build/$1-tests.log report=$PWD/build/$1-tests.xml status=0
    shift
    rm -f "$report"
    say "$preset: testing"
    ctest --preset "$preset" --output-junit "$report" "$@" >"$log" 2>&1 </dev/null || status=$?
    local all bad skipped
    count() { grep -om1 "$1=\"[0-9]*\"" "$report" 2>/dev/null | tr -dc 0-9; }
    all=$(count tests) bad=$(count failures) skipped=$(($(count skipped) + $(count disabled)))
    all=${all:-0} bad=${bad:-0}
    ((all > 0 && (status == 0 || bad > 0))) || bad=$((bad + 1)) all=$((all + 1))
    if ((bad)); then
        # From each failed test's line to the next test's.
        awk '/^ *[0-9]+\/[0-9]+ Test +#|^ +Start +[0-9]/ { shown = /\*\*\*/ } shown' "$log" | head -100
        say "the whole log is in $log"
    fi
    passed=$((passed + all - bad - skipped))
    failed=$((failed + bad))
    say "$preset: $((all - bad - skipped)) passed, $bad failed, $skipped skipped in $((SECONDS - begin)) s"
}

# The outside projects count their own checks; a few at a time.
consume() {  # SCRIPT...: one after another
    local script
    for script; do
        "tests/consume/$script.sh" >"build/$script.log" 2>&1 </dev/null
    done
}
consumed() {  # SCRIPT NAME
    local log=build/$1.log last
    grep -A 40 '^FAILED' "$log" | head -80
    last=$(tail -1 "$log")
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
    else
        failed=$((failed + 1))
    fi
    say "$2: $last"
}

# compute-sanitizer over the small shapes: one check a program and tool, a few at a time. racecheck, which takes ten times as
# long as the others, sees a program in pieces.
sanitize_one() {
    local tool=$1 program=$2 piece=$3 pieces=$4 begin=$SECONDS log=build/$1-${2##*/}-$3.log
    local what="$tool: ${program##*/}$( ((pieces == 1)) || echo ", piece $((piece + 1)) of $pieces")"
    if GTEST_TOTAL_SHARDS=$pieces GTEST_SHARD_INDEX=$piece timeout 900 \
        compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 99 "$program" \
        --gtest_filter='*Small*' --gtest_brief=1 >"$log" 2>&1 </dev/null; then
        say "$what clean in $((SECONDS - begin)) s"
    else
        tail -40 "$log"
        say "$what FAILED after $((SECONDS - begin)) s"
        return 1
    fi
}
sanitize() {
    local tool program job piece pieces checks=()
    for program in build/cuda/tests/test_*; do
        [[ -f $program && -x $program ]] || continue
        "$program" --gtest_list_tests --gtest_filter='*Small*' 2>/dev/null | grep -q '^ ' || continue
        for tool in memcheck racecheck initcheck synccheck; do
            pieces=$([[ $tool == racecheck ]] && echo 4 || echo 1)
            for ((piece = 0; piece < pieces; ++piece)); do
                while (($(jobs -rp | wc -l) >= (jobs < 8 ? jobs : 8))); do sleep 0.2; done
                sanitize_one "$tool" "$program" "$piece" "$pieces" &
                checks+=($!)
            done
        done
    done
    for job in "${checks[@]}"; do
        if wait "$job"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done
}

# --- Run -----------------------------------------------------------------------------------------------------------------------

bench=-DTINYBLAS_BUILD_BENCH=ON
if is_missing libbenchmark-dev; then bench=-DTINYBLAS_BUILD_BENCH=OFF; fi
if ((from_pip)); then cuda_from_pip || stop "CUDA's log is build/cuda-from-pip.log"; fi

if ! is_missing libboost-context-dev; then
    build emulated "$bench" -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" && suite emulated -j "$jobs"
    # Minutes of the same kernels on the same kinds of tiles, once more, in other orders or in double: the plain run has them.
    long='Panels|EveryPairOf|ManyTiles|SameBits|SameEachTime|BitsAre|BitsDepend|Agree|Contexts\.On|Reduce\.|GemmReals'
    long+='|(Batched|BatchedOuter|Gemv|Ger|BlasLarge|BlasSmall|ReduceSmall)\..*<double>|float64_(best|naive|tiled|tuned)|(Batched|Gemv)Semantics'
    long+='|^GemmAccurate|^Transpose\.|SmallScratch\.|RaggedShapes|LargerShapes|GemmSliced\.EveryEdge/([2-9]|1[01])$|^Threads\.'
    long+='|SmallGemmBatched.*(EveryStorage|EveryOp|EveryKernel)|ThresholdsOfDrift'
    long+='|SmallGemmSlabs.EveryRow|RaggedVectors|AroundEvery|OneLargerProduct|FollowsItsPlan|EveryRouteOfTheGuard|NothingIsLeftOver|GroupsMayDrift'
    long+='|EachTileHasAsManyPieces|BatchesOfTheLibrary|ThinAndLong|ChangesWhatSgemmComputes|GradedData|FallsBackToStrict|StrictProductsAreStrict|AGridHas'
    # Accesses of kernels are seen by the traced run, in tiles of each size: the sanitizers have the smallest and the largest.
    traced='GemmTensor.(MoreTilesThanBlocks|CutsOfK|CutBatches|BlocksThatBeginTogether)/[1-5]'
    traced+='|GemmPipelined.(ExactForEveryStorage|ExactWhereEdgesAreLeft|ExactWhereBlocksHelp|ExactOnIntegers|ExactWhereSlicedTilesAreCut|Batches.*)'
    traced+='|StreamK.(InPiecesOfEveryNumber|WhereThereIsRoom|ProductsOfABatch)|Elements.EveryEdge|GemmSliced.EveryEdge/12'
    traced+='|VectorsHoweverTheyLie|GemmRing.(StepsThatWarpsShare|PointersTo)|GemmSlicedBatch.EveryStorage'
    find build/emulated-asan -name '*.gcda' -delete 2>/dev/null  # an earlier run's counts of lines
    build emulated-asan -DTINYBLAS_BUILD_BENCH=OFF -DTINYBLAS_TESTS_OF="$PWD/build/emulated" &&
        suite emulated-asan -j "$jobs" -LE static -E "$long|$traced"
    build emulated-traced -DTINYBLAS_BUILD_BENCH=ON -DTINYBLAS_TESTS_OF="$PWD/build/emulated" &&
        suite emulated-traced -j "$jobs" -LE static -E "$long|SmallGemmRing.EveryStorage|BitsOfThin"
    say "outside projects: testing"
    consume embed amalgamation &
    if has pkg-config; then
        consume consume packages
        wait
        consumed consume "install and consume"
        if has dpkg; then consumed packages "Debian packages"; else say "Debian packages: left out, there is no dpkg"; fi
    else
        wait
        say "install and consume: left out, there is no pkg-config"
    fi
    consumed embed "inside another project"
    consumed amalgamation "in a single file"
elif has_nvcc && has_gpu; then
    say "emulated, emulated-asan, emulated-traced, install and consume: LEFT OUT, because Boost.Context is not on this" \
        "machine and could not be installed. Only the CUDA tests run."
else
    stop "device emulation needs Boost.Context (libboost-context-dev), and there is no GPU with nvcc to test instead"
fi

if has_nvcc && has_gpu; then
    architecture=${CUDAARCHS:-$(gpu_architecture)}
    say "GPU: $(nvidia-smi --query-gpu=name --format=csv,noheader | head -1), architecture $architecture"
    # cuBLAS, for the benchmarks, is not brought for the tests.
    if ((from_pip)); then bench=-DTINYBLAS_BUILD_BENCH=OFF; fi
    if build cuda "$bench" -DCMAKE_CUDA_ARCHITECTURES="$architecture"; then
        suite cuda -j "$((jobs < 8 ? jobs : 8))"
        if has compute-sanitizer; then sanitize; else say "compute-sanitizer: left out, it is not on PATH"; fi
    fi
elif ((from_pip)); then
    # It shows that what was brought is enough, for one architecture.
    say "cuda: nothing to run it on, this machine has no GPU; built all the same"
    build cuda -DTINYBLAS_BUILD_BENCH=OFF -DCMAKE_CUDA_ARCHITECTURES="${CUDAARCHS:-90a-real}" && passed=$((passed + 1))
else
    say "cuda: left out, this machine has no $(has_nvcc && echo GPU || echo nvcc)"
    has_nvcc || say "$how_to_get_cuda"
fi
finish
