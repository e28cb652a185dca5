// SPDX-License-Identifier: MIT
// How is data in host memory summed up without copying it to the device first? In mapped memory,
// which kernels read across the bus: worth it for data that is read once.
// Prints:
//   sum of |x|: 250000
//   x . x: 2.5e+07
#include <cstdio>
#include <tinyblas/tinyblas.hpp>

int main() {
    constexpr int n = 2500;
    tinyblas::Context context;
    tinyblas::Matrix<float> memory(1, n, tinyblas::Memory::mapped);  // pinned host memory
    for (int i = 0; i < n; ++i) memory(0, i) = i % 2 == 0 ? 100 : -100;

    // The numbers come back by the same way: a kernel writes them into pinned memory.
    const tinyblas::VectorView<const float> x = memory.view().row(0);
    const float absolute = asum(context, x), square = dot(context, x, x);
    std::printf("sum of |x|: %g\nx . x: %g\n", absolute, square);
}
