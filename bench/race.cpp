// SPDX-License-Identifier: MIT
// Two contestants timed by turns, and the quantiles of what came out.
#include <algorithm>
#include <cmath>
#include <thread>

#include "bench.hpp"

namespace tinyblas::bench {
namespace {

/// A batch of calls that lasts about `seconds`, run once.
std::unique_ptr<Batch> sized_batch(Context& context, const Work& work, double seconds) {
    constexpr double most_calls = 4000;
    const auto one = make_batch(context, 1, work);
    one->seconds();
    double call = one->seconds();
    // One call alone carries the cost of starting: look again at a tenth of the batch.
    const auto calls = [&](double time) {
        return static_cast<int>(std::clamp(std::ceil(time / call), 1.0, most_calls));
    };
    if (calls(seconds) > 10) call = make_batch(context, calls(seconds / 10), work)->seconds();
    auto batch = make_batch(context, calls(seconds), work);
    batch->seconds();
    return batch;
}

/// The value below which the fraction `q` of `values` lies, by linear interpolation.
double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double at = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace

Race::Race(Context& context, const Work& ours, const Work& reference, double batch_seconds,
           std::chrono::milliseconds rest)
    : rest_(rest),
      ours_(sized_batch(context, ours, batch_seconds)),
      reference_(reference ? sized_batch(context, reference, batch_seconds) : nullptr) {}

double Race::round() {
    double ours = ours_->seconds();
    double reference = 0;
    if (reference_) {
        std::this_thread::sleep_for(rest_);
        reference = reference_->seconds();
        reference = (reference + reference_->seconds()) / 2;
        std::this_thread::sleep_for(rest_);
    }
    ours = (ours + ours_->seconds()) / 2;
    ours_seconds_.push_back(ours);
    if (reference_) {
        reference_seconds_.push_back(reference);
        ratios_.push_back(reference / ours);
    }
    return ours;
}

Race::Result Race::result() const {
    return {quantile(ours_seconds_, 0.5), quantile(reference_seconds_, 0.5), quantile(ratios_, 0.5),
            quantile(ratios_, 0.1), quantile(ratios_, 0.9)};
}

}  // namespace tinyblas::bench
