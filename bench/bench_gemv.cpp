// SPDX-License-Identifier: MIT
// gemv, both ways, and ger, beside cuBLAS and a kernel that only reads the same bytes, in the same
// run. Results are checked, and must have the same bits twice, before anything is timed.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "contest.hpp"
#include "gemv_operands.hpp"
#include "program.hpp"
#include "tinyblas/gemm.hpp"

namespace tinyblas::bench {
namespace {

constexpr const char* names[] = {"gemv", "gemv_t", "ger"};

struct Options {
    GemvKernel kernel = GemvKernel::best;
    bool forced = false;                                // a rung was named: no ladder
    std::vector<std::pair<char, GemvCase>> asked = {};  // with the letter of their type
};

template <class T>
MatrixView<T> as_column(VectorView<T> x) {
    return {x.size > 0 ? &x(0) : x.data, x.size, 1, x.increment, 1};
}

template <class T>
GemvKernel run(Context& context, const GemvCase& one, const GemvOperands<T>& operands, int copy) {
    using In = VectorView<const T>;
    if (one.operation == GemvOperation::ger) {
        ger(context, T(1), In(operands.rows()), In(operands.columns()), operands.a(copy));
        return GemvKernel::tuned;
    }
    return gemv(context, T(1), MatrixView<const T>(operands.op_a(copy)), In(operands.x()), T(0),
                operands.y(), {one.rung})
        .kernel;
}

/// The result of one call as it is compared: y, or A after an update of zeros.
template <class T>
MatrixView<T> fresh_result(Context& context, const GemvCase& one, const GemvOperands<T>& operands) {
    if (one.operation == GemvOperation::ger) {
        const MatrixView<const T> none = {nullptr, one.m, 0, 0, 1};
        gemm(context, T(0), none, MatrixView<const T>{nullptr, 0, one.n, 0, 1}, T(0), operands.a());
        run(context, one, operands, 0);
        return operands.a();
    }
    const VectorView<T> y = operands.y();
    operands.poison_y(context);
    run(context, one, operands, 0);
    return as_column(y);
}

template <class T>
std::vector<T> on_host(Context& context, MatrixView<T> of) {
    std::vector<T> host(static_cast<std::size_t>(of.rows * of.columns));
    copy(context, of, MatrixView<T>::row_major(host.data(), of.rows, of.columns));
    context.synchronize();
    return host;
}

/// Sets the counter `error`; whether the result is right, and y twice the same bits.
template <class T>
bool check(Context& context, const GemvCase& one, const GemvOperands<T>& operands,
           benchmark::State& state) {
    const bool updates = one.operation == GemvOperation::ger;
    const MatrixView<T> result = fresh_result(context, one, operands);
    const MatrixView<const T> left = updates ? as_column(operands.rows()) : operands.op_a();
    const MatrixView<const T> right =
        updates ? as_column(operands.columns()).transposed() : as_column(operands.x());
    const std::int64_t samples = std::min<std::int64_t>(left.rows, 256);
    const auto exact = exact_product<T>(context, left, right, samples);
    const double error = product_error<T>(context, exact, result).max;
    state.counters["error"] = error;
    bool same = true;
    if (!updates) {
        const std::vector<T> first = on_host(context, result);
        fresh_result(context, one, operands);
        const std::vector<T> second = on_host(context, result);
        same = std::memcmp(first.data(), second.data(), first.size() * sizeof(T)) == 0;
        if (!same) std::fprintf(stderr, "two runs gave different bits\n");
    }
    // At least the lanes of a warp, or 8 groups of rows, share a sum, but on the first rung.
    const double shared = one.rung == GemvKernel::naive ? 1 : 8;
    return same && error <= error_bound(static_cast<double>(left.columns) / shared);
}

template <class T>
Contest contest_of(Session& session, const GemvCase& one, const GemvOperands<T>& operands) {
    Contest contest{.bytes = operands.bytes(), .rotation = operands.rotation()};
    contest.ours =
        rotating(operands.rotation(), [&](int copy) { run(session.context, one, operands, copy); });
    if (session.reference && one.is_for_blas())
        contest.reference = rotating(operands.rotation(), [&](int copy) {
            if (one.operation == GemvOperation::ger)
                session.reference->ger(operands.rows(), operands.columns(), operands.a(copy));
            else
                session.reference->gemv(operands.op_a(copy), operands.x(), operands.y());
        });
    std::vector<Work> reads;
    for (int copy = 0; copy < operands.rotation(); ++copy)
        reads.push_back(plain_read(session.context, operands.memory_of_a(copy), nullptr,
                                   operands.bytes_of_a() / 16 * 16));
    const bool aligned = operands.bytes_of_a() % 16 == 0 || operands.rotation() == 1;
    if (reads.front() && aligned && one.operation != GemvOperation::ger)
        contest.limit = rotating(operands.rotation(), [reads](int copy) { reads[copy](); });
    return contest;
}

template <class T>
bool measure(Session& session, const GemvCase& one, benchmark::State& state) {
    const GemvOperands<T> operands(session.context, one);
    const bool right = check(session.context, one, operands, state);
    state.counters["wrong"] = right ? 0 : 1;
    state.counters["m"] = static_cast<double>(one.m);
    state.counters["n"] = static_cast<double>(one.n);
    state.counters["element_bytes"] = sizeof(T);
    const GemvKernel ran = run(session.context, one, operands, 0);
    run_contest(session, state, contest_of(session, one, operands));
    state.SetLabel(std::string(to_string(ran)) + "/" + one.group);
    return right;
}

template <class T>
void add(Session& session, const Options& options, GemvCase one) {
    if (options.forced && one.rung != GemvKernel::best) return;
    if (options.forced) one.rung = options.kernel;
    const std::string name = (sizeof(T) == sizeof(float) ? "s" : "d") +
                             std::string(names[static_cast<int>(one.operation)]) + "/" + one.group +
                             "/" + std::to_string(one.m) + "x" + std::to_string(one.n) + "/" +
                             to_string(one.rung) + in_name(one.places);
    session.add(name, rounds_of(session),
                [=, &session](benchmark::State& state) { return measure<T>(session, one, state); });
}

template <class T>
void add_squares(Session& session, const Options& options, GemvOperation operation,
                 const char* group, std::initializer_list<std::int64_t> extents) {
    for (const std::int64_t n : extents) add<T>(session, options, {operation, group, n, n});
}

template <class T>
void add_all(Session& session, const Options& options, GemvOperation operation) {
    add_squares<T>(session, options, operation, "warm",
                   {128, 256, 512, 1000, 1024, 2048, 4096, 8192, 16384});
    add_squares<T>(session, options, operation, "cold", {1024, 2048, 4096});
    add_squares<T>(session, options, operation, "misaligned", {1000, 4096, 16384});
    for (const std::int64_t few : {1, 2, 3, 8, 32})
        for (const std::int64_t many : {std::int64_t{1} << 22})
            for (const auto& [m, n] : {std::pair{many, few}, {few, many}})
                add<T>(session, options, {operation, "warm", m, n});
    for (const auto& [m, n] : {std::pair{4096, 14336}, {14336, 4096}, {128256, 4096}})
        add<T>(session, options, {operation, "warm", m, n});
}

void add_ladder(Session& session, const Options& options,
                std::initializer_list<std::int64_t> sizes) {
    for (const auto operation : {GemvOperation::along, GemvOperation::down})
        for (const std::int64_t n : sizes)
            add<float>(session, options, {operation, "warm", n, n, GemvKernel::naive});
}

void add_built_in(Session& session, const Options& options) {
    for (const auto operation : {GemvOperation::along, GemvOperation::down, GemvOperation::ger}) {
        if (emulated()) {
            add_squares<float>(session, options, operation, "warm", {128, 300});
            add<double>(session, options, {operation, "misaligned", 500, 33});
        } else if (session.quick) {
            add_squares<float>(session, options, operation, "warm", {1024, 4096, 16384});
            for (const auto& [m, n] : {std::pair{1 << 22, 32}, {32, 1 << 22}})
                add<float>(session, options, {operation, "warm", m, n});
        } else {
            add_all<float>(session, options, operation);
            add_all<double>(session, options, operation);
        }
    }
    if (emulated())
        add_ladder(session, options, {300});
    else
        add_ladder(session, options, {1024, 16384});
}

Facts set_up(Session& session, const Options& options) {
    session.time_short_calls();
    session.measure_memory();
    for (const auto& [letter, one] : options.asked)
        letter == 's' ? add<float>(session, options, one) : add<double>(session, options, one);
    if (options.asked.empty()) add_built_in(session, options);
    return session.facts();
}

/// "sgemv,M,N" or "sgemv,M,N,A,X,Y", the last three places; so for ger.
std::pair<char, GemvCase> parse_case(const std::string& text) {
    constexpr const char* like = "sgemv,M,N or dger,M,N";
    const auto [letter, name, all] = named_case(text, like);
    if ((all.size() != 2 && all.size() != 5) || (name != "gemv" && name != "ger"))
        refuse_case(text, like);
    GemvCase one = {name == "ger" ? GemvOperation::ger : GemvOperation::along, "asked",
                    parse_number("case", all[0], 1), parse_number("case", all[1], 1)};
    for (std::size_t i = 2; i < all.size(); ++i)
        one.places.push_back(i == 2 ? parse_matrix_place("case", all[i])
                                    : parse_vector_place("case", all[i]));
    return {letter, one};
}

std::vector<Flag> flags(Options& options) {
    return {
        kernel_flag("naive, tuned or best alone, without the ladder", gemv_kernel, options.kernel,
                    options.forced),
        {"case", "OP,M,N",
         "this case instead: sgemv,M,N or dger,M,N, say; OP,M,N,A,X,Y: with A at the place\n"
         "ROW_STRIDE:COLUMN_STRIDE or ROW_STRIDE:COLUMN_STRIDE+SHIFT and vectors at INCREMENT\n"
         "or INCREMENT+SHIFT (elements from a multiple of 16 bytes). TINYBLAS_LOG=1 prints such\n"
         "flags for the calls of any program",
         [&options](const std::string& text) { options.asked.push_back(parse_case(text)); }}};
}

std::vector<Column> columns() {
    return {detail_column(10),
            number_column("m", 9, "m", 0),
            number_column("n", 9, "n", 0),
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
    "A is m x n with contiguous rows; gemv_t multiplies by its transpose. warm: the same operands "
    "again and again;\ncold: so many copies that no cache holds the next; misaligned: leading "
    "dimension n + 1. of read: of a kernel\nthat only reads as many bytes, in the same rounds. "
    "ratio: cuBLAS's time / ours, median of the rounds. error: in\nunits of 2^-24 (float) or 2^-53 "
    "(double) of the sum of magnitudes.\n";

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    using namespace tinyblas::bench;
    Options options;
    return run_program(
        {"bench_gemv",
         "gemv, both ways, and ger, beside cuBLAS and a plain read where there is a GPU.",
         flags(options), columns(), legend,
         [&](Session& session) { return set_up(session, options); }},
        argc, argv);
}
