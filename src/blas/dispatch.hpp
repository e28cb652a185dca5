// SPDX-License-Identifier: MIT
// Device or host: who computes a call.
#pragma once

#include <exception>

#include "blas/calls.hpp"
#include "blas/staging.hpp"

namespace tinyblas::blas {

/// The greatest problem, in multiply-adds, that the host computes: TINYBLAS_BLAS_HOST_LIMIT from
/// the environment, or else `by_default`.
double host_limit(double by_default);

/// Says once for each kind of failure, on stderr, that the host takes over.
void say_host_takes_over(const std::exception& why) noexcept;

/// Lets `body(Staging&)` compute a problem of `work` multiply-adds and counts it. False if it has
/// not, because the problem is up to `limit`, or because there is no device or the device failed:
/// then the host is to compute it. `body` writes the caller's memory as its last step, by
/// download().
template <class Body>
bool computed_on_device(Counter& counter, double work, double limit, Body&& body) {
    if (work <= host_limit(limit)) return false;
    try {
        Staging* const staging = Staging::of_this_thread();
        if (!staging) return false;
        staging->synchronize();  // of what a failure left behind
        body(*staging);
        counter.count_on_device();
        return true;
    } catch (const std::exception& error) {
        say_host_takes_over(error);
        return false;
    }
}

}  // namespace tinyblas::blas
