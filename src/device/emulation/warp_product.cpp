// SPDX-License-Identifier: MIT
// What a warp's lanes compute together on tensor cores. Each lane leaves word where its fragments
// are; all read them, and none goes on before that.
#include <array>
#include <cstdint>

#include "device/emulation/device.hpp"

namespace tinyblas::device {
namespace {

struct Fragments {
    const double *a, *b;
};

}  // namespace

void multiply_fp64(double (&d)[4], const double (&a)[8], const double (&b)[4], Place place) {
    constexpr unsigned all = ~0u;
    const unsigned lane = current_lane();
    std::array<Fragments, 32> own;  // of which lane 0's is the table
    // Shuffles, which say nothing of memory: the instruction is no barrier either.
    const std::uint64_t at =
        exchange(Exchange::shuffle, all, reinterpret_cast<std::uintptr_t>(own.data()), 0, place);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a shuffle carries numbers.
    auto* const table = reinterpret_cast<Fragments*>(static_cast<std::uintptr_t>(at));
    table[lane] = {a, b};
    exchange(Exchange::shuffle, all, 0, lane, place);
    const unsigned g = lane / 4, t = lane % 4;
    for (unsigned h = 0; h < 2; ++h)
        for (unsigned e = 0; e < 2; ++e)
            for (unsigned p = 0; p < 16; ++p)
                multiply_add(d[2 * h + e], table[g * 4 + p % 4].a[p / 4 * 2 + h],
                             table[(2 * t + e) * 4 + p % 4].b[p / 4]);
    exchange(Exchange::shuffle, all, 0, lane, place);
}

}  // namespace tinyblas::device
