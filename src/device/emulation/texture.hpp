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

/// How many textures have been created and not destroyed, for tests that look for leaks.
int living_textures();

}  // namespace tinyblas::device
