// SPDX-License-Identifier: MIT
// The machine as device emulation shows it: the host's clock, no limits, nothing to compare with.
#include "../machine.hpp"

#include <chrono>
#include <thread>

namespace tinyblas::bench {
namespace {

class HostBatch : public Batch {
  public:
    HostBatch(Context& context, int calls, Work work)
        : context_(context), calls_(calls), work_(std::move(work)) {}

    double seconds() override {
        const auto start = std::chrono::steady_clock::now();
        for (int call = 0; call < calls_; ++call) work_();
        context_.synchronize();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
               calls_;
    }

  private:
    Context& context_;
    int calls_;
    Work work_;
};

}  // namespace

bool emulated() { return true; }

Facts machine_facts() {
    return {{"gpu", "none: device emulation on the CPU"},
            {"figures", "NOT GPU FIGURES: the kernels ran on the CPU, under device emulation"},
            {"host_threads", std::to_string(std::thread::hardware_concurrency())}};
}

std::unique_ptr<Batch> make_batch(Context& context, int calls, const Work& work, int) {
    return std::make_unique<HostBatch>(context, calls, work);
}

std::unique_ptr<Reference> make_reference(Context&) { return nullptr; }

template <class T>
Work thrust_polyval(Context&, VectorView<const T>, VectorView<const T>, VectorView<T>) {
    return {};
}
std::string thrust_name() { return "none"; }

Work plain_copy(Context&, void*, const void*, std::int64_t) { return {}; }
Work plain_read(Context&, const void*, const void*, std::int64_t) { return {}; }

template <class T>
Peak fma_peak(Context&) {
    return {0, 0};
}

template Work thrust_polyval(Context&, VectorView<const float>, VectorView<const float>,
                             VectorView<float>);
template Work thrust_polyval(Context&, VectorView<const double>, VectorView<const double>,
                             VectorView<double>);
template Peak fma_peak<float>(Context&);
template Peak fma_peak<double>(Context&);

}  // namespace tinyblas::bench
