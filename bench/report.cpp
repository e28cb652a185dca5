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

/// `value` with `decimals`, or a dash if there is no such figure.
std::string figure(double value, int decimals) {
    if (!(value > 0)) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

std::string bar(double part) {
    const auto full = static_cast<std::size_t>(std::lround(std::clamp(part, 0.0, 1.0) * bar_width));
    return std::string(full, '#') + std::string(bar_width - full, '.');
}

}  // namespace

bool Table::ReportContext(const Context&) {
    std::printf("%s\n%-30s %6s %6s %6s  %-9s ", lines_.c_str(), "case", "m", "n", "k", "rung");
    if (emulated())
        std::printf("%7s %6s  %s\n", "MFLOP/s", "error", "to 2 GFLOP/s of the CPU");
    else
        std::printf("%7s %7s %6s %-13s %6s %6s %6s  %s\n", "TFLOP/s", "cuBLAS", "ratio",
                    "[p10 p90]", "peak", "error", "cuBLAS", "to the peak");
    return true;
}

void Table::ReportRuns(const std::vector<Run>& runs) {
    for (const Run& run : runs)
        if (run.run_type == Run::RT_Iteration) print(run);
    std::fflush(stdout);
}

void Table::print(const Run& run) {
    const auto number = [&](const char* name) {
        const auto found = run.counters.find(name);
        return found == run.counters.end() ? 0.0 : found->second.value;
    };
    const auto extent = [&](const char* name) { return static_cast<long long>(number(name)); };
    // The name is type/group/extents/..., the label rung/detail.
    const std::string& name = run.run_name.function_name;
    std::string block = name.substr(0, name.find('/', name.find('/') + 1));
    if (block != block_) std::printf("%s\n", block.c_str());
    block_ = std::move(block);
    if (number("tflops") == 0) {
        std::printf("%s: FAILED, see the error stream\n", name.c_str());
        return;
    }
    const auto slash = run.report_label.find('/');
    std::printf("  %-28.28s %6lld %6lld %6lld  %-9s ", run.report_label.substr(slash + 1).c_str(),
                extent("m"), extent("n"), extent("k"), run.report_label.substr(0, slash).c_str());
    const char* const verdict = number("wrong") != 0 ? "  WRONG" : "";
    if (emulated()) {
        std::printf("%7s %6s  %s%s\n", figure(number("tflops") * 1e6, 0).c_str(),
                    figure(number("error"), 2).c_str(), bar(number("tflops") * 500).c_str(),
                    verdict);
        return;
    }
    char spread[32];
    std::snprintf(spread, sizeof spread, "[%.3f %.3f]", number("ratio_p10"), number("ratio_p90"));
    std::printf("%7s %7s %6s %-13s %5.1f%% %6s %6s  %s%s\n", figure(number("tflops"), 2).c_str(),
                figure(number("cublas_tflops"), 2).c_str(), figure(number("ratio"), 3).c_str(),
                spread, 100 * number("peak_fraction"), figure(number("error"), 2).c_str(),
                figure(number("cublas_error"), 2).c_str(), bar(number("peak_fraction")).c_str(),
                verdict);
}

void Table::Finalize() {
    if (emulated())
        std::printf(
            "\nTHESE ARE NOT GPU FIGURES: no GPU took part. The CPU emulated one, thread by "
            "thread; "
            "only the errors carry over.\n");
}

}  // namespace tinyblas::bench
