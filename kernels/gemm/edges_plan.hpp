// SPDX-License-Identifier: MIT
// The edges of C that the rung pipelined leaves to a kernel of their own.
#pragma once

#include <cstdint>

#include "tinyblas/view.hpp"

namespace tinyblas {

/// C's columns, or rows, before its tiles and beyond them: `count` of them, the first `head` ones
/// and the last ones. C (along.rows x across.rows) = along across^T; k is the columns of both.
struct GemmEdge {
    MatrixView<const float> along, across;
    MatrixView<float> c;
    int head, count;
    bool vectors = false;  // neighbours in `along` share k, in vectors of 16 bytes
    bool along_k = false;  // or lie along k

    static constexpr int most = 4;     // columns
    static constexpr int rows = 64;    // of `along`, of an item of the work
    static constexpr int depth = 256;  // k of a piece
    static constexpr int threads = 512;

    constexpr unsigned items() const {
        return count > 0 ? static_cast<unsigned>((along.rows + rows - 1) / rows) : 0;
    }
    /// Where column number `e` of them is.
    constexpr std::int64_t place(int e) const { return e < head ? e : across.rows - count + e; }
};

/// The edges below and beside tiles, and beside the edges below.
struct GemmEdgesWork {
    float alpha, beta;
    GemmEdge edges[4];
    unsigned items = 0;
    unsigned* counter = nullptr;  // of the items begun, left at 0
};

}  // namespace tinyblas
