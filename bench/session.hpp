// SPDX-License-Identifier: MIT
// What all cases of one run share: the device, the reference, the measured limits; and their
// registration with Google Benchmark.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "machine.hpp"

namespace tinyblas::bench {

/// So many copies of `bytes` bytes that no cache holds the first one when the last was read.
constexpr int copies_beyond_caches(std::int64_t bytes) {
    constexpr std::int64_t beyond = 240 << 20;
    return static_cast<int>((beyond + bytes - 1) / bytes);
}

/// `work` for copy 0, 1, 2, ... by turns.
template <class WorkOfCopy>
Work rotating(int copies, WorkOfCopy work) {
    return [=, at = 0]() mutable {
        work(at);
        at = (at + 1) % copies;
    };
}

/// How a case is timed.
struct Regime {
    double batch_seconds = 0.02;  // a contestant's turn
    int rounds = 7;
    std::chrono::milliseconds idle{300};  // before each case, which else pays for the power that
                                          // the case before it drew
    double spin_seconds = 0;              // sustained: so long under load first, and no idling

    std::string text() const;
};

/// What the chip allows, measured; zeros under emulation.
struct Limits {
    Peak fma_float = {}, fma_double = {};
    double copy = 0, read = 0;  // bytes a second, of gigabytes

    template <class T>
    double flops() const {
        return sizeof(T) == sizeof(float) ? fma_float.flops : fma_double.flops;
    }
    Facts facts() const;
};

class Session {
  public:
    explicit Session(bool quick);

    /// These warm the chip up, too.
    void measure_arithmetic();
    void measure_memory();

    /// Of microseconds: more cases in the same time.
    void time_short_calls();
    /// How cases are timed, and beside what.
    Facts facts() const;

    /// Registers a case of `rounds` iterations. `body` measures it and returns whether the result
    /// was right; if it was not, or on an exception, the case counts as failed. A second case of
    /// that name is left out.
    void add(const std::string& name, int rounds, std::function<bool(benchmark::State&)> body);

    /// Lets the device come to rest before a case.
    void rest();
    /// The device has just worked without pause.
    void loaded() { loaded_ = std::chrono::steady_clock::now(); }
    /// How long it must work until it is as `regime` wants it: less after a short pause.
    double seconds_to_steady(const Regime& regime) const;

    Context context;
    std::unique_ptr<Reference> reference = make_reference(context);
    Limits limits;
    Regime regime;
    const bool quick;
    int failed = 0;

  private:
    bool run(const std::string& name, const std::function<bool(benchmark::State&)>& body,
             benchmark::State& state);

    std::chrono::steady_clock::time_point loaded_ = {};
    bool progress_;  // on the error stream
    std::set<std::string> names_;
    int cases_ = 0, started_ = 0;
};

}  // namespace tinyblas::bench
