// SPDX-License-Identifier: MIT
// Batches of products whose operands come by elements, as host files see them. Compiled in
// gemm_elements.cu.
#pragma once

#include "gemm_pieces.hpp"

namespace tinyblas {

/// The launcher of an entry of gemm_elements_table. Needs machine code for compute capability 9.0a.
BatchLauncher<float> elements_launcher(int entry);

}  // namespace tinyblas
