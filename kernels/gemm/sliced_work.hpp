// SPDX-License-Identifier: MIT
// What the rung sliced is given: a product, how its operands lie and how it is cut along k.
#pragma once

#include <cstdint>

#include "batched_operands.hpp"

namespace tinyblas {

/// How a product is cut along k. A unit is a rank's share of a part: `depth` of k, and a block of
/// each tile.
struct SlicedCut {
    int depth = 0;
    unsigned ranks_log2 = 0;  // of the ranks of a part, at most 8
    unsigned parts = 1;
    unsigned fan = 1;     // parts that are added up at a time
    int chain = 1 << 30;  // steps after which a slice's chain of multiply-adds ends

    constexpr unsigned ranks() const { return 1u << ranks_log2; }
    constexpr unsigned units() const { return parts << ranks_log2; }
    constexpr unsigned groups() const { return (parts + fan - 1) / fan; }
    /// Counters of a tile.
    constexpr unsigned counters() const { return units() + ranks() * (groups() + 1); }
};

/// How an operand's elements lie: rows are the index that it shares with C, columns are k.
enum class SlicedWalk {
    along_k,  // columns are neighbours
    vectors,  // rows are neighbours, and 16 bytes of them are aligned
    along_i,  // any other way
};
inline SlicedWalk sliced_walk(const MatrixView<const float>& operand) {
    if (operand.row_stride == 1 && operand.column_stride % 4 == 0 &&
        reinterpret_cast<std::uintptr_t>(operand.data) % 16 == 0)
        return SlicedWalk::vectors;
    return operand.column_stride == 1 ? SlicedWalk::along_k : SlicedWalk::along_i;
}

/// How A and transposed(B) lie, if that is known.
struct SlicedLayout {
    SlicedWalk a = {}, b = {};
    bool known = false;

    constexpr SlicedLayout exchanged(bool exchange) const {
        return exchange ? SlicedLayout{b, a, known} : *this;
    }
};

struct SlicedWork {
    float alpha;
    MatrixView<const float> a, b;
    float beta;
    MatrixView<float> c;
    SlicedWalk a_walk = {}, b_walk = {};  // of a and of b transposed
    SlicedCut cut = {};
    bool cluster = false;          // the ranks are a cluster
    float* partials = nullptr;     // units() tiles for each tile of C, if sums go through memory
    unsigned* counters = nullptr;  // cut.counters() for each tile of C, zero before and after
    float one = 1;                 // which the compiler does not know

    /// Whether a tile's sums go through memory.
    constexpr bool through_memory() const { return (cluster ? cut.parts : cut.units()) > 1; }
};

/// The matrices of a batch, of which the work has the first ones (by pointers, none). It is cut in
/// one part, whose ranks are a cluster where there are any, and has partials and counters for each
/// tile of all C.
struct SlicedBatch {
    GemmBatchOperand<const float> a, b;
    GemmBatchOperand<float> c;
    unsigned count;
};

}  // namespace tinyblas
