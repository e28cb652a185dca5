// SPDX-License-Identifier: MIT
// Families of products: what a sweep goes through, and the goals.
#pragma once

#include <string>
#include <vector>

#include "gemm_shapes.hpp"

namespace tinyblas::bench {

/// The names of the families, comma-separated, for people.
std::string gemm_family_names();

/// The shapes of the family `name` for elements of so many bytes; small ones under emulation.
/// "goals": what should be reached, each with its goal; "sweep": all families but that. Throws
/// Error (invalid_argument) that lists the names if there is none.
std::vector<Shape> gemm_family(const std::string& name, std::size_t element_bytes);

}  // namespace tinyblas::bench
