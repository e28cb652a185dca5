#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the API reference in build/docs/html, where a warning is an error, and looks whether the files that the pages name are
# there. Installs Doxygen if it can.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/setup.sh
source bench/setup.sh
install_missing doxygen
((${#missing[@]} == 0))

mkdir -p build/docs
doxygen docs/Doxyfile
status=0
while read -r page name; do
    path=$(sed 's/<[a-z]*>/*/g; s/N_/?_/' <<<"$name")  # kernels/gemm/N_<rung>.cuh
    compgen -G "$path" >/dev/null || { echo "$page names $name, which is not there" && status=1; }
done < <(grep -oE '`(include|src|kernels|tests|bench|cmake|docs|examples)/[^` ]*`' docs/*.md | tr -d '`' | sed 's/:/ /')
exit $status
