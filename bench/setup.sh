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
how_to_get_cuda="for CUDA: put nvcc 13 on PATH, or set CUDACXX to it, or add --cuda-from-pip, which needs no root"

# cuda_from_pip PACKAGE...: nvcc, the runtime and the packages, of versions that go together, from the Python package index
# into build/cuda-from-pip; CUDACXX then names that nvcc. A second call finds what is there.
cuda_from_pip() {
    local folder=$PWD/build/cuda-from-pip log=$PWD/build/cuda-from-pip.log toolkit library cache=$PWD/build/cuda/CMakeCache.txt
    local packages=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-runtime==13.0.96
        nvidia-cuda-cccl==13.0.85 "$@")
    mkdir -p build
    if [[ -n $(printf '%s\n' "${packages[@]}" | grep -vxFf "$folder/packages" 2>&1) ]]; then
        say "CUDA: bringing nvcc and what belongs to it into build/cuda-from-pip"
        rm -rf "$folder"
        if python3 -m venv "$folder" >"$log" 2>&1; then
            "$folder/bin/python3" -m pip -q install "${packages[@]}" >>"$log" 2>&1 </dev/null
        else  # a Python without venv may have pip
            rm -rf "$folder"
            python3 -m pip -q install --target "$folder" "${packages[@]}" >>"$log" 2>&1 </dev/null
        fi || {
            tail -5 "$log"
            say "CUDA: could not be brought from the Python package index; python3 with venv or pip is needed"
            return 1
        }
        printf '%s\n' "${packages[@]}" >"$folder/packages"
    fi
    toolkit=$(find "$folder" -path '*/nvidia/cu13/bin/nvcc' -printf '%h/..\n' -quit)
    toolkit=$(cd "${toolkit:?}" && pwd) || return
    [[ -e $toolkit/lib64 ]] || ln -s lib "$toolkit/lib64"  # nvcc and CMake look there
    for library in "$toolkit"/lib/*.so.*; do               # and linkers for a name without a version
        [[ -e ${library%.so.*}.so ]] || ln -s "${library##*/}" "${library%.so.*}.so"
    done
    export CUDACXX=$toolkit/bin/nvcc
    # CMake does not change its compiler.
    if [[ -e $cache ]] && ! grep -q "^CMAKE_CUDA_COMPILER:[A-Z]*=$CUDACXX\$" "$cache"; then rm -rf "${cache%/*}"; fi
    say "CUDA: $("$CUDACXX" --version | sed -n 's/.*release .*, V/nvcc /p') in build/cuda-from-pip"
}
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
        libblas-test) compgen -G '/usr/lib/*/blas/xblat3s' >/dev/null ;;
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
