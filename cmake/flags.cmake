# SPDX-License-Identifier: MIT
# tinyblas_flags: what every file of ours is compiled with. No fast-math, in any build: NaN, Inf and subnormals count.
add_library(tinyblas_flags INTERFACE)

set(warnings -Wall -Wextra)
if(TINYBLAS_WERROR)
    list(APPEND warnings -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND warnings -Wno-restrict)  # g++ 12 sees overlaps in std::string that cannot be (its bug 105651)
endif()
target_compile_options(tinyblas_flags INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>")
# A multiply and an add stay two roundings unless the source says fma: the same bits as on the GPU.
target_compile_options(tinyblas_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>)
target_compile_features(tinyblas_flags INTERFACE c_std_11 cxx_std_20)

include(CheckCompilerFlag)
if(TINYBLAS_BACKEND STREQUAL emulated)
    # g++ 12 uses MMX registers for some loops and forgets to free them, which breaks long double.
    check_compiler_flag(CXX -mno-mmx TINYBLAS_HAVE_NO_MMX)
    if(TINYBLAS_HAVE_NO_MMX)
        target_compile_options(tinyblas_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-mno-mmx>)
    endif()
endif()

if(TINYBLAS_BACKEND STREQUAL cuda)
    list(JOIN warnings , host_warnings)
    # CMake 3.25 turns CUDA_STANDARD 20 into C++17 without a word, hence -std here.
    set(nvcc_flags -std=c++20 --expt-relaxed-constexpr --threads=0
                   -Xcompiler=${host_warnings},-ffp-contract=off
                   -Xptxas=-warn-spills)
    if(TINYBLAS_WERROR)
        list(APPEND nvcc_flags -Werror=cross-execution-space-call,all-warnings)
    endif()
    check_compiler_flag(CUDA --compress-mode=size TINYBLAS_HAVE_COMPRESS_MODE)
    if(TINYBLAS_HAVE_COMPRESS_MODE)
        list(APPEND nvcc_flags --compress-mode=size)
    endif()
    target_compile_options(tinyblas_flags INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:${nvcc_flags}>")
endif()
