// SPDX-License-Identifier: MIT
// Defects as sentences.
#include <algorithm>
#include <array>
#include <sstream>

#include "device/emulation/machine.hpp"
#include "device/emulation/tracer.hpp"

namespace tinyblas::device {

namespace {

const char* to_string(Space space) { return space == Space::shared ? "shared" : "global"; }
const char* to_string(Access access) {
    constexpr const char* words[] = {"read", "write", "atomic operation"};
    return words[static_cast<int>(access)];
}
const char* past_tense(Access access) {
    constexpr const char* words[] = {"read", "wrote", "changed atomically"};
    return words[static_cast<int>(access)];
}

/// Which of an extent's elements comes `number`-th.
uint3 element(dim3 extent, unsigned number) {
    return {number % extent.x, number / extent.x % extent.y, number / extent.x / extent.y};
}

}  // namespace

unsigned Tracer::block_of(std::uint32_t time) const {
    const auto next = std::upper_bound(block_began_.begin(), block_began_.end(), time);
    return static_cast<unsigned>(next - block_began_.begin()) - 1;
}

std::string Tracer::describe_defect() const {
    const Defect& defect = *defect_;
    const std::array sites{sites_.key(defect.site), sites_.key(defect.other_site)};
    const auto places = find_places(sites);
    std::ostringstream out;
    const auto access = [&](const char* what) {
        out << what << ": a " << to_string(defect.access) << " of " << defect.bytes << " bytes ";
    };
    const auto memory = [&] {
        out << to_string(defect.space) << " memory ";
        if (defect.name != nullptr)
            out << '(' << defect.end - defect.begin << " bytes, " << defect.name << ") ";
    };
    switch (defect.fault) {
        case Fault::race:
            access("race");
            out << "of " << to_string(defect.space) << " memory " << places[0] << " that thread "
                << triple(element(block_, defect.other_rank)) << ' '
                << past_tense(defect.other_access) << ' ' << places[1]
                << " with no barrier in between";
            break;
        case Fault::race_between_blocks:
            access("race between blocks");
            out << "of global memory " << places[0] << " that thread "
                << triple(element(block_, defect.other_rank)) << " of block "
                << triple(element(grid_, block_of(defect.other_time))) << " wrote " << places[1];
            break;
        case Fault::unset:
            access("unset memory");
            out << "of " << to_string(defect.space) << " memory that nothing has written "
                << places[0];
            break;
        case Fault::early:
            access("too early");
            out << "of global memory " << places[0] << " before wait_for_launcher()";
            break;
        case Fault::outside: {
            access("out of bounds");
            const bool before = defect.address < defect.begin;
            const auto distance = before ? defect.begin - defect.address
                                         : std::max(defect.address, defect.end) - defect.end;
            out << distance << " bytes " << (before ? "before the start of " : "past the end of ");
            memory();
            if (defect.name == nullptr)
                out << "(an allocation of " << defect.end - defect.begin << " bytes) ";
            out << places[0];
            break;
        }
    }
    return out.str();
}

}  // namespace tinyblas::device
