// SPDX-License-Identifier: MIT
// Times every line of gemm_table on squares and skinny shapes: a matrix to set the thresholds by,
// and the lines in source form with what they reached. Edit kernels/gemm/tiles.hpp, run this,
// paste. tune_gemm --write FILE: times every strict rung on this GPU instead, and writes a file
// that Context::load_tuning reads.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "gemm_shapes.hpp"
#include "kernels/gemm/tiles.hpp"
#include "race.hpp"
#include "tinyblas/gemm.hpp"
#include "tuning_file.hpp"

namespace tinyblas::bench {
namespace {

std::vector<Shape> shapes() {
    std::vector<Shape> shapes;
    for (const std::int64_t n :
         {64, 128, 192, 256, 384, 512, 768, 1000, 1024, 1536, 2048, 3072, 4096, 4097, 8192})
        shapes.push_back({"", "", n, n, n});
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{16, 4096, 4096},
                                  {64, 4096, 4096},
                                  {256, 4096, 4096},
                                  {4096, 64, 4096},
                                  {512, 6144, 4096},
                                  {4096, 4096, 64}})
        shapes.push_back({"", "", m, n, k});
    return shapes;
}

std::string name(const Shape& shape) {
    return std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
}

/// A line of the table as tiles.hpp has it.
void print_entry(const GemmEntry& entry, double tflops, const std::string& comment) {
    const GemmTile& t = entry.tile;
    std::printf("    {Scalar::%s, %d, %3d,  %.2f, {%3d, %3d, %2d,  %3d, %2d,  %2d, %2d,  %d,  %d",
                entry.type == Scalar::float32 ? "float32" : "float64", entry.oldest, entry.newest,
                entry.least_fill, t.block_m, t.block_n, t.block_k, t.warp_m, t.warp_n, t.thread_m,
                t.thread_n, t.stages, t.min_blocks);
    if (t.loaders > 0) std::printf(",  %d, %d", t.loaders, t.loader_registers);
    if (t.in_order()) std::printf(", %d, %d", t.first_load, t.load_spacing);
    std::printf("}, %.1f, %.1f},  // %s\n", tflops, entry.turn, comment.c_str());
}

template <class T>
void tune(Context& context, Scalar type, const char* type_name) {
    std::vector<int> entries;
    for (int i = 0; i < gemm_entries; ++i)
        if (gemm_table[i].type == type && runs_on(gemm_table[i], context.compute_capability()))
            entries.push_back(i);

    std::printf("\n%s, TFLOP/s by entry; * is the fastest, > the one that is chosen\n%-16s",
                type_name, "");
    for (const int entry : entries) std::printf(" %6d ", entry);
    std::printf("\n");
    std::vector<double> best(gemm_entries, 0);
    std::vector<std::string> best_at(gemm_entries);
    for (const Shape& shape : shapes()) {
        Operands<T> operands(context, shape);
        const auto c = operands.c();
        std::vector<double> tflops;
        for (const int entry : entries) {
            const Work ours = [&] {
                gemm(context, T(1), operands.a(), operands.b(), T(0), c,
                     {GemmKernel::tuned, entry});
            };
            Race race(sized_batch(context, ours, 0.01));
            for (int round = 0; round < 3; ++round) race.round();
            const double flop = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                                static_cast<double>(shape.k);
            tflops.push_back(1e-12 * flop / race.result().ours);
            if (tflops.back() <= best[entry]) continue;
            best[entry] = tflops.back();
            best_at[entry] = name(shape);
        }
        const int chosen =
            gemm(context, T(1), operands.a(), operands.b(), T(0), c, {GemmKernel::tuned}).entry;
        const double fastest = *std::max_element(tflops.begin(), tflops.end());
        std::printf("%-16s", name(shape).c_str());
        for (std::size_t i = 0; i < entries.size(); ++i)
            std::printf("%c%6.2f%c", entries[i] == chosen ? '>' : ' ', tflops[i],
                        tflops[i] == fastest ? '*' : ' ');
        std::printf("\n");
        std::fflush(stdout);
    }
    std::printf("\n");
    for (const int entry : entries) {
        print_entry(gemm_table[entry], best[entry], "at " + best_at[entry]);
    }
}

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    using namespace tinyblas;
    const bool write = argc == 3 && std::string(argv[1]) == "--write";
    if (argc != 1 && !write) {
        std::fprintf(stderr, "usage: tune_gemm [--write FILE]\n");
        return 2;
    }
    try {
        Context context;
        if (write) {
            bench::write_tuning_file(context, argv[2]);
            return 0;
        }
        for (const auto& [name, value] : bench::machine_facts())
            std::printf("%s: %s\n", name.c_str(), value.c_str());
        bench::tune<float>(context, Scalar::float32, "sgemm");
        bench::tune<double>(context, Scalar::float64, "dgemm");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tune_gemm: %s\n", error.what());
        return 1;
    }
}
