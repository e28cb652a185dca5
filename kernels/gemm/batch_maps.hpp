// SPDX-License-Identifier: MIT
// The copy engine's maps of a batch's matrices, one each, wherever they lie: a kernel writes them
// (batch_maps.cuh).
#pragma once

#include <cstdint>

#include <device.hpp>

#include "batched_operands.hpp"

namespace tinyblas {

/// Of at most two operands. Only matrices that begin at 16 bytes get maps, each `like` the
/// operand's.
struct GemmBatchMaps {
    struct Operand {
        GemmBatchOperand<const float> matrices;
        device::TileMap like;
    } operands[2];
    unsigned operand_count, count;  // of an operand, so many matrices
    device::TileMap* maps;          // of all of the first operand, then of the second
};

__device__ __forceinline__ bool begins_at_vector(const float* data) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

}  // namespace tinyblas
