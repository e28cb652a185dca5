// SPDX-License-Identifier: MIT
// What a TileMap holds here.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/runtime.hpp"

namespace tinyblas::device {

struct EmulatedTileMap {
    const float* data;
    std::int64_t rows, columns, stride;
    int tile_rows, tile_columns;
    bool swizzled;
};
static_assert(sizeof(EmulatedTileMap) <= sizeof(TileMap));

inline EmulatedTileMap emulated(const TileMap& map) {
    EmulatedTileMap tile;
    std::memcpy(&tile, &map, sizeof tile);
    return tile;
}

}  // namespace tinyblas::device
