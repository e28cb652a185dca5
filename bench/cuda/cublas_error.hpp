// SPDX-License-Identifier: MIT
// Failures of cuBLAS as exceptions.
#pragma once

#include <cublas_v2.h>

#include <string>

#include "tinyblas/error.hpp"

namespace tinyblas::bench {

inline void check(cublasStatus_t status, const char* operation) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw Error(Status::device_error,
                    std::string(operation) + ": " + cublasGetStatusString(status));
}

}  // namespace tinyblas::bench
