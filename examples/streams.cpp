// SPDX-License-Identifier: MIT
// How do independent operations run side by side? With a context each, which owns a stream. A
// context may also be lent a stream: set_stream.
// Prints:
//   6 6 24
//   two threads: 6 6
#include <cstdio>
#include <thread>
#include <tinyblas/tinyblas.hpp>

using tinyblas::Context;

/// A 2 x 2 matrix of ones times `value`, where host and device reach it.
tinyblas::Matrix<float> filled(float value) {
    tinyblas::Matrix<float> matrix(2, 2, tinyblas::Memory::mapped);
    for (int i = 0; i < 4; ++i) matrix(i / 2, i % 2) = value;
    return matrix;
}

int main() {
    const auto ones = filled(1), threes = filled(3);
    auto c = filled(0), d = filled(0), e = filled(0);

    Context first, second;  // each owns a stream
    gemm(first, 1.0f, ones, threes, 0.0f, c);
    gemm(second, 1.0f, threes, ones, 0.0f, d);  // does not wait for the first
    first.synchronize();
    second.set_stream(first.stream());  // from here on in the order of the first one's work
    gemm(second, 2.0f, ones, c, 0.0f, e);
    second.synchronize();
    std::printf("%g %g %g\n", c(0, 0), d(0, 0), e(0, 0));

    float of_threads[2];
    const auto work = [&](int t) {
        Context context;  // one per thread
        of_threads[t] = asum(context, (t == 0 ? c : d).view().row(0)) / 2;
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    std::printf("two threads: %g %g\n", of_threads[0], of_threads[1]);
}
