// SPDX-License-Identifier: MIT
// Precision: what a product of float matrices may be computed with.
#pragma once

#include <string_view>

#include "tinyblas/export.h"

namespace tinyblas {

/// Both are as accurate as float products are expected to be.
///   fp32_strict   fused multiply-adds in float, a chain an element in the order of k, or several
///   fp32          tensor cores on scaled parts of 16 bits where that pays, which errs less than
///                 the chain from k = 256 on; strict elsewhere, and for data that parts cannot hold
enum class Precision { fp32_strict, fp32 };

/// The name of a precision, such as "fp32".
TINYBLAS_API const char* to_string(Precision precision) noexcept;
/// The precision called `name` ("fp32_strict", "fp32"). Throws Error (invalid_argument) that lists
/// them if there is none.
TINYBLAS_API Precision precision(std::string_view name);

}  // namespace tinyblas
