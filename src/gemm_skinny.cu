// SPDX-License-Identifier: MIT
// Compiles the rung skinny of gemm, which only machine code for compute capability 9.0a has.
#include "gemm_skinny.hpp"

#include <iterator>
#include <utility>

#include "kernels/gemm/skinny.cuh"

namespace tinyblas {
namespace {

std::int64_t size(std::int64_t stride) { return stride < 0 ? -stride : stride; }

/// Whether neighbours in k lie closer than those in m or n.
bool along_k(const MatrixView<const float>& operand) {
    return size(operand.column_stride) <= size(operand.row_stride);
}

/// Whether lines of neighbours can be read or written 16 bytes at a time, wherever the view begins.
template <class T>
bool in_vectors(const MatrixView<T>& view) {
    const bool along_columns = size(view.column_stride) <= size(view.row_stride);
    const auto [stride, line_stride] = along_columns
                                           ? std::pair(view.column_stride, view.row_stride)
                                           : std::pair(view.row_stride, view.column_stride);
    return stride == 1 && line_stride % 4 == 0;
}

}  // namespace

GemmSkinnyPlan plan_gemm_skinny(const GemmCall<float>& call) {
    const bool turned = call.c.columns > call.c.rows;
    return plan_gemm_skinny(call.c.rows, call.c.columns, call.a.columns,
                            in_vectors(turned ? call.b : call.a) && in_vectors(call.c));
}

void enqueue_gemm_skinny(Context& context, const GemmCall<float>& call,
                         const GemmSkinnyPlan& plan) {
    const MatrixView<const float> a = plan.turned ? call.b.transposed() : call.a;
    const MatrixView<const float> b = plan.turned ? call.a.transposed() : call.b;
    const MatrixView<float> c = plan.turned ? call.c.transposed() : call.c;
    constexpr decltype(&launch_gemm_skinny<0, true>) launchers[][2] = {
        {launch_gemm_skinny<0, false>, launch_gemm_skinny<0, true>},
        {launch_gemm_skinny<1, false>, launch_gemm_skinny<1, true>},
        {launch_gemm_skinny<2, false>, launch_gemm_skinny<2, true>}};
    static_assert(std::size(launchers) == gemm_skinny_entries);
    launchers[plan.entry][along_k(a) ? 1 : 0](context.stream(), context.multiprocessors(),
                                              call.alpha, a, b, call.beta, c);
}

}  // namespace tinyblas
