// SPDX-License-Identifier: MIT
// Ends with 0 if a product comes out right and the library's exception can be caught by its type.
#include <cstdio>
#include <cstring>
#include <tinyblas/tinyblas.hpp>

int main() {
    tinyblas::Context context;
    tinyblas::Matrix<double> a(2, 3, tinyblas::Memory::mapped);
    tinyblas::Matrix<double> c(2, 2, tinyblas::Memory::mapped, tinyblas::Layout::column_major);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j) a(i, j) = 3 * i + j + 1;
    gemm(context, 1.0, a, transposed(a.view()), 0.0, c);
    context.synchronize();
    std::printf("%g %g %g %g, then: ", c(0, 0), c(0, 1), c(1, 0), c(1, 1));
    const bool right = c(0, 0) == 14 && c(0, 1) == 32 && c(1, 0) == 32 && c(1, 1) == 77;
    try {
        gemm(context, 1.0, a, a, 0.0, c);  // 2 x 3 times 2 x 3
    } catch (const tinyblas::Error& error) {
        std::printf("%s\n", error.what());
        return right && error.status() == tinyblas::Status::invalid_argument ? 0 : 1;
    }
    return 1;
}
