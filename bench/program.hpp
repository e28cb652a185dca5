// SPDX-License-Identifier: MIT
// A benchmark program: its flags, its cases, its table.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report.hpp"
#include "session.hpp"

namespace tinyblas::bench {

struct Flag {
    const char* name;                                // without the dashes
    const char* value;                               // what it takes, as --help shows it; or null
    const char* text;                                // for --help
    std::function<void(const std::string&)> accept;  // throws Error, invalid_argument
};

struct Program {
    const char* name;
    const char* purpose;      // a sentence for --help
    std::vector<Flag> flags;  // beside --quick
    std::vector<Column> columns;
    const char* legend;  // of the columns, where there is a GPU
    /// Measures limits, registers the cases, and says how they are timed.
    std::function<Facts(Session&)> set_up;
    std::vector<Section> sections = {};         // types of rows that have columns of their own
    std::function<std::string()> closing = {};  // lines under the table
};

/// The words of a list "one,two". Throws Error (invalid_argument) if there is none; `flag` is for
/// that sentence.
std::vector<std::string> words(const char* flag, const std::string& list);

/// A case as --case has it, "sdot,1000,...": the letter of its type, the rest of its name, and the
/// words behind that.
struct NamedCase {
    char letter;  // s or d
    std::string name;
    std::vector<std::string> words;
};
/// Throws Error (invalid_argument) that says how cases begin, which is `like`.
[[noreturn]] void refuse_case(const std::string& text, const char* like);
/// Refuses what has another letter.
NamedCase named_case(const std::string& text, const char* like);

/// --kernel: a rung alone, which `parse` knows by its name.
template <class Kernel>
Flag kernel_flag(const char* text, Kernel (*parse)(std::string_view), Kernel& kernel,
                 bool& forced) {
    return {"kernel", "RUNG", text, [=, &kernel, &forced](const std::string& name) {
                kernel = parse(name);
                forced = true;
            }};
}

/// main() of a benchmark. 1: a case failed; 2: the command line or the machine did.
int run_program(const Program& program, int argc, char** argv);

}  // namespace tinyblas::bench
