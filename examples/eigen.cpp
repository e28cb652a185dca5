// SPDX-License-Identifier: MIT
// How do Eigen's matrices and ours meet? By views: no data moves until a copy says so. Needs Eigen.
// Prints:
//   58 64
//   139 154
//   the norm of the difference from Eigen's product: 0
#include <cstdio>
#include <tinyblas/eigen.hpp>
#include <tinyblas/tinyblas.hpp>

int main() {
    Eigen::MatrixXd a(2, 3), b(3, 2);  // in host memory, column-major
    a << 1, 2, 3, 4, 5, 6;
    b << 7, 8, 9, 10, 11, 12;

    tinyblas::Context context;
    tinyblas::Matrix<double> on_device_a(2, 3), on_device_b(3, 2);
    tinyblas::Matrix<double> c(2, 2, tinyblas::Memory::mapped);  // where both sides reach it
    copy(context, tinyblas::as_view(std::as_const(a)), on_device_a);
    copy(context, tinyblas::as_view(std::as_const(b)), on_device_b);
    gemm(context, 1.0, on_device_a, on_device_b, 0.0, c);
    context.synchronize();

    const auto product = tinyblas::as_eigen(c.view());  // an Eigen::Map of c's memory
    std::printf("%g %g\n%g %g\n", product(0, 0), product(0, 1), product(1, 0), product(1, 1));
    std::printf("the norm of the difference from Eigen's product: %g\n", (product - a * b).norm());
}
