// SPDX-License-Identifier: MIT
// polyval on every rung, beside Thrust and a plain copy of the same bytes in the same run. Sampled
// results are checked before anything is timed.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "contest.hpp"
#include "data.hpp"
#include "program.hpp"
#include "tinyblas/matrix.hpp"
#include "tinyblas/polyval.hpp"

namespace tinyblas::bench {
namespace {

struct Case {
    std::string group;  // burst, sustained, cold
    int degree;
    std::int64_t n;
    PolyvalKernel rung = PolyvalKernel::best;
    std::vector<Place> places = {};  // of x and y; empty: contiguous
    bool in_place = false;           // y is x: each call evaluates what the one before left
    bool compensated = false;

    Place place(std::size_t operand) const { return places.empty() ? Place{} : places[operand]; }
    bool is_contiguous() const {
        return place(0).column_stride == 1 && place(1).column_stride == 1;
    }
    /// Elements from one copy of a vector to the next.
    std::int64_t span(std::size_t operand) const {
        return std::max(n * std::abs(place(operand).column_stride), std::int64_t(1));
    }
    bool sustained() const { return group == "sustained"; }
    bool cold() const { return group == "cold"; }
    /// Memory and multiply-adds at their limits together pass the power limit within a turn.
    bool rested() const { return !sustained() && degree > 24 && degree < 100; }
};

struct Options {
    PolyvalKernel kernel = PolyvalKernel::best;
    bool forced = false;                            // a rung was named: no ladder
    std::vector<std::pair<char, Case>> asked = {};  // with the letter of their type
    bool compensated = false;                       // those
};

template <class T>
bool measure(Session& session, const Case& one, benchmark::State& state) {
    Context& context = session.context;
    const std::int64_t bytes = one.n * std::int64_t(sizeof(T));
    const int copies = one.cold() ? copies_beyond_caches(2 * bytes) : 1;
    const Place place_x = one.place(0), place_y = one.place(1);
    Matrix<T> x(1, copies * one.span(0) + place_x.shift);  // side by side
    Matrix<T> y(1, copies * one.span(1) + place_y.shift);
    Matrix<T> given(1, one.in_place ? x.columns() : 0);  // x, which the first call overwrites
    Matrix<T> coefficients(1, one.degree + 1);           // where Thrust and the check read them,
    std::vector<T> host(one.degree + 1);                 // and where ours does
    fill_uniform(context, x.view().data, x.columns(), 1);
    if (one.in_place) copy(context, x, given);
    fill_random(context, coefficients.view().data, coefficients.columns(), 2);
    poison(context, y.view().data, y.columns() * std::int64_t(sizeof(T)));
    copy(context, coefficients, MatrixView<T>::row_major(host.data(), 1, one.degree + 1));
    context.synchronize();

    const auto points = [&](int copy) {
        return VectorView<const T>{x.view().data + place_x.shift + copy * one.span(0), one.n,
                                   place_x.column_stride};
    };
    const auto values = [&](int copy) {
        T* const data = one.in_place ? x.view().data : y.view().data;
        return VectorView<T>{data + place_y.shift + copy * one.span(1), one.n,
                             place_y.column_stride};
    };
    const VectorView<const T> polynomial{coefficients.view().data, one.degree + 1};
    PolyvalChoice choice;
    const Work ours = rotating(copies, [&](int copy) {
        choice = polyval(context, host, points(copy), values(copy), {one.rung, one.compensated});
    });
    ours();
    VectorView<const T> checked = points(0);
    if (one.in_place) checked.data = given.view().data + place_x.shift;
    const double error = polynomial_error<T>(context, polynomial, checked, values(0));
    const bool right = error <= error_bound(one.degree);
    auto& counters = state.counters;
    counters["error"] = error;
    counters["wrong"] = right ? 0 : 1;
    counters["n"] = static_cast<double>(one.n);
    counters["degree"] = one.degree;
    counters["element_bytes"] = sizeof(T);

    std::vector<Work> references, limits;
    for (int copy = 0; copy < copies; ++copy) {
        references.push_back(
            one.is_contiguous() && !one.in_place
                ? thrust_polyval<T>(context, polynomial, points(copy), values(copy))
                : Work());
        limits.push_back(one.in_place
                             ? Work()
                             : plain_copy(context, values(copy).data, points(copy).data, bytes));
    }
    const auto each = [copies](const std::vector<Work>& works) {
        return works[0] ? rotating(copies, [works](int copy) { works[copy](); }) : Work();
    };
    run_contest(session, state,
                {.ours = ours,
                 .reference = each(references),
                 .limit = each(limits),
                 .bytes = 2.0 * static_cast<double>(bytes),
                 .flop = 2.0 * one.degree * static_cast<double>(one.n),
                 .peak = session.limits.flops<T>(),
                 .rotation = copies,
                 .sustained = one.sustained(),
                 .rested = one.rested()});
    state.SetLabel(std::string(to_string(choice.kernel)) + "/" + one.group);
    return right;
}

template <class T>
void add(Session& session, const Options& options, Case one) {
    if (options.forced && one.rung != PolyvalKernel::best) return;
    if (options.forced) one.rung = options.kernel;
    const std::string name = (sizeof(T) == sizeof(float) ? "spolyval/" : "dpolyval/") + one.group +
                             "/degree" + std::to_string(one.degree) + "/" + std::to_string(one.n) +
                             "/" + to_string(one.rung) + (one.compensated ? "/compensated" : "") +
                             (one.in_place ? "/in_place" : "") + in_name(one.places);
    session.add(name, rounds_of(session, one.sustained()),
                [=, &session](benchmark::State& state) { return measure<T>(session, one, state); });
}

template <class T>
void add_degrees(Session& session, const Options& options, const char* group, std::int64_t n,
                 std::initializer_list<int> degrees) {
    for (const int degree : degrees) add<T>(session, options, {group, degree, n});
}

void add_ladder(Session& session, const Options& options, std::int64_t n,
                std::initializer_list<int> degrees) {
    for (const int degree : degrees)
        for (const auto rung : {PolyvalKernel::naive, PolyvalKernel::constant})
            add<float>(session, options, {"burst", degree, n, rung});
}

void add_small(Session& session, const Options& options) {
    constexpr std::int64_t n = 1 << 14;
    add_degrees<float>(session, options, "burst", n, {1, 8, 64, 256});
    if (session.quick) return;
    add_degrees<float>(session, options, "burst", 1 << 10, {8, 20000});
    add_degrees<float>(session, options, "cold", n, {8});
    add_degrees<double>(session, options, "burst", n, {8, 64});
    add_ladder(session, options, n, {16, 256});
}

void add_quick(Session& session, const Options& options) {
    constexpr std::int64_t n = 1 << 28;
    add_degrees<float>(session, options, "burst", n, {8, 32, 48, 64, 256, 512});
    add_degrees<float>(session, options, "sustained", n, {48, 256});
    add_degrees<double>(session, options, "burst", n / 2, {8, 64});
    add_ladder(session, options, n, {48});
}

void add_large(Session& session, const Options& options) {
    constexpr std::int64_t n = 1 << 28;
    add_degrees<float>(session, options, "burst", n,
                       {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 100, 128, 256, 512});
    add_ladder(session, options, n, {16, 48, 256});
    for (const auto& [degree, fewer] : {std::pair{2048, n / 4}, {8000, n / 16}, {20000, n / 16}})
        add_degrees<float>(session, options, "burst", fewer, {degree});
    for (const int logarithm : {4, 7, 10, 13, 16, 18, 20, 22, 24, 26})
        add_degrees<float>(session, options, "burst", std::int64_t(1) << logarithm, {8});
    for (const int logarithm : {16, 20, 22})
        add_degrees<float>(session, options, "cold", std::int64_t(1) << logarithm, {8});
    add_degrees<float>(session, options, "burst", (std::int64_t(1) << 31) + 7, {8});
    add_degrees<double>(session, options, "burst", n / 2, {8, 32, 64, 256});

    // The power limit decides here.
    add_degrees<float>(session, options, "sustained", n, {32, 40, 48, 56, 64, 100, 128, 256, 512});
    for (const auto& [degree, fewer] : {std::pair{2048, n / 4}, {8000, n / 16}, {20000, n / 16}})
        add_degrees<float>(session, options, "sustained", fewer, {degree});
    add_degrees<double>(session, options, "sustained", n / 2, {32, 64, 256});
}

void add_asked(Session& session, const Options& options) {
    for (auto [letter, one] : options.asked) {
        one.compensated = options.compensated;
        letter == 's' ? add<float>(session, options, one) : add<double>(session, options, one);
    }
}

Facts set_up(Session& session, const Options& options) {
    session.measure_memory();
    session.measure_arithmetic();
    if (!options.asked.empty())
        add_asked(session, options);
    else if (emulated())
        add_small(session, options);
    else if (session.quick)
        add_quick(session, options);
    else
        add_large(session, options);
    return {{"rounds", std::to_string(session.regime.rounds)},
            {"regime", session.regime.text() +
                           ", 200 ms before each turn at degrees 25 to 99; sustained: 0.5 s "
                           "without pause before, 0.5 s timed, ours alone"},
            {"reference", thrust_name()}};
}

/// "spolyval,DEGREE,N" or "spolyval,DEGREE,N,X,Y", the last two places.
std::pair<char, Case> parse_case(const std::string& text) {
    constexpr const char* like = "spolyval,DEGREE,N or dpolyval,DEGREE,N";
    const auto [letter, name, all] = named_case(text, like);
    const bool has_places = all.size() == 4;
    if ((all.size() != 2 && !has_places) || name != "polyval") refuse_case(text, like);
    Case one = {"burst", static_cast<int>(parse_number("case", all[0], 0)),
                parse_number("case", all[1], 1)};
    if (has_places) {
        one.in_place = all[3] == "in_place";
        one.places = {parse_vector_place("case", all[2]),
                      parse_vector_place("case", all[one.in_place ? 2 : 3])};
    }
    return {letter, one};
}

std::vector<Flag> flags(Options& options) {
    return {
        kernel_flag("naive, constant, tuned or best alone, without the ladder", polyval_kernel,
                    options.kernel, options.forced),
        {"case", "OP,D,N",
         "this case instead: spolyval,DEGREE,N or dpolyval,DEGREE,N; OP,D,N,X,Y: with vectors\n"
         "at these places, each as INCREMENT or INCREMENT+SHIFT (elements from a multiple of 16\n"
         "bytes), Y may be in_place. TINYBLAS_LOG=1 prints such flags for the calls of any program",
         [&options](const std::string& text) { options.asked.push_back(parse_case(text)); }},
        {"compensated", nullptr, "this case by the compensated rule",
         [&options](const std::string&) { options.compensated = true; }}};
}

std::vector<Column> columns() {
    return {detail_column(9),
            number_column("degree", 7, "degree", 0),
            number_column("n", 11, "n", 0),
            rung_column(),
            number_column("GB/s", 7, "gbs"),
            percent_column("of copy", "limit_share"),
            number_column("TFLOP/s", 7, "tflops"),
            percent_column("of peak", "peak_fraction"),
            number_column("Thrust", 7, "reference_gbs"),
            ratio_column(),
            spread_column(),
            number_column("us", 9, "microseconds"),
            error_column(),
            bar_column(" to the copy", "limit_share")};
}

constexpr const char* legend =
    "GB/s: bytes read and written. of copy: of the runtime's copy of as many bytes, in the same "
    "rounds. of peak: of\nthe measured FFMA (spolyval) or DFMA (dpolyval) rate. ratio: the time of "
    "thrust::transform with Horner's rule / ours,\nmedian of the rounds. error: largest over 512 "
    "points, in units of 2^-24 or 2^-53 of sum |a_j| |x|^j.\n";

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    using namespace tinyblas::bench;
    Options options;
    return run_program(
        {"bench_polyval", "polyval on every rung, beside Thrust and a copy where there is a GPU.",
         flags(options), columns(), legend,
         [&](Session& session) { return set_up(session, options); }},
        argc, argv);
}
