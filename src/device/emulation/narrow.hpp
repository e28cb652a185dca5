// SPDX-License-Identifier: MIT
// Numbers of 16 bits, for CPUs and compilers that know none: the same bits as a GPU's conversions.
#pragma once

#include <bit>
#include <cstdint>

namespace tinyblas::device {

/// x in 16 bits, rounded to the nearest, ties to even; what is too large becomes Inf. fp16: 11
/// significant bits, 2^-24 to 65504; bf16: 8 bits, the range of float.
constexpr std::uint16_t to_fp16(float x) {
    constexpr std::uint32_t too_large = 0x47800000;     // 2^16
    constexpr std::uint32_t least_normal = 0x38800000;  // 2^-14
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits >> 16 & 0x8000;
    const std::uint32_t magnitude = bits & 0x7FFFFFFF;
    std::uint32_t narrow = 0;
    if (magnitude > 0x7F800000) return 0x7FFF;  // NaN, as a GPU makes it
    if (magnitude >= too_large) {
        narrow = 0x7C00;
    } else if (magnitude < least_normal) {
        // Beside 1/2, float's last bit stands for 2^-24: the sum is rounded as a subnormal is.
        const float sum = std::bit_cast<float>(magnitude) + 0.5f;
        narrow = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5f);
    } else {
        const std::uint32_t odd = magnitude >> 13 & 1;  // may carry into the exponent, up to Inf
        narrow = (magnitude - 0x38000000 + 0xFFF + odd) >> 13;
    }
    return static_cast<std::uint16_t>(sign | narrow);
}
constexpr float from_fp16(std::uint16_t narrow) {
    const std::uint32_t sign = static_cast<std::uint32_t>(narrow & 0x8000) << 16;
    const std::uint32_t magnitude = narrow & 0x7FFF;
    std::uint32_t bits = (magnitude << 13) + 0x38000000;
    if (magnitude >= 0x7C00)  // Inf, NaN
        bits += 0x38000000;
    else if (magnitude < 0x0400)  // magnitude * 2^-24
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
    return std::bit_cast<float>(sign | bits);
}
constexpr std::uint16_t to_bf16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FFF;
    return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
constexpr float from_bf16(std::uint16_t narrow) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(narrow) << 16);
}

/// Two at once: `low` in the lower half of the word.
constexpr std::uint32_t to_fp16_pair(float low, float high) {
    return to_fp16(low) | static_cast<std::uint32_t>(to_fp16(high)) << 16;
}
constexpr std::uint32_t to_bf16_pair(float low, float high) {
    return to_bf16(low) | static_cast<std::uint32_t>(to_bf16(high)) << 16;
}
constexpr void from_fp16_pair(std::uint32_t pair, float& low, float& high) {
    low = from_fp16(static_cast<std::uint16_t>(pair));
    high = from_fp16(static_cast<std::uint16_t>(pair >> 16));
}
constexpr void from_bf16_pair(std::uint32_t pair, float& low, float& high) {
    low = from_bf16(static_cast<std::uint16_t>(pair));
    high = from_bf16(static_cast<std::uint16_t>(pair >> 16));
}

}  // namespace tinyblas::device
