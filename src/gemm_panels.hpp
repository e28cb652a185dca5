// SPDX-License-Identifier: MIT
// The panels in which gemm from parts makes C, so that its scratch memory has bounds, and where in
// that a panel's operands and sums lie. There is one as long as m + n is below 262,144.
//
//                columns of B
//              +-------+-------+
//   rows of A  | panel | panel |
//              +-------+-------+
//              | panel | panel |
//              +-------+-------+
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gemm_accurate.hpp"
#include "gemm_hopper.hpp"
#include "kernels/gemm/hopper_plan.hpp"

namespace tinyblas {

inline constexpr std::int64_t gemm_most_rows = 1 << 18;  // of A and columns of B, in a panel

constexpr std::int64_t whole_bricks(std::int64_t rows) {
    return (rows + gemm_brick - 1) / gemm_brick * gemm_brick;
}

/// An operand of a panel: rows of A, or columns of B, by k.
struct GemmSide {
    MatrixView<const float> view;
    const GemmPlanes* packed;  // the whole operand's fp16x2 parts, if they are there already
    std::int64_t first;        // of its rows

    std::int64_t row_bricks() const { return whole_bricks(view.rows) / gemm_brick; }
    std::int64_t exponents() const {
        return row_bricks() * gemm_brick * ((view.columns + gemm_group - 1) / gemm_group);
    }
    std::int64_t bricks(int parts) const {
        return row_bricks() * gemm_brick * whole_bricks(view.columns) * parts;
    }
};

struct GemmPanel {
    GemmKernel rung;
    float alpha, beta;
    GemmSide a, b;
    MatrixView<float> c;
};

/// Extents of the panels that the call's C is made in, but for the last ones.
struct GemmPanelExtents {
    std::int64_t m, n;

    explicit GemmPanelExtents(const GemmCall<float>& call) : m(call.c.rows), n(call.c.columns) {
        constexpr std::int64_t half = gemm_most_rows / 2;
        static_assert(half % gemm_brick == 0);
        if (whole_bricks(std::min(m, gemm_most_rows)) + whole_bricks(std::min(n, gemm_most_rows)) <=
            gemm_most_rows)
            return;
        const std::int64_t left_of_m = gemm_most_rows - whole_bricks(std::min(n, half));
        n = std::min(n, gemm_most_rows - whole_bricks(std::min(m, half)));
        m = std::min(m, left_of_m);
    }
};

template <class T>
MatrixView<T> rows_of(MatrixView<T> view, std::int64_t first, std::int64_t count) {
    return {view.data + first * view.row_stride, count, view.columns, view.row_stride,
            view.column_stride};
}

inline GemmPanel panel_at(const GemmCall<float>& call, const GemmPanelExtents& extents,
                          std::int64_t i, std::int64_t j) {
    const std::int64_t m = std::min(extents.m, call.c.rows - i);
    const std::int64_t n = std::min(extents.n, call.c.columns - j);
    return {call.choice.kernel,
            call.alpha,
            call.beta,
            {rows_of(call.a, i, m), call.packed_a, i},
            {rows_of(call.b.transposed(), j, n), call.packed_b, j},
            rows_of(rows_of(call.c, i, m).transposed(), j, n).transposed()};
}

template <class Use>
void for_each_panel(const GemmCall<float>& call, Use use) {
    const GemmPanelExtents extents(call);
    for (std::int64_t i = 0; i < call.c.rows; i += extents.m)
        for (std::int64_t j = 0; j < call.c.columns; j += extents.n)
            use(panel_at(call, extents, i, j));
}

/// Memory handed out piece by piece; counted only, if there is none.
class Pieces {
  public:
    explicit Pieces(void* memory) : memory_(static_cast<std::byte*>(memory)) {}
    template <class T>
    T* take(std::int64_t count) {
        T* const piece = memory_ ? reinterpret_cast<T*>(memory_ + bytes_) : nullptr;
        bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
        return piece;
    }
    std::size_t bytes() const { return bytes_; }

  private:
    std::byte* memory_;
    std::size_t bytes_ = 0;
};

/// The fp16x2 parts of `count` rows from `first` on, a whole number of bricks.
inline GemmPlanes rows_of(const GemmPlanes& planes, std::int64_t first, std::int64_t count) {
    const std::int64_t row_brick = first / gemm_brick;
    return {planes.brick(row_brick, 0, 0, gemm_parts(GemmParts::fp16x2)),
            planes.exponents_of(row_brick, 0), planes.findings_of(first / gemm_strip), count,
            planes.k};
}

/// An operand's parts of both kinds. They share the bricks, unless those for fp16x2 are packed.
struct GemmSidePlanes {
    GemmPlanes fp16x2, bf16x3;

    GemmSidePlanes(const GemmSide& side, GemmWideRoute route, Pieces& pieces) {
        const std::int64_t rows = side.view.rows, k = side.view.columns;
        const bool has_wide = route == GemmWideRoute::bf16x3;
        if (side.packed) {
            fp16x2 = rows_of(*side.packed, side.first, rows);
        } else {
            fp16x2.rows = rows;
            fp16x2.k = k;
            fp16x2.findings = pieces.take<std::uint8_t>(fp16x2.all_findings());
            fp16x2.exponents = pieces.take<int>(side.exponents());
        }
        bf16x3 = fp16x2;
        bf16x3.bricks = nullptr;
        // For fp16x2's notes, too.
        if (has_wide || !side.packed) bf16x3.exponents = pieces.take<int>(side.exponents());
        if (has_wide)
            bf16x3.bricks = pieces.take<std::uint16_t>(side.bricks(gemm_parts(GemmParts::bf16x3)));
        if (!side.packed)
            fp16x2.bricks =
                has_wide ? bf16x3.bricks
                         : pieces.take<std::uint16_t>(side.bricks(gemm_parts(GemmParts::fp16x2)));
    }
};

/// What lies where in a panel's scratch memory.
struct GemmPanelMemory {
    unsigned* verdict;
    void* partials;
    GemmSidePlanes a, b;
    std::size_t bytes;

    GemmPanelMemory(const GemmPanel& panel, GemmWideRoute route, void* memory)
        : GemmPanelMemory(panel, route, Pieces(memory)) {}

  private:
    GemmPanelMemory(const GemmPanel& panel, GemmWideRoute route, Pieces pieces)
        : verdict(pieces.take<unsigned>(1)),
          partials(pieces.take<std::byte>(partial_bytes(panel))),
          a(panel.a, route, pieces),
          b(panel.b, route, pieces),
          bytes(pieces.bytes()) {}

    static std::int64_t partial_bytes(const GemmPanel& panel) {
        if (panel.rung != GemmKernel::hopper) return 0;
        return static_cast<std::int64_t>(
            HopperPlan(panel.c.rows, panel.c.columns, panel.a.view.columns).partial_bytes());
    }
};

}  // namespace tinyblas
