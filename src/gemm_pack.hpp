// SPDX-License-Identifier: MIT
// What a PackedMatrix keeps.
#pragma once

#include "kernels/gemm/planes.hpp"
#include "tinyblas/matrix.hpp"
#include "workspace.hpp"

namespace tinyblas {

struct PackedOperand {
    int device;
    Matrix<float> copy;   // k x n
    DeviceMemory memory;  // where the planes lie
    std::size_t memory_bytes;
    GemmPlanes planes;  // fp16x2; rows are the columns of B
};

}  // namespace tinyblas
