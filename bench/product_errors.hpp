// SPDX-License-Identifier: MIT
// The errors of a case of gemm: over rows of one product, or of three of a batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "data.hpp"
#include "gemm_shapes.hpp"

namespace tinyblas::bench {

/// Rows of C whose errors are measured: all of them up to so many products.
template <class T>
std::int64_t checked_rows(const Shape& shape, bool quick) {
    double products = 0x1p39;
    if (quick || shape.layer || sizeof(T) == sizeof(double)) products = 0x1p36;
    if (emulated()) products = 0x1p22;
    const double row = static_cast<double>(shape.n) * static_cast<double>(shape.k);
    const double rows = std::clamp(products / row, 64.0, static_cast<double>(shape.m));
    return shape.m <= 64 ? shape.m : static_cast<std::int64_t>(rows);
}

/// Errors over rows of the first, the middle and the last product, after `work`.
template <class T>
class ErrorsOf {
  public:
    ErrorsOf(Context& context, Operands<T>& operands, const Shape& shape, bool quick)
        : context_(context), operands_(operands) {
        const std::int64_t rows = checked_rows<T>(shape, quick);
        for (const std::int64_t e : {std::int64_t(0), shape.products() / 2, shape.products() - 1})
            if (of_.empty() || e > of_.back().product)
                of_.push_back({e, exact_product<T>(context, operands.a(e), operands.b(e), rows)});
    }
    ProductError after(const Work& work) {
        operands_.poison();
        work();
        ProductError all = {};
        for (const auto& [e, exact] : of_) {
            const ProductError one = product_error<T>(context_, exact, operands_.c(e));
            all = {std::max(all.max, one.max), std::max(all.rms, one.rms)};
        }
        return all;
    }
    std::int64_t rows() const { return of_.front().exact.rows(); }

  private:
    struct Exact {
        std::int64_t product;
        Matrix<ExactEntry> exact;
    };
    Context& context_;
    Operands<T>& operands_;
    std::vector<Exact> of_;
};

}  // namespace tinyblas::bench
