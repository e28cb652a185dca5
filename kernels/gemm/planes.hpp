// SPDX-License-Identifier: MIT
// An operand of gemm as the tensor cores read it: scaled, and split into parts of 16 bits. What the
// pre-pass (planes.cuh) writes and the rungs split and hopper read.
//
//   rows: those of op(A), or the columns of B. k: the inner extent.
//
//        group 0: 256 k           group 1       a row's part of a group has a scale of its own,
//   +-------+-------+-- ... --+-------+---      so that a part need not hold what lies elsewhere
//   | brick | brick |         | brick |         in the row. A brick, 64 rows x 64 k of one part,
//   | 64x64 |       |         |       |         lies in memory as it will lie in shared memory:
//   +-------+-------+-- ... --+-------+---      a copy brings it there, whatever the operand's
//   | brick |                                   strides were.
//
//   fp16x2: x = 2^(e - 14) (p0 + 2^-11 p1)      e: the row's exponent in the group, floor(log2 of
//   bf16x3: x = 2^(e - 50) (p0 + p1 + p2)       the largest |x|) or a little more (gemm_exponent);
//                                               bf16x3: the largest of the whole row's
#pragma once

#include <bit>
#include <cstdint>

#include "tinyblas/view.hpp"

namespace tinyblas {

enum class GemmParts { fp16x2, bf16x3 };

/// Parts of an element.
constexpr int gemm_parts(GemmParts kind) { return kind == GemmParts::fp16x2 ? 2 : 3; }
/// Where a row's largest element is scaled to, at most: 2^offset to 2^(offset + 1).
constexpr int gemm_offset(GemmParts kind) { return kind == GemmParts::fp16x2 ? 14 : 50; }

inline constexpr int gemm_brick = 64;   // rows, and elements of k, of a brick
inline constexpr int gemm_group = 256;  // elements of k that share a row's scale
inline constexpr int gemm_strip = 32;   // rows that the guard judges together

/// floor(log2 0), as far as exponents go.
inline constexpr int gemm_log2_of_zero = -151;
/// A row's exponent in a group, from floor(log2 of the largest |x|) there: the next of every 8. The
/// sums of a product come to another scale where a row's exponent changes from group to group,
/// which it so seldom does. It costs the smallest elements up to 7 bits; a row that has such small
/// ones keeps the exponent of its largest. A row of zeros has that of numbers near 1.
constexpr int gemm_exponent(int largest) {
    return (largest == gemm_log2_of_zero ? 0 : largest) | 7;
}

/// What the guard found in a group of an operand's strip: bits, to be combined by or.
enum GemmFinding : unsigned {
    gemm_has_low = 1,  // some low part is not zero: one product of high parts is not enough
    gemm_wide = 2,     // a row's elements differ by more than fp16x2 holds
    gemm_strict = 4,   // NaN, Inf, or more than bf16x3 holds
    gemm_far = 8,      // how far the row's groups drift is yet to be judged
};

/// Whether a product whose operands have these findings is computed from parts of this kind.
constexpr bool gemm_is_meant(GemmParts kind, unsigned findings) {
    if (findings & gemm_strict) return false;
    return ((findings & gemm_wide) != 0) == (kind == GemmParts::bf16x3);
}

/// How far elements may lie below the largest of their row and group, in powers of two. An element
/// further below it than `spread` is kept to an absolute error of 2^(e - 50), so a few do no harm.
inline constexpr int gemm_fp16_spread = 28;
inline constexpr int gemm_fp16_few = 2;           // of a row and group may lie further below
inline constexpr int gemm_fp16_most_spread = 36;  // but none further than this
inline constexpr int gemm_bf16_most_spread = 48;  // nor for bf16x3 further than this
/// How far the exponents of a row's groups may differ.
inline constexpr int gemm_fp16_drift = 40;
inline constexpr int gemm_bf16_drift = 48;
/// Whether floor(log2 of the largest |x|) in a row and group is such that the row may drift too
/// far, or leave its groups of zeros too far behind: no two others differ by more than
/// gemm_fp16_drift.
constexpr bool gemm_is_far(int largest) {
    constexpr int near = gemm_fp16_drift / 2;
    return largest < -near || largest > near;
}

/// One operand in parts. A view of device memory.
struct GemmPlanes {
    std::uint16_t* bricks;  // (row bricks, chunks of 64 k, parts, 64 rows, 64 k), padded with zeros
    int* exponents;         // (row bricks, groups, 64 rows)
    std::uint8_t* findings;  // (strips, groups), a strip's padded with zeros to vectors
    std::int64_t rows, k;

    constexpr std::int64_t row_bricks() const { return (rows + gemm_brick - 1) / gemm_brick; }
    constexpr std::int64_t chunks() const { return (k + gemm_brick - 1) / gemm_brick; }
    constexpr std::int64_t groups() const { return (k + gemm_group - 1) / gemm_group; }
    constexpr std::int64_t strips() const { return (rows + gemm_strip - 1) / gemm_strip; }
    /// Findings from strip to strip, and in all.
    constexpr std::int64_t findings_pitch() const { return (groups() + 15) / 16 * 16; }
    constexpr std::int64_t all_findings() const { return strips() * findings_pitch(); }

    /// Element 0 of a brick.
    constexpr std::uint16_t* brick(std::int64_t row_brick, std::int64_t chunk, int part,
                                   int parts) const {
        return bricks + ((row_brick * chunks() + chunk) * parts + part) * gemm_brick * gemm_brick;
    }
    /// Those of group 0 of a strip.
    constexpr std::uint8_t* findings_of(std::int64_t strip) const {
        return findings + strip * findings_pitch();
    }
    /// Row 0 of a brick's exponents.
    constexpr int* exponents_of(std::int64_t row_brick, std::int64_t group) const {
        return exponents + (row_brick * groups() + group) * gemm_brick;
    }
};

/// Where element (row, k) of a brick lies, both 0 to 63. Pieces of 8 k, 16 bytes, are exchanged
/// within their row of 128 bytes, so that 8 rows' pieces of the same k lie in distinct banks: the
/// 128-byte swizzle that wgmma expects.
constexpr int gemm_brick_place(int row, int k) {
    return row * gemm_brick + ((k / 8 ^ row % 8) * 8 + k % 8);
}

/// What the pre-pass makes the parts of one operand from.
struct GemmPlanesTask {
    const float* data;  // null: the operand is in parts already
    std::int64_t row_stride, k_stride;
    GemmPlanes planes;
    const int* narrow_exponents;  // for bf16x3: those that the pass for fp16x2 has found
    int* notes;                   // for fp16x2: as many as exponents, for its blocks' own use; may
                                  // be where bf16x3's exponents will lie
};

/// C = alpha A B + beta C from parts.
struct GemmPlanesProduct {
    float alpha, beta;
    GemmPlanes a, b;  // b's rows are the columns of B
    MatrixView<float> c;
    unsigned* verdict;  // where the kernels leave the findings of a and b together; may be null
};

/// 2^exponent, from 2^-126 to 2^127.
constexpr float gemm_power(int exponent) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// x 2^exponent, rounded once at most, if x is what a sum of products of parts can be.
constexpr float gemm_scaled(float x, int exponent) {
    if (exponent >= -126 && exponent <= 127) return x * gemm_power(exponent);
    // Whatever goes further ends at 0 or Inf, too. Where the first factor must round, the second
    // leaves 0.
    const int bounded = exponent < -252 ? -252 : exponent > 254 ? 254 : exponent;
    return x * gemm_power(bounded / 2) * gemm_power(bounded - bounded / 2);
}

}  // namespace tinyblas
