// SPDX-License-Identifier: MIT
// The command line of bench_gemm.
#pragma once

#include <string>
#include <vector>

#include "tinyblas/gemm.hpp"

namespace tinyblas::bench {

struct Options {
    std::vector<std::string> shapes;  // files of shapes instead of the built-in ones
    std::vector<GemmKernel> rungs;    // empty: every rung on the ladder's squares, best elsewhere
    bool sgemm = true, dgemm = true;
    bool quick = false;
};

/// What must be known before Google Benchmark removes its own flags from the command line.
struct Request {
    bool help = false;     // --help: our part has been printed
    bool machine = false;  // --benchmark_format=json or csv: its own reporter
    bool list = false;     // --benchmark_list_tests: nothing is to run
};
Request scan(int argc, char** argv);

/// Our flags. Throws Error (invalid_argument) if one is unknown or says something impossible.
Options parse_options(int argc, char** argv);

}  // namespace tinyblas::bench
