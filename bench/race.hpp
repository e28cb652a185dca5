// SPDX-License-Identifier: MIT
// Contestants timed by turns.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "machine.hpp"

namespace tinyblas::bench {

/// A batch of calls that lasts about `seconds`, warmed up; null for an empty work.
std::unique_ptr<Batch> sized_batch(Context& context, const Work& work, double seconds,
                                   int rotation = 1);

/// `calls` calls that each wait for their own end, by the host's clock: seconds() is the median
/// call. Warmed up; null for an empty work.
std::unique_ptr<Batch> host_batch(const Work& work, int calls);

/// Ours, the reference and a limit by turns: a round is ours, reference, limit, limit, reference,
/// ours, so that a drift of the clock meets all. Any but ours may be null.
class Race {
  public:
    struct Result {
        double ours = 0, reference = 0, limit = 0;  // seconds a call, medians over the rounds
        double ratio = 0;                           // reference / ours of a round, median
        double ratio_p10 = 0, ratio_p90 = 0;
        double share = 0;  // limit / ours of a round, median: 1 is all that the limit allows
    };

    /// The device idles for `rest` whenever another contestant's turn comes.
    explicit Race(std::unique_ptr<Batch> ours, std::unique_ptr<Batch> reference = nullptr,
                  std::unique_ptr<Batch> limit = nullptr, std::chrono::milliseconds rest = {});

    /// Seconds a call of ours.
    double round();
    /// Drops the rounds so far.
    void forget() { seconds_ = {}; }
    Result result() const;

  private:
    static constexpr int contestants = 3;

    std::array<std::unique_ptr<Batch>, contestants> batches_;
    std::chrono::milliseconds rest_;
    std::array<std::vector<double>, contestants> seconds_;  // a call, of each round
};

}  // namespace tinyblas::bench
