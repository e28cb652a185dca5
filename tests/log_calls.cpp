// SPDX-License-Identifier: MIT
// Calls of every operation on operands that lie oddly, for check.sh log: TINYBLAS_LOG=1 must say
// enough of each to do it again.
#include <cstdint>
#include <tinyblas/tinyblas.hpp>
#include <utility>

using namespace tinyblas;

namespace {

template <class T>
void run(Context& context) {
    Matrix<T> memory(1, 60000, Memory::mapped);
    T* const first = memory.view().data;
    for (std::int64_t i = 0; i < memory.columns(); ++i) first[i] = T(i % 7) - 3;
    T* const second = first + 20000;
    T* const third = first + 40000;
    using In = MatrixView<const T>;
    using Out = MatrixView<T>;
    gemm(context, T(1), In::row_major(first, 33, 20), In::row_major(second, 20, 17), T(0),
         Out::row_major(third, 33, 17));
    gemm(context, T(2), In::column_major(first + 1, 33, 20, 40), In{second, 20, 17, 3, 70}, T(1),
         Out::column_major(third + 3, 33, 17, 35), {GemmKernel::tiled});
    gemm(context, T(1), In{first + 9000, 16, 20, -20, 1}, In::row_major(second, 20, 64), T(0),
         Out::row_major(third, 16, 64), {GemmKernel::naive});
    gemm(context, T(1), In::row_major(first, 3, 0), In::row_major(second, 0, 4), T(0),
         Out::row_major(third, 3, 4));

    gemm_strided_batched(context, T(1), In::row_major(first, 5, 6), 0,
                         In::column_major(second, 6, 7, 9), 65, T(0),
                         Out::column_major(third, 5, 7), 35, 20);
    gemm_strided_batched(context, T(1), In::row_major(first, 16, 16), 256,
                         In::row_major(second, 16, 16), 256, T(0), Out::row_major(third, 16, 16),
                         256, 3, {GemmKernel::tiled});
    const T* const of_a[] = {first, first + 100, first};
    const T* const of_b[] = {second, second + 1, second + 60};
    T* const of_c[] = {third, third + 40, third + 80};
    gemm_batched(context, T(2), {of_a, 5, 6, 6, 1}, {of_b, 6, 7, 1, 6}, T(1), {of_c, 5, 7, 7, 1},
                 3);

    dot(context, {first + 1, 1000, 2}, {second, 1000, -3}, third);
    asum(context, VectorView<const T>{first, 5000}, third, {ReduceKernel::texture});
    nrm2(context, VectorView<const T>{first + 1, 77}, third, {ReduceKernel::naive});
    transpose<T>(context, In::row_major(first, 40, 50, 53), Out::row_major(second, 50, 40));
    transpose<T>(context, In{first + 1, 40, 50, 3, 130}, Out::row_major(second + 1, 50, 40));
    transpose(context, Out::row_major(first, 64, 64, 65));

    const T coefficients[] = {1, 2, 3};
    polyval(context, coefficients, {first, 100, 3}, {second + 1, 100, -1});
    polyval(context, coefficients, {first, 100}, VectorView<T>{first, 100});
    polyval(context, coefficients, {first, 100}, {second, 100}, {PolyvalKernel::constant});
    polyval(context, coefficients, {first, 100}, {second, 100, -2}, {PolyvalKernel::best, true});
    axpy(context, T(2), {first, 100, 2}, {second + 1, 100, -3});
    axpy(context, T(2), {first, 100, 2}, {first, 100, 2});
    scal(context, T(2), VectorView<T>{first + 1, 100, 5});
    gemv(context, T(1), In::row_major(first, 33, 20), {second, 20}, T(0), {third, 33, 2});
    gemv(context, T(1), In::column_major(first + 1, 33, 20, 40), {second + 3, 20, -2}, T(1),
         {third, 33, -1}, {GemvKernel::naive});
    ger(context, T(1), {first, 33, -3}, {second, 20}, Out::row_major(third, 33, 20));
    copy(context, In::row_major(first, 3, 4), Out::row_major(second, 3, 4));
    context.synchronize();
}

}  // namespace

int main() {
    Context context;
    run<float>(context);
    run<double>(context);
    const auto f32 = [](Matrix<float>& matrix) { return std::as_const(matrix).view(); };
    Matrix<float> a(64, 300, Memory::mapped), b(300, 64, Memory::mapped);
    Matrix<float> c(64, 64, Memory::mapped);
    GemmOptions split = {GemmKernel::split};
    gemm(context, 1.0f, f32(a), f32(b), 0.0f, c.view(), split);
    for (const auto rung : {GemmKernel::sliced, GemmKernel::pipelined, GemmKernel::skinny})
        gemm(context, 1.0f, f32(a).block(0, 0, 64, 100), f32(b).block(0, 0, 100, 64), 0.0f,
             c.view(), {rung});
    gemm(context, 1.0f, f32(a), f32(b).block(0, 0, 300, 1), 0.0f, c.view().block(0, 0, 64, 1));
    const PackedMatrix packed = pack(context, f32(b));
    gemm(context, 1.0f, f32(a), packed, 0.0f, c.view(), split);
    context.synchronize();
    Matrix<double> in(128, 128, Memory::mapped), out(128, 128, Memory::mapped);
    for (std::int64_t i = 0; i < 128 * 128; ++i) in.view().data[i] = 1;
    gemm(context, 1.0, std::as_const(in).view(), std::as_const(in).view(), 0.0, out.view(),
         {GemmKernel::tensor});
    context.synchronize();
}
