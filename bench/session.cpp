// SPDX-License-Identifier: MIT
// Registration, progress and failures of cases; the limits of the chip, measured.
#include "session.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <thread>

#include "race.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {
namespace {

/// Whether two streams end in one place, so that the rows of the table already show how far the run
/// is.
bool same_place(int one, int other) {
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

std::string rounded(double value, const char* unit, int decimals = 2) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f %s", decimals, value, unit);
    return text;
}

}  // namespace

std::string Regime::text() const {
    if (spin_seconds > 0)
        return "sustained: " + rounded(spin_seconds, "s", 0) + " of load first, " +
               std::to_string(std::lround(1e3 * batch_seconds)) + " ms batches, no idling";
    return "burst: " + std::to_string(std::lround(1e3 * batch_seconds)) + " ms batches, " +
           std::to_string(idle.count()) + " ms idle before each case";
}

Facts Limits::facts() const {
    Facts facts;
    if (fma_float.flops > 0) {
        facts.emplace_back("ffma_peak", rounded(fma_float.flops * 1e-12, "TFLOP/s"));
        facts.emplace_back("dfma_peak", rounded(fma_double.flops * 1e-12, "TFLOP/s"));
        facts.emplace_back("sm_clock_in_ffma", rounded(fma_float.hertz * 1e-9, "GHz"));
        facts.emplace_back("sm_clock_in_dfma", rounded(fma_double.hertz * 1e-9, "GHz"));
    }
    if (copy > 0) {
        facts.emplace_back("copy_speed", rounded(copy * 1e-9, "GB/s", 0));
        facts.emplace_back("read_speed", rounded(read * 1e-9, "GB/s", 0));
    }
    return facts;
}

Session::Session(bool quick) : quick(quick), progress_(!same_place(STDOUT_FILENO, STDERR_FILENO)) {
    if (emulated()) regime = {0.005, 3, std::chrono::milliseconds(0)};
    if (quick) regime = {0.01, 5, std::min(regime.idle, std::chrono::milliseconds(100))};
}

void Session::measure_arithmetic() {
    if (emulated()) return;
    std::fprintf(stderr, "measuring the arithmetic peak\n");
    limits.fma_float = fma_peak<float>(context);
    limits.fma_double = fma_peak<double>(context);
}

void Session::measure_memory() {
    if (emulated()) return;
    std::fprintf(stderr, "measuring the copy and the read speed\n");
    constexpr std::int64_t bytes = std::int64_t(4) << 30;
    Matrix<char> from(1, bytes), to(1, bytes);
    Race race(
        sized_batch(context, plain_copy(context, to.view().data, from.view().data, bytes), 0.05),
        sized_batch(context, plain_read(context, from.view().data, nullptr, bytes), 0.05));
    for (int round = 0; round < 3; ++round) race.round();
    limits.copy = 2 * static_cast<double>(bytes) / race.result().ours;
    limits.read = static_cast<double>(bytes) / race.result().reference;
}

void Session::time_short_calls() {
    if (emulated()) return;
    regime.batch_seconds = 0.01;
    regime.idle = std::chrono::milliseconds(100);
}

Facts Session::facts() const {
    Facts facts = {{"rounds", std::to_string(regime.rounds)}, {"regime", regime.text()}};
    if (reference) facts.emplace_back("reference", reference->name());
    return facts;
}

void Session::rest() {
    context.synchronize();
    std::this_thread::sleep_for(regime.idle);
}

double Session::seconds_to_steady(const Regime& regime) const {
    const std::chrono::duration<double> pause = std::chrono::steady_clock::now() - loaded_;
    return std::min(regime.spin_seconds, 2 * pause.count());
}

bool Session::run(const std::string& name, const std::function<bool(benchmark::State&)>& body,
                  benchmark::State& state) {
    try {
        return body(state);
    } catch (const Error& error) {
        if (error.status() != Status::out_of_memory) throw;
        std::fprintf(stderr, "LEFT OUT: %s: %s\n", name.c_str(), error.what());
        state.SkipWithError("left out: not enough memory");
        return true;
    }
}

void Session::add(const std::string& name, int rounds,
                  std::function<bool(benchmark::State&)> body) {
    if (!names_.insert(name).second) return;
    ++cases_;
    benchmark::RegisterBenchmark(
        name.c_str(),
        [this, name, body = std::move(body)](benchmark::State& state) {
            ++started_;
            if (progress_) std::fprintf(stderr, "[%d/%d] %s\n", started_, cases_, name.c_str());
            try {
                if (run(name, body, state)) return;
                ++failed;
                std::fprintf(stderr, "WRONG: %s: an error of %g\n", name.c_str(),
                             state.counters["error"].value);
            } catch (const std::exception& error) {
                ++failed;
                std::fprintf(stderr, "FAILED: %s: %s\n", name.c_str(), error.what());
                state.SkipWithError("see the error stream");
            }
        })
        ->UseManualTime()
        ->Iterations(rounds)
        ->Unit(benchmark::kMicrosecond);
}

}  // namespace tinyblas::bench
