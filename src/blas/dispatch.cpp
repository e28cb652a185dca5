// SPDX-License-Identifier: MIT
// The limit between host and device, and what is said when the host steps in.
#include "blas/dispatch.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "tinyblas/error.hpp"

namespace tinyblas::blas {

double host_limit(double by_default) {
    constexpr double unset = -1;
    static const double asked = [] {
        const char* const text = std::getenv("TINYBLAS_BLAS_HOST_LIMIT");
        if (!text) return unset;
        char* end = nullptr;
        const double value = std::strtod(text, &end);
        if (end != text && *end == '\0' && value >= 0) return value;
        std::fprintf(stderr,
                     "libtinyblas_blas: TINYBLAS_BLAS_HOST_LIMIT is '%s': must be a number that is "
                     "at least 0\n",
                     text);
        return unset;
    }();
    return asked == unset ? by_default : asked;
}

void say_host_takes_over(const std::exception& why) noexcept {
    static std::atomic<unsigned> said = 0;  // a bit for each status
    const auto* const error = dynamic_cast<const Error*>(&why);
    const auto status = error ? error->status() : Status::internal_error;
    const unsigned bit = 1u << static_cast<int>(status);
    if (said.fetch_or(bit) & bit) return;
    std::fprintf(stderr, "libtinyblas_blas: %s; the host computes what the device cannot\n",
                 why.what());
}

}  // namespace tinyblas::blas
