// SPDX-License-Identifier: MIT
// gemm in every precision and on every rung, beside cuBLAS in the same run: speed, ratio with its
// spread, share of the FMA peak, errors against twice the precision. One Google Benchmark per case.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "gemm_case.hpp"
#include "gemm_columns.hpp"
#include "gemm_errors.hpp"
#include "gemm_families.hpp"
#include "program.hpp"
#include "tinyblas/error.hpp"

namespace tinyblas::bench {
namespace {

struct Options {
    std::vector<std::string> shapes;  // files of shapes instead of the built-in ones
    std::vector<std::string> families = {};
    int proposals = -1;             // -1: as many as the time allows
    std::vector<GemmKernel> rungs;  // empty: every rung on the ladder's squares, best elsewhere
    bool sgemm = true, dgemm = true;
    bool strict = true, fp32 = true;   // precisions of sgemm
    std::vector<Timing> timings = {};  // empty: burst for strict, sustained for fp32
    std::optional<Data> data = {};
    bool errors_alone = false;
    std::vector<Shape> asked = {};  // on the command line, like those of files
    int entry = -1;
    bool packed = false;
    std::int64_t batch = 0;  // of asked shapes
    std::vector<std::int64_t> strides = {};
};

/// Whether tensor cores can serve here: device emulation has their twin.
bool has_fp32(const Session& session) {
    return emulated() || session.context.compute_capability() == 90;
}

bool is_fp32(GemmKernel rung) { return rung == GemmKernel::split || rung == GemmKernel::hopper; }

/// The rungs for one shape in one precision.
std::vector<GemmKernel> rungs_of(const Options& options, const Shape& shape, bool fp32) {
    std::vector<GemmKernel> rungs;
    if (options.rungs.empty()) {
        if (shape.ladder && !fp32) rungs = {GemmKernel::naive, GemmKernel::tiled};
        if (fp32 && (shape.ladder || emulated())) rungs = {GemmKernel::split};
        rungs.push_back(GemmKernel::best);
    }
    for (const GemmKernel rung : options.rungs)
        if (rung == GemmKernel::best || is_fp32(rung) == fp32) rungs.push_back(rung);
    return rungs;
}

/// The regimes for one shape in one precision.
std::vector<Timing> timings_of(const Options& options, const Shape& shape, bool fp32) {
    if (!options.timings.empty()) return options.timings;
    constexpr std::int64_t small = 1024;  // so short that no one calls it without a pause
    const bool burst = !fp32 || (shape.group == "square" && shape.n <= small);
    return {burst ? Timing::burst : Timing::sustained};
}

template <class T>
void add_all(Session& session, GemmSummary& summary, const Options& options,
             std::vector<Shape> shapes, Precision precision) {
    const bool fp32 = precision == Precision::fp32;
    const int many = session.quick || options.families.empty() ? 0 : 8;
    const int proposals = options.proposals >= 0 ? options.proposals : many;
    if (options.data)
        for (Shape& shape : shapes)
            if (shape.data == Data::normal) shape.data = *options.data;
    const auto add = [&](const Shape& shape, GemmKernel rung, Timing timing) {
        const bool named = rung != GemmKernel::best && rung != GemmKernel::none;
        add_gemm_case<T>(session, summary,
                         {shape, rung, precision, timing, named ? options.entry : -1,
                          rung == GemmKernel::best ? proposals : 0});
    };
    for (const Timing timing : {Timing::burst, Timing::sustained}) {
        const auto wanted = [&](const Shape& shape) {
            const auto all = timings_of(options, shape, fp32);
            return std::find(all.begin(), all.end(), timing) != all.end();
        };
        for (const Shape& shape : shapes)
            if (wanted(shape) && !(shape.float_only && sizeof(T) == sizeof(double)))
                for (const GemmKernel rung : rungs_of(options, shape, fp32))
                    add(shape, rung, timing);
        for (const Shape& control : {Shape{"", "", 4096, 4096, 4096}, Shape{"", "", 256, 256, 256}})
            if (session.reference && wanted(control)) add(control, GemmKernel::none, timing);
    }
}

void add_errors(Session& session, const Options& options) {
    std::vector<Data> kinds;
    for (int kind = 0; kind <= static_cast<int>(Data::subnormal); ++kind)
        kinds.push_back(static_cast<Data>(kind));
    if (options.data) kinds = {*options.data};
    GemmKernel rung = emulated() ? GemmKernel::split : GemmKernel::best;
    for (const GemmKernel asked : options.rungs)
        if (is_fp32(asked)) rung = asked;
    add_gemm_errors(session, kinds, rung);
}

template <class T>
std::string rounds(const Session& session, Timing timing) {
    return std::to_string(gemm_regime<T>(session, timing).rounds);
}

Facts set_up(Session& session, GemmSummary& summary, const Options& options) {
    const bool fp32 = options.sgemm && options.fp32 && has_fp32(session);
    const bool strict = options.sgemm && options.strict;
    Facts facts;
    if (session.reference) facts.emplace_back("reference", session.reference->name());
    if (options.errors_alone) {
        add_errors(session, options);
        return facts;
    }
    std::vector<Shape> asked = options.asked;
    for (const std::string& path : options.shapes)
        for (Shape& shape : read_shapes(path)) asked.push_back(std::move(shape));
    for (Shape& shape : asked) {
        shape.packed = options.packed;
        shape.batch = options.batch;
        shape.strides = options.strides;
    }
    const auto shapes = [&](auto built_in, std::size_t element_bytes) {
        std::vector<Shape> all = asked;
        for (const std::string& family : options.families)
            for (Shape& shape :
                 family == "usual" ? built_in(session.quick) : gemm_family(family, element_bytes))
                all.push_back(std::move(shape));
        // Of a shape met twice, the one that has a goal runs.
        std::stable_partition(all.begin(), all.end(),
                              [](const Shape& shape) { return shape.goal.is_set(); });
        return all.empty() ? built_in(session.quick) : all;
    };
    if (!emulated()) session.regime.idle = std::chrono::milliseconds(session.quick ? 100 : 300);
    session.measure_arithmetic();
    if (strict)
        add_all<float>(session, summary, options, shapes(built_in_shapes, sizeof(float)),
                       Precision::fp32_strict);
    if (options.dgemm)
        add_all<double>(session, summary, options, shapes(built_in_shapes, sizeof(double)),
                        Precision::fp32_strict);
    if (fp32)
        add_all<float>(session, summary, options, shapes(built_in_fp32_shapes, sizeof(float)),
                       Precision::fp32);
    if (fp32 && asked.empty() && options.families.empty() && !session.quick)
        add_errors(session, options);

    facts.insert(facts.end(), {{"rounds", rounds<float>(session, Timing::burst) + " (sgemm), " +
                                              rounds<double>(session, Timing::burst) + " (dgemm)"},
                               {"regime", session.regime.text() + " (sgemm) or turn (dgemm)"}});
    if (fp32) {
        const Regime steady = gemm_regime<float>(session, Timing::sustained);
        const Regime layers = gemm_regime<float>(session, Timing::sustained, true);
        facts.insert(facts.end(), {{"rounds_sustained", std::to_string(steady.rounds) + " (" +
                                                            std::to_string(layers.rounds) +
                                                            " of a model's layer)"},
                                   {"regime_sustained", steady.text()}});
    }
    return facts;
}

/// What the word of a flag stands for; refuses a word that is none of its own.
template <class T>
T one_of(const char* flag, const std::string& word,
         std::initializer_list<std::pair<const char*, T>> choices) {
    std::string all;
    for (const auto& [name, choice] : choices) {
        if (word == name) return choice;
        all += (all.empty() ? "" : ", ") + std::string(name);
    }
    throw Error(Status::invalid_argument, std::string("--") + flag + ": '" + word +
                                              "' is not one of " + all +
                                              "; --help lists the flags");
}

/// "M,N,K" or "M,N,K,A,B,C", the last three places.
Shape parse_shape(const std::string& text) {
    const std::vector<std::string> all = words("shape", text);
    if (all.size() != 3 && all.size() != 6)
        throw Error(Status::invalid_argument,
                    "--shape: '" + text + "' is not M,N,K or M,N,K,A,B,C; --help lists the flags");
    const auto extent = [&](std::size_t i) { return parse_number("shape", all[i], 1); };
    Shape shape = {"asked", text, extent(0), extent(1), extent(2)};
    for (std::size_t i = 3; i < all.size(); ++i)
        shape.places.push_back(parse_matrix_place("shape", all[i]));
    return shape;
}

/// "COUNT" or "COUNT,A,B,C", the last three strides.
void parse_batch(const std::string& text, Options& options) {
    const std::vector<std::string> all = words("batch", text);
    if (all.size() != 1 && all.size() != 4)
        throw Error(Status::invalid_argument,
                    "--batch: '" + text + "' is not COUNT or COUNT,A,B,C; --help lists the flags");
    options.batch = parse_number("batch", all[0], 1);
    constexpr auto any = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 1; i < all.size(); ++i)
        options.strides.push_back(parse_number("batch", all[i], any));
}

std::vector<Flag> flags(Options& options) {
    const auto types = [&options](const std::string& list) {
        options.sgemm = options.dgemm = false;
        for (const std::string& word : words("types", list))
            *one_of<bool*>("types", word, {{"sgemm", &options.sgemm}, {"dgemm", &options.dgemm}}) =
                true;
    };
    const auto rungs = [&options](const std::string& list) {
        for (const std::string& word : words("rungs", list))
            options.rungs.push_back(gemm_kernel(word));
    };
    const auto precision = [&options](const std::string& word) {
        const int chosen =
            one_of<int>("precision", word, {{"strict", 1}, {"fp32", 2}, {"both", 3}});
        options.strict = chosen != 2;
        options.fp32 = chosen != 1;
        if (!options.strict) options.dgemm = false;
    };
    const auto regime = [&options](const std::string& word) {
        options.timings =
            one_of<std::vector<Timing>>("regime", word,
                                        {{"burst", {Timing::burst}},
                                         {"sustained", {Timing::sustained}},
                                         {"both", {Timing::burst, Timing::sustained}}});
    };
    return {
        {"family", "LIST",
         "the shapes of these families instead: squares, odd, layouts, waves, thin, batches, or\n"
         "sweep, all of these; goals, shapes with what should be reached; usual, what runs\n"
         "without this flag. A shape met twice runs once",
         [&options](const std::string& list) { options.families = words("family", list); }},
        {"proposals", "N",
         "beside the fastest, too, of at most N algorithms that cuBLAS's heuristics propose;\n"
         "default 8 with --family unless --quick, else 0",
         [&options](const std::string& word) {
             options.proposals = static_cast<int>(parse_number("proposals", word, 0));
         }},
        {"shapes", "FILE",
         "the shapes of FILE instead: a line \"m,n,k,name\" each, '#' starts a comment;\n"
         "of several such flags, all",
         [&options](const std::string& path) { options.shapes.push_back(path); }},
        {"shape", "M,N,K",
         "this shape instead; M,N,K,A,B,C: with operands at these places, each as\n"
         "ROW_STRIDE:COLUMN_STRIDE or ROW_STRIDE:COLUMN_STRIDE+SHIFT (elements from a multiple\n"
         "of 16 bytes). TINYBLAS_LOG=1 prints such flags for the calls of any program",
         [&options](const std::string& text) { options.asked.push_back(parse_shape(text)); }},
        {"entry", "I", "line I of the tuning table, with --rungs=tuned",
         [&options](const std::string& text) {
             options.entry = static_cast<int>(parse_number("entry", text, 0));
         }},
        {"packed", nullptr, "B of asked shapes is packed beforehand (fp32)",
         [&options](const std::string&) { options.packed = true; }},
        {"batch", "COUNT",
         "so many products of each asked shape, from arrays of pointers; COUNT,A,B,C: from\n"
         "matrices so many elements apart",
         [&options](const std::string& text) { parse_batch(text, options); }},
        {"types", "LIST", "of sgemm,dgemm; default both", types},
        {"precision", "P",
         "of sgemm: strict, fp32 (and no dgemm) or both, the default where tensor cores serve",
         precision},
        {"rungs", "LIST",
         "of naive,tiled,tuned,sliced,pipelined,skinny,tensor,gemv (strict),split,hopper "
         "(fp32),best;\n"
         "default every rung on some squares, best elsewhere",
         rungs},
        {"regime", "R",
         "burst, after a rest; sustained, under steady load; or both;\n"
         "default burst for strict, sustained for fp32 but for small squares",
         regime},
        {"data", "KIND",
         "normal (the default), uniform in (0, 1), graded24 or graded40 (A falls and B rises\n"
         "along k by so many powers of two), shuffled40 (so, but in no order), powers\n"
         "(sign * 2^U(-8, 8)), scaled (rows of A times 2^U(-100, 100)), subnormal (every\n"
         "other row of A)",
         [&options](const std::string& word) { options.data = data_kind(word); }},
        {"errors", nullptr, "nothing but errors: every kind of data, k to 16384, no times",
         [&options](const std::string&) { options.errors_alone = true; }}};
}

}  // namespace
}  // namespace tinyblas::bench

int main(int argc, char** argv) {
    using namespace tinyblas::bench;
    Options options;
    GemmSummary summary;
    return run_program(
        {"bench_gemm",
         "gemm in every precision and on every rung of the ladder, beside cuBLAS where there is a "
         "GPU.",
         flags(options),
         gemm_columns(false),
         gemm_legend,
         [&](Session& session) { return set_up(session, summary, options); },
         {{"sgemm_fp32", gemm_columns(true)},
          {"sgemm_batched", gemm_batch_columns()},
          {"dgemm_batched", gemm_batch_columns()},
          {"sgemm_fp32_batched", gemm_batch_columns()},
          gemm_errors_section()},
         [&] { return summary.text(); }},
        argc, argv);
}
