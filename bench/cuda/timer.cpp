// SPDX-License-Identifier: MIT
// Times by the GPU's clock: CUDA graphs between two events.
#include <algorithm>

#include "../machine.hpp"
#include "check.hpp"

namespace tinyblas::bench {
namespace {

class GraphBatch : public Batch {
  public:
    GraphBatch(Context& context, int calls, const Work& work)
        : stream_(context.stream()),
          nodes_(std::min(calls, 100)),
          replays_(1 + (calls - 1) / nodes_) {
        capture(work);
        check(cudaEventCreate(&start_), "cudaEventCreate");
        check(cudaEventCreate(&end_), "cudaEventCreate");
    }
    GraphBatch(const GraphBatch&) = delete;
    GraphBatch& operator=(const GraphBatch&) = delete;
    ~GraphBatch() override {
        cudaEventDestroy(start_);
        cudaEventDestroy(end_);
        cudaGraphExecDestroy(executable_);
    }

    double seconds() override {
        check(cudaEventRecord(start_, stream_), "cudaEventRecord");
        for (int replay = 0; replay < replays_; ++replay)
            check(cudaGraphLaunch(executable_, stream_), "cudaGraphLaunch");
        check(cudaEventRecord(end_, stream_), "cudaEventRecord");
        check(cudaEventSynchronize(end_), "cudaEventSynchronize");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start_, end_), "cudaEventElapsedTime");
        return milliseconds * 1e-3 / nodes_ / replays_;
    }

  private:
    void capture(const Work& work) {
        work();  // a kernel is loaded at its first launch: not during the capture
        cudaGraph_t graph = nullptr;
        check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
              "cudaStreamBeginCapture");
        try {
            for (int node = 0; node < nodes_; ++node) work();
        } catch (...) {  // the stream must leave the capture
            cudaStreamEndCapture(stream_, &graph);
            if (graph) cudaGraphDestroy(graph);
            throw;
        }
        check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
        const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
        cudaGraphDestroy(graph);
        check(status, "cudaGraphInstantiate");
        check(cudaGraphUpload(executable_, stream_), "cudaGraphUpload");
    }

    cudaStream_t stream_;
    int nodes_, replays_;
    cudaGraphExec_t executable_ = nullptr;
    cudaEvent_t start_ = nullptr, end_ = nullptr;
};

}  // namespace

std::unique_ptr<Batch> make_batch(Context& context, int calls, const Work& work) {
    return std::make_unique<GraphBatch>(context, calls, work);
}

}  // namespace tinyblas::bench
