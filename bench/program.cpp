// SPDX-License-Identifier: MIT
// The command line, and the course of a run from the flags to the exit code.
#include "program.hpp"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include "tinyblas/error.hpp"

namespace tinyblas::bench {
namespace {

/// What must be known before Google Benchmark removes its own flags from the command line.
struct Request {
    bool machine = false;  // --benchmark_format=json or csv: its own reporter
    bool list = false;     // --benchmark_list_tests: nothing is to run
};

[[noreturn]] void refuse(const std::string& sentence) {
    throw Error(Status::invalid_argument, sentence + "; --help lists the flags");
}

void print_flag(const Flag& flag) {
    const std::string name = std::string(flag.name) + (flag.value ? "=" : "");
    std::string text = flag.text;
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at)
        text.insert(at + 1, 20, ' ');
    std::printf("  --%-16s%s\n", (name + (flag.value ? flag.value : "")).c_str(), text.c_str());
}

void print_help(const Program& program, const std::vector<Flag>& flags) {
    std::printf("%s: %s\n\n", program.name, program.purpose);
    for (const Flag& flag : flags) print_flag(flag);
    std::printf("  --%-16sthis text, then Google Benchmark's own flags:\n\n", "help");
    std::fflush(stdout);
}

Request scan(const Program& program, const std::vector<Flag>& flags, int argc, char** argv) {
    Request request;
    const char* format = std::getenv("BENCHMARK_FORMAT");
    std::string_view chosen = format ? format : "console";
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        constexpr std::string_view format_flag = "--benchmark_format=";
        if (word == "--help") print_help(program, flags);
        if (word.starts_with("--benchmark_list_tests") && !word.ends_with("=false"))
            request.list = true;
        if (word.starts_with(format_flag)) chosen = word.substr(format_flag.size());
    }
    request.machine = chosen != "console";
    return request;
}

void parse(const std::vector<Flag>& flags, int argc, char** argv) {
    std::vector<option> known;
    for (std::size_t i = 0; i < flags.size(); ++i)
        known.push_back({flags[i].name, flags[i].value ? required_argument : no_argument, nullptr,
                         static_cast<int>(i)});
    known.push_back({});
    optind = 1;
    opterr = 0;
    for (int flag; (flag = getopt_long(argc, argv, "", known.data(), nullptr)) != -1;) {
        if (flag == '?')
            refuse(std::string(argv[optind - 1]) + ": unknown flag, or its value is missing");
        flags[static_cast<std::size_t>(flag)].accept(optarg ? optarg : "");
    }
    if (optind < argc) refuse(std::string(argv[optind]) + ": not a flag");
}

std::string heading(const Facts& facts, const char* legend) {
    std::string lines;
    for (const auto& [name, value] : facts) lines += name + ": " + value + "\n";
    if (!emulated()) return lines + "\n" + legend;
    return lines +
           "\nTHESE ARE NOT GPU FIGURES: there is no GPU here, a CPU emulates one. The ladder "
           "even runs\n"
           "the other way: what spares a GPU's memory costs the emulator more switches of "
           "threads.\n";
}

int run(const Program& program, int argc, char** argv) {
    bool quick = false;
    std::vector<Flag> flags = {{"quick", nullptr, "a few cases, short batches",
                                [&](const std::string&) { quick = true; }}};
    flags.insert(flags.end(), program.flags.begin(), program.flags.end());
    const Request request = scan(program, flags, argc, argv);
    benchmark::Initialize(&argc, argv);  // ends here if it met --help
    parse(flags, argc, argv);

    Session session(quick);
    const Facts timing = program.set_up(session);
    Facts facts = machine_facts();
    const char* commit = std::getenv("TINYBLAS_COMMIT");
    facts.emplace_back("tinyblas_commit", commit && *commit ? commit : "unknown");
    for (const Facts& more : {timing, session.limits.facts()})
        facts.insert(facts.end(), more.begin(), more.end());
    for (const auto& [name, value] : facts) benchmark::AddCustomContext(name, value);
    if (emulated()) std::fprintf(stderr, "These are not GPU figures: the CPU emulates one.\n");

    std::vector<Section> sections = program.sections;
    sections.push_back({"", program.columns});
    Table table(heading(facts, program.legend), std::move(sections), program.closing);
    if (request.machine || request.list)
        benchmark::RunSpecifiedBenchmarks();
    else
        benchmark::RunSpecifiedBenchmarks(&table);
    benchmark::Shutdown();
    return session.failed > 0 ? 1 : 0;
}

}  // namespace

std::vector<std::string> words(const char* flag, const std::string& list) {
    std::vector<std::string> found;
    std::istringstream stream(list);
    for (std::string word; std::getline(stream, word, ',');) found.push_back(word);
    if (found.empty()) refuse(std::string("--") + flag + ": the list is empty");
    return found;
}

void refuse_case(const std::string& text, const char* like) {
    refuse("--case: '" + text + "' does not begin as " + like + " do");
}

NamedCase named_case(const std::string& text, const char* like) {
    std::vector<std::string> all = words("case", text);
    const std::string first = all.front();
    if (first.empty() || (first[0] != 's' && first[0] != 'd')) refuse_case(text, like);
    all.erase(all.begin());
    return {first[0], first.substr(1), std::move(all)};
}

int run_program(const Program& program, int argc, char** argv) {
    try {
        return run(program, argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", program.name, error.what());
        return 2;
    }
}

}  // namespace tinyblas::bench
