# SPDX-License-Identifier: MIT
# Installation: headers, library, CMake package, pkg-config file. All of it may be moved to another prefix afterwards.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tinyblas)

# Two components: what programs need to run, and what they are built with.
set(libraries_in_components LIBRARY COMPONENT tinyblas_runtime NAMELINK_COMPONENT tinyblas_development
                            ARCHIVE COMPONENT tinyblas_development)
install(TARGETS tinyblas EXPORT tinyblas ${libraries_in_components})
if(TINYBLAS_BUILD_BLAS)
    install(TARGETS tinyblas_blas ${libraries_in_components})
endif()
install(DIRECTORY include/tinyblas TYPE INCLUDE COMPONENT tinyblas_development)

# What a static library asks of its users: a C++ runtime, and the one thing its back end stands on.
set(static_library OFF)
set(private_libraries)
if(NOT BUILD_SHARED_LIBS)
    set(static_library ON)
    target_link_libraries(tinyblas INTERFACE $<INSTALL_INTERFACE:stdc++> $<INSTALL_INTERFACE:m>)
    if(TINYBLAS_BACKEND STREQUAL cuda)
        cmake_path(GET CUDA_cudart_static_LIBRARY PARENT_PATH cudart_folder)
        set(private_libraries "-L${cudart_folder} -lcudart_static -ldl -lrt -lpthread -lstdc++ -lm")
    else()
        set(private_libraries "-lboost_context -lstdc++ -lm")
    endif()
endif()

install(EXPORT tinyblas NAMESPACE tinyblas:: FILE tinyblasTargets.cmake DESTINATION ${package_folder}
        COMPONENT tinyblas_development)
configure_package_config_file(cmake/tinyblasConfig.cmake.in tinyblasConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(tinyblasConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tinyblasConfig.cmake
              ${PROJECT_BINARY_DIR}/tinyblasConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT tinyblas_development)

file(RELATIVE_PATH prefix_from_pcfile ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/tinyblas.pc.in tinyblas.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tinyblas.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT tinyblas_development)
