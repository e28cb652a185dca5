#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs one of netlib's own test programs of the BLAS (Debian: libblas-test) against libtinyblas_blas, which is preloaded, on the
# device alone: netlib.sh LIBRARY PROGRAM. The programs come linked with a reference library; the counters prove that ours
# was called. Decks of sizes are our own: netlib's end at 9, inside one tile, these at 65, the most that the programs take.
# NETLIB_BLAS names the folder of the programs if it is not the system's. Status 77: skipped.
set -euo pipefail
library=$(realpath "$1")
program=$2
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

folder=${NETLIB_BLAS-}
for found in /usr/lib/*/blas /usr/lib/blas; do
    if [[ -z $folder && -x $found/$program ]]; then folder=$found; fi
done
if [[ ! -x $folder/$program ]]; then
    echo "SKIPPED: netlib's $program is not on this machine; Debian and Ubuntu: apt-get install libblas-test"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

deck() {  # SIZES: what xblat3s, xblat3d, xscblat3, xdcblat3 read; only gemm is tested
    local prefix=${routine%gemm} name
    if [[ $program == xblat3* ]]; then printf "'report' SUMMARY\n6 ITS UNIT\n"; fi
    printf "'SNAPSHOT' NOT WRITTEN\n-1 ITS UNIT\nF REWIND\nF STOP ON FAILURES\nT TEST ERROR EXITS\n"
    if [[ $program == x?cblat3 ]]; then echo "2 BOTH LAYOUTS"; fi
    printf '16.0 THRESHOLD\n%d SIZES\n%s\n3 ALPHAS\n0.0 1.0 -0.7\n3 BETAS\n0.0 1.0 1.3\n' $# "$*"
    for name in gemm symm trmm trsm syrk syr2k; do
        name=$prefix$name
        if [[ $program == xblat3* ]]; then name=${name^^}; fi
        printf "%-${width}s%s\n" "$name" "$([[ ${name,,} == "$routine" ]] && echo T || echo F)"
    done
}

# The letter of the type and the names under test.
case $program in
    xblat1[sd] | xblat3[sd]) type=${program: -1} ;;
    x[sd]cblat[13]) type=${program:1:1} ;;
    *) fail "usage: $0 LIBRARY xblat1s|xblat1d|xblat3s|xblat3d|xscblat1|xdcblat1|xscblat3|xdcblat3" ;;
esac
names=()
for name in dot axpy nrm2 asum scal; do names+=("$type$name"); done
if [[ $program == *blat3* ]]; then names=("${type}gemm"); fi
if [[ $program == *cblat* ]]; then
    names=("${names[@]/#/cblas_}")
    exported=("${names[@]}")
else
    exported=("${names[@]/%/_}")
fi
if [[ $program == *blat3* ]]; then
    routine=${names[0]}
    width=$((${#routine} + 2))  # netlib reads flags at a column of their own
    if [[ $program == x?cblat3 ]]; then deck 1 7 33 65; else deck 0 1 7 33 64 65; fi >input
else
    : >input
fi

LD_PRELOAD=$library TINYBLAS_BLAS_HOST_LIMIT=0 TINYBLAS_BLAS_COUNT=1 "$folder/$program" <input >printed 2>counts ||
    fail "$program ended with status $?: $(cat printed counts)"
cat printed counts
if [[ -e report ]]; then cat report && cat report >>printed; fi
! grep -iE 'fail|\*\*\*|abandoned' printed || fail "$program says so"

number_before() { grep -oE "[0-9]+ $1" <<<"$2" | tr -dc 0-9; }
for i in "${!names[@]}"; do
    counted=$(grep "^libtinyblas_blas: ${exported[i]} " counts) || fail "${exported[i]} was not called: it is the reference's"
    calls=$(number_before calls "$counted")
    (($(number_before "on the device" "$counted") > 0)) || fail "the device computed nothing of ${exported[i]}"
    if [[ $program == *blat1* ]]; then
        grep -iA 1 "^ Test of subprogram number *[0-9]* *${names[i]} *$" printed | grep -q ' PASS ' ||
            fail "${names[i]} did not pass"
    else
        grep -qi "^ ${names[i]} *passed the tests of error-exits" printed || fail "the error exits of ${names[i]}"
        claimed=0
        while read -r one; do claimed=$((claimed + one)); done < <(
            grep -iE "^ ${names[i]} *passed the .*computational tests" printed | grep -oE '[0-9]+ CALLS' | tr -dc '0-9\n')
        ((claimed > 1000 && calls >= claimed)) || fail "${names[i]}: $calls calls counted, $claimed passed"
    fi
done
