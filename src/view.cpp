// SPDX-License-Identifier: MIT
// The bounds of views: what their factories and sub-views refuse.
#include "tinyblas/view.hpp"

#include <algorithm>

#include "check.hpp"

namespace tinyblas::detail {

void require_range(const char* what, std::int64_t first, std::int64_t count, std::int64_t extent) {
    require(first >= 0 && first <= extent, what, " from ", first, ": must lie in 0 to ", extent);
    require(count >= 0 && count <= extent - first, what, " from ", first, " number ", count,
            ": must lie in 0 to ", extent - first);
}

void require_layout(std::int64_t rows, std::int64_t columns, std::int64_t ld, std::int64_t run) {
    require(rows >= 0, "rows is ", rows, ": must be at least 0");
    require(columns >= 0, "columns is ", columns, ": must be at least 0");
    const auto least = std::max<std::int64_t>(1, run);
    require(ld >= least, "ld is ", ld, ": must be at least ", least);
}

}  // namespace tinyblas::detail
