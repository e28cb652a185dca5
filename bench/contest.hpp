// SPDX-License-Identifier: MIT
// A case of an operation that streams memory: the contestants, and the counters that come out.
#pragma once

#include <cmath>

#include "report.hpp"
#include "session.hpp"

namespace tinyblas::bench {

struct Contest {
    Work ours = {}, reference = {};  // the reference may be empty,
    Work limit = {};                 // and so may the limit: what memory allows for the same bytes
    double bytes = 0;                // that one call has to move
    double flop = 0;                 // of one call, against `peak` flop/s; 0: not counted
    double peak = 0;
    int rotation = 1;        // copies of the operands that the works walk through
    bool sustained = false;  // after half a second without pause, ours alone
    bool rested = false;     // every turn starts rested, as power else decides
    bool host = false;       // the works wait for their results: the host's clock counts
};

/// Rounds for `session.add`.
int rounds_of(const Session& session, bool sustained = false);

/// Runs the state's rounds and sets the counters
///   microseconds, gbs, reference_microseconds, reference_gbs, limit_gbs, limit_share,
///   ratio, ratio_p10, ratio_p90, tflops, peak_fraction.
void run_contest(Session& session, benchmark::State& state, const Contest& contest);

/// Rounding errors, in units, stay far below this after a chain of `terms` additions of any sign:
/// more is a defect.
inline double error_bound(double terms) { return 4 * std::sqrt(terms) + 16; }

/// The error in words: exact, or so many units.
Column error_column();

}  // namespace tinyblas::bench
