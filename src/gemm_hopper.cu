// SPDX-License-Identifier: MIT
// Compiles the rung hopper of gemm, which needs compute capability 9.0a.
#include "gemm_hopper.hpp"

#include <algorithm>

#include "kernels/gemm/8_hopper.cuh"
#include "workspace.hpp"

namespace tinyblas {

static_assert(sizeof(HopperCounters) <= Workspace::counter_bytes);

std::size_t gemm_hopper_partial_bytes(std::int64_t m, std::int64_t n, std::int64_t k) {
    return HopperPlan(m, n, k).partial_bytes();
}

void launch_gemm_hopper(device::Stream stream, const GemmPlanesProduct& product,
                        const GemmPlanesTask& wide_a, const GemmPlanesTask& wide_b, void* partials,
                        unsigned* counters, int multiprocessors) {
    const HopperPlan plan(product.c.rows, product.c.columns, product.a.k);
    const bool paired = plan.form == HopperForm::paired;
    unsigned most = paired ? static_cast<unsigned>(multiprocessors) / 2 : plan.tiles();
    if (paired && plan.slices == 1) {  // no more than as many turns take: the fewer share the power
        const unsigned turns = (plan.units() + most - 1) / most;
        most = (plan.units() + turns - 1) / turns;
    }
    const HopperWork work = {product,
                             planes_work(wide_a, wide_b),
                             plan,
                             static_cast<float*>(partials),
                             reinterpret_cast<HopperCounters*>(counters),
                             std::min(plan.units(), most)};
    (paired ? launch_gemm_hopper<HopperForm::paired>
            : launch_gemm_hopper<HopperForm::sliced>)(stream, work);
}

}  // namespace tinyblas
