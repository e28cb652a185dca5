// SPDX-License-Identifier: MIT
// A CUDA graph of what a function enqueues, for tests on a GPU.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tinyblas/context.hpp"

namespace tinyblas::test {

class Graph {
  public:
    template <class Enqueue>
    Graph(Context& context, Enqueue enqueue,
          cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
        cudaGraph_t graph = nullptr;
        EXPECT_EQ(cudaStreamBeginCapture(context.stream(), mode), cudaSuccess);
        enqueue();
        EXPECT_EQ(cudaStreamEndCapture(context.stream(), &graph), cudaSuccess);
        EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes_), cudaSuccess);
        EXPECT_EQ(cudaGraphInstantiateWithFlags(&replay_, graph, 0), cudaSuccess);
        EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() { EXPECT_EQ(cudaGraphExecDestroy(replay_), cudaSuccess); }

    std::size_t nodes() const { return nodes_; }
    void replay(CUstream_st* stream) { EXPECT_EQ(cudaGraphLaunch(replay_, stream), cudaSuccess); }

  private:
    std::size_t nodes_ = 0;
    cudaGraphExec_t replay_ = nullptr;
};

inline std::size_t free_memory() {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return free;
}

}  // namespace tinyblas::test
