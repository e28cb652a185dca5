// SPDX-License-Identifier: MIT
// Random numbers by position, the same on the GPU and the CPU, and the entries of a result that its
// error is measured on.
#pragma once

#include <cstdint>

namespace tinyblas::bench {

/// An element of 16 bytes.
struct alignas(16) Bits128 {
    std::uint64_t low, high;
    constexpr bool operator==(const Bits128&) const = default;
};

/// 64 random bits for position `i` of the sequence `seed`. Source: Steele, Lea, Flood, SplitMix,
/// OOPSLA 2014.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = (seed << 40) + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
/// Uniform in (0, 1), 53 bits.
constexpr double random_unit(std::uint64_t seed, std::uint64_t i) {
    return (static_cast<double>(random_bits(seed, i) >> 11) + 0.5) * 0x1p-53;
}

/// Sampled entries: the corners, points of the last row and of the last column, then anywhere.
inline constexpr int samples = 512;

struct Entry {
    std::int64_t i, j;
};
constexpr Entry sample(int s, std::int64_t m, std::int64_t n) {
    const auto bits = random_bits(0, static_cast<std::uint64_t>(s));
    const auto i = static_cast<std::int64_t>((bits >> 32) % static_cast<std::uint64_t>(m));
    const auto j = static_cast<std::int64_t>((bits & 0xFFFFFFFFu) % static_cast<std::uint64_t>(n));
    if (s < 4) return {s & 1 ? m - 1 : 0, s & 2 ? n - 1 : 0};
    if (s < 36) return s % 2 == 0 ? Entry{m - 1, j} : Entry{i, n - 1};
    return {i, j};
}
/// Of a vector: both ends, then anywhere.
constexpr std::int64_t sample(int s, std::int64_t n) {
    if (s < 64) return s % 2 == 0 ? (s / 2) % n : n - 1 - (s / 2) % n;
    return static_cast<std::int64_t>(random_bits(1, static_cast<std::uint64_t>(s)) %
                                     static_cast<std::uint64_t>(n));
}

}  // namespace tinyblas::bench
