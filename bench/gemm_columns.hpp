// SPDX-License-Identifier: MIT
// What the table of gemm shows of a case.
#pragma once

#include <vector>

#include "report.hpp"

namespace tinyblas::bench {

/// Of strict products, or of Precision::fp32.
std::vector<Column> gemm_columns(bool fp32);
/// Of batches.
std::vector<Column> gemm_batch_columns();

extern const char* const gemm_legend;

}  // namespace tinyblas::bench
