// SPDX-License-Identifier: MIT
// The names of gemm's rungs, what options may ask for, and the choice: of the rungs that can run a
// call, the one that is estimated to take the least time.
#include "gemm_choice.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <wgmma.hpp>

#include "check.hpp"
#include "gemm_accurate.hpp"
#include "gemm_pipelined.hpp"
#include "gemm_skinny.hpp"
#include "gemm_slabs.hpp"
#include "gemm_sliced.hpp"
#include "gemm_tensor.hpp"
#include "gemm_tuned_ring.hpp"
#include "gemm_tuning.hpp"
#include "kernels/gemm/precision_choice.hpp"
#include "memo.hpp"

namespace tinyblas {
namespace {

enum class For { both, floats, doubles };
struct Rung {
    GemmKernel kernel;
    const char* name;
    For type;
};
constexpr Rung rungs[] = {
    {GemmKernel::best, "best", For::both},       {GemmKernel::naive, "naive", For::both},
    {GemmKernel::tiled, "tiled", For::both},     {GemmKernel::tuned, "tuned", For::both},
    {GemmKernel::sliced, "sliced", For::floats}, {GemmKernel::pipelined, "pipelined", For::floats},
    {GemmKernel::skinny, "skinny", For::floats}, {GemmKernel::tensor, "tensor", For::doubles},
    {GemmKernel::gemv, "gemv", For::both},       {GemmKernel::split, "split", For::floats},
    {GemmKernel::hopper, "hopper", For::floats},
};

const Rung* find(GemmKernel kernel) {
    const auto* const found = std::find_if(std::begin(rungs), std::end(rungs),
                                           [&](const Rung& rung) { return rung.kernel == kernel; });
    return found == std::end(rungs) ? nullptr : found;
}

/// "best, naive, ... or hopper": those for operands of a type.
std::string names_for(For type) {
    std::string names;
    for (const Rung& rung : rungs)
        if (type == For::both || rung.type == For::both || rung.type == type)
            (names += names.empty() ? "" : ", ") += rung.name;
    const std::size_t last = names.rfind(", ");
    return names.replace(last, 2, " or ");
}

/// Of compute capability 9.0, or its emulation: some rungs rely on it.
bool is_90(const Context& context) { return context.compute_capability() == 90; }

bool runs_hopper(const Context& context) { return device::has_wgmma && is_90(context); }

bool is_row_or_column(const auto& c) { return c.rows == 1 || c.columns == 1; }

/// Whether lines of the operand begin at multiples of 16 bytes.
bool has_vector_lines(const MatrixView<const float>& x) {
    const std::int64_t apart = x.column_stride == 1 ? x.row_stride : x.column_stride;
    return (x.column_stride == 1 || x.row_stride == 1) && apart % 4 == 0 &&
           reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
}

template <class T>
GemmStrictPlans make_plans(const Context& context, const GemmCall<T>& call) {
    const std::size_t memory = context.scratch_limit();
    GemmStrictPlans plans;
    plans.tuned_entry = tuned_entry(context, call);
    const GemmEntry& tuned = gemm_table[plans.tuned_entry];
    plans.tuned_seconds = gemm_tuned_seconds(tuned, context.multiprocessors(), call.c.rows,
                                             call.c.columns, call.a.columns);
    if constexpr (std::is_same_v<T, float>) {
        if (is_90(context)) plans.ring = plan_gemm_ring(call, memory);
        if (tuned.tile.is_ring()) plans.tuned_seconds = plans.ring.seconds;
        if (is_90(context)) {
            plans.sliced = plan_gemm_sliced(call, memory);
            plans.pipelined = plan_gemm_pipelined(call, memory);
            plans.skinny = plan_gemm_skinny(call);
            // What these rungs load or store element by element takes longer: measured, an H200. Of
            // C that is supposed where its rows do not consist of 16 bytes.
            if (!tuned.tile.is_ring() &&
                (call.c.columns % 4 != 0 || !has_vector_lines(call.a) || !has_vector_lines(call.b)))
                plans.tuned_seconds *= 1.3;
            // So does the rung pipelined, as it stores C; a large one takes it longer in any case.
            const double bytes_of_c =
                4 * static_cast<double>(call.c.rows) * static_cast<double>(call.c.columns);
            plans.pipelined.seconds += bytes_of_c * (call.c.columns % 4 != 0 ? 0.15e-12
                                                     : bytes_of_c > 50e6     ? 0.04e-12
                                                                             : 0);
            plans.slabs = plan_gemm_slabs(context, call, memory, plans.ring.in_fours);
        }
    } else if (is_90(context)) {
        plans.tensor = plan_gemm_tensor(call, memory);
        plans.slabs = plan_gemm_slabs(call);
        if (plans.slabs.fits)
            plans.tensor.seconds += 1e-6 * sizeof(double) * gemm_tensor_storing(call.c.row_stride) *
                                    static_cast<double>(call.c.rows) *
                                    static_cast<double>(call.c.columns);
    }
    return plans;
}

/// The same, from memory where it can: making plans takes a third of the time of a launch.
template <class T>
const GemmStrictPlans& plans_of(const Context& context, const GemmCall<T>& call) {
    const auto [m, n] = std::pair(call.c.rows, call.c.columns);
    const auto offset = [](const T* data) {  // from where vectors may begin
        return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % 16);
    };
    thread_local Memo<15, GemmStrictPlans> recent;
    return recent({m, n, call.a.columns, call.beta != 0, call.a.row_stride, call.a.column_stride,
                   call.b.row_stride, call.b.column_stride, call.c.row_stride, call.c.column_stride,
                   offset(call.a.data), offset(call.b.data),
                   static_cast<std::int64_t>(context.scratch_limit()), context.compute_capability(),
                   context.multiprocessors()},
                  [&] { return make_plans(context, call); });
}

/// Whether Precision::fp32 takes parts, from memory likewise.
bool fp32_pays(std::int64_t m, std::int64_t n, std::int64_t k) {
    thread_local Memo<3, bool> recent;
    return recent({m, n, k}, [&] { return gemm_fp32_pays(m, n, k); });
}

/// The rung asked for by name must be able to run the call.
void require_fit(bool fits, const char* name, const auto& call) {
    require(fits, "gemm: options.kernel is ", name, ": must be a rung that can run ", call.c.rows,
            " x ", call.c.columns, " x ", call.a.columns,
            " on this GPU, with the scratch memory that it may take");
}

/// The choice that the context's tuning file makes, if it has a line for the call and the rung can
/// run it; else none.
template <class T>
GemmChoice choose_by_file(const Context& context, GemmCall<T>& call) {
    const GemmTuning* const tuning = context.tuning();
    const GemmTuningLine* const line = tuning ? tuning->find(call) : nullptr;
    if (!line) return {};
    GemmChoice choice = line->choice;
    const GemmStrictPlans& plans = call.plans;
    if ((choice.kernel == GemmKernel::sliced && !plans.sliced.fits) ||
        (choice.kernel == GemmKernel::pipelined && !plans.pipelined.fits) ||
        (choice.kernel == GemmKernel::skinny && !plans.skinny.fits) ||
        (choice.kernel == GemmKernel::tensor && !plans.tensor.fits))
        return {};
    if (choice.kernel == GemmKernel::tuned) {
        if (choice.entry < 0) choice.entry = plans.tuned_entry;
        call.plans.ring.make_one_chain();  // as it was measured
    }
    call.tuning_line = line->number;
    return choice;
}

/// The strict rung for the call.
template <class T>
GemmChoice choose_strict(const Context& context, GemmCall<T>& call, const GemmOptions& options) {
    if (options.kernel == GemmKernel::naive || options.kernel == GemmKernel::tiled)
        return {options.kernel, -1};
    const std::int64_t k = call.a.columns;
    const bool free = options.kernel == GemmKernel::best && options.entry < 0;
    if (options.kernel == GemmKernel::gemv || (free && k > 0 && is_row_or_column(call.c))) {
        require(is_row_or_column(call.c), "gemm: options.kernel is gemv: c is ", call.c.rows, " x ",
                call.c.columns, ": must be a row or a column");
        return {GemmKernel::gemv, -1};
    }
    if (k > gemm_tuned_longest_k) {
        require(free, "gemm: a has ", k, " columns: must be at most ", gemm_tuned_longest_k,
                " for the rung ",
                to_string(options.entry < 0 ? options.kernel : GemmKernel::tuned));
        return {GemmKernel::tiled, -1};
    }
    if (options.entry >= 0 || options.kernel == GemmKernel::tuned || k == 0) {
        const int entry = options.entry >= 0 ? options.entry : tuned_entry(context, call);
        if constexpr (std::is_same_v<T, float>)
            if (gemm_table[entry].tile.is_ring()) {
                call.plans.ring = plan_gemm_ring(call, context.scratch_limit());
                call.plans.ring.make_one_chain();  // as the rung promises
            }
        return {GemmKernel::tuned, entry};
    }

    const GemmStrictPlans& plans = call.plans = plans_of(context, call);
    GemmChoice choice = free ? choose_by_file(context, call) : GemmChoice();
    if (choice.kernel != GemmKernel::none) return choice;
    choice = {GemmKernel::tuned, plans.tuned_entry};
    double least = plans.tuned_seconds;
    if (std::is_same_v<T, float>)
        least *= gemm_table[plans.tuned_entry].tile.is_ring() ? plans.ring.weight(k)
                                                              : gemm_whole_chain_weight(k);
    const auto consider = [&](GemmKernel kernel, const auto& plan, double seconds) {
        if (options.kernel == kernel) {
            require_fit(plan.fits, to_string(kernel), call);
            least = 0;
        } else if (!plan.fits || seconds >= least) {
            return;
        }
        least = std::min(least, seconds);
        choice = {kernel, -1};
    };
    consider(GemmKernel::sliced, plans.sliced, plans.sliced.weighed());
    consider(GemmKernel::pipelined, plans.pipelined, plans.pipelined.seconds);
    consider(GemmKernel::skinny, plans.skinny, plans.skinny.seconds * gemm_whole_chain_weight(k));
    consider(GemmKernel::tensor, plans.tensor, plans.tensor.seconds);
    consider(GemmKernel::batched, plans.slabs, plans.slabs.seconds * plans.slabs.weight);
    return choice;
}

/// Whether the product is made from parts, or why not.
GemmReason weigh(const Context& context, const GemmCall<float>& call, const GemmOptions& options) {
    const std::int64_t k = call.a.columns;
    if (k == 0) return GemmReason::no_products;
    if (options.kernel != GemmKernel::best || options.entry >= 0) return GemmReason::asked;
    if (options.precision.value_or(context.precision()) == Precision::fp32_strict)
        return GemmReason::strict_asked;
    if (device::has_wgmma && !runs_hopper(context)) return GemmReason::no_wgmma;
    if (k < gemm_costs.least_k) return GemmReason::short_k;
    // By the extents as the caller gave them: the layout of C makes no difference.
    const std::int64_t m = call.exchanged ? call.c.columns : call.c.rows;
    const std::int64_t n = call.exchanged ? call.c.rows : call.c.columns;
    if (!fp32_pays(m, n, k)) return GemmReason::slower;
    return gemm_accurate_bytes(call, GemmWideRoute::strict) <= context.scratch_limit()
               ? GemmReason::pays
               : GemmReason::scratch;
}

}  // namespace

void check_options(const Context& context, const GemmOptions& options, Scalar type) {
    const int compute_capability = context.compute_capability();
    const Rung* const rung = find(options.kernel);
    // Names are put together only to be told.
    if (!rung)
        fail(Status::invalid_argument, "gemm: options.kernel is ", static_cast<int>(options.kernel),
             ": must be ", names_for(For::both));
    const For own = type == Scalar::float32 ? For::floats : For::doubles;
    if (rung->type != For::both && rung->type != own)
        fail(Status::invalid_argument, "gemm: options.kernel is ", rung->name, ": must be ",
             names_for(own), " for operands of type ", own == For::floats ? "float" : "double");
    require(options.kernel != GemmKernel::hopper || runs_hopper(context),
            "gemm: options.kernel is hopper: must be a rung that runs here, ",
            device::has_wgmma ? "and hopper needs compute capability 9.0 and a library built for it"
                              : "and device emulation has no tensor cores");
    const bool needs_90 =
        options.kernel == GemmKernel::sliced || options.kernel == GemmKernel::pipelined ||
        options.kernel == GemmKernel::skinny || options.kernel == GemmKernel::tensor ||
        options.kernel == GemmKernel::split;
    require(!needs_90 || is_90(context), "gemm: options.kernel is ", rung->name,
            ": must be a rung that runs here, and ", rung->name,
            " needs compute capability 9.0 and a library built for it");
    require(options.entry >= -1 && options.entry < gemm_entries, "gemm: options.entry is ",
            options.entry, ": must lie in -1 to ", gemm_entries - 1);
    const auto precision = options.precision.value_or(Precision::fp32);
    require(precision == Precision::fp32_strict || precision == Precision::fp32,
            "gemm: options.precision is ", static_cast<int>(precision),
            ": must be fp32_strict or fp32");
    if (options.entry < 0) return;
    require(options.kernel == GemmKernel::best || options.kernel == GemmKernel::tuned,
            "gemm: options.entry is ", options.entry, ": must be -1 for the rung ", rung->name);
    require(gemm_table[options.entry].type == type, "gemm: options.entry is ", options.entry,
            ": must be an entry of the operands' type");
    require(runs_on(gemm_table[options.entry], compute_capability), "gemm: options.entry is ",
            options.entry, ": must be an entry for compute capability ", compute_capability / 10,
            ".", compute_capability % 10);
}

template <class T>
int tuned_entry(const Context& context, const GemmCall<T>& call) {
    return choose_gemm_entry(gemm_scalar<T>, context.compute_capability(),
                             context.multiprocessors(), call.c.rows, call.c.columns);
}
template int tuned_entry(const Context&, const GemmCall<float>&);
template int tuned_entry(const Context&, const GemmCall<double>&);

template <>
void choose_gemm(const Context& context, GemmCall<float>& call, const GemmOptions& options) {
    const std::int64_t k = call.a.columns;
    // First, as if it were from parts: then it can tell how much memory that takes.
    call.choice = {device::has_wgmma ? GemmKernel::hopper : GemmKernel::split, -1};
    call.reason = weigh(context, call, options);
    if (call.reason == GemmReason::pays) return;
    const bool named = options.kernel == GemmKernel::split || options.kernel == GemmKernel::hopper;
    if (!named || k == 0) {
        const GemmOptions strict = named ? GemmOptions{} : options;
        call.choice = choose_strict(context, call, strict);
        return;
    }
    require(k <= gemm_tuned_longest_k, "gemm: a has ", k, " columns: must be at most ",
            gemm_tuned_longest_k, " for the rung ", to_string(options.kernel));
    call.choice = {options.kernel, -1};
}
template <>
void choose_gemm(const Context& context, GemmCall<double>& call, const GemmOptions& options) {
    call.choice = choose_strict(context, call, options);
    call.reason = call.a.columns == 0 ? GemmReason::no_products : GemmReason::strict_asked;
}

const char* to_string(GemmKernel kernel) noexcept {
    const Rung* const rung = find(kernel);
    if (rung) return rung->name;
    return kernel == GemmKernel::batched ? "batched"
           : kernel == GemmKernel::none  ? "none"
                                         : "unknown";
}

GemmKernel gemm_kernel(std::string_view name) {
    for (const Rung& rung : rungs)
        if (name == rung.name) return rung.kernel;
    fail(Status::invalid_argument, "gemm: there is no rung '", name, "': must be ",
         names_for(For::both));
}

}  // namespace tinyblas
