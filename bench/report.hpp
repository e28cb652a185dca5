// SPDX-License-Identifier: MIT
// The table for people. Machines use --benchmark_format=json, whose counters hold the same numbers.
#pragma once

#include <benchmark/benchmark.h>

#include <string>

namespace tinyblas::bench {

class Table : public benchmark::BenchmarkReporter {
  public:
    /// `lines` go above the table: what was measured, on what.
    explicit Table(std::string lines) : lines_(std::move(lines)) {}

    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& runs) override;
    void Finalize() override;

  private:
    void print(const Run& run);

    std::string lines_;
    std::string block_;  // type/group of the row above: a change gets a line of its own
};

}  // namespace tinyblas::bench
