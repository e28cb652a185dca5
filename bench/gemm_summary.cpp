// SPDX-License-Identifier: MIT
// What the families of cases of gemm came to, a line each.
#include "gemm_summary.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

namespace tinyblas::bench {
namespace {

constexpr double noise = 0.02;  // a ratio this far below 1 is a loss

struct Family {
    int cases = 0, losses = 0, behind_strict = 0;
    double logarithms = 0, worst = 0;
    std::string worst_case;

    void add(const GemmSummary::Result& one) {
        if (cases == 0 || one.ratio < worst) {
            worst = one.ratio;
            const Shape& shape = one.shape;
            worst_case = std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " +
                         std::to_string(shape.k) + " " +
                         (shape.name.empty() ? shape.layout() : shape.name);
        }
        ++cases;
        logarithms += std::log(one.ratio);
        losses += one.ratio < 1 - noise;
        behind_strict += one.strict_ratio > 0 && one.strict_ratio < 1 - noise;
    }
    std::string line(const std::string& name) const {
        char text[160];
        std::snprintf(text, sizeof text, "  %-40s %5d %8.3f %7d %7d %8.3f  ", name.c_str(), cases,
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

}  // namespace

std::string GemmSummary::text() const {
    std::vector<std::pair<std::string, Family>> families;
    for (const bool layers_alone : {false, true})
        for (const Result& one : results_) {
            if (!(one.ratio > 0) || (layers_alone && !one.shape.layer)) continue;
            const std::string group = layers_alone ? "all layers" : one.shape.group;
            find(families, one.type + ", " + group + ", " + one.regime).add(one);
        }
    if (families.empty()) return "";
    char heading[160];
    std::snprintf(heading, sizeof heading, "\n%-42s %5s %8s %7s %7s %8s\n", "family", "cases",
                  "mean", "< 0.98", "<strict", "worst");
    std::string text = heading;
    for (const auto& [name, family] : families) text += family.line(name);
    return text;
}

}  // namespace tinyblas::bench
