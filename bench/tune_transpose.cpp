// SPDX-License-Identifier: MIT
// Times every line of transpose_table that can do a shape beside a plain copy of as many bytes, and
// prints the lines in source form with what they reached. Edit kernels/transpose/tiles.hpp, run
// this, paste.
//
//   tune_transpose [--in-place] [--element-size=BYTES] [--form=FORM] [--rounds=N] MxN ...
#include <getopt.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "data.hpp"
#include "kernels/transpose/tiles.hpp"
#include "race.hpp"
#include "samples.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/matrix.hpp"
#include "tinyblas/transpose.hpp"

namespace tinyblas::bench {
namespace {

struct Extents {
    std::int64_t m, n;
};

struct Request {
    std::vector<Extents> shapes;
    bool in_place = false;
    int element_size = 4;
    std::string form;  // of the lines that are timed; empty: any
    int rounds = 7;
};

struct Figure {
    int entry;
    double share;  // of the copy's speed
    double speed;  // bytes a second
};

[[noreturn]] void refuse(const std::string& sentence) {
    throw Error(Status::invalid_argument, sentence);
}

/// Packed A (m, n) and B (n, m); in place, A alone.
template <class T>
class Tuning {
  public:
    Tuning(Context& context, const Extents& shape, bool in_place)
        : context_(context), in_place_(in_place), a_(1, shape.m * shape.n), b_(1, a_.columns()) {
        from_ = MatrixView<T>::row_major(a_.view().data, shape.m, shape.n);
        to_ = in_place ? from_ : MatrixView<T>::row_major(b_.view().data, shape.n, shape.m);
    }

    TransposeOperands operands() const {
        const auto aligned = [](std::int64_t elements) { return elements * sizeof(T) % 16 == 0; };
        return {.element_size = sizeof(T),
                .m = from_.rows,
                .n = from_.columns,
                .unit_strides = true,
                .aligned = aligned(from_.rows) && aligned(from_.columns),
                .in_place = in_place_};
    }

    /// The entry beside a copy, once its result has been found right.
    Race race(int entry) {
        constexpr double batch_seconds = 0.005;
        const Work ours = [this, entry] {
            transpose<T>(context_, from_, to_, {TransposeKernel::tuned, entry});
        };
        constexpr std::uint64_t seed = 1;
        fill_random(context_, a_.view().data, a_.columns(), seed);
        poison(context_, b_.view().data, bytes());
        ours();
        if (wrong_elements<T>(context_, to_, {from_.columns}, seed) > 0)
            throw Error(Status::internal_error, "entry " + std::to_string(entry) + " is wrong");
        // The runtime copies odd lengths more slowly: whole pages, if there are any.
        const std::int64_t copied = bytes() >= 4096 ? bytes() / 4096 * 4096 : bytes();
        const Work copy = plain_copy(context_, b_.view().data, a_.view().data, copied);
        return Race(sized_batch(context_, ours, batch_seconds), nullptr,
                    sized_batch(context_, copy, batch_seconds));
    }

    std::int64_t bytes() const { return a_.columns() * std::int64_t{sizeof(T)}; }

  private:
    Context& context_;
    bool in_place_;
    Matrix<T> a_, b_;
    MatrixView<T> from_, to_;
};

/// A line of the table as tiles.hpp has it.
void print_entry(const TransposeEntry& entry, const std::string& comment) {
    const TransposeTile& t = entry.tile;
    const std::string form = std::string(to_string(entry.form)) + ",";
    const std::string most =
        entry.most_elements == 0 ? "0"
        : entry.most_elements == any_extent
            ? "any_extent"
            : "std::int64_t{1} << " +
                  std::to_string(std::countr_zero(static_cast<std::uint64_t>(entry.most_elements)));
    std::printf("    {TransposeForm::%-9s %2d, %s,%*d, %2d, {%3d, %4d, %3d, %2d, %d", form.c_str(),
                entry.element_size, most.c_str(), 24 - static_cast<int>(most.size()),
                static_cast<int>(entry.most_rows), static_cast<int>(entry.most_columns), t.rows,
                t.columns, t.threads, t.min_blocks, t.strip);
    std::printf("}},  // %s\n", comment.c_str());
}

template <class T>
void tune(Context& context, const Extents& shape, const Request& request) {
    Tuning<T> tuning(context, shape, request.in_place);
    std::vector<int> entries;
    for (int i = 0; i < transpose_entries; ++i)
        if (can_run(transpose_table[i], tuning.operands()) &&
            (request.form.empty() || request.form == to_string(transpose_table[i].form)))
            entries.push_back(i);
    // All entries in each round: a drift of the clocks meets all of them.
    std::vector<Race> races;
    for (const int entry : entries) races.push_back(tuning.race(entry));
    for (int round = 0; round < request.rounds; ++round)
        for (Race& race : races) race.round();

    std::vector<Figure> figures;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Race::Result result = races[i].result();
        figures.push_back(
            {entries[i], result.share, 2 * static_cast<double>(tuning.bytes()) / result.ours});
    }
    std::stable_sort(figures.begin(), figures.end(),
                     [](const Figure& x, const Figure& y) { return x.share > y.share; });
    const int chosen = choose_transpose_entry(tuning.operands());
    std::printf("\n%lld x %lld of %d bytes%s, the fastest first\n", static_cast<long long>(shape.m),
                static_cast<long long>(shape.n), request.element_size,
                request.in_place ? ", in place" : "");
    for (const Figure& figure : figures) {
        char comment[96];
        std::snprintf(comment, sizeof comment, "%.4f of a copy, %.0f GB/s: entry %d%s",
                      figure.share, 1e-9 * figure.speed, figure.entry,
                      figure.entry == chosen ? ", the one that is chosen" : "");
        print_entry(transpose_table[figure.entry], comment);
    }
    std::fflush(stdout);
}

/// A positive number, up to the end of the text or to `end`.
std::int64_t number(const char* text, const char** end = nullptr) {
    char* stop = nullptr;
    const long long value = std::strtoll(text, &stop, 10);
    if (value <= 0 || stop == text || (!end && *stop != '\0'))
        refuse("'" + std::string(text) + "' is not a positive number");
    if (end) *end = stop;
    return value;
}

Extents extents(const char* text) {
    const char* end = nullptr;
    const std::int64_t m = number(text, &end);
    if (*end != 'x') refuse("'" + std::string(text) + "' is not a shape MxN");
    return {m, number(end + 1)};
}

Request parse(int argc, char** argv) {
    constexpr option flags[] = {{"in-place", no_argument, nullptr, 'i'},
                                {"element-size", required_argument, nullptr, 'e'},
                                {"form", required_argument, nullptr, 'f'},
                                {"rounds", required_argument, nullptr, 'r'},
                                {}};
    Request request;
    opterr = 0;
    for (int flag; (flag = getopt_long(argc, argv, "", flags, nullptr)) != -1;) switch (flag) {
            case 'i': request.in_place = true; break;
            case 'e': request.element_size = static_cast<int>(number(optarg)); break;
            case 'f': request.form = optarg; break;
            case 'r': request.rounds = static_cast<int>(number(optarg)); break;
            default:
                refuse(
                    "the flags are --in-place, --element-size=BYTES, --form=FORM and --rounds=N");
        }
    while (optind < argc) request.shapes.push_back(extents(argv[optind++]));
    if (request.shapes.empty()) refuse("there is no shape MxN");
    for (const Extents& shape : request.shapes)
        if (request.in_place && shape.m != shape.n) refuse("in place needs a square");
    return request;
}

void run(Context& context, const Request& request) {
    for (const Extents& shape : request.shapes) switch (request.element_size) {
            case 2: tune<std::uint16_t>(context, shape, request); break;
            case 4: tune<float>(context, shape, request); break;
            case 8: tune<double>(context, shape, request); break;
            case 16: tune<Bits128>(context, shape, request); break;
            default: refuse("elements have 2, 4, 8 or 16 bytes");
        }
}

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    using namespace tinyblas;
    try {
        const bench::Request request = bench::parse(argc, argv);
        Context context;
        for (const auto& [name, value] : bench::machine_facts())
            std::printf("%s: %s\n", name.c_str(), value.c_str());
        bench::run(context, request);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tune_transpose: %s\n", error.what());
        return 1;
    }
}
