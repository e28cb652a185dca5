# SPDX-License-Identifier: MIT
# `cpack -G DEB`: libtinyblas (the shared libraries) and libtinyblas-dev (headers, what a linker and CMake and pkg-config
# need; with a static build, the library itself). Configure with -DCMAKE_INSTALL_PREFIX=/usr for Debian's own folders.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libtinyblas)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "small BLAS for CUDA that a person can read")
set(CPACK_PACKAGE_CONTACT "The libtinyblas authors <libtinyblas@example.org>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL tinyblas_development)
if(BUILD_SHARED_LIBS OR TINYBLAS_BUILD_BLAS)
    list(PREPEND CPACK_COMPONENTS_ALL tinyblas_runtime)
    set(CPACK_COMPONENT_TINYBLAS_DEVELOPMENT_DEPENDS tinyblas_runtime)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)  # libtinyblas-dev: libtinyblas of the same version
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
find_program(TINYBLAS_SHLIBDEPS dpkg-shlibdeps)  # of Debian's dpkg-dev: which packages the libraries stand on
mark_as_advanced(TINYBLAS_SHLIBDEPS)

if(TINYBLAS_BACKEND STREQUAL cuda)
    set(package_text "The kernels are machine code for NVIDIA's GPUs from compute\ncapability 8.0 on. \
The CUDA runtime is inside, the driver is not.")
    set(CPACK_DEBIAN_TINYBLAS_RUNTIME_PACKAGE_SUGGESTS libcuda1)
else()
    set(package_text "These are its kernels as C++ for the CPU, under device emulation:\nexact, and slow.")
    if(NOT BUILD_SHARED_LIBS)
        set(CPACK_DEBIAN_TINYBLAS_DEVELOPMENT_PACKAGE_DEPENDS libboost-context-dev)
    endif()
endif()
set(CPACK_DEBIAN_TINYBLAS_RUNTIME_PACKAGE_NAME libtinyblas)
set(CPACK_DEBIAN_TINYBLAS_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_TINYBLAS_DEVELOPMENT_PACKAGE_NAME libtinyblas-dev)
set(CPACK_DEBIAN_TINYBLAS_DEVELOPMENT_PACKAGE_SECTION libdevel)
if(TINYBLAS_SHLIBDEPS)
    set(CPACK_DEBIAN_TINYBLAS_RUNTIME_PACKAGE_SHLIBDEPS ON)
else()
    set(CPACK_DEBIAN_TINYBLAS_RUNTIME_PACKAGE_SHLIBDEPS OFF)
endif()
set(CPACK_DEBIAN_TINYBLAS_RUNTIME_DESCRIPTION "Shared libraries.\n${package_text}")
set(CPACK_DEBIAN_TINYBLAS_DEVELOPMENT_DESCRIPTION "Development files.\n${package_text}")
file(WRITE ${PROJECT_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_TINYBLAS_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/triggers)

# What Debian wants beside each package's files, and no other installation does.
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT package/changelog @ONLY CONTENT
"libtinyblas (@PROJECT_VERSION@) unstable; urgency=medium

  * See CHANGELOG.md of the sources.

 -- @CPACK_PACKAGE_CONTACT@  @package_date@
")
find_program(TINYBLAS_GZIP gzip)
mark_as_advanced(TINYBLAS_GZIP)
if(TINYBLAS_GZIP)
    execute_process(COMMAND ${TINYBLAS_GZIP} -9nkf ${PROJECT_BINARY_DIR}/package/changelog)
endif()
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(folder ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    install(FILES LICENSE DESTINATION ${folder} RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL)
    install(FILES ${PROJECT_BINARY_DIR}/package/changelog.gz DESTINATION ${folder} COMPONENT ${component}
            EXCLUDE_FROM_ALL OPTIONAL)
endforeach()
include(CPack)
