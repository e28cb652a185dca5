// SPDX-License-Identifier: MIT
// How a reduction reads a vector: in groups of the elements that fill 16 bytes. Group g is elements
// g * size to g * size + size - 1, whatever the layout, so that the layout does not change the sum.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "tinyblas/view.hpp"

namespace tinyblas {

template <class T>
inline constexpr int group_size = 16 / static_cast<int>(sizeof(T));

/// Elements side by side, the first on a multiple of 16 bytes.
template <class T>
struct AlignedOperand {
    static constexpr int most_together = 4;  // groups that registers hold while they are loaded
    const T* data;

    __device__ __forceinline__ T element(std::int64_t i) const { return __ldg(data + i); }
    __device__ __forceinline__ void load(T (&to)[group_size<T>], std::int64_t group) const {
        device::load_read_only(to, data + group * group_size<T>);
    }
};

/// Elements anywhere.
template <class T>
struct StridedOperand {
    static constexpr int most_together = 2;  // their addresses take registers too
    const T* first;                          // element 0
    std::int64_t increment;

    __device__ __forceinline__ T element(std::int64_t i) const {
        return __ldg(first + i * increment);
    }
    __device__ __forceinline__ void load(T (&to)[group_size<T>], std::int64_t group) const {
        const T* from = first + group * group_size<T> * increment;
#pragma unroll
        for (int e = 0; e < group_size<T>; ++e, from += increment) to[e] = __ldg(from);
    }
};

/// Elements side by side, seen through textures whose texels are `count` elements. A texture starts
/// at an aligned address at or before the first element, and each shows 2^shift texels.
template <class T, int count>
struct TextureOperand {
    static constexpr int most_together = 4;
    static constexpr int most_textures = 16;
    static constexpr std::int64_t most_texels = UINT32_MAX;
    const T* data;
    unsigned texels_before;  // in the first texture, before element 0
    int shift;
    device::Texture textures[most_textures];

    __device__ __forceinline__ T element(std::int64_t i) const { return __ldg(data + i); }
    __device__ __forceinline__ void load(T (&to)[group_size<T>], std::int64_t group) const {
        constexpr int texels = group_size<T> / count;
#pragma unroll
        for (int t = 0; t < texels; ++t) {
            const unsigned texel =
                static_cast<unsigned>(group) * texels + static_cast<unsigned>(t) + texels_before;
            T values[count];
            device::fetch(values, textures[texel >> shift],
                          static_cast<int>(texel & ((1u << shift) - 1)));
#pragma unroll
            for (int e = 0; e < count; ++e) to[t * count + e] = values[e];
        }
    }
};

}  // namespace tinyblas
