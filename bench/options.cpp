// SPDX-License-Identifier: MIT
// The command line of bench_gemm.
#include "options.hpp"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "tinyblas/error.hpp"

namespace tinyblas::bench {
namespace {

constexpr const char* help =
    R"(bench_gemm: gemm on every rung of the ladder, beside cuBLAS where there is a GPU.

  --quick           a few sizes, short batches
  --shapes=FILE     the shapes of FILE instead: a line "m,n,k,name" each, '#' starts a comment;
                    of several such flags, all
  --types=LIST      of sgemm,dgemm; default both
  --rungs=LIST      of naive,tiled,tuned,best; default every rung on some squares, best elsewhere
  --help            this text, then Google Benchmark's own flags:

)";

[[noreturn]] void refuse(const std::string& sentence) {
    throw Error(Status::invalid_argument, sentence + "; --help lists the flags");
}

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> words;
    std::istringstream stream(list);
    for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
    return words;
}

void parse_types(Options& options, const std::string& list) {
    options.sgemm = options.dgemm = false;
    for (const auto& word : split(list)) {
        if (word != "sgemm" && word != "dgemm")
            refuse("--types: '" + word + "' is not sgemm or dgemm");
        (word == "sgemm" ? options.sgemm : options.dgemm) = true;
    }
    if (!options.sgemm && !options.dgemm) refuse("--types: the list is empty");
}

void parse_rungs(Options& options, const std::string& list) {
    for (const auto& word : split(list)) options.rungs.push_back(gemm_kernel(word));
    if (options.rungs.empty()) refuse("--rungs: the list is empty");
}

}  // namespace

Request scan(int argc, char** argv) {
    Request request;
    const char* format = std::getenv("BENCHMARK_FORMAT");
    std::string_view chosen = format ? format : "console";
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        constexpr std::string_view format_flag = "--benchmark_format=";
        if (word == "--help") request.help = true;
        if (word.starts_with("--benchmark_list_tests") && !word.ends_with("=false"))
            request.list = true;
        if (word.starts_with(format_flag)) chosen = word.substr(format_flag.size());
    }
    request.machine = chosen != "console";
    if (request.help) std::fputs(help, stdout), std::fflush(stdout);
    return request;
}

Options parse_options(int argc, char** argv) {
    Options options;
    const option flags[] = {{"quick", no_argument, nullptr, 'q'},
                            {"shapes", required_argument, nullptr, 's'},
                            {"types", required_argument, nullptr, 't'},
                            {"rungs", required_argument, nullptr, 'r'},
                            {}};
    optind = 1;
    opterr = 0;
    for (int flag; (flag = getopt_long(argc, argv, "", flags, nullptr)) != -1;) {
        if (flag == 'q') options.quick = true;
        if (flag == 's') options.shapes.emplace_back(optarg);
        if (flag == 't') parse_types(options, optarg);
        if (flag == 'r') parse_rungs(options, optarg);
        if (flag == '?')
            refuse(std::string(argv[optind - 1]) + ": unknown flag, or its value is missing");
    }
    if (optind < argc) refuse(std::string(argv[optind]) + ": not a flag");
    return options;
}

}  // namespace tinyblas::bench
