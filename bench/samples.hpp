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

/// What the operands of a product hold: errors depend on it.
enum class Data { normal, uniform, graded24, graded40, shuffled40, powers, scaled, subnormal };
enum class Side { left, right };  // A, of which a row counts; B, of which a column does

/// An element is a number times 2 to a power. The number at position `at` of the sequence `seed`,
/// given that of N(0, 1) there.
constexpr double data_number(Data data, double normal, std::uint64_t seed, std::uint64_t at) {
    const double sign = random_bits(seed, at) & 1 ? -1 : 1;
    switch (data) {
        case Data::uniform: return random_unit(seed, at);
        case Data::powers: return sign;
        case Data::shuffled40: return sign * (1 + random_unit(seed, at));
        default: return normal;
    }
}
/// The power. `row`: a row of A or a column of B; p: along k.
constexpr double data_power(Data data, Side side, std::int64_t row, std::int64_t p, std::int64_t k,
                            std::uint64_t seed, std::uint64_t at) {
    const bool left = side == Side::left;
    const double along = static_cast<double>(p) / static_cast<double>(k);
    switch (data) {
        case Data::graded24: return left ? -24 * along : 24 * along;
        case Data::graded40: return left ? -40 * along : 40 * along;
        case Data::shuffled40:
            return (left ? -40 : 40) * random_unit(64, static_cast<std::uint64_t>(p));
        case Data::powers: return 16 * random_unit(seed + 16, at) - 8;
        case Data::scaled:
            return left ? 200 * random_unit(seed + 32, static_cast<std::uint64_t>(row)) - 100 : 0;
        case Data::subnormal: return left && row % 2 == 1 ? -135 : 0;
        default: return 0;
    }
}

/// Of `count` rows that stand for all m: the first, the last, and one of each part between.
constexpr std::int64_t sample_row(std::int64_t s, std::int64_t count, std::int64_t m) {
    if (s == 0) return 0;
    if (s == count - 1) return m - 1;
    const std::int64_t first = s * m / count, end = (s + 1) * m / count;
    const auto bits = random_bits(0, static_cast<std::uint64_t>(s));
    return first + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(end - first));
}

/// Sampled entries of a vector: both ends, then anywhere.
inline constexpr int samples = 512;

constexpr std::int64_t sample(int s, std::int64_t n) {
    if (s < 64) return s % 2 == 0 ? (s / 2) % n : n - 1 - (s / 2) % n;
    return static_cast<std::int64_t>(random_bits(1, static_cast<std::uint64_t>(s)) %
                                     static_cast<std::uint64_t>(n));
}

}  // namespace tinyblas::bench
