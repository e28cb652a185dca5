// SPDX-License-Identifier: MIT
// Judges how far rows drift from group to group, after the pre-pass (planes.cuh). The rung hopper
// does so itself.
#pragma once

#include "planes.cuh"

namespace tinyblas {

/// A warp judges a strip.
__global__ void __launch_bounds__(32)
    gemm_planes_drift(const __grid_constant__ GemmPlanesWork work) {
    if constexpr (!device::reallocates_registers) return device::trap();  // as gemm_planes
    device::let_dependents_start();
    device::wait_for_launcher();
    unsigned strip = blockIdx.x;
    const GemmPlanesTask& task = work.tasks[is_of_b(work.tasks[0].planes, strip)];
    const GemmPlanes& planes = task.planes;
    if (!is_far(planes, strip)) return;
    const unsigned found = judge_drift(planes, task.notes, strip);
    const auto groups = static_cast<unsigned>(planes.groups());
    for (unsigned group = threadIdx.x; group < groups; group += 32) {
        std::uint8_t& of_group = planes.findings_of(strip)[group];
        of_group = static_cast<std::uint8_t>((of_group & ~unsigned{gemm_far}) | found);
    }
}

}  // namespace tinyblas
