// SPDX-License-Identifier: MIT
// gemm_strided_batched: checks of the batch as a whole, then one gemm after the other.
#include <utility>

#include "batch.hpp"
#include "check.hpp"
#include "gemm_call.hpp"

namespace tinyblas {
namespace {

template <class T>
GemmChoice run(Context& context, T alpha, MatrixView<const T> a, std::int64_t a_stride,
               MatrixView<const T> b, std::int64_t b_stride, T beta, MatrixView<T> c,
               std::int64_t c_stride, std::int64_t batch, const GemmOptions& options) {
    require(batch >= 0, "gemm_strided_batched: batch is ", batch, ": must be at least 0");
    if (batch == 0) return {};
    GemmCall<T> call = prepare_gemm(context, alpha, a, b, beta, c, options);
    if (call.choice.kernel == GemmKernel::none) return {};
    const bool reads = call.a.columns > 0;
    const Batch all_c(c, c_stride, batch);
    require(elements_distinct(all_c), "gemm_strided_batched: c_stride is ", c_stride,
            ": must keep the ", batch, " matrices of c apart");
    require(!reads || !overlap(all_c, Batch(a, a_stride, batch)),
            "gemm_strided_batched: c overlaps a: all matrices must lie apart");
    require(!reads || !overlap(all_c, Batch(b, b_stride, batch)),
            "gemm_strided_batched: c overlaps b: all matrices must lie apart");
    if (call.exchanged) std::swap(a_stride, b_stride);
    for (std::int64_t e = 0; e < batch; ++e) {
        enqueue_gemm(context, call);
        if (reads) {
            call.a.data += a_stride;
            call.b.data += b_stride;
        }
        call.c.data += c_stride;
    }
    return call.choice;
}

}  // namespace

GemmChoice gemm_strided_batched(Context& context, float alpha, MatrixView<const float> a,
                                std::int64_t a_stride, MatrixView<const float> b,
                                std::int64_t b_stride, float beta, MatrixView<float> c,
                                std::int64_t c_stride, std::int64_t batch, GemmOptions options) {
    return run(context, alpha, a, a_stride, b, b_stride, beta, c, c_stride, batch, options);
}
GemmChoice gemm_strided_batched(Context& context, double alpha, MatrixView<const double> a,
                                std::int64_t a_stride, MatrixView<const double> b,
                                std::int64_t b_stride, double beta, MatrixView<double> c,
                                std::int64_t c_stride, std::int64_t batch, GemmOptions options) {
    return run(context, alpha, a, a_stride, b, b_stride, beta, c, c_stride, batch, options);
}

}  // namespace tinyblas
