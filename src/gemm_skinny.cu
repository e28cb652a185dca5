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

/// Lines of neighbours: their length, and from element to element and line to line.
struct SkinnyLines {
    std::int64_t length, stride, apart;

    explicit SkinnyLines(const MatrixView<const float>& x)
        : length(along_k(x) ? x.columns : x.rows),
          stride(along_k(x) ? x.column_stride : x.row_stride),
          apart(along_k(x) ? x.row_stride : x.column_stride) {}
    /// Whether they can be read 16 bytes at a time, wherever the operand begins.
    bool in_vectors() const { return stride == 1 && apart % 4 == 0; }
    /// Whether only what lies between them keeps them from that.
    bool are_odd() const { return length % 4 == 0 && !in_vectors(); }
};

}  // namespace

GemmSkinnyPlan plan_gemm_skinny(const GemmCall<float>& call) {
    const std::int64_t m = call.c.rows, n = call.c.columns;
    const MatrixView<const float> a = call.a, b = call.b.transposed(), longer = n > m ? b : a;
    // How C lies does not count: the choice, and with it the bits, should not depend on that. It is
    // supposed to lie as the operands do.
    const bool c_vectors = n % 4 == 0 && !SkinnyLines(a).are_odd() && !SkinnyLines(b).are_odd();
    return plan_gemm_skinny(m, n, call.a.columns,
                            {along_k(longer), SkinnyLines(longer).in_vectors(), c_vectors});
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
