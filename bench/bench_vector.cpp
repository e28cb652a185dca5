// SPDX-License-Identifier: MIT
// axpy and scal beside cuBLAS in the same run. Results are checked before anything is timed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "contest.hpp"
#include "data.hpp"
#include "program.hpp"
#include "tinyblas/reduce.hpp"

namespace tinyblas::bench {
namespace {

struct Case {
    bool scal;          // else axpy
    std::string group;  // warm, strided
    std::int64_t n;
    std::vector<Place> places = {};  // of x and y; empty: as the group says
    bool in_place = false;           // axpy whose y is x

    Place place(std::size_t operand) const {
        if (!places.empty()) return places[operand];
        return {0, group == "strided" ? 2 : 1};
    }
    /// One vector that is read and written; axpy has another one to read.
    bool one_vector() const { return scal || in_place; }
};

constexpr double alpha = -1;  // so that no number grows, call after call

template <class T>
void run(Context& context, const Case& one, VectorView<const T> x, VectorView<T> y) {
    if (one.scal) return scal(context, T(alpha), y);
    axpy(context, T(alpha), x, y);
}

/// The first elements of a vector.
template <class T>
std::vector<T> on_host(Context& context, VectorView<const T> x) {
    const std::int64_t count = std::min(x.size, std::int64_t(1) << 20);
    std::vector<T> host(static_cast<std::size_t>(count));
    copy(context, MatrixView<const T>{&x(0), 1, count, 0, x.increment},
         MatrixView<T>::row_major(host.data(), 1, count));
    context.synchronize();
    return host;
}

/// The largest error of one call, in units of T's rounding unit and of the magnitudes that go in.
template <class T>
double error_of(Context& context, const Case& one, VectorView<const T> x, VectorView<T> y) {
    const std::vector<T> before_x = on_host<T>(context, x), before_y = on_host<T>(context, y);
    run<T>(context, one, x, y);
    const std::vector<T> after = on_host<T>(context, y);
    double error = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        const long double product = alpha * static_cast<long double>(before_x[i]);
        const long double kept = one.scal ? 0 : before_y[i];
        const long double unit =
            (std::abs(product) + std::abs(kept)) * (std::numeric_limits<T>::epsilon() / 2);
        const long double off = std::abs(after[i] - (product + kept));
        if (!(off == 0)) error = std::max(error, std::isnan(off) ? 1e9 : double(off / unit));
    }
    return error;
}

template <class T>
bool measure(Session& session, const Case& one, benchmark::State& state) {
    Context& context = session.context;
    const PlacedVector<T> x(one.place(one.in_place ? 1 : 0), one.one_vector() ? 1 : one.n);
    const PlacedVector<T> y(one.place(one.scal ? 0 : 1), one.n);
    for (const auto* vector : {&x, &y})
        fill_random(context, vector->all.data, vector->all.size, vector == &x ? 1 : 2);
    const VectorView<T> of_y = y.view;
    const VectorView<const T> of_x = one.one_vector() ? of_y : x.view;

    auto& counters = state.counters;
    const double error = error_of<T>(context, one, of_x, of_y);
    const bool right = error <= 1.001;  // the check rounds, too
    counters["error"] = error;
    counters["wrong"] = right ? 0 : 1;
    counters["n"] = static_cast<double>(one.n);
    counters["element_bytes"] = sizeof(T);

    const double bytes = static_cast<double>(one.n * std::int64_t(sizeof(T)));
    Contest contest{.ours = [=, &context] { run<T>(context, one, of_x, of_y); },
                    .bytes = (one.one_vector() ? 2 : 3) * bytes};
    if (session.reference)
        contest.reference = [=, &session] {
            if (one.scal)
                session.reference->scal(T(alpha), of_y);
            else
                session.reference->axpy(T(alpha), of_x, of_y);
        };
    run_contest(session, state, contest);
    state.SetLabel("tuned/" + one.group);
    return right;
}

struct Options {
    std::vector<std::pair<char, Case>> asked = {};  // with the letter of their type
};

template <class T>
void add(Session& session, const Case& one) {
    const std::string name = std::string(sizeof(T) == sizeof(float) ? "s" : "d") +
                             (one.scal ? "scal/" : "axpy/") + one.group + "/" +
                             std::to_string(one.n) + (one.in_place ? "/in_place" : "") +
                             in_name(one.places);
    session.add(name, rounds_of(session),
                [=, &session](benchmark::State& state) { return measure<T>(session, one, state); });
}

void add_built_in(Session& session) {
    std::vector<int> logarithms = {10, 16, 20, 24, 28};
    if (emulated()) logarithms = {4, 16};
    for (const bool scal : {false, true})
        for (const int logarithm : logarithms) {
            const Case one = {scal, "warm", std::int64_t(1) << logarithm};
            add<float>(session, one);
            if (!session.quick) add<double>(session, one);
        }
    if (!session.quick) add<float>(session, {false, "strided", 1 << (emulated() ? 10 : 24)});
}

Facts set_up(Session& session, const Options& options) {
    session.time_short_calls();
    session.measure_memory();
    for (const auto& [letter, one] : options.asked)
        letter == 's' ? add<float>(session, one) : add<double>(session, one);
    if (options.asked.empty()) add_built_in(session);
    return session.facts();
}

/// "saxpy,N" or "saxpy,N,X,Y", "sscal,N" or "sscal,N,X": the last words are places.
std::pair<char, Case> parse_case(const std::string& text) {
    constexpr const char* like = "saxpy,N or dscal,N";
    const auto [letter, name, all] = named_case(text, like);
    const bool scal = name == "scal";
    if ((all.size() != 1 && all.size() != (scal ? 2 : 3)) || (!scal && name != "axpy"))
        refuse_case(text, like);
    Case one = {scal, "asked", parse_number("case", all[0], 1)};
    one.in_place = all.size() == 3 && all[2] == "in_place";
    for (std::size_t i = 1; i < all.size(); ++i)
        one.places.push_back(parse_vector_place("case", all[one.in_place ? 1 : i]));
    return {letter, one};
}

std::vector<Flag> flags(Options& options) {
    return {
        {"case", "OP,N",
         "this case instead: saxpy,N or dscal,N, say; OP,N,X,Y or OP,N,X: with vectors at these\n"
         "places, each as INCREMENT or INCREMENT+SHIFT (elements from a multiple of 16 bytes),\n"
         "axpy's Y may be in_place. TINYBLAS_LOG=1 prints such flags for the calls of any\n"
         "program",
         [&options](const std::string& text) { options.asked.push_back(parse_case(text)); }}};
}

std::vector<Column> columns() {
    return {detail_column(10),
            number_column("n", 11, "n", 0),
            number_column("us", 9, "microseconds"),
            number_column("cuBLAS", 9, "reference_microseconds"),
            ratio_column(),
            spread_column(),
            number_column("GB/s", 7, "gbs"),
            number_column("cuBLAS", 7, "reference_gbs"),
            error_column()};
}

constexpr const char* legend =
    "GB/s: elements read and written. ratio: cuBLAS's time / ours, median of the rounds. error: in "
    "units of 2^-24\n(float) or 2^-53 (double) of the magnitudes that go in.\n";

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    using namespace tinyblas::bench;
    Options options;
    return run_program(
        {"bench_vector", "axpy and scal, beside cuBLAS where there is a GPU.", flags(options),
         columns(), legend, [&](Session& session) { return set_up(session, options); }},
        argc, argv);
}
