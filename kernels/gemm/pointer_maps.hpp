// SPDX-License-Identifier: MIT
// The copy engine's maps of operands whose matrices are where arrays of pointers say: a kernel
// writes them (pointer_maps.cuh).
#pragma once

#include <cstdint>

#include <device.hpp>

namespace tinyblas {

/// One operand, or two. Only matrices that begin at 16 bytes get maps, each `like` the operand's.
struct GemmPointerMaps {
    struct Operand {
        const float* const* pointers;
        device::TileMap like;
    } operands[2];
    unsigned operand_count, count;  // of an operand, so many matrices
    device::TileMap* maps;          // of all of the first operand, then of the second
};

__device__ __forceinline__ bool has_pointer_map(const float* data) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

}  // namespace tinyblas
