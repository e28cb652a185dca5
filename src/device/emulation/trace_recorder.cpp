// SPDX-License-Identifier: MIT
// From the accesses of threads to the requests of warps, and what these cost.
#include "device/emulation/trace_recorder.hpp"

#include <algorithm>

#include "device/emulation/trace_model.hpp"
#include "device/emulation/tracer.hpp"

namespace tinyblas::device {

namespace {

/// A lane's part in a request: the n-th time that its warp executes an instruction.
struct Part {
    std::uint32_t site, time;
    unsigned lane;
    const RecordedAccess* access;
    bool same_request(const Part& other) const { return site == other.site && time == other.time; }
};

/// Request by request, lane by lane.
std::vector<Part> parts_of(std::span<const TracedThread> warp, std::size_t sites) {
    std::vector<Part> parts;
    std::vector<std::uint32_t> times(sites);
    for (unsigned lane = 0; lane < warp.size(); ++lane) {
        for (const RecordedAccess& access : warp[lane].recorded)
            parts.push_back({access.site, times[access.site]++, lane, &access});
        for (const RecordedAccess& access : warp[lane].recorded) times[access.site] = 0;
    }
    std::sort(parts.begin(), parts.end(), [](const Part& x, const Part& y) {
        return std::tie(x.site, x.time, x.lane) < std::tie(y.site, y.time, y.lane);
    });
    return parts;
}

void add_request(TraceRow& row, const RecordedAccess& access, std::span<const LaneAccess> lanes) {
    ++row.requests;
    row.threads += lanes.size();
    const bool shared = access.space == Space::shared;
    const RequestCost cost =
        shared ? wavefronts(lanes, access.width, access.access == Access::read) : sectors(lanes);
    (shared ? row.wavefronts : row.sectors) += cost.found;
    (shared ? row.ideal_wavefronts : row.ideal_sectors) += cost.ideal;
}

}  // namespace

void Trace::Recorder::count(std::span<const TracedThread> warp, const Sites& sites) {
    const std::vector<Part> parts = parts_of(warp, sites.size());
    std::vector<LaneAccess> lanes;
    for (std::size_t i = 0; i < parts.size();) {
        const Part& first = parts[i];
        lanes.clear();
        for (; i < parts.size() && parts[i].same_request(first); ++i)
            lanes.push_back({parts[i].access->address, parts[i].lane, parts[i].access->bytes});
        const RecordedAccess& access = *first.access;
        TraceRow& row =
            launches.back()
                .rows[{sites.key(access.site), access.space, access.access, access.width}];
        add_request(row, access, lanes);
    }
}

}  // namespace tinyblas::device
