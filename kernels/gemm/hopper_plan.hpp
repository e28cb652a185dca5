// SPDX-License-Identifier: MIT
// Which pieces of work the rung hopper cuts a product into, on the host. It depends on the extents
// alone, so that the bits do too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planes.hpp"

namespace tinyblas {

/// paired: clusters of two blocks, one's tile above the other's, take tiles in turns. Where the
/// last turn would leave many clusters idle, its tiles (and perhaps those of the turn before) are
/// cut along k, and their sums added up by the block that ends last:
///
///   tiles 0 ... whole - 1: one unit of work each | the others: `slices` units each
///
/// sliced: few tiles, half as wide, each a cluster's of one block or of several that share k. In
/// both forms sums are added in the order of the slices.
enum class HopperForm { paired, sliced };

/// A block's tile of C.
inline constexpr int hopper_block_m = 128;
constexpr int hopper_block_n(HopperForm form) { return form == HopperForm::paired ? 128 : 64; }

struct HopperPlan {
    HopperForm form = HopperForm::paired;
    unsigned tiles_m, tiles_n;    // of clusters
    unsigned whole;               // of these are not cut
    unsigned slices = 1;          // of each other one
    unsigned chunks;              // of k
    unsigned groups;              // of k
    unsigned a_bricks, b_bricks;  // of A's and of B's rows
    unsigned cost;                // estimated time, in that of a chunk of a block's tile

    /// What a turn is planned for: the blocks of an H200. Another number is only less even.
    static constexpr unsigned blocks = 132;
    static constexpr unsigned blocks_in_fours = 120;  // if clusters are of four
    static constexpr unsigned most_slices = 4;        // of a cluster
    static constexpr unsigned most_cut_units = blocks;

    /// @param m, n, k  few enough that all numbers here fit 31 bits
    constexpr HopperPlan(std::int64_t m, std::int64_t n, std::int64_t k)
        : tiles_m(pieces(m, 2 * hopper_block_m)),
          tiles_n(pieces(n, hopper_block_n(form))),
          whole(tiles()),
          chunks(pieces(k, gemm_brick)),
          groups(pieces(k, gemm_group)),
          a_bricks(pieces(m, gemm_brick)),
          b_bricks(pieces(n, gemm_brick)) {
        // What a unit takes besides its chunks is measured. The last block of a cut tile reads the
        // sums of all its slices.
        constexpr unsigned start = 3, start_of_cut = 5, start_of_sliced = 2, clusters = blocks / 2;
        cost = pieces(tiles(), clusters) * (chunks + start);
        const unsigned full_turns = tiles() / clusters;
        for (unsigned kept = full_turns < 1 ? 0 : full_turns - 1; kept <= full_turns; ++kept) {
            const unsigned cut = tiles() - kept * clusters;
            for (unsigned s = 2; cut > 0 && 4 * s <= chunks && cut * s <= most_cut_units; ++s) {
                const unsigned other =
                    kept * (chunks + start) +
                    pieces(cut * s, clusters) * (pieces(chunks, s) + start_of_cut) + s;
                if (other >= cost) continue;
                cost = other;
                whole = kept * clusters;
                slices = s;
            }
        }
        constexpr HopperForm sliced = HopperForm::sliced;
        const unsigned rows = pieces(m, hopper_block_m),
                       columns = pieces(n, hopper_block_n(sliced));
        for (unsigned s = 1; s <= most_slices && s <= chunks; s *= 2) {
            if (rows * columns * s > (s > 2 ? blocks_in_fours : blocks)) break;
            // A chunk takes five eighths as long.
            const unsigned other =
                pieces(pieces(chunks, s) * 5, 8) + start_of_sliced + (s > 1 ? 1 + s / 2 : 0);
            if (other >= cost) continue;
            cost = other;
            form = sliced;
            tiles_m = rows;
            tiles_n = columns;
            whole = 0;
            slices = s;
        }
    }

    constexpr unsigned tiles() const { return tiles_m * tiles_n; }
    constexpr unsigned cut_tiles() const { return tiles() - whole; }
    constexpr unsigned units() const { return whole + cut_tiles() * slices; }
    constexpr unsigned cluster_blocks() const { return form == HopperForm::paired ? 2 : slices; }
    /// Sums of slices, kept for the block that adds them up.
    constexpr std::size_t partial_bytes() const {
        return form == HopperForm::paired ? std::size_t{2} * cut_tiles() * slices * hopper_block_m *
                                                hopper_block_n(form) * sizeof(float)
                                          : 0;
    }

  private:
    static constexpr unsigned pieces(std::int64_t extent, std::int64_t piece) {
        return static_cast<unsigned>((extent + piece - 1) / piece);
    }
};

}  // namespace tinyblas
