// SPDX-License-Identifier: MIT
// How a reduction reads a vector: in groups of the elements that fill 16 bytes. Group g is elements
// g * size to g * size + size - 1, whatever the layout, so that the layout does not change the sum.
// A cursor stands at the group that lies `offset` behind group `start` and loads those after it;
// all threads of a block pass the same `start`, and stay within a step of it.
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
    static constexpr bool one_kernel = false;
    const T* data;

    struct Cursor {
        const T* from;
        __device__ __forceinline__ void load(T (&to)[group_size<T>], int groups_after) const {
            device::load_read_only(to, from + groups_after * group_size<T>);
        }
    };
    __device__ __forceinline__ Cursor at(std::int64_t start, int offset) const {
        return {data + (start + offset) * group_size<T>};
    }
    __device__ __forceinline__ T element(std::int64_t i) const { return __ldg(data + i); }
};

/// Elements anywhere.
template <class T>
struct StridedOperand {
    static constexpr int most_together = 2;  // their addresses take registers too
    static constexpr bool one_kernel = true;
    const T* first;  // element 0
    std::int64_t increment;

    struct Cursor {
        const T* first;
        std::int64_t increment;
        __device__ __forceinline__ void load(T (&to)[group_size<T>], int groups_after) const {
            const T* from = first + groups_after * group_size<T> * increment;
#pragma unroll
            for (int e = 0; e < group_size<T>; ++e, from += increment) to[e] = __ldg(from);
        }
    };
    __device__ __forceinline__ Cursor at(std::int64_t start, int offset) const {
        return {first + (start + offset) * group_size<T> * increment, increment};
    }
    __device__ __forceinline__ T element(std::int64_t i) const {
        return __ldg(first + i * increment);
    }
};

/// Elements side by side, seen through textures whose texels are `count` elements. The first
/// texture starts at an aligned address at or before the first element, the next ones 2^shift
/// texels later each. They overlap by texture_reach texels, so that a block's step stays in one
/// texture: a fetch whose texture differs from lane to lane would be a loop over them.
inline constexpr std::int64_t texture_reach = 8192;
template <class T, int count>
struct TextureOperand {
    static constexpr int most_together = 4;
    static constexpr int most_textures = 16;
    static constexpr int texels = group_size<T> / count;  // of a group
    const T* data;
    unsigned texels_before;  // in the first texture, before element 0
    int shift;
    device::Texture textures[most_textures];

    struct Cursor {
        device::Texture texture;
        int texel;
        __device__ __forceinline__ void load(T (&to)[group_size<T>], int groups_after) const {
#pragma unroll
            for (int t = 0; t < texels; ++t) {
                T values[count];
                device::fetch(values, texture, texel + groups_after * texels + t);
#pragma unroll
                for (int e = 0; e < count; ++e) to[t * count + e] = values[e];
            }
        }
    };
    __device__ __forceinline__ Cursor at(std::int64_t start, int offset) const {
        const unsigned texel = static_cast<unsigned>(start) * texels + texels_before;
        const auto inside = static_cast<int>(texel & ((1u << shift) - 1));
        return {textures[texel >> shift], inside + offset * texels};
    }
    __device__ __forceinline__ T element(std::int64_t i) const { return __ldg(data + i); }
};

}  // namespace tinyblas
