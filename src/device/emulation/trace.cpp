// SPDX-License-Identifier: MIT
// Recording launches and printing what was recorded.
#include "device/emulation/trace.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string_view>
#include <utility>

#include "check.hpp"
#include "device/emulation/machine.hpp"
#include "device/emulation/trace_recorder.hpp"

namespace tinyblas::device {

namespace {

constinit thread_local Trace::Recorder* recorder = nullptr;

/// Whether the requests of two instructions cost the same.
bool alike(const TraceRow& x, const TraceRow& y) {
    const auto equal = [&](std::uint64_t TraceRow::*figure) {
        return x.*figure * y.requests == y.*figure * x.requests;
    };
    return x.file == y.file && x.line == y.line && x.space == y.space && x.access == y.access &&
           x.bytes == y.bytes && equal(&TraceRow::wavefronts) &&
           equal(&TraceRow::ideal_wavefronts) && equal(&TraceRow::sectors) &&
           equal(&TraceRow::ideal_sectors);
}

void add(std::vector<TraceRow>& rows, const TraceRow& row) {
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const TraceRow& old) { return alike(old, row); });
    if (same == rows.end()) return rows.push_back(row);
    for (const auto figure :
         {&TraceRow::requests, &TraceRow::threads, &TraceRow::wavefronts,
          &TraceRow::ideal_wavefronts, &TraceRow::sectors, &TraceRow::ideal_sectors})
        *same.*figure += row.*figure;
}

/// The path from the repository's root, if this file is under it too.
std::string_view short_path(std::string_view path) {
    const std::string_view here = __FILE__;
    const auto root = here.rfind("src/device/emulation/");
    if (root != std::string_view::npos && path.starts_with(here.substr(0, root)))
        path.remove_prefix(root);
    return path;
}

std::string fixed(double value) {
    std::ostringstream out;
    out << std::fixed << std::setprecision(value < 99.95 ? 1 : 0) << value;
    return out.str();
}

std::string verdict(const TraceRow& row) {
    const auto requests = static_cast<double>(row.requests);
    if (row.space == Space::shared) {
        if (row.extra_wavefronts() == 0) return "conflict-free";
        return fixed(static_cast<double>(row.extra_wavefronts()) / requests) +
               " extra wavefronts a request";
    }
    if (row.sectors == row.ideal_sectors) return "coalesced";
    return fixed(static_cast<double>(row.sectors) / static_cast<double>(row.ideal_sectors)) +
           " times the sectors needed";
}

}  // namespace

Trace::Recorder* current_recorder() { return recorder; }

Trace::Trace() : recorder_(std::make_unique<Recorder>()) {
    if (recorder != nullptr) fail(Status::internal_error, "a Trace records already");
    recorder = recorder_.get();
}

Trace::~Trace() { recorder = nullptr; }

std::vector<TracedLaunch> Trace::take() {
    std::vector<SiteKey> sites;
    for (const auto& launch : recorder_->launches)
        for (const auto& [instruction, row] : launch.rows)
            sites.push_back(std::get<0>(instruction));
    const auto places = find_places(sites);
    auto place = places.begin();
    std::vector<TracedLaunch> launches;
    for (const auto& launch : recorder_->launches) {
        launches.push_back({launch.operation, launch.grid, launch.block, {}});
        std::vector<TraceRow>& rows = launches.back().rows;
        for (const auto& [instruction, counts] : launch.rows) {
            TraceRow row = counts;
            row.file = place->file;
            row.line = (place++)->line;
            std::tie(std::ignore, row.space, row.access, row.bytes) = instruction;
            add(rows, row);
        }
        std::stable_sort(rows.begin(), rows.end(), [](const TraceRow& x, const TraceRow& y) {
            return std::tie(x.file, x.line, x.space, x.access) <
                   std::tie(y.file, y.line, y.space, y.access);
        });
    }
    recorder_->launches.clear();
    return launches;
}

std::ostream& operator<<(std::ostream& out, const TracedLaunch& launch) {
    constexpr const char* spaces[] = {"shared", "global"};
    constexpr const char* accesses[] = {"read", "write", "atomic"};
    out << launch.operation << ": " << triple(launch.grid) << " blocks of " << triple(launch.block)
        << " threads\n"
        << "  space  access  bytes  requests   a request: threads  wavefronts  sectors  ideal\n";
    for (const TraceRow& row : launch.rows) {
        const bool shared = row.space == Space::shared;
        const auto a_request = [&](std::uint64_t figure) {
            return fixed(static_cast<double>(figure) / static_cast<double>(row.requests));
        };
        out << "  " << std::left << std::setw(7) << spaces[static_cast<int>(row.space)]
            << std::setw(6) << accesses[static_cast<int>(row.access)] << std::right << std::setw(7)
            << row.bytes << std::setw(10) << row.requests << std::setw(21) << a_request(row.threads)
            << std::setw(12) << (shared ? a_request(row.wavefronts) : "") << std::setw(9)
            << (shared ? "" : a_request(row.sectors)) << std::setw(7)
            << a_request(shared ? row.ideal_wavefronts : row.ideal_sectors) << "  "
            << short_path(row.file) << ':' << row.line << "  " << verdict(row) << '\n';
    }
    return out;
}

}  // namespace tinyblas::device
