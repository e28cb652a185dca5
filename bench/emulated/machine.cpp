// SPDX-License-Identifier: MIT
// The machine as device emulation shows it: the host's clock, host memory, nothing to compare with.
#include "../machine.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>

#include "../samples.hpp"

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

std::unique_ptr<Batch> make_batch(Context& context, int calls, const Work& work) {
    return std::make_unique<HostBatch>(context, calls, work);
}

std::unique_ptr<Reference> make_reference(Context&) { return nullptr; }

template <class T>
Peak fma_peak(Context&) {
    return {0, 0};
}

template <class T>
void fill_normal(Context& context, T* data, std::int64_t count, std::uint64_t seed) {
    context.synchronize();
    for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::uint64_t>(2 * i);
        data[i] = static_cast<T>(std::sqrt(-2 * std::log(random_unit(seed, at))) *
                                 std::cos(2 * std::numbers::pi * random_unit(seed, at + 1)));
    }
}

template <class T>
void fill_nan(Context& context, T* data, std::int64_t count) {
    context.synchronize();
    for (std::int64_t i = 0; i < count; ++i) data[i] = std::numeric_limits<T>::quiet_NaN();
}

template <class T>
double worst_error(Context& context, MatrixView<const T> a, MatrixView<const T> b,
                   MatrixView<const T> c) {
    context.synchronize();
    double worst = 0;
    for (int s = 0; s < samples; ++s) {
        const auto [i, j] = sample(s, c.rows, c.columns);
        long double sum = 0, magnitude = 0;
        for (std::int64_t p = 0; p < a.columns; ++p) {
            const long double product = static_cast<long double>(a(i, p)) * b(p, j);
            sum += product;
            magnitude += std::abs(product);
        }
        const auto error = static_cast<double>(std::abs(c(i, j) - sum) / magnitude);
        if (!(error <= worst))
            worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
    return worst / (std::numeric_limits<T>::epsilon() / 2);
}

template Peak fma_peak<float>(Context&);
template Peak fma_peak<double>(Context&);
template void fill_normal(Context&, float*, std::int64_t, std::uint64_t);
template void fill_normal(Context&, double*, std::int64_t, std::uint64_t);
template void fill_nan(Context&, float*, std::int64_t);
template void fill_nan(Context&, double*, std::int64_t);
template double worst_error(Context&, MatrixView<const float>, MatrixView<const float>,
                            MatrixView<const float>);
template double worst_error(Context&, MatrixView<const double>, MatrixView<const double>,
                            MatrixView<const double>);

}  // namespace tinyblas::bench
