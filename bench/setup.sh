# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by bench/run.sh and tests/run.sh: what is this machine, and what must be installed on it first?
export DEBIAN_FRONTEND=noninteractive

say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }
has() { command -v "$1" >/dev/null; }
has_header() {  # in the system's folders, or in CMAKE_PREFIX_PATH's
    local prefix prefixes paths=(-I/usr/include/eigen3)
    IFS=: read -ra prefixes <<<"${CMAKE_PREFIX_PATH-}"
    for prefix in "${prefixes[@]}"; do paths+=("-I$prefix/include" "-I$prefix/include/eigen3"); done
    has c++ && echo "#include <$1>" | c++ -x c++ "${paths[@]}" -fsyntax-only - 2>/dev/null
}
has_library() {  # the headers alone may be here
    local prefix prefixes paths=()
    IFS=: read -ra prefixes <<<"${CMAKE_PREFIX_PATH-}"
    for prefix in "${prefixes[@]}"; do paths+=("-L$prefix/lib"); done
    echo 'int main() {}' | c++ -x c++ - -o /dev/null "${paths[@]}" "-l$1" 2>/dev/null
}
has_nvcc() { has nvcc || [[ -x /usr/local/cuda/bin/nvcc ]] || [[ -n ${CUDACXX-} ]]; }
has_gpu() { nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# The compiler's name for this machine's GPU: machine code alone, so that it builds fast.
gpu_architecture() {
    local digits
    digits=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -dc 0-9)
    if [[ $digits == 90 ]]; then echo 90a-real; else echo "$digits-real"; fi
}

# Whether a Debian package, or what it would bring, is here.
has_package() {
    case $1 in
        g++) has c++ ;;
        ninja-build) has ninja || has make ;;
        libeigen3-dev) has_header Eigen/Core ;;
        libgtest-dev) has_header gtest/gtest.h ;;
        libgmock-dev) has_header gmock/gmock.h ;;
        libbenchmark-dev) has_header benchmark/benchmark.h ;;
        libboost-context-dev) has_header boost/context/fiber.hpp && has_library boost_context ;;
        *) has "$1" ;;
    esac
}
missing_of() {
    local package
    for package; do has_package "$package" || echo "$package"; done
}

try_to_install() {
    local root=()
    has apt-get || return
    if ((EUID != 0)); then
        sudo -n true 2>/dev/null || return
        root=(sudo -n)
    fi
    timeout 120 "${root[@]}" apt-get -q -o Acquire::Retries=1 -o Acquire::http::Timeout=20 update &&
        timeout 400 "${root[@]}" apt-get -q -y --no-install-recommends install "$@"
}

# install_missing PACKAGE...: fills the array `missing` with those that are not here and could not be installed, and says so.
install_missing() {
    local log
    mapfile -t missing < <(missing_of "$@")
    if ((${#missing[@]})); then
        log=$(mktemp)
        say "installing ${missing[*]}"
        try_to_install "${missing[@]}" </dev/null >"$log" 2>&1 || tail -5 "$log"
        rm -f "$log"
        mapfile -t missing < <(missing_of "$@")
    fi
    if ((${#missing[@]})); then
        say "missing, and could not be installed here. On Debian or Ubuntu: apt-get install ${missing[*]}"
    fi
    if has ninja; then export CMAKE_GENERATOR=${CMAKE_GENERATOR-Ninja}; fi
}
is_missing() { [[ " ${missing[*]-} " == *" $1 "* ]]; }
