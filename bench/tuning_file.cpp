// SPDX-License-Identifier: MIT
// A grid of products, each by every candidate; where one beats the choice, a line of the file.
#include "tuning_file.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "gemm_shapes.hpp"
#include "kernels/gemm/skinny_plan.hpp"
#include "kernels/gemm/tiles.hpp"
#include "race.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/gemm.hpp"

namespace tinyblas::bench {
namespace {

constexpr double clearly = 0.97;  // of the time of what gemm chooses, at most

using Grid = std::vector<std::int64_t>;
Grid rows_and_columns() {
    if (emulated()) return {16, 48};
    return {16, 64, 128, 256, 512, 1024, 2048, 4096};
}
Grid depths() {
    if (emulated()) return {40};
    return {64, 512, 4096};
}

/// The extents that the grid's point i stands for: as far as the middle, on a logarithmic scale, to
/// its neighbours, the last as far as to its double.
std::string range_of(const Grid& grid, std::size_t i) {
    const auto between = [](std::int64_t one, std::int64_t next) {
        return std::llround(std::sqrt(static_cast<double>(one) * static_cast<double>(next)));
    };
    const std::int64_t first = between(i > 0 ? grid[i - 1] : grid[i] / 2, grid[i]);
    const std::int64_t end = between(grid[i], i + 1 < grid.size() ? grid[i + 1] : 4 * grid[i]);
    return std::to_string(first) + "-" + std::to_string(end - 1);
}

/// Seconds a call; infinity if the options cannot do it.
template <class T>
double seconds(Context& context, const Operands<T>& operands, const GemmOptions& options) {
    try {
        Race race(sized_batch(
            context,
            [&] { gemm(context, T(1), operands.a(), operands.b(), T(0), operands.c(), options); },
            0.003));
        for (int round = 0; round < 3; ++round) race.round();
        return race.result().ours;
    } catch (const Error& error) {
        if (error.status() != Status::invalid_argument) throw;
        return INFINITY;
    }
}

template <class T>
std::vector<GemmOptions> candidates(const Context& context, const Shape& shape) {
    std::vector<GemmOptions> all;
    const auto add = [&](GemmKernel kernel, int entry = -1) {
        all.push_back({kernel, entry, Precision::fp32_strict});
    };
    const Scalar type = sizeof(T) == sizeof(float) ? Scalar::float32 : Scalar::float64;
    for (int entry = 0; entry < gemm_entries; ++entry)
        if (gemm_table[entry].type == type &&
            runs_on(gemm_table[entry], context.compute_capability()))
            add(GemmKernel::tuned, entry);
    if (type == Scalar::float32) {
        add(GemmKernel::sliced);
        add(GemmKernel::pipelined);
        if (plan_gemm_skinny(shape.m, shape.n, shape.k, {true, true}).fits) add(GemmKernel::skinny);
    } else {
        add(GemmKernel::tensor);
    }
    return all;
}

/// The line for a point of the grid, "float NN 46-90 46-90 182-1447 tuned 3  # ..."; empty if gemm
/// chooses well.
template <class T>
std::string line_for(Context& context, const Shape& shape, const std::string& ranges) {
    const Operands<T> operands(context, shape);
    const double chosen =
        seconds(context, operands, {GemmKernel::best, -1, Precision::fp32_strict});
    GemmOptions best;
    double least = INFINITY;
    for (const GemmOptions& one : candidates<T>(context, shape)) {
        const double time = seconds(context, operands, one);
        if (time >= least) continue;
        least = time;
        best = one;
    }
    if (!(least <= clearly * chosen)) return "";
    char figures[64];
    std::snprintf(figures, sizeof figures, "  # %.2f us, not %.2f", 1e6 * least, 1e6 * chosen);
    return (sizeof(T) == sizeof(float) ? "float " : "double ") + shape.layout() + ranges + " " +
           to_string(best.kernel) +
           (best.entry >= 0 ? " " + std::to_string(best.entry) : std::string()) + figures;
}

template <class T>
void add_lines(Context& context, std::vector<std::string>& lines) {
    const Grid of_c = rows_and_columns(), of_k = depths();
    for (std::size_t i = 0; i < of_c.size(); ++i)
        for (std::size_t j = 0; j < of_c.size(); ++j)
            for (std::size_t p = 0; p < of_k.size(); ++p)
                for (const int layout : {0, 1, 2, 3}) {
                    const Shape shape = {
                        "", "", of_c[i], of_c[j], of_k[p], layout / 2 == 1, layout % 2 == 1};
                    std::string ranges;
                    for (const auto& range :
                         {range_of(of_c, i), range_of(of_c, j), range_of(of_k, p)})
                        ranges += " " + range;
                    const std::string line = line_for<T>(context, shape, ranges);
                    if (line.empty()) continue;
                    lines.push_back("gemm " + line);
                    std::fprintf(stderr, "%s\n", lines.back().c_str());
                }
}

}  // namespace

void write_tuning_file(Context& context, const char* path) {
    std::ofstream file(path);
    std::vector<std::string> lines;
    if (file) {
        context.load_tuning(nullptr);
        add_lines<float>(context, lines);
        add_lines<double>(context, lines);
    }
    file << "# for Context::load_tuning, by tune_gemm --write\n";
    for (const auto& [name, value] : machine_facts()) file << "# " << name << ": " << value << "\n";
    file << "tinyblas-tuning 1\n";
    for (const std::string& line : lines) file << line << "\n";
    file << "end " << lines.size() << "\n";
    file.close();
    if (!file) throw Error(Status::invalid_argument, std::string(path) + ": cannot be written");
    context.load_tuning(path);  // what it says must be understood
    std::printf("%s: %zu lines\n", path, lines.size());
}

}  // namespace tinyblas::bench
