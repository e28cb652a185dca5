// SPDX-License-Identifier: MIT
// What a warp's lanes compute together on tensor cores. Each lane leaves word where its fragments
// are; all read them, and none goes on before that.
#include <array>
#include <cstddef>
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
    const std::size_t g = lane / 4, t = lane % 4;
    const Fragments* const row = &table[g * 4];
    const Fragments* const columns = &table[t * 8];
    // Four chains, none of which waits for another.
    double d00 = d[0], d01 = d[1], d10 = d[2], d11 = d[3];
    for (std::size_t p = 0; p < 16; ++p) {
        const double top = row[p % 4].a[p / 4 * 2], bottom = row[p % 4].a[p / 4 * 2 + 1];
        const double left = columns[p % 4].b[p / 4], right = columns[4 + p % 4].b[p / 4];
        multiply_add(d00, top, left);
        multiply_add(d01, top, right);
        multiply_add(d10, bottom, left);
        multiply_add(d11, bottom, right);
    }
    d[0] = d00, d[1] = d01, d[2] = d10, d[3] = d11;
    exchange(Exchange::shuffle, all, 0, lane, place);
}

}  // namespace tinyblas::device
