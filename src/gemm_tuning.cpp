// SPDX-License-Identifier: MIT
// Tuning files, read: all of a file or nothing.
#include "gemm_tuning.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <sstream>

#include "check.hpp"

namespace tinyblas {
namespace {

/// A word that is a whole number, all of it.
std::int64_t number_in(const std::string& word, const char* what, std::int64_t least) {
    std::int64_t number = -1;
    const char* const end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, number);
    require(parsed.ec == std::errc() && parsed.ptr == end && number >= least, what, " is '", word,
            "': must be a whole number of at least ", least);
    return number;
}

/// "*", "64", "64-128" or "64-*".
GemmTuningLine::Range range_in(const std::string& word, const char* extent) {
    GemmTuningLine::Range range;
    if (word == "*") return range;
    const std::size_t dash = word.find('-');
    const std::string last = dash == std::string::npos ? word : word.substr(dash + 1);
    range.first = number_in(word.substr(0, dash), extent, 1);
    if (last != "*") range.last = number_in(last, extent, 1);
    require(range.first <= range.last, extent, " is '", word, "': must begin at or before its end");
    return range;
}

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// What follows the line's first word, "gemm".
GemmTuningLine parse(const Context& context, std::istringstream& words) {
    GemmTuningLine line;
    std::string type, m, n, k, rung, entry, more;
    words >> type >> line.layout >> m >> n >> k >> rung >> entry >> more;
    require(!rung.empty() && more.empty(),
            "must be: gemm, type, layouts, m, n, k, rung, and its entry or nothing");
    require(is_one_of(type, {"float", "double"}), "the type is '", type,
            "': must be float or double");
    line.type = type == "float" ? Scalar::float32 : Scalar::float64;
    require(is_one_of(line.layout, {"NN", "NT", "TN", "TT", "any"}), "the layouts are '",
            line.layout, "': must be NN, NT, TN, TT or any");
    line.m = range_in(m, "m");
    line.n = range_in(n, "n");
    line.k = range_in(k, "k");
    require(is_one_of(rung, {"naive", "tiled", "tuned", "sliced", "pipelined", "skinny", "tensor"}),
            "the rung is '", rung,
            "': must be naive, tiled, tuned, sliced, pipelined, skinny or tensor");
    line.choice.kernel = gemm_kernel(rung);
    if (!entry.empty()) {
        const std::int64_t given = number_in(entry, "the entry", 0);
        require(given < gemm_entries, "the entry is ", given, ": must lie in 0 to ",
                gemm_entries - 1);
        line.choice.entry = static_cast<int>(given);
    }
    check_options(context, {line.choice.kernel, line.choice.entry}, line.type);
    return line;
}

}  // namespace

GemmTuning::GemmTuning(const Context& context, std::istream& text, const std::string& name) {
    int number = 0;
    bool begun = false, ended = false;
    for (std::string line; std::getline(text, line);) {
        ++number;
        std::istringstream words(line.substr(0, line.find('#')));
        std::string first;
        if (!(words >> first)) continue;
        const std::string where = name + ":" + std::to_string(number);
        step_of(where.c_str(), [&] {
            require(!ended, "'", first, "' stands behind the end");
            std::string count, more;
            if (!begun) {
                words >> count >> more;
                require(first == "tinyblas-tuning" && count == "1" && more.empty(), "'", line,
                        "' is no head: must be 'tinyblas-tuning 1'");
                begun = true;
            } else if (first == "end") {
                words >> count >> more;
                require(count == std::to_string(lines_.size()) && more.empty(), "the end says '",
                        count, "' lines: must be the ", lines_.size(), " above");
                ended = true;
            } else {
                require(first == "gemm", "the operation is '", first, "': must be gemm");
                lines_.push_back(parse(context, words));
                lines_.back().number = number;
            }
        });
    }
    require(ended, name, ": has no end: must close with 'end' and the number of lines");
}

void Context::load_tuning(const char* path) {
    if (!path) {
        tuning_.reset();
        return;
    }
    std::ifstream file(path);
    require(file.good(), path, ": cannot be read");
    tuning_ = std::make_shared<GemmTuning>(*this, file, path);
}

}  // namespace tinyblas
