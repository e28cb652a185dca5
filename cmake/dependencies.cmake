# SPDX-License-Identifier: MIT
# What the tests and benchmarks stand on: an installed copy if there is one, else a download. The library itself needs none of it.
include(FetchContent)

# tinyblas_need(NAME TARGET REPOSITORY TAG): NAME as find_package knows it, TARGET as both ways define it.
function(tinyblas_need name target repository tag)
    if(TARGET ${target})
        return()
    endif()
    find_package(${name} QUIET)
    if(TARGET ${target})
        message(STATUS "tinyblas: ${name} found")
        # Imported targets are visible in the directory that found them: the other one asks again.
        return()
    endif()
    message(STATUS "tinyblas: ${name} is not installed; fetching ${repository} ${tag}")
    FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${tag} GIT_SHALLOW ON SYSTEM)
    FetchContent_MakeAvailable(${name})
endfunction()
