#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# packages.sh [BUILD_FOLDER]: makes Debian packages of a built shared library, installs them into a fresh root that has this
# machine's list of packages, builds outside projects against them, and removes them. Ends with 'N passed, N failed'.
set -uo pipefail
# shellcheck source=tests/consume/checks.sh
source "$(dirname "$0")/checks.sh"
build=$(cd "${1-$root/build/install}" && pwd) || exit
fresh=$work/fresh
backend=$(sed -n 's/^TINYBLAS_BACKEND:.*=//p' "$build/CMakeCache.txt")

make_packages() {
    cmake "$build" -DCMAKE_INSTALL_PREFIX=/usr && (cd "$build" && cpack -G DEB -B "$work/packages") &&
        ls "$work"/packages/libtinyblas_*.deb "$work"/packages/libtinyblas-dev_*.deb
}
package() { echo "$work/packages/$1"_*.deb; }

make_root() {
    mkdir -p "$fresh"/var/lib/dpkg/{info,updates,triggers} && touch "$fresh/var/lib/dpkg/available" &&
        awk -v RS= -v ORS='\n\n' '!/^Package: libtinyblas/' /var/lib/dpkg/status >"$fresh/var/lib/dpkg/status"
}
dpkg_there() {
    dpkg --root="$fresh" --force-not-root --force-script-chrootless --log=/dev/null "$@" 2>&1 |
        grep -v 'files list file for package'
}
installed() { dpkg-query --admindir="$fresh/var/lib/dpkg" -W -f '${db:Status-Status}' "$1"; }

alone_is_refused() {
    ! dpkg_there -i "$(package libtinyblas-dev)" && [[ $(installed libtinyblas-dev) == unpacked ]]
}
install_both() {
    dpkg_there -i "$(package libtinyblas)" "$(package libtinyblas-dev)" && [[ $(installed libtinyblas) == installed ]] &&
        [[ $(installed libtinyblas-dev) == installed ]] && cp -a "$fresh/usr" "$work/moved-package"
}
# Name, version, and the SONAME that programs will look for, which Debian's shlibs file names too.
says_what_it_is() {
    local version soname
    version=$(sed -n 's/^CMAKE_PROJECT_VERSION:.*=//p' "$build/CMakeCache.txt")
    soname=$(objdump -p "$(find "$work/moved-package" -name "libtinyblas.so.$version")" | sed -n 's/.*SONAME *//p')
    echo "version $version, SONAME $soname"
    [[ $(dpkg-deb -f "$(package libtinyblas)" Version) == "$version" && $soname == "libtinyblas.so.${version%.*}" ]] &&
        dpkg-deb -I "$(package libtinyblas)" shlibs | grep "^libtinyblas ${version%.*} libtinyblas"
}
depends() {  # PATTERN: on what the libraries need
    local line
    line=$(dpkg-deb -f "$(package libtinyblas)" Depends) && echo "$line" && [[ $line =~ $1 ]]
}
remove_both() {
    dpkg_there -r libtinyblas-dev libtinyblas && [[ -z $(find "$fresh/usr" ! -type d) ]]
}
# What lintian may say: the package has no number in its name, for there is one version; CPack writes the ldconfig calls.
clean() {
    local tags=package-name-doesnt-match-sonames,maintscript-calls-ldconfig
    lintian --fail-on error,warning --suppress-tags "$tags" "$work"/packages/*.deb
}
all_found() { ! ldd "$1" | grep 'not found'; }  # in place of a run, where there may be no GPU

check "cpack -G DEB" make_packages
check "a fresh root" make_root
check "libtinyblas-dev is refused without libtinyblas" alone_is_refused
check "both are installed" install_both
check "name, version, SONAME" says_what_it_is
check "libtinyblas names the packages of its libraries" depends 'libc6.*libstdc\+\+6'
if command -v lintian >/dev/null; then check "lintian" clean; fi
plant_nvcc
[[ $backend == cuda ]] && run=all_found
for language in c cpp; do
    check "package, $language, find_package" use_cmake package $language ${run-}
    check "package, $language, pkg-config" use_pkg_config package $language ${run-}
done
check "nvcc was not called" nvcc_was_not_called
check "no path of the source tree is left in the package files" names_no_path "$build"
check "both are removed, without a trace" remove_both
finish
