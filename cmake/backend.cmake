# SPDX-License-Identifier: MIT
# Chooses the back end. Asked for nothing, a machine with nvcc builds for CUDA, any other for device emulation.
find_program(TINYBLAS_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(TINYBLAS_NVCC)
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND TINYBLAS_NVCC)
    set(CMAKE_CUDA_COMPILER ${TINYBLAS_NVCC} CACHE FILEPATH "The CUDA compiler")
endif()

if(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
    set(default_backend cuda)
else()
    set(default_backend emulated)
endif()
set(TINYBLAS_BACKEND ${default_backend} CACHE STRING "What the kernels are built for: cuda or emulated")
set_property(CACHE TINYBLAS_BACKEND PROPERTY STRINGS cuda emulated)
option(TINYBLAS_TRACED "Device emulation sees every access of kernels to memory: slow, finds races" OFF)
set(kernel_flags)  # of the files that hold kernels, under emulation
if(TINYBLAS_TRACED)
    if(NOT TINYBLAS_BACKEND STREQUAL emulated)
        message(FATAL_ERROR "TINYBLAS_TRACED needs TINYBLAS_BACKEND=emulated")
    endif()
    # Not for the linker: the calls end in src/device/emulation/trace_callbacks.cpp.
    set(kernel_flags -fsanitize=thread)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
        list(APPEND kernel_flags -Wno-array-bounds)  # the calls split paths of which g++ then thinks the worst
    endif()
elseif(CMAKE_CXX_FLAGS MATCHES "address,undefined")
    # Once is enough: the address sanitizer sees null and what lies outside, device.hpp sees alignment. Half the time to compile.
    set(kernel_flags -fno-sanitize=null,object-size,alignment,pointer-overflow)
endif()

if(TINYBLAS_BACKEND STREQUAL cuda)
    if(default_backend STREQUAL emulated)
        message(FATAL_ERROR "TINYBLAS_BACKEND=cuda needs nvcc, and there is none. Put it on PATH or set "
                            "CMAKE_CUDA_COMPILER; or build for device emulation with TINYBLAS_BACKEND=emulated.")
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    message(STATUS "tinyblas: back end cuda, architectures ${CMAKE_CUDA_ARCHITECTURES}")
elseif(TINYBLAS_BACKEND STREQUAL emulated)
    if(default_backend STREQUAL emulated)
        message(STATUS "tinyblas: no nvcc found, so the kernels are built for device emulation on the CPU. "
                       "For CUDA: put nvcc 13 on PATH, or set CUDACXX to it, or let "
                       "bench/run.sh --cuda-from-pip bring it from the Python package index.")
    endif()
    message(STATUS "tinyblas: back end emulated")
else()
    message(FATAL_ERROR "TINYBLAS_BACKEND is '${TINYBLAS_BACKEND}', not cuda or emulated")
endif()
