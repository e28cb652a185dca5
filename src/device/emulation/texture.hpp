// SPDX-License-Identifier: MIT
// A texture object over linear memory, as device emulation keeps it: what a Texture points to.
#pragma once

#include <cstddef>

namespace tinyblas::device {

struct LinearTexture {
    const void* data;
    std::size_t bytes;
    int element_bytes;
};

/// What a Texture, a number like CUDA's, stands for.
inline LinearTexture* linear_texture(unsigned long long texture) {
    return reinterpret_cast<LinearTexture*>(texture);  // NOLINT(performance-no-int-to-ptr)
}

/// How many textures have been created and not destroyed, for tests that look for leaks.
int living_textures();

}  // namespace tinyblas::device
