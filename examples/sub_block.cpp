// SPDX-License-Identifier: MIT
// How is a part of a matrix used as an operand? As a view of it: a block, a row, every second row.
// Nothing is copied, and nothing outside the view of C changes.
// Prints:
//   -1 -1 -1 -1
//   -1 8 -1 -1
//   -1 28 -1 -1
//   -1 -1 -1 -1
//   the sum of every second element of column 3: 14
#include <cstdio>
#include <tinyblas/tinyblas.hpp>

using tinyblas::MatrixView;

int main() {
    tinyblas::Context context;
    tinyblas::Matrix<float> a(4, 4, tinyblas::Memory::mapped), c(4, 4, tinyblas::Memory::mapped);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            a(i, j) = static_cast<float>(4 * i + j);  // 0 1 2 3, 4 5 6 7, ...
            c(i, j) = -1;
        }

    // Two elements of c, below each other, get the block of a at (0, 1) times the end of a's first
    // row, stood up.
    const MatrixView<const float> all = a;
    const auto block = all.block(0, 1, 2, 2);            // 1 2, 5 6
    const auto end = transposed(all.block(0, 2, 1, 2));  // 2, 3
    gemm(context, 1.0f, block, end, 0.0f, c.view().block(1, 1, 2, 1));
    context.synchronize();
    for (int i = 0; i < 4; ++i) std::printf("%g %g %g %g\n", c(i, 0), c(i, 1), c(i, 2), c(i, 3));

    // Rows 0 and 2 are a view with twice the stride.
    const MatrixView<const float> every_second = {all.data, 2, 4, 2 * all.row_stride, 1};
    std::printf("the sum of every second element of column 3: %g\n",
                sum(context, every_second.column(3)));
}
