// SPDX-License-Identifier: MIT
// A tuning file: which strict rung multiplies products of which extents, as measured on some GPU.
// Plain text; # starts a comment:
//
//     tinyblas-tuning 1
//     gemm float  NN   65-128   *  1024-*  tuned 3
//     gemm double any  4096  4096  1-512   tensor
//     end 2
//
// after the head a line each: type, layouts of A and B (N: along rows, T: along columns, any), the
// extents m, n and k with both ends, the rung, and for `tuned` its entry, if it is not to be
// chosen. C lies along rows: one along columns counts as its transpose. The first line that fits a
// product holds. The last one says how many there were, so that half a file is none.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "gemm_call.hpp"
#include "gemm_choice.hpp"

namespace tinyblas {

struct GemmTuningLine {
    struct Range {
        std::int64_t first = 1, last = INT64_MAX;
        bool has(std::int64_t extent) const { return first <= extent && extent <= last; }
    };
    int number = 0;  // of the line in its file
    Scalar type = Scalar::float32;
    std::string layout;  // "NN" ... "TT" or "any"
    Range m, n, k;
    GemmChoice choice = {};
};

class GemmTuning {
  public:
    /// Reads all lines. Throws Error (invalid_argument) with `name`, the line and what is wrong
    /// with it, or if the rung cannot run on the context's GPU.
    GemmTuning(const Context& context, std::istream& text, const std::string& name);

    /// The first line for the call; null if there is none.
    template <class T>
    const GemmTuningLine* find(const GemmCall<T>& call) const {
        const std::string layout = {letter(call.a), letter(call.b)};
        for (const GemmTuningLine& line : lines_)
            if (line.m.has(call.c.rows) && line.n.has(call.c.columns) &&
                line.k.has(call.a.columns) && line.type == gemm_scalar<T> &&
                (line.layout == "any" || line.layout == layout))
                return &line;
        return nullptr;
    }

  private:
    static char letter(const auto& x) {
        return x.column_stride == 1 ? 'N' : x.row_stride == 1 ? 'T' : '?';
    }

    std::vector<GemmTuningLine> lines_;
};

}  // namespace tinyblas
