// SPDX-License-Identifier: MIT
// Times by the GPU's clock, between two events: short calls as CUDA graphs, long ones as they are.
#include <algorithm>
#include <utility>

#include "../machine.hpp"
#include "check.hpp"

namespace tinyblas::bench {
namespace {

/// Two events on a stream.
class Span {
  public:
    explicit Span(cudaStream_t stream) : stream_(stream) {
        check(cudaEventCreate(&start_), "cudaEventCreate");
        check(cudaEventCreate(&end_), "cudaEventCreate");
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    ~Span() {
        cudaEventDestroy(start_);
        cudaEventDestroy(end_);
    }

    /// Seconds between what enqueue() puts on the stream first and last.
    template <class Enqueue>
    double seconds(Enqueue enqueue) {
        check(cudaEventRecord(start_, stream_), "cudaEventRecord");
        enqueue();
        check(cudaEventRecord(end_, stream_), "cudaEventRecord");
        check(cudaEventSynchronize(end_), "cudaEventSynchronize");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start_, end_), "cudaEventElapsedTime");
        return milliseconds * 1e-3;
    }

  private:
    cudaStream_t stream_;
    cudaEvent_t start_ = nullptr, end_ = nullptr;
};

/// Calls one behind the other, so long that the host is always ahead. Copies are never put into a
/// graph this way: a large one in a graph runs at two thirds of its speed.
class StreamBatch : public Batch {
  public:
    StreamBatch(Context& context, int calls, Work work)
        : calls_(calls), work_(std::move(work)), span_(context.stream()) {
        work_();
    }
    double seconds() override {
        return span_.seconds([&] {
            for (int call = 0; call < calls_; ++call) work_();
        }) / calls_;
    }

  private:
    int calls_;
    Work work_;
    Span span_;
};

class GraphBatch : public Batch {
  public:
    GraphBatch(Context& context, int calls, const Work& work, int rotation)
        : stream_(context.stream()),
          span_(context.stream()),
          nodes_(rotation * (1 + (std::min(calls, 100) - 1) / rotation)),
          replays_(1 + (calls - 1) / nodes_) {
        capture(work);
    }
    GraphBatch(const GraphBatch&) = delete;
    GraphBatch& operator=(const GraphBatch&) = delete;
    ~GraphBatch() override { cudaGraphExecDestroy(executable_); }

    double seconds() override {
        return span_.seconds([&] {
            for (int replay = 0; replay < replays_; ++replay)
                check(cudaGraphLaunch(executable_, stream_), "cudaGraphLaunch");
        }) / nodes_ /
               replays_;
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
    Span span_;
    int nodes_, replays_;
    cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

std::unique_ptr<Batch> make_batch(Context& context, int calls, const Work& work, int rotation) {
    constexpr int few = 200;  // batches last 10 ms and more, so these calls take 50 us and more
    if (calls < few && rotation == 1) return std::make_unique<StreamBatch>(context, calls, work);
    return std::make_unique<GraphBatch>(context, calls, work, rotation);
}

}  // namespace tinyblas::bench
