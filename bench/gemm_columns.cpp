// SPDX-License-Identifier: MIT
// What the table of gemm shows of a case, with and without a GPU.
#include "gemm_columns.hpp"

#include <cstdio>

#include "machine.hpp"

namespace tinyblas::bench {
namespace {

void append(std::vector<Column>& columns, const std::vector<Column>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
}

std::vector<Column> errors() {
    return {number_column("error", 6, "error", 2), number_column("rms", 6, "rms", 3)};
}
std::vector<Column> cublas_errors() {
    return {number_column("cuBLAS", 6, "cublas_error", 2),
            number_column("rms", 6, "cublas_rms", 3)};
}

/// "1.06x 2545us", what should be reached.
Column goal_column() {
    return {"goal", -13, [](const Row& row) {
                std::string text;
                const auto add = [&](const char* format, double value) {
                    char part[32];
                    std::snprintf(part, sizeof part, format, value);
                    if (value > 0) text += (text.empty() ? "" : " ") + std::string(part);
                };
                add("%.2fx", row.number("goal_ratio"));
                add("%.1fus", row.number("goal_microseconds"));
                add("%.0f%%", 100 * row.number("goal_of_copy"));
                return text;
            }};
}

std::vector<Column> extents(int digits) {
    return {number_column("m", digits, "m", 0), number_column("n", digits, "n", 0),
            number_column("k", digits, "k", 0)};
}

}  // namespace

std::vector<Column> gemm_columns(bool fp32) {
    std::vector<Column> all = {detail_column()};
    append(all, extents(7));
    append(all, {rung_column(fp32 ? 15 : 10)});
    if (emulated()) {
        append(all, {number_column("MFLOP/s", 7, "tflops", 0, 1e6)});
        append(all, errors());
        append(all, {bar_column(" to 2 GFLOP/s of the CPU", "tflops", 500)});
        return all;
    }
    append(all, {number_column("us", 9, "microseconds"), number_column("TFLOP/s", 7, "tflops", 2),
                 number_column("cuBLAS", 7, "cublas_tflops", 2), ratio_column(), spread_column(),
                 number_column("best", 6, "best_ratio", 3), goal_column()});
    append(all, {fp32 ? number_column("strict", 6, "strict_ratio", 3)
                      : percent_column("peak", "peak_fraction")});
    append(all, errors());
    append(all, cublas_errors());
    append(all, {fp32 ? bar_column(" to 250 TFLOP/s", "tflops", 1.0 / 250)
                      : bar_column(" to the peak", "peak_fraction")});
    return all;
}

std::vector<Column> gemm_batch_columns() {
    std::vector<Column> all = {detail_column(26), number_column("batch", 8, "batch", 0)};
    append(all, extents(5));
    append(all, {rung_column()});
    if (emulated()) {
        append(all, {number_column("MFLOP/s", 7, "tflops", 0, 1e6)});
        append(all, errors());
        return all;
    }
    append(all,
           {number_column("us", 9, "microseconds"),
            number_column("cuBLAS", 9, "reference_microseconds"), ratio_column(), spread_column(),
            number_column("best", 6, "best_ratio", 3), goal_column(),
            number_column("TFLOP/s", 7, "tflops", 2), number_column("GB/s", 7, "gbs"),
            number_column("cuBLAS", 7, "reference_gbs"), percent_column("of copy", "limit_share")});
    append(all, errors());
    append(all, cublas_errors());
    append(all, {bar_column(" to the copy", "limit_share")});
    return all;
}

const char* const gemm_legend =
    "ratio: cuBLAS's time / ours, median of the rounds; best: so, of the fastest that cuBLAS's "
    "heuristics propose. Short\nproducts are timed in a CUDA graph. goal: what should be reached. "
    "peak: of the measured FFMA (sgemm) or DFMA (dgemm)\nrate. of copy: of the speed of a plain "
    "copy of as many bytes, for batches that no cache holds. strict: the time of\nour strict "
    "kernel / that of fp32, whose rung has the guard's verdict behind it: one, three or six "
    "products of parts,\nor the strict kernel after all. error: largest |c - AB| / (|A||B|), rms: "
    "its root mean square, in units of 2^-24\n(sgemm) or 2^-53 (dgemm), then cuBLAS's; over the "
    "whole of C, or over many rows of a large one; of a batch, over three\nof its products.\n";

}  // namespace tinyblas::bench
