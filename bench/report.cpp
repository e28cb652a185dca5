// SPDX-License-Identifier: MIT
// The table for people: a row a case, with a bar for the eye.
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "machine.hpp"

namespace tinyblas::bench {
namespace {

constexpr int bar_width = 16;

/// `value` with `decimals`, or with four digits if that is negative; a dash if there is no figure.
std::string figure(double value, int decimals) {
    if (!(value > 0)) return "-";
    if (decimals < 0) decimals = std::clamp(3 - static_cast<int>(std::log10(value)), 0, 5);
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

std::string bar(double part) {
    const auto full = static_cast<std::size_t>(std::lround(std::clamp(part, 0.0, 1.0) * bar_width));
    return std::string(full, '#') + std::string(bar_width - full, '.');
}

}  // namespace

double Row::number(const char* counter) const {
    const auto found = run_.counters.find(counter);
    return found == run_.counters.end() ? 0 : found->second.value;
}
std::string Row::block() const { return name().substr(0, name().find('/', name().find('/') + 1)); }
std::string Row::rung() const { return run_.report_label.substr(0, run_.report_label.find('/')); }
std::string Row::detail() const {
    return run_.report_label.substr(run_.report_label.find('/') + 1);
}

Column detail_column(int width) {
    return {"case", -width - 2, [width](const Row& row) {
                return "  " + row.detail().substr(0, static_cast<std::size_t>(width));
            }};
}
Column rung_column(int width) {
    return {" rung", -width, [](const Row& row) { return " " + row.rung(); }};
}
Column number_column(const char* heading, int width, const char* counter, int decimals,
                     double scale) {
    return {heading, width, [counter, decimals, scale](const Row& row) {
                return figure(row.number(counter) * scale, decimals);
            }};
}
Column percent_column(const char* heading, const char* counter) {
    return {heading, 7, [counter](const Row& row) {
                const std::string text = figure(100 * row.number(counter), 1);
                return text == "-" ? text : text + "%";
            }};
}
Column ratio_column() { return number_column("ratio", 6, "ratio", 3); }
Column spread_column() {
    return {"[p10 p90]", -13, [](const Row& row) {
                if (!(row.number("ratio") > 0)) return std::string("-");
                return "[" + figure(row.number("ratio_p10"), 3) + " " +
                       figure(row.number("ratio_p90"), 3) + "]";
            }};
}
Column bar_column(const char* heading, const char* counter, double scale) {
    return {heading, 0,
            [counter, scale](const Row& row) { return " " + bar(row.number(counter) * scale); }};
}

bool Table::ReportContext(const Context&) {
    std::printf("%s\n", lines_.c_str());
    return true;
}

void Table::ReportRuns(const std::vector<Run>& runs) {
    for (const Run& run : runs)
        if (run.run_type == Run::RT_Iteration) print(Row(run));
    std::fflush(stdout);
}

void Table::print_headings(const Row& row) {
    const auto fits = [&](const Section& one) {
        return one.type.empty() || one.type == row.type();
    };
    const Section* section = &*std::find_if(sections_.begin(), sections_.end(), fits);
    if (section == section_) return;
    if (section_) std::printf("\n");
    section_ = section;
    for (const Column& column : section_->columns)
        std::printf("%*s ", column.width, column.heading.c_str());
    std::printf("\n");
}

void Table::print(const Row& row) {
    print_headings(row);
    if (row.block() != block_) std::printf("%s\n", row.block().c_str());
    block_ = row.block();
    if (!row.measured()) {
        std::printf("  %s: NOT MEASURED, see the error stream\n", row.name().c_str());
        return;
    }
    for (const Column& column : section_->columns)
        std::printf("%*s ", column.width, column.text(row).c_str());
    std::printf("%s\n", row.number("wrong") != 0 ? " WRONG" : "");
}

void Table::Finalize() {
    if (closing_) std::printf("%s", closing_().c_str());
    if (emulated())
        std::printf(
            "\nTHESE ARE NOT GPU FIGURES: no GPU took part. The CPU emulated one, thread by "
            "thread; "
            "only the errors carry over.\n");
}

}  // namespace tinyblas::bench
