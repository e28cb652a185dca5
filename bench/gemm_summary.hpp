// SPDX-License-Identifier: MIT
// What the families of cases of gemm came to.
#pragma once

#include <string>
#include <vector>

#include "gemm_shapes.hpp"

namespace tinyblas::bench {

class GemmSummary {
  public:
    /// A case on the rung that the library chose.
    struct Result {
        std::string type, regime;
        Shape shape;
        double ratio;         // the reference's time / ours; 0: there is no reference
        double strict_ratio;  // our strict kernel's time / ours; 0: not measured
        double best_ratio;    // the best proposal's time / ours; 0: not measured
        double microseconds, of_copy;
    };
    void add(Result result) { results_.push_back(std::move(result)); }

    /// A line a family: geometric mean, worst case, and how many were behind. Then the goals.
    std::string text() const;

  private:
    std::string families() const;
    std::string goals() const;

    std::vector<Result> results_;
};

}  // namespace tinyblas::bench
