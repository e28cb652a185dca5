// SPDX-License-Identifier: MIT
// Counting banks and sectors.
#include "device/emulation/trace_model.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "device/emulation/thread.hpp"

namespace tinyblas::device {

namespace {

constexpr unsigned banks = 32;
constexpr unsigned word = 4;
constexpr unsigned sector = 32;

/// The distinct pieces of `size` bytes that the accesses touch, in order.
std::vector<std::uintptr_t> pieces(std::span<const LaneAccess> accesses, unsigned size) {
    std::vector<std::uintptr_t> found;
    for (const LaneAccess& access : accesses)
        for (auto piece = access.address / size;
             piece <= (access.address + access.bytes - 1) / size; ++piece)
            found.push_back(piece);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

/// Whether lanes `apart` lanes apart, both of which take part, ask for the same address.
bool pairs_agree(std::span<const LaneAccess> lanes, unsigned apart) {
    std::array<const LaneAccess*, warp_lanes> of_lane{};
    for (const LaneAccess& access : lanes) of_lane[access.lane] = &access;
    return std::all_of(lanes.begin(), lanes.end(), [&](const LaneAccess& access) {
        const LaneAccess* const other = of_lane[access.lane ^ apart];
        return other == nullptr || other->address == access.address;
    });
}

}  // namespace

RequestCost wavefronts(std::span<const LaneAccess> lanes, unsigned bytes, bool read) {
    unsigned group_lanes = bytes <= word ? warp_lanes : std::max(1u, banks * word / bytes);
    if (read && bytes > word && (pairs_agree(lanes, 1) || pairs_agree(lanes, 2))) group_lanes *= 2;
    RequestCost cost;
    for (std::size_t first = 0; first < lanes.size();) {
        const unsigned group = lanes[first].lane / group_lanes;
        std::size_t last = first;
        while (last < lanes.size() && lanes[last].lane / group_lanes == group) ++last;
        std::array<std::uint64_t, banks> words{};
        for (const auto piece : pieces(lanes.subspan(first, last - first), word))
            ++words[piece % banks];
        cost.found += *std::max_element(words.begin(), words.end());
        cost.ideal += 1;
        first = last;
    }
    return cost;
}

RequestCost sectors(std::span<const LaneAccess> lanes) {
    return {pieces(lanes, sector).size(), (pieces(lanes, 1).size() + sector - 1) / sector};
}

}  // namespace tinyblas::device
