// SPDX-License-Identifier: MIT
// Failures of the CUDA runtime as exceptions.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "tinyblas/error.hpp"

namespace tinyblas::bench {

inline void check(cudaError_t status, const char* operation) {
    if (status != cudaSuccess)
        throw Error(Status::device_error,
                    std::string(operation) + ": " + cudaGetErrorString(status));
}

}  // namespace tinyblas::bench
