#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fuzzes the C interface under device emulation, with AddressSanitizer and UndefinedBehaviorSanitizer:
#   tests/fuzz/run.sh [SECONDS] [JOBS]
# 60 s and one process unless said otherwise. Tells every ten seconds how many calls have been made, and in the end how many of
# each function; one that tinyblas.h declares and that was not called is an error. What it finds is left in build/fuzz as crash-*,
# to be run again by
#   TINYBLAS_FUZZ_SHOW=1 build/fuzz/tests/fuzz/fuzz_c_api build/fuzz/crash-...
# which prints its calls,
# and becomes a case of tests/test_c_api_found.cpp. What was learnt stays in build/fuzz/corpus for the next time.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
jobs=${2:-1}
folder=$PWD/build/fuzz
checks=address,undefined,fuzzer-no-link

stop() {
    echo "FAILED: $*" >&2
    exit 1
}
mkdir -p "$folder/corpus"
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -x c++ -fsanitize=fuzzer,address,undefined -o "$folder/probe" - ||
    stop "clang++ with libFuzzer and the sanitizers is needed: Debian and Ubuntu, apt-get install clang"

cmake -S . -B "$folder" -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_CXX_FLAGS="-O1 -g1 -fsanitize=$checks -fno-sanitize-recover=all" \
    -DCMAKE_C_FLAGS="-fsanitize=$checks" -DTINYBLAS_BACKEND=emulated -DTINYBLAS_BUILD_FUZZ=ON -DTINYBLAS_BUILD_BENCH=OFF \
    -DTINYBLAS_BUILD_BLAS=OFF -DTINYBLAS_WERROR=ON
cmake --build "$folder" -j "$(nproc)" --target fuzz_c_api

cd "$folder"
# Memory that was let go is watched for a while, not for long: it would not fit the cache.
export ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=2
workers=()
for ((job = 0; job < jobs; ++job)); do
    # Leaks are looked for once, in the end.
    tests/fuzz/fuzz_c_api corpus -max_total_time="$seconds" -max_len=512 -len_control=0 -reload=0 -verbosity=0 -print_funcs=0 \
        -entropic=0 -detect_leaks=0 -timeout=60 -rss_limit_mb=4096 2>&1 | tee "calls-$job.log" &
    workers+=($!)
done
failed=0
for worker in "${workers[@]}"; do wait "$worker" || failed=1; done
((failed == 0)) || stop "see above"

declared=$(sed -nE 's/^TINYBLAS_API .*\<(tinyblas_\w+)\(.*/\1/p' ../../include/tinyblas/tinyblas.h | sort)
called=$(sed -nE 's/^fuzz_c_api: (tinyblas_\w+): [0-9]+ accepted.*/\1/p' calls-*.log | sort -u)
(($(wc -l <<<"$declared") > 40)) || stop "too few functions were found in tinyblas.h"
missing=$(comm -23 <(echo "$declared") <(echo "$called"))
[[ -z $missing ]] || stop "declared in tinyblas.h, but never called: $missing"
