// SPDX-License-Identifier: MIT
// Contestants timed by turns, and the quantiles of what came out.
#include "race.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace tinyblas::bench {
namespace {

/// The value below which the fraction `q` of `values` lies, by linear interpolation.
double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double at = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

/// The rounds' quotients.
std::vector<double> over(const std::vector<double>& above, const std::vector<double>& below) {
    std::vector<double> quotients;
    for (std::size_t i = 0; i < above.size(); ++i) quotients.push_back(above[i] / below[i]);
    return quotients;
}

class HostBatch : public Batch {
  public:
    HostBatch(Work work, int calls) : work_(std::move(work)), calls_(calls) {
        constexpr int warm_up = 50;
        for (int call = 0; call < warm_up; ++call) work_();
    }

    double seconds() override {
        std::vector<double> times;
        for (int call = 0; call < calls_; ++call) {
            const auto start = std::chrono::steady_clock::now();
            work_();
            times.push_back(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        return quantile(times, 0.5);
    }

  private:
    Work work_;
    int calls_;
};

}  // namespace

std::unique_ptr<Batch> sized_batch(Context& context, const Work& work, double seconds,
                                   int rotation) {
    if (!work) return nullptr;
    const double most_calls = std::max(4000.0, 2e5 * seconds);
    const auto one = make_batch(context, 1, work);
    one->seconds();
    double call = one->seconds();
    // One call alone carries the cost of starting: look again at a tenth of the batch.
    const auto calls = [&](double time) {
        return static_cast<int>(std::clamp(std::ceil(time / call), 1.0, most_calls));
    };
    if (calls(seconds) > 10)
        call = make_batch(context, calls(seconds / 10), work, rotation)->seconds();
    auto batch = make_batch(context, calls(seconds), work, rotation);
    batch->seconds();
    return batch;
}

std::unique_ptr<Batch> host_batch(const Work& work, int calls) {
    return work ? std::make_unique<HostBatch>(work, calls) : nullptr;
}

Race::Race(std::unique_ptr<Batch> ours, std::unique_ptr<Batch> reference,
           std::unique_ptr<Batch> limit, std::chrono::milliseconds rest)
    : batches_{std::move(ours), std::move(reference), std::move(limit)}, rest_(rest) {}

double Race::round() {
    std::array<double, contestants> sums = {};
    int previous = 0;  // a round begins and ends with ours
    for (const int one : {0, 1, 2, 2, 1, 0}) {
        if (!batches_[one]) continue;
        if (one != previous) std::this_thread::sleep_for(rest_);
        previous = one;
        sums[one] += batches_[one]->seconds();
    }
    for (int one = 0; one < contestants; ++one)
        if (batches_[one]) seconds_[one].push_back(sums[one] / 2);
    return sums[0] / 2;
}

Race::Result Race::result() const {
    const auto& [ours, reference, limit] = seconds_;
    const std::vector<double> ratios = over(reference, ours);
    return {quantile(ours, 0.5),
            quantile(reference, 0.5),
            quantile(limit, 0.5),
            quantile(ratios, 0.5),
            quantile(ratios, 0.1),
            quantile(ratios, 0.9),
            quantile(over(limit, ours), 0.5)};
}

}  // namespace tinyblas::bench
