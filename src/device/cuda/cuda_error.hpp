// SPDX-License-Identifier: MIT
// CUDA's error codes as Error.
#pragma once

#include <driver_types.h>

namespace tinyblas::device {

/// Throws Error if `error` is a failure, saying which operation met it in which function of CUDA.
void check(cudaError_t error, const char* function, const char* operation);

}  // namespace tinyblas::device
