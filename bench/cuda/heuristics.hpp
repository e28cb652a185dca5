// SPDX-License-Identifier: MIT
// The products that cuBLAS would make other than by default: what the heuristics of its cublasLt
// propose.
#pragma once

#include <vector>

#include "../machine.hpp"

namespace tinyblas::bench {

/// At most `most` ways, the most promising first, with so much workspace.
template <class T>
std::vector<Work> heuristic_gemms(Context& context, const Product<T>& product, int most,
                                  void* workspace, std::size_t workspace_bytes);

}  // namespace tinyblas::bench
