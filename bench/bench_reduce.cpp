// SPDX-License-Identifier: MIT
// asum, dot, nrm2 and sum on every rung, beside cuBLAS and a kernel that only reads the same bytes,
// in the same run. Results are checked, and must have the same bits twice, before anything is
// timed.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "contest.hpp"
#include "program.hpp"
#include "reduce_operands.hpp"

namespace tinyblas::bench {
namespace {

constexpr const char* names[] = {"asum", "dot", "nrm2", "sum"};

struct Options {
    ReduceKernel kernel = ReduceKernel::best;
    bool forced = false;                                  // a rung was named: no ladder
    std::vector<std::pair<char, ReduceCase>> asked = {};  // with the letter of their type
};

template <class T>
ReduceChoice reduce(Context& context, const ReduceCase& one, VectorView<const T> x,
                    VectorView<const T> y, T* result) {
    switch (one.operation) {
        case Reduction::asum: return asum(context, x, result, {one.rung});
        case Reduction::dot: return dot(context, x, y, result, {one.rung});
        case Reduction::nrm2: return nrm2(context, x, result, {one.rung});
        case Reduction::sum: break;
    }
    return sum(context, x, result, {one.rung});
}

/// What `ours` leaves in `result`.
template <class T>
T value_of(Context& context, Matrix<T>& result, const Work& ours) {
    poison(context, result.view().data, sizeof(T));
    ours();
    T value;
    copy(context, result, MatrixView<T>::row_major(&value, 1, 1));
    context.synchronize();
    return value;
}

/// Sets the counter `error`; whether the result is right, twice the same bits. `choice`: what ran.
template <class T>
bool check(Context& context, const ReduceCase& one, const ReduceOperands<T>& operands,
           Matrix<T>& result, ReduceChoice& choice, benchmark::State& state) {
    const Work ours = [&] {
        choice = reduce<T>(context, one, operands.x(), operands.y(), result.view().data);
    };
    const T first = value_of(context, result, ours), second = value_of(context, result, ours);
    const double error =
        reduction_error<T>(context, one.operation, operands.x(), operands.y(), first);
    state.counters["error"] = error;
    const bool same = std::memcmp(&first, &second, sizeof(T)) == 0;
    if (!same) std::fprintf(stderr, "two runs gave %.17g and %.17g\n", first + 0.0, second + 0.0);
    // Thousands of threads share the sum, except on the first rung.
    const double shared = one.rung == ReduceKernel::naive ? 1 : 1024;
    return same && error <= error_bound(static_cast<double>(one.n) / shared);
}

/// The form that returns a number. Only asum in float, which is like the others.
template <class T>
Contest host_contest(Session& session, const ReduceCase& one, const ReduceOperands<T>& operands) {
    Contest contest{.host = true};
    if constexpr (std::is_same_v<T, float>) {
        const VectorView<const float> x = operands.x();
        const ReduceOptions options{one.rung};
        contest.ours = [=, &session] {
            benchmark::DoNotOptimize(asum(session.context, x, options));
        };
        if (session.reference)
            contest.reference = [=, &session] {
                benchmark::DoNotOptimize(session.reference->asum(x));
            };
    }
    return contest;
}

template <class T>
Contest device_contest(Session& session, const ReduceCase& one, const ReduceOperands<T>& operands,
                       Matrix<T>& result, Matrix<T>& other) {
    Contest contest{.rotation = operands.rotation()};
    contest.ours = rotating(operands.rotation(), [&](int copy) {
        reduce<T>(session.context, one, operands.x(copy), operands.y(copy), result.view().data);
    });
    if (session.reference && one.operation != Reduction::sum && one.group != "huge" &&
        one.place(0).column_stride != 0 && one.place(1).column_stride != 0)
        contest.reference = rotating(operands.rotation(), [&](int copy) {
            session.reference->reduce(one.operation, operands.x(copy), operands.y(copy),
                                      other.view().data);
        });
    std::vector<Work> reads;
    for (int copy = 0; copy < operands.rotation(); ++copy)
        reads.push_back(plain_read(session.context, operands.x_memory(copy),
                                   operands.y_memory(copy), operands.bytes()));
    if (reads.front())
        contest.limit = rotating(operands.rotation(), [reads](int copy) { reads[copy](); });
    return contest;
}

template <class T>
bool measure(Session& session, const ReduceCase& one, benchmark::State& state) {
    Context& context = session.context;
    const ReduceOperands<T> operands(context, one);
    Matrix<T> result(1, 1), other(1, 1);
    ReduceChoice choice;
    const bool right = check(context, one, operands, result, choice, state);
    state.counters["wrong"] = right ? 0 : 1;
    state.counters["n"] = static_cast<double>(one.n);
    state.counters["element_bytes"] = sizeof(T);

    Contest contest = one.group == "host" ? host_contest(session, one, operands)
                                          : device_contest(session, one, operands, result, other);
    contest.bytes = static_cast<double>(operands.bytes()) * (one.two() ? 2 : 1);
    run_contest(session, state, contest);
    state.SetLabel(std::string(to_string(choice.kernel)) + "/" + one.group);
    return right;
}

template <class T>
void add(Session& session, const Options& options, ReduceCase one) {
    if (options.forced && one.rung != ReduceKernel::best) return;
    if (options.forced) one.rung = options.kernel;
    std::string name = (sizeof(T) == sizeof(float) ? "s" : "d") +
                       std::string(names[static_cast<int>(one.operation)]) + "/" + one.group + "/" +
                       std::to_string(one.n) + "/" + to_string(one.rung);
    name += in_name(one.places);
    session.add(name, rounds_of(session),
                [=, &session](benchmark::State& state) { return measure<T>(session, one, state); });
}

template <class T>
void add_sizes(Session& session, const Options& options, Reduction operation, const char* group,
               std::initializer_list<int> logarithms) {
    for (const int logarithm : logarithms)
        add<T>(session, options, {operation, group, std::int64_t(1) << logarithm});
}

void add_ladder(Session& session, const Options& options, Reduction operation,
                std::initializer_list<int> logarithms) {
    for (const int logarithm : logarithms)
        for (const auto rung : {ReduceKernel::naive, ReduceKernel::texture})
            add<float>(session, options, {operation, "warm", std::int64_t(1) << logarithm, rung});
}

void add_small(Session& session, const Options& options) {
    for (const Reduction operation :
         {Reduction::asum, Reduction::dot, Reduction::nrm2, Reduction::sum}) {
        add_sizes<float>(session, options, operation, "warm", {4, 10, 16});
        if (!session.quick) add_sizes<double>(session, options, operation, "warm", {10, 16});
    }
    if (session.quick) return;
    add_ladder(session, options, Reduction::asum, {10, 16});
    add<float>(session, options, {Reduction::asum, "host", 1024});
    for (const char* group : {"misaligned", "strided"})
        add_sizes<float>(session, options, Reduction::asum, group, {16});
}

void add_quick(Session& session, const Options& options) {
    for (const Reduction operation : {Reduction::asum, Reduction::dot})
        add_sizes<float>(session, options, operation, "warm", {10, 16, 20, 24, 28});
    add_sizes<float>(session, options, Reduction::asum, "cold", {20});
    add_ladder(session, options, Reduction::asum, {16, 28});
    add_sizes<float>(session, options, Reduction::asum, "host", {10});
}

void add_large(Session& session, const Options& options) {
    const auto all = {4, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}, few = {10, 16, 20, 24, 28};
    const auto laddered = {16, 20, 28};
    for (const Reduction operation : {Reduction::asum, Reduction::dot}) {
        add_sizes<float>(session, options, operation, "warm", all);
        add_ladder(session, options, operation, laddered);
        add_sizes<float>(session, options, operation, "cold", {16, 18, 20, 22, 24});
        for (const char* group : {"misaligned", "strided"})
            add_sizes<float>(session, options, operation, group, {26});
    }
    for (const Reduction operation : {Reduction::nrm2, Reduction::sum})
        add_sizes<float>(session, options, operation, "warm", few);
    for (const Reduction operation :
         {Reduction::asum, Reduction::dot, Reduction::nrm2, Reduction::sum})
        add_sizes<double>(session, options, operation, "warm", few);
    add_sizes<float>(session, options, Reduction::asum, "host", {10, 16, 20});
    add<float>(session, options, {Reduction::asum, "huge", (std::int64_t(1) << 31) + 7});
}

void add_asked(Session& session, const Options& options) {
    for (const auto& [letter, one] : options.asked)
        letter == 's' ? add<float>(session, options, one) : add<double>(session, options, one);
}

Facts set_up(Session& session, const Options& options) {
    session.time_short_calls();
    session.measure_memory();
    if (!options.asked.empty())
        add_asked(session, options);
    else if (emulated())
        add_small(session, options);
    else if (session.quick)
        add_quick(session, options);
    else
        add_large(session, options);
    return session.facts();
}

/// "sdot,N", "sdot,N,X" or "sdot,N,X,Y", the last two places.
std::pair<char, ReduceCase> parse_case(const std::string& text) {
    constexpr const char* like = "sasum,N or ddot,N";
    const auto [letter, name, all] = named_case(text, like);
    const auto found = std::find(std::begin(names), std::end(names), name);
    if (all.empty() || all.size() > 3 || found == std::end(names)) refuse_case(text, like);
    ReduceCase one = {static_cast<Reduction>(found - names), "asked",
                      parse_number("case", all[0], 1)};
    for (std::size_t i = 1; i < all.size(); ++i)
        one.places.push_back(parse_vector_place("case", all[i]));
    return {letter, one};
}

std::vector<Flag> flags(Options& options) {
    return {kernel_flag("naive, texture, tuned or best alone, without the ladder", reduce_kernel,
                        options.kernel, options.forced),
            {"case", "OP,N",
             "this case instead: sasum,N or ddot,N, say; OP,N,X,Y: with vectors at these places,\n"
             "each as INCREMENT or INCREMENT+SHIFT (elements from a multiple of 16 bytes).\n"
             "TINYBLAS_LOG=1 prints such flags for the calls of any program",
             [&options](const std::string& text) { options.asked.push_back(parse_case(text)); }}};
}

std::vector<Column> columns() {
    return {detail_column(10),
            number_column("n", 11, "n", 0),
            rung_column(),
            number_column("us", 9, "microseconds"),
            number_column("cuBLAS", 9, "reference_microseconds"),
            ratio_column(),
            spread_column(),
            number_column("GB/s", 7, "gbs"),
            number_column("cuBLAS", 7, "reference_gbs"),
            percent_column("of read", "limit_share"),
            error_column(),
            bar_column(" to the read", "limit_share")};
}

constexpr const char* legend =
    "warm: the same operands again and again; cold: so many copies that no cache holds the next; "
    "host: until the\nnumber is in the host's hands, median call; strided: increment 2, the bytes "
    "between count, for memory delivers\nthem. of read: of a kernel that only reads as many bytes, "
    "in the same rounds. ratio: cuBLAS's time / ours,\nmedian of the rounds. error: in units of "
    "2^-24 (float) or 2^-53 (double) of the sum of magnitudes.\n";

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    using namespace tinyblas::bench;
    Options options;
    return run_program({"bench_reduce",
                        "asum, dot, nrm2 and sum on every rung, beside cuBLAS and a plain read "
                        "where there is a GPU.",
                        flags(options), columns(), legend,
                        [&](Session& session) { return set_up(session, options); }},
                       argc, argv);
}
