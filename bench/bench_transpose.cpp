// SPDX-License-Identifier: MIT
// transpose on every rung, beside cuBLAS's geam and a plain copy of the same bytes in the same run.
// Every element of the result is checked before anything is timed.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "contest.hpp"
#include "data.hpp"
#include "kernels/transpose/tiles.hpp"
#include "program.hpp"
#include "samples.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/transpose.hpp"
#include "transpose_operands.hpp"

namespace tinyblas::bench {
namespace {

constexpr int chosen_entry = -1, every_entry = -2;

struct Options {
    TransposeOptions asked;
    bool forced = false;  // a rung or an entry was named: no ladder
    std::vector<std::pair<int, TransposeCase>> cases = {};  // on the command line, with bytes
};

template <class T>
Work reference_of(Session& session, const TransposeCase& one, TransposeOperands<T>& operands) {
    if constexpr (std::is_floating_point_v<T>)
        if (session.reference && !one.in_place() && one.is_for_blas())
            return operands.turns([&session](const Placed<T>& a, Placed<T>& b) {
                session.reference->transpose(a.view, b.view);
            });
    return {};
}

/// Runs `ours` on fresh data; the elements of the result that are wrong.
template <class T>
std::int64_t check(Context& context, const TransposeCase& one, Placed<T>& a, Placed<T>& b,
                   const Work& ours) {
    constexpr std::uint64_t seed = 1;
    fill_random(context, a.memory.view().data, a.layout.elements, seed);
    poison(context, b.memory.view().data, b.memory.columns() * sizeof(T));
    ours();
    return wrong_elements<T>(context, one.in_place() ? a.view : b.view,
                             {a.view.row_stride, a.view.column_stride, a.layout.first}, seed);
}

/// Whether the result was right.
template <class T>
bool measure(Session& session, const TransposeCase& one, TransposeOptions asked,
             benchmark::State& state) {
    Context& context = session.context;
    TransposeOperands<T> operands(one);
    TransposeChoice choice;
    const Work ours = operands.turns([&](Placed<T>& a, Placed<T>& b) {
        choice = one.in_place() ? transpose(context, a.view, asked)
                                : transpose<T>(context, a.view, b.view, asked);
    });
    const std::int64_t bytes = one.rows * one.columns * std::int64_t(sizeof(T));
    auto& counters = state.counters;
    counters["rows"] = static_cast<double>(one.rows);
    counters["columns"] = static_cast<double>(one.columns);
    counters["element_bytes"] = sizeof(T);

    const std::int64_t wrong = check(context, one, operands.a[0], operands.b[0], ours);
    counters["error"] = static_cast<double>(wrong);
    counters["wrong"] = wrong > 0 ? 1 : 0;
    counters["entry"] = choice.entry;
    // The runtime copies odd lengths more slowly: whole pages, or what fills 16 bytes.
    const std::int64_t unit = bytes >= 4096 ? 4096 : 16;
    const std::int64_t copied = std::max(bytes / unit, std::int64_t(1)) * unit;
    const auto copied_whole = [&context, copied](Placed<T>& a, Placed<T>& b) {
        plain_copy(context, b.memory.view().data, a.memory.view().data, copied)();
    };
    run_contest(session, state,
                {.ours = ours,
                 .reference = reference_of<T>(session, one, operands),
                 .limit = emulated() ? Work() : operands.turns(copied_whole),
                 .bytes = 2.0 * static_cast<double>(bytes),
                 .rotation = operands.copies()});
    std::string rung = to_string(choice.kernel);
    if (choice.entry >= 0) rung += "(" + std::to_string(choice.entry) + ")";
    std::string detail = one.in_place() ? "in place" : one.cold() ? "cold" : "packed";
    if (one.pad > 0)
        detail = "ld + " + std::to_string(one.pad) + ", base + " + std::to_string(one.shift);
    state.SetLabel(rung + "/" + detail);
    return wrong == 0;
}

template <class T>
void add(Session& session, const char* type, const TransposeCase& one, TransposeOptions asked) {
    std::string name = std::string(type) + "/" + one.group + "/" + std::to_string(one.rows) + "x" +
                       std::to_string(one.columns) + "/" + to_string(asked.kernel);
    if (asked.entry >= 0) name += std::to_string(asked.entry);
    name += in_name(one.places);
    session.add(name, rounds_of(session), [=, &session](benchmark::State& state) {
        return measure<T>(session, one, asked, state);
    });
}

/// Whether a line of the tuning table can do a case.
template <class T>
bool can_run(int entry, const TransposeCase& one) {
    const auto aligned = [](const Place& place) {
        return (place.row_stride | place.shift) * std::int64_t(sizeof(T)) % 16 == 0;
    };
    const Place a = one.place(0, one.columns), b = one.place(1, one.rows);
    return can_run(transpose_table[entry],
                   {.element_size = sizeof(T),
                    .m = one.rows,
                    .n = one.columns,
                    .unit_strides = a.column_stride == 1 && b.column_stride == 1,
                    .aligned = aligned(a) && aligned(b),
                    .in_place = one.in_place()});
}

/// A case on each rung, or on each line of the tuning table, that is asked for.
template <class T>
void add_all(Session& session, const char* type, const std::vector<TransposeCase>& cases,
             const Options& options) {
    const int entry = options.asked.entry;
    for (const TransposeCase& one : cases) {
        if (session.quick && !one.quick) continue;
        if (entry == chosen_entry) {
            if (one.ladder && !options.forced)
                for (const auto rung : {TransposeKernel::naive, TransposeKernel::padded})
                    add<T>(session, type, one, {rung});
            add<T>(session, type, one, options.asked);
        }
        for (int i = 0; i < transpose_entries; ++i)
            if ((entry == i || entry == every_entry) && can_run<T>(i, one))
                add<T>(session, type, one, {TransposeKernel::tuned, i});
    }
}

TransposeCase square(std::int64_t n, bool ladder = false, bool quick = false) {
    return {"square", n, n, 0, 0, ladder, quick};
}

void add_small(Session& session, const Options& options) {
    add_all<float>(session, "float",
                   {square(4),
                    square(64, true, true),
                    square(256, true, true),
                    {"odd", 257, 255},
                    {"skinny", 8, 4096},
                    {"skinny", 4096, 3},
                    {"in_place", 256, 256},
                    {"sub_block", 200, 200, 31, 3},
                    {"cold", 1024, 1024}},
                   options);
    add_all<double>(session, "double", {square(256)}, options);
    add_all<std::uint16_t>(session, "16-bit", {square(256)}, options);
    add_all<Bits128>(session, "16-byte", {square(128)}, options);
}

void add_large(Session& session, const Options& options) {
    constexpr std::int64_t wide = 1 << 22;
    add_all<float>(session, "float",
                   {square(32768),  // first, while memory is in one piece
                    square(46341),  // the first past 2^31 elements
                    square(4),
                    square(16),
                    square(64),
                    square(256),
                    square(1024, false, true),
                    square(2048),
                    square(4096, true, true),
                    square(8192),
                    square(16384, true, true),
                    {"odd", 4097, 4095, 0, 0, false, true},
                    {"odd", 16383, 16381},
                    {"odd", 100003, 1021},
                    {"skinny", 32, wide, 0, 0, false, true},
                    {"skinny", wide, 32},
                    {"skinny", 3, 4 * wide},
                    {"skinny", 4 * wide, 5},
                    {"skinny", 16, 2 * wide},
                    {"skinny", 5000, 50000},
                    {"in_place", 4096, 4096},
                    {"in_place", 16384, 16384, 0, 0, false, true},
                    {"in_place", 32768, 32768},
                    {"sub_block", 8000, 8000, 191, 3},
                    {"cold", 256, 256},
                    {"cold", 1024, 1024},
                    {"cold", 2048, 2048}},
                   options);
    add_all<double>(session, "double", {square(4096), square(16384)}, options);
    add_all<std::uint16_t>(session, "16-bit", {square(16384)}, options);
    add_all<Bits128>(session, "16-byte", {square(8192)}, options);
}

void add_asked(Session& session, const Options& options) {
    for (const auto& [bytes, one] : options.cases) {
        if (bytes == 2) add_all<std::uint16_t>(session, "16-bit", {one}, options);
        if (bytes == 4) add_all<float>(session, "float", {one}, options);
        if (bytes == 8) add_all<double>(session, "double", {one}, options);
        if (bytes == 16) add_all<Bits128>(session, "16-byte", {one}, options);
    }
}

Facts set_up(Session& session, const Options& options) {
    session.measure_memory();
    if (!options.cases.empty())
        add_asked(session, options);
    else
        emulated() ? add_small(session, options) : add_large(session, options);
    return session.facts();
}

/// "M,N,BYTES", "M,N,BYTES,A,B", the last two places, or "M,N,BYTES,A,in_place".
std::pair<int, TransposeCase> parse_shape(const std::string& text) {
    const std::vector<std::string> all = words("shape", text);
    const bool has_places = all.size() == 5, in_place = has_places && all[4] == "in_place";
    const bool has_bytes =
        all.size() >= 3 && (all[2] == "2" || all[2] == "4" || all[2] == "8" || all[2] == "16");
    if ((all.size() != 3 && !has_places) || !has_bytes)
        throw Error(Status::invalid_argument,
                    "--shape: '" + text +
                        "' is not M,N,BYTES or M,N,BYTES,A,B with 2, 4, 8 or 16 "
                        "BYTES; --help lists the flags");
    TransposeCase one = {in_place ? "in_place" : "asked", parse_number("shape", all[0], 1),
                         parse_number("shape", all[1], 1)};
    one.quick = true;
    if (has_places) one.places.push_back(parse_matrix_place("shape", all[3]));
    if (has_places && !in_place) one.places.push_back(parse_matrix_place("shape", all[4]));
    return {std::stoi(all[2]), one};
}

std::vector<Flag> flags(Options& options) {
    const auto entry = [&options](const std::string& text) {
        char* end = nullptr;
        const long line = std::strtol(text.c_str(), &end, 10);
        const bool number = !text.empty() && *end == '\0' && line >= 0 && line < transpose_entries;
        if (text != "all" && !number)
            throw Error(Status::invalid_argument, "--entry: '" + text +
                                                      "' is not all or a number from 0 to " +
                                                      std::to_string(transpose_entries - 1));
        options.asked = {TransposeKernel::tuned,
                         text == "all" ? every_entry : static_cast<int>(line)};
        options.forced = true;
    };
    return {
        kernel_flag("naive, padded, tuned or best alone, without the ladder", transpose_kernel,
                    options.asked.kernel, options.forced),
        {"entry", "I", "line I of the tuning table alone, or all: every line that is legal", entry},
        {"shape", "M,N,BYTES",
         "this matrix instead, of elements of 2, 4, 8 or 16 bytes; M,N,BYTES,A,B: at these\n"
         "places, each as ROW_STRIDE:COLUMN_STRIDE or ROW_STRIDE:COLUMN_STRIDE+SHIFT (elements\n"
         "from a multiple of 16 bytes), or B as in_place. TINYBLAS_LOG=1 prints such flags for\n"
         "the calls of any program",
         [&options](const std::string& text) { options.cases.push_back(parse_shape(text)); }}};
}

std::vector<Column> columns() {
    return {detail_column(18),
            number_column("rows", 9, "rows", 0),
            number_column("columns", 9, "columns", 0),
            rung_column(),
            number_column("GB/s", 7, "gbs"),
            percent_column("of copy", "limit_share"),
            number_column("cuBLAS", 7, "reference_gbs"),
            ratio_column(),
            spread_column(),
            number_column("us", 9, "microseconds"),
            error_column(),
            bar_column(" to the copy", "limit_share")};
}

constexpr const char* legend =
    "GB/s: bytes read and written. of copy: of the runtime's copy of as many bytes, in the same "
    "rounds.\ncold: so many copies of A and B that no cache holds the next; else the same ones "
    "again "
    "and again.\nratio: the time of cuBLAS's geam / ours, median of the rounds. error: elements "
    "that "
    "are wrong, of all.\n";

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    using namespace tinyblas::bench;
    Options options;
    return run_program(
        {"bench_transpose",
         "transpose on every rung, beside cuBLAS and a copy where there is a GPU.", flags(options),
         columns(), legend, [&](Session& session) { return set_up(session, options); }},
        argc, argv);
}
