// SPDX-License-Identifier: MIT
// How are operations captured in a CUDA graph? Between cudaStreamBeginCapture and EndCapture of the
// context's stream. The graph owns what it needs and outlives the context. Needs a GPU.
// Prints:
//   replayed: 14 and 28
#include <cuda_runtime_api.h>

#include <cstdio>
#include <tinyblas/tinyblas.hpp>

int main() {
    tinyblas::Matrix<float> x(1, 4, tinyblas::Memory::mapped), y(1, 4, tinyblas::Memory::mapped);
    tinyblas::Matrix<float> result(1, 1, tinyblas::Memory::mapped);
    for (int i = 0; i < 4; ++i) x(0, i) = static_cast<float>(i);

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    {
        tinyblas::Context context;
        if (cudaStreamBeginCapture(context.stream(), cudaStreamCaptureModeGlobal)) return 1;
        const float squares[] = {0, 0, 1};  // read at once: gone before the graph runs
        polyval(context, squares, x.view().row(0), y.view().row(0));
        asum(context, y.view().row(0), result.view().data);  // the form that waits for nothing
        if (cudaStreamEndCapture(context.stream(), &graph)) return 1;
        if (cudaGraphInstantiate(&replay, graph, 0)) return 1;
    }
    float sums[2];
    for (float& sum : sums) {
        if (cudaGraphLaunch(replay, nullptr) || cudaDeviceSynchronize()) return 1;
        sum = result(0, 0);
        x(0, 0) = x(0, 1) = x(0, 2) = x(0, 3) = 2.645751311f;  // its square is 7
    }
    std::printf("replayed: %.5g and %.5g\n", sums[0], sums[1]);
    return cudaGraphExecDestroy(replay) || cudaGraphDestroy(graph);
}
