// SPDX-License-Identifier: MIT
// Ours, the reference and the limit by turns, turned into counters.
#include "contest.hpp"

#include <cstdio>

#include "race.hpp"
#include "tinyblas/error.hpp"

namespace tinyblas::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int host_calls = 40;             // a turn
constexpr double sustained_seconds = 0.5;  // to reach the steady state, and then to be timed

/// Whether the reference can do this case at all. If not, says so: that is no failure of ours.
bool reference_works(Session& session, const Contest& contest) {
    if (!contest.reference) return false;
    try {
        contest.reference();
        session.context.synchronize();
        return true;
    } catch (const Error& error) {
        std::fprintf(stderr, "no reference: %s\n", error.what());
        return false;
    }
}

Race race_of(Session& session, Contest contest) {
    if (!reference_works(session, contest)) contest.reference = {};
    if (contest.host)
        return Race(host_batch(contest.ours, host_calls),
                    host_batch(contest.reference, host_calls));
    const auto batch = [&](const Work& work) {
        return sized_batch(session.context, work, session.regime.batch_seconds, contest.rotation);
    };
    if (contest.sustained) return Race(batch(contest.ours));
    constexpr std::chrono::milliseconds rest{200};
    return Race(batch(contest.ours), batch(contest.reference), batch(contest.limit),
                contest.rested && !emulated() ? rest : rest.zero());
}

/// The limit's seconds a call while the chip is still hot.
double hot_limit(Session& session, const Contest& contest) {
    const auto batch = sized_batch(session.context, contest.limit, session.regime.batch_seconds);
    return batch ? batch->seconds() : 0;
}

}  // namespace

int rounds_of(const Session& session, bool sustained) {
    if (!sustained) return session.regime.rounds;
    return static_cast<int>(std::ceil(sustained_seconds / session.regime.batch_seconds / 2));
}

void run_contest(Session& session, benchmark::State& state, const Contest& contest) {
    if (!contest.sustained) session.rest();
    Race race = race_of(session, contest);
    const auto start = Clock::now();
    while (contest.sustained &&
           std::chrono::duration<double>(Clock::now() - start).count() < sustained_seconds)
        race.round();
    race.forget();
    for (auto _ : state) state.SetIterationTime(race.round());

    Race::Result result = race.result();
    if (contest.sustained) {
        result.limit = hot_limit(session, contest);
        result.share = result.limit / result.ours;
    }
    auto& counters = state.counters;
    const auto speed = [](double amount, double seconds) {
        return seconds > 0 ? amount / seconds : 0;
    };
    counters["microseconds"] = 1e6 * result.ours;
    counters["gbs"] = 1e-9 * speed(contest.bytes, result.ours);
    counters["reference_microseconds"] = 1e6 * result.reference;
    counters["reference_gbs"] = 1e-9 * speed(contest.bytes, result.reference);
    counters["limit_gbs"] = 1e-9 * speed(contest.bytes, result.limit);
    counters["limit_share"] = result.share;
    counters["ratio"] = result.ratio;
    counters["ratio_p10"] = result.ratio_p10;
    counters["ratio_p90"] = result.ratio_p90;
    if (contest.flop == 0) return;
    counters["tflops"] = 1e-12 * speed(contest.flop, result.ours);
    counters["peak_fraction"] =
        contest.peak > 0 ? speed(contest.flop, result.ours) / contest.peak : 0;
}

Column error_column() {
    return {"error", 6, [](const Row& row) {
                const double error = row.number("error");
                char text[32];
                std::snprintf(text, sizeof text, "%.2f", error);
                return error == 0 ? "exact" : std::string(text);
            }};
}

}  // namespace tinyblas::bench
