// SPDX-License-Identifier: MIT
// What the reductions add up. A Sum names the types of the partial sums of a thread and a block
// (Partial) and of the grid (Total), how an element comes in and what the result is.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <device.hpp>

namespace tinyblas {

/// sum of x_i or, without the elements' signs, of |x_i|
template <class T>
struct Elements {
    using Element = T;
    using Partial = T;
    using Total = double;
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static constexpr int operands = 1;
    Bits kept = ~Bits{0};

    static constexpr Elements absolute() { return {~Bits{0} >> 1}; }
    __device__ __forceinline__ void add(T& sum, T x, T) const {
        sum += std::bit_cast<T>(std::bit_cast<Bits>(x) & kept);
    }
    static __device__ __forceinline__ T result(double total) { return static_cast<T>(total); }
};

/// sum of x_i y_i
template <class T>
struct Products {
    using Element = T;
    using Partial = T;
    using Total = double;
    static constexpr int operands = 2;
    static __device__ __forceinline__ void add(T& sum, T x, T y) {
        device::multiply_add(sum, x, y);
    }
    static __device__ __forceinline__ T result(double total) { return static_cast<T>(total); }
};

/// Squares in three ranges, each scaled so that none overflows or underflows.
/// Source: Blue, ACM TOMS 4(1), 1978; the constants: Anderson, Algorithm 978, ACM TOMS 44(1), 2017.
struct RangedSquares {
    double small, medium, large;

    static constexpr double below = 0x1p-511, above = 0x1p+486;  // the medium range
    static constexpr double shrink = 0x1p-538, grow = 0x1p+537;  // what scales the others into it

    __device__ __forceinline__ RangedSquares operator+(const RangedSquares& other) const {
        return {small + other.small, medium + other.medium, large + other.large};
    }
};

/// sqrt(sum of x_i^2)
template <class T>
struct Norm;

template <>
struct Norm<float> {
    using Element = float;
    using Partial = double;  // which holds the square of any float
    using Total = double;
    static constexpr int operands = 1;
    static __device__ __forceinline__ void add(double& sum, float x, float) {
        device::multiply_add(sum, static_cast<double>(x), static_cast<double>(x));
    }
    static __device__ __forceinline__ float result(double total) {
        return static_cast<float>(std::sqrt(total));
    }
};

template <>
struct Norm<double> {
    using Element = double;
    using Partial = RangedSquares;
    using Total = RangedSquares;
    static constexpr int operands = 1;
    static __device__ __forceinline__ void add(RangedSquares& sum, double x, double) {
        const double size = std::fabs(x);
        if (size > RangedSquares::above)
            device::multiply_add(sum.large, x * RangedSquares::shrink, x * RangedSquares::shrink);
        else if (size < RangedSquares::below)
            device::multiply_add(sum.small, x * RangedSquares::grow, x * RangedSquares::grow);
        else  // NaN too
            device::multiply_add(sum.medium, x, x);
    }
    static __device__ __forceinline__ double result(const RangedSquares& total) {
        // A large element leaves the small ones no say; NaN waits in the medium range.
        if (total.large > 0) {
            double sum = total.large;
            device::multiply_add(sum, total.medium * RangedSquares::shrink, RangedSquares::shrink);
            return std::sqrt(sum) / RangedSquares::shrink;
        }
        if (total.small > 0) {
            const double medium = std::sqrt(total.medium);
            const double small = std::sqrt(total.small) / RangedSquares::grow;
            if (!(medium > 0)) return medium == 0 ? small : medium;
            const double more = medium > small ? medium : small;
            const double ratio = (medium > small ? small : medium) / more;
            double square = 1;
            device::multiply_add(square, ratio, ratio);
            return more * std::sqrt(square);
        }
        return std::sqrt(total.medium);
    }
};

/// The value of the lane that is `lanes` further on.
template <class Value>
__device__ __forceinline__ Value from_lane_after(const Value& value, unsigned lanes) {
    if constexpr (std::is_same_v<Value, RangedSquares>)
        return {__shfl_down_sync(~0u, value.small, lanes),
                __shfl_down_sync(~0u, value.medium, lanes),
                __shfl_down_sync(~0u, value.large, lanes)};
    else
        return __shfl_down_sync(~0u, value, lanes);
}

}  // namespace tinyblas
