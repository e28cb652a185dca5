// SPDX-License-Identifier: MIT
// What the rungs of polyval share: coefficients as kernel parameters, pieces of a long polynomial,
// who owns which elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include <device.hpp>

#include "entries.hpp"

namespace tinyblas {

/// A vector as kernels see it: element i, at first[i * stride].
template <class T>
struct PolyvalVector {
    T* first = nullptr;
    std::int64_t stride = 1;

    constexpr T& operator()(std::int64_t i) const { return first[i * stride]; }
};

/// What a kernel evaluates: x and y, of `size` elements, and the chain that an earlier piece of the
/// polynomial left behind, if any.
template <class T>
struct PolyvalOperands {
    std::int64_t size;
    PolyvalVector<const T> x, chain;
    PolyvalVector<T> y;
};

/// How the vectors can be walked.
template <class T>
PolyvalWalk polyval_walk(const PolyvalOperands<T>& v) {
    const auto aligned = [](const auto& vector) {
        return vector.stride == 1 && reinterpret_cast<std::uintptr_t>(vector.first) % 16 == 0;
    };
    return aligned(v.x) && aligned(v.chain) && aligned(v.y) ? PolyvalWalk::vectors
                                                            : PolyvalWalk::elements;
}

/// Some neighbouring coefficients, in host memory, lowest degree first. The chain of Horner's rule
/// starts at coefficients[steps], or goes on from an earlier piece; then come `steps` steps, down
/// to coefficients[0].
template <class T>
struct PolyvalPiece {
    const T* coefficients;
    int steps;
    bool starts;

    T start() const { return starts ? coefficients[steps] : T(0); }
    /// The coefficient of step k, the first one being 0.
    T step(int k) const { return coefficients[steps - 1 - k]; }
};

/// Coefficients as a kernel parameter. Parameters live in the constant bank, a copy for each
/// launch, and a graph keeps its own: no call can disturb another, and the host's array is free as
/// soon as the launch returns. Two by two, because the constant cache hands out 8 bytes at a time.
template <class T, int slots_>
struct PolyvalParameters {
    static constexpr int slots = slots_;
    struct alignas(2 * sizeof(T)) Pair {
        T first, second;
    };

    constexpr T operator[](int slot) const {
        return slot % 2 == 0 ? pairs[slot / 2].first : pairs[slot / 2].second;
    }
    void set(int slot, T value) {
        (slot % 2 == 0 ? pairs[slot / 2].first : pairs[slot / 2].second) = value;
    }

    Pair pairs[slots / 2];
    T start;
    int steps;
};
static_assert(sizeof(PolyvalParameters<float, polyval_long_slots<float>>) +
                  sizeof(PolyvalOperands<float>) <=
              32764);
static_assert(sizeof(PolyvalParameters<double, polyval_long_slots<double>>) +
                  sizeof(PolyvalOperands<double>) <=
              32764);

/// The calling thread's share of the vectors: `vectors` times 16 bytes, a block's width apart.
///
///   vectors    | 0 0 0 0 1 1 1 1 2 2 2 2 ... | 0 0 0 0 1 1 1 1 ... |    the number is the thread
///   elements   | 0 1 2 3 4 5 6 7 ...         | 0 1 2 3 ...         |
template <class T, PolyvalWalk walk, int vectors, int threads>
class PolyvalShare {
    static constexpr int vector = 16 / sizeof(T);
    static constexpr int run = walk == PolyvalWalk::vectors ? vector : 1;

    static constexpr int tile = threads * vectors * vector;  // what a block owns

  public:
    static constexpr int elements = vectors * vector;

    __device__ __forceinline__ explicit PolyvalShare(std::int64_t size)
        : first_(std::int64_t{blockIdx.x} * tile + threadIdx.x * run),
          left_(static_cast<int>(size - first_ < tile ? size - first_ : tile)),
          whole_((std::int64_t{blockIdx.x} + 1) * tile <= size) {}

    __device__ __forceinline__ bool empty() const { return left_ <= 0; }

    /// Elements past the end become 0.
    __device__ __forceinline__ void load(T (&to)[elements], PolyvalVector<const T> from) const {
        const T* source = start(from);
        if (walk == PolyvalWalk::vectors && whole_) {
#pragma unroll
            for (int e = 0; e < elements; e += vector) {
                T values[vector];
                device::load_vector(values, source + offset(e));
#pragma unroll
                for (int i = 0; i < vector; ++i) to[e + i] = values[i];
            }
        } else {
#pragma unroll
            for (int e = 0; e < elements; ++e)
                to[e] = whole_ || offset(e) < left_ ? source[offset(e) * stride(from)] : T(0);
        }
    }

    __device__ __forceinline__ void store(PolyvalVector<T> to, const T (&from)[elements]) const {
        T* target = start(to);
        if (walk == PolyvalWalk::vectors && whole_) {
#pragma unroll
            for (int e = 0; e < elements; e += vector) {
                T values[vector];
#pragma unroll
                for (int i = 0; i < vector; ++i) values[i] = from[e + i];
                device::store_vector(target + offset(e), values);
            }
        } else {
#pragma unroll
            for (int e = 0; e < elements; ++e)
                if (whole_ || offset(e) < left_) target[offset(e) * stride(to)] = from[e];
        }
    }

  private:
    /// Where element e of the share lies from the first one on.
    static constexpr int offset(int e) { return e / run * (threads * run) + e % run; }
    template <class Element>
    __device__ __forceinline__ static std::int64_t stride(const PolyvalVector<Element>& vector) {
        return walk == PolyvalWalk::vectors ? 1 : vector.stride;
    }
    template <class Element>
    __device__ __forceinline__ Element* start(const PolyvalVector<Element>& vector) const {
        return vector.first + first_ * stride(vector);
    }

    std::int64_t first_;
    int left_;    // from the first one to the vectors' end, as far as that matters
    bool whole_;  // all of the block's elements exist
};

/// Blocks of `elements` elements for all of `size`.
inline unsigned polyval_grid(std::int64_t size, std::int64_t elements) {
    return device::grid(size / elements + (size % elements > 0), "polyval");
}

}  // namespace tinyblas
