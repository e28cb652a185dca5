// SPDX-License-Identifier: MIT
// gemm from parts: in which order kernels are enqueued, for each panel of C. With the rung hopper:
//
//   gemm_planes fp16x2 -> gemm_hopper
//
// with the rung split:
//
//   gemm_planes fp16x2 -> gemm_planes_drift -> gemm_split
//     -> gemm_planes bf16x3 -> gemm_split -> gemm_tuned
//
// of which those work that the findings ask for; the others end at once.
#include "gemm_accurate.hpp"

#include <algorithm>
#include <vector>

#include <wgmma.hpp>

#include "check.hpp"
#include "gemm_hopper.hpp"
#include "gemm_panels.hpp"
#include "gemm_planes.hpp"
#include "kernels/gemm/tiles.hpp"
#include "workspace.hpp"

namespace tinyblas {
namespace {

/// The widest route that the context's scratch memory has room for.
GemmWideRoute route_of(const Context& context, const GemmCall<float>& call) {
    return gemm_accurate_bytes(call, GemmWideRoute::bf16x3) <= context.scratch_limit()
               ? GemmWideRoute::bf16x3
               : GemmWideRoute::strict;
}

void* scratch_for(Context& context, const GemmCall<float>& call, GemmWideRoute route) {
    const std::size_t bytes = gemm_accurate_bytes(call, route);
    if (bytes > context.scratch_limit())
        fail(Status::out_of_memory, "gemm: the rung ", to_string(call.choice.kernel), " needs ",
             gemm_accurate_bytes(call, GemmWideRoute::bf16x3), " bytes of scratch memory, or ",
             bytes, " without a route of its own for wide ranges: ", context.scratch_limit(),
             " were given");
    return context.scratch(bytes);
}

template <GemmParts kind>
GemmPlanesTask task(const GemmSide& side, const GemmSidePlanes& planes) {
    const bool narrow = kind == GemmParts::fp16x2;
    return {narrow && side.packed ? nullptr : side.view.data,
            side.view.row_stride,
            side.view.column_stride,
            narrow ? planes.fp16x2 : planes.bf16x3,
            planes.fp16x2.exponents,
            planes.bf16x3.exponents};
}

/// A panel on its way: what its kernels are given.
class PanelWork {
  public:
    PanelWork(Context& context, const GemmPanel& panel, GemmWideRoute route, void* memory)
        : context_(context), panel_(panel), at_(panel, route, memory) {}

    const GemmPanelMemory& memory() const { return at_; }

    template <GemmParts kind>
    void make_planes() const {
        launch_gemm_planes<kind>(context_.stream(), task_a<kind>(), task_b<kind>());
    }
    void judge_drift() const {
        launch_gemm_planes_drift(context_.stream(), task_a<GemmParts::fp16x2>(),
                                 task_b<GemmParts::fp16x2>());
    }

    template <GemmParts kind>
    void multiply() const {
        launch_gemm_split<kind>(context_.stream(), product<kind>());
    }

    /// `findings`: those that leave the product to it.
    void multiply_strictly(GemmLauncher<float> strict, unsigned findings) const {
        strict(context_.stream(), panel_.alpha, panel_.a.view, panel_.b.view.transposed(),
               panel_.beta, panel_.c, GemmGate{at_.verdict, findings});
    }

    /// All that follows the pre-pass.
    void multiply_on_tensor_cores(unsigned* counters) const {
        if constexpr (device::has_wgmma)
            launch_gemm_hopper(context_.stream(), product<GemmParts::fp16x2>(),
                               task_a<GemmParts::bf16x3>(), task_b<GemmParts::bf16x3>(),
                               at_.partials, counters, context_.multiprocessors());
    }

  private:
    template <GemmParts kind>
    GemmPlanesTask task_a() const {
        return task<kind>(panel_.a, at_.a);
    }
    template <GemmParts kind>
    GemmPlanesTask task_b() const {
        return task<kind>(panel_.b, at_.b);
    }
    template <GemmParts kind>
    GemmPlanesProduct product() const {
        const bool narrow = kind == GemmParts::fp16x2;
        return {panel_.alpha,
                panel_.beta,
                narrow ? at_.a.fp16x2 : at_.a.bf16x3,
                narrow ? at_.b.fp16x2 : at_.b.bf16x3,
                panel_.c,
                at_.verdict};
    }

    Context& context_;
    const GemmPanel& panel_;
    GemmPanelMemory at_;
};

/// Adds what was found from `row` on.
void add(GemmFound& all, unsigned findings, std::int64_t row) {
    const auto gravest = [](unsigned bits) {
        return bits & gemm_strict ? 2 : bits & gemm_wide ? 1 : 0;
    };
    if (gravest(findings) > gravest(all.findings)) all.row = row;
    all.findings |= findings;
}

void add_findings(Context& context, GemmFound& all, const GemmSide& side,
                  const GemmPlanes& planes) {
    const auto pitch = static_cast<std::size_t>(planes.findings_pitch());
    std::vector<std::uint8_t> findings(static_cast<std::size_t>(planes.all_findings()));
    const std::size_t bytes = findings.size();
    device::copy_2d(context.stream(), findings.data(), bytes, planes.findings, bytes, bytes, 1,
                    "gemm");
    device::synchronize(context.stream(), "gemm");
    for (std::size_t i = 0; i < findings.size(); ++i)
        add(all, findings[i], side.first + static_cast<std::int64_t>(i / pitch) * gemm_strip);
}

unsigned* counters_of(Context& context) {
    return static_cast<unsigned*>(
        context.workspace().counters(context.stream(), Workspace::CountersOf::gemm, "gemm"));
}

}  // namespace

std::size_t gemm_scratch_bytes(std::int64_t m, std::int64_t n, std::int64_t k) {
    require(m >= 0 && n >= 0 && k >= 0, "gemm_scratch_bytes: m, n and k are ", m, ", ", n, " and ",
            k, ": must be at least 0");
    if (k == 0 || k > gemm_tuned_longest_k) return 0;  // strict
    // Nothing is read: elements need no room.
    GemmCall<float> call = {1,
                            {nullptr, m, k, 0, 0},
                            {nullptr, k, n, 0, 0},
                            0,
                            {nullptr, m, n, 0, 0},
                            false,
                            nullptr,
                            nullptr,
                            {GemmKernel::hopper, -1}};
    const std::size_t along_rows = gemm_accurate_bytes(call, GemmWideRoute::bf16x3);
    call.a = {nullptr, n, k, 0, 0};
    call.b = {nullptr, k, m, 0, 0};
    call.c = {nullptr, n, m, 0, 0};
    return std::max(along_rows, gemm_accurate_bytes(call, GemmWideRoute::bf16x3));
}

std::size_t gemm_accurate_bytes(const GemmCall<float>& call, GemmWideRoute route) {
    if (call.c.rows == 0 || call.c.columns == 0) return 0;
    // The last panels may be smaller, and yet have more sums to keep.
    const GemmPanelExtents extents(call);
    std::size_t most = 0;
    for (const std::int64_t i : {std::int64_t{0}, (call.c.rows - 1) / extents.m * extents.m})
        for (const std::int64_t j : {std::int64_t{0}, (call.c.columns - 1) / extents.n * extents.n})
            most = std::max(most,
                            GemmPanelMemory(panel_at(call, extents, i, j), route, nullptr).bytes);
    return most;
}

void enqueue_gemm_accurate(Context& context, const GemmCall<float>& call,
                           GemmLauncher<float> strict) {
    const GemmWideRoute route = route_of(context, call);
    void* const memory = scratch_for(context, call, route);
    const device::Guard guard(context.device(), "gemm");
    unsigned* const counters = counters_of(context);
    for_each_panel(call, [&](const GemmPanel& panel) {
        const PanelWork work(context, panel, route, memory);
        work.make_planes<GemmParts::fp16x2>();
        if (panel.rung == GemmKernel::hopper) return work.multiply_on_tensor_cores(counters);
        work.judge_drift();
        work.multiply<GemmParts::fp16x2>();
        const bool has_wide = route == GemmWideRoute::bf16x3;
        if (has_wide) {
            work.make_planes<GemmParts::bf16x3>();
            work.multiply<GemmParts::bf16x3>();
        }
        work.multiply_strictly(strict, has_wide ? gemm_strict : gemm_strict | gemm_wide);
    });
}

GemmGuard gemm_guard(Context& context, const GemmCall<float>& call) {
    GemmGuard found = {{}, {}, route_of(context, call)};
    void* const memory = scratch_for(context, call, found.route);
    const device::Guard guard(context.device(), "gemm");
    for_each_panel(call, [&](const GemmPanel& panel) {
        const PanelWork work(context, panel, found.route, memory);
        work.make_planes<GemmParts::fp16x2>();
        work.judge_drift();
        add_findings(context, found.a, panel.a, work.memory().a.fp16x2);
        add_findings(context, found.b, panel.b, work.memory().b.fp16x2);
    });
    return found;
}

void pack_planes(Context& context, MatrixView<const float> rows, const GemmPlanes& planes,
                 int* notes) {
    for (std::int64_t first = 0; first < rows.rows; first += gemm_most_rows) {
        const std::int64_t count = std::min(gemm_most_rows, rows.rows - first);
        const GemmPlanesTask task = {
            rows_of(rows, first, count).data, rows.row_stride, rows.column_stride,
            rows_of(planes, first, count),    nullptr,         notes};
        launch_gemm_planes<GemmParts::fp16x2>(context.stream(), task, GemmPlanesTask{});
        launch_gemm_planes_drift(context.stream(), task, GemmPlanesTask{});
    }
}

}  // namespace tinyblas
