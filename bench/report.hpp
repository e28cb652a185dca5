// SPDX-License-Identifier: MIT
// The table for people. Machines use --benchmark_format=json, whose counters hold the same numbers.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

namespace tinyblas::bench {

/// One case. Its name is type/group/..., its label rung/detail.
class Row {
  public:
    explicit Row(const benchmark::BenchmarkReporter::Run& run) : run_(run) {}

    /// A counter; 0 if there is none of that name.
    double number(const char* counter) const;
    /// Whether the case came to its end.
    bool measured() const { return number("microseconds") != 0 || number("entries") != 0; }
    const std::string& name() const { return run_.run_name.function_name; }
    std::string type() const { return name().substr(0, name().find('/')); }
    std::string block() const;  // type/group
    std::string rung() const;
    std::string detail() const;

  private:
    const benchmark::BenchmarkReporter::Run& run_;
};

struct Column {
    std::string heading;
    int width;  // negative: to the left
    std::function<std::string(const Row&)> text;
};
Column detail_column(int width = 28);
Column rung_column(int width = 10);
/// A counter times `scale`, a dash where that is not positive. Without `decimals`: four digits.
Column number_column(const char* heading, int width, const char* counter, int decimals = -1,
                     double scale = 1);
Column percent_column(const char* heading, const char* counter);
Column ratio_column();   // the reference's time over ours,
Column spread_column();  // and its 10th and 90th percentile over the rounds
Column bar_column(const char* heading, const char* counter, double scale = 1);

/// The columns of the rows of one type, or of all types if that is empty.
struct Section {
    std::string type;
    std::vector<Column> columns;
};

class Table : public benchmark::BenchmarkReporter {
  public:
    /// `lines` go above the table: what was measured, on what. The first section that fits a row
    /// shows it. `closing`: for the lines under the table; may be empty.
    Table(std::string lines, std::vector<Section> sections, std::function<std::string()> closing)
        : lines_(std::move(lines)), sections_(std::move(sections)), closing_(std::move(closing)) {}

    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& runs) override;
    void Finalize() override;

  private:
    void print(const Row& row);
    void print_headings(const Row& row);

    std::string lines_;
    std::vector<Section> sections_;
    std::function<std::string()> closing_;
    const Section* section_ = nullptr;  // of the row above: a change gets headings,
    std::string block_;                 // and another block a line of its own
};

}  // namespace tinyblas::bench
