// SPDX-License-Identifier: MIT
// How are two matrices multiplied in C++? C = A transposed(A) for a matrix of 2 x 3, from host
// memory and back.
// Prints:
//   14 32
//   32 77
#include <cstdio>
#include <tinyblas/tinyblas.hpp>

int main() {
    const float host[] = {1, 2, 3, 4, 5, 6};
    tinyblas::Context context;
    tinyblas::Matrix<float> a(2, 3), c(2, 2, tinyblas::Memory::mapped);
    copy(context, tinyblas::MatrixView<const float>::row_major(host, 2, 3), a);
    gemm(context, 1.0f, a, transposed(a.view()), 0.0f, c);
    context.synchronize();
    std::printf("%g %g\n%g %g\n", c(0, 0), c(0, 1), c(1, 0), c(1, 1));  // 14 32, 32 77
}
