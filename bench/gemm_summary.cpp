// SPDX-License-Identifier: MIT
// What the families of cases of gemm came to, a line each, and which goals were reached.
#include "gemm_summary.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

namespace tinyblas::bench {
namespace {

constexpr double noise = 0.02;  // a ratio this far below 1 is a loss

std::string case_of(const Shape& shape) {
    std::string text = std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " +
                       std::to_string(shape.k) + " " +
                       (shape.name.empty() ? shape.layout() : shape.name);
    if (shape.pad > 0) text += ", ld + " + std::to_string(shape.pad);
    if (shape.batch > 0) text += ", batch of " + std::to_string(shape.batch);
    return text;
}

struct Family {
    int cases = 0, losses = 0, behind_strict = 0;
    double logarithms = 0, worst = 0;
    std::string worst_case;

    void add(const GemmSummary::Result& one, double ratio) {
        if (cases == 0 || ratio < worst) {
            worst = ratio;
            worst_case = case_of(one.shape);
        }
        ++cases;
        logarithms += std::log(ratio);
        losses += ratio < 1 - noise;
        behind_strict += one.strict_ratio > 0 && one.strict_ratio < 1 - noise;
    }
    std::string line(const std::string& name) const {
        char text[160];
        std::snprintf(text, sizeof text, "  %-52s %5d %8.3f %7d %7d %8.3f  ", name.c_str(), cases,
                      std::exp(logarithms / cases), losses, behind_strict, worst);
        return text + worst_case + "\n";
    }
};

/// In the order in which they were met.
Family& find(std::vector<std::pair<std::string, Family>>& families, const std::string& name) {
    for (auto& [known, family] : families)
        if (known == name) return family;
    return families.emplace_back(name, Family()).second;
}

std::string figure(const char* format, double value) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

/// "1.021 of 1.080" for each part of the goal that was missed; empty if it was reached.
std::string missed(const GemmSummary::Result& one) {
    const Goal& goal = one.shape.goal;
    std::string text;
    const auto add = [&](bool behind, const char* format, double value, double wanted) {
        if (!behind || wanted == 0) return;
        text += "  " + figure(format, value) + " for " + figure(format, wanted);
    };
    add(one.ratio < goal.ratio, "%.3fx", one.ratio, goal.ratio);
    add(one.microseconds > goal.microseconds, "%.2f us", one.microseconds, goal.microseconds);
    add(one.of_copy < goal.of_copy, "%.3f of a copy", one.of_copy, goal.of_copy);
    return text;
}

}  // namespace

std::string GemmSummary::families() const {
    std::vector<std::pair<std::string, Family>> families;
    for (const bool layers_alone : {false, true})
        for (const Result& one : results_) {
            if (!(one.ratio > 0) || (layers_alone && !one.shape.layer)) continue;
            const std::string group = layers_alone ? "all layers" : one.shape.group;
            find(families, one.type + ", " + group + ", " + one.regime).add(one, one.ratio);
        }
    for (const Result& one : results_) {
        const std::string all = one.type + ", all, " + one.regime;
        if (one.ratio > 0) find(families, all).add(one, one.ratio);
    }
    for (const Result& one : results_) {
        const std::string name =
            one.type + ", " + one.shape.group + ", " + one.regime + ", best proposal";
        if (one.best_ratio > 0) find(families, name).add(one, one.best_ratio);
    }
    if (families.empty()) return "";
    char heading[160];
    std::snprintf(heading, sizeof heading, "\n%-54s %5s %8s %7s %7s %8s\n", "family", "cases",
                  "mean", "< 0.98", "<strict", "worst");
    std::string text = heading;
    for (const auto& [name, family] : families) text += family.line(name);
    return text;
}

std::string GemmSummary::goals() const {
    int all = 0, reached = 0;
    std::string text;
    for (const Result& one : results_) {
        if (!one.shape.goal.is_set()) continue;
        ++all;
        const std::string behind = missed(one);
        reached += behind.empty();
        if (!behind.empty())
            text += "  missed: " + one.type + ", " + case_of(one.shape) + ", " + one.regime + ":" +
                    behind + "\n";
    }
    if (all == 0) return "";
    return "\n" + std::to_string(reached) + " of " + std::to_string(all) + " goals reached\n" +
           text;
}

std::string GemmSummary::text() const { return families() + goals(); }

}  // namespace tinyblas::bench
