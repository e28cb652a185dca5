// SPDX-License-Identifier: MIT
// What tune_gemm --write leaves behind: a file for Context::load_tuning.
#pragma once

#include "tinyblas/context.hpp"

namespace tinyblas::bench {

/// Times every strict rung, and every entry of tuned, on a grid of extents in all layouts, and
/// writes a line for each point of the grid where one is clearly faster than what gemm chooses.
/// Throws Error (invalid_argument) if the file cannot be written.
void write_tuning_file(Context& context, const char* path);

}  // namespace tinyblas::bench
