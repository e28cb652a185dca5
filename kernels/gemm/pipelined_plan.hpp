// SPDX-License-Identifier: MIT
// How the rung pipelined cuts a product into pieces of work, and what that takes. It depends on
// extents, layouts, memory and whether C is read alone, so that the bits do too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "edges_plan.hpp"
#include "tiles.hpp"

namespace tinyblas {

/// 9 stages where no sums are set aside, and warps that turn A's tiles and keep 72 registers each:
/// with fewer they would spill, and one spill anywhere costs the main loop its choice of register
/// banks.
inline constexpr GemmTile pipelined_tile = {128, 256, 16, 64, 64, 16, 8, 9, 1, 128, 72};
/// Of a batch whose C are narrow, 2 or 4 products have their parts of the threads, side by side; or
/// 4 slices of one product's k have, where C is of mid size.
inline constexpr GemmTile pipelined_tile_2 = {128, 128, 16, 64, 64, 16, 8, 7, 1};
inline constexpr GemmTile pipelined_tile_4 = {128, 64, 16, 64, 64, 16, 8, 4, 1};
constexpr GemmTile pipelined_tile_of(int parts) {
    return parts == 4 ? pipelined_tile_4 : parts == 2 ? pipelined_tile_2 : pipelined_tile;
}

/// What a block's tile is made of. Parts of its warps that multiply have a tile of their own each:
/// of a product, or, in a sliced form, of a slice of one product's k.
struct PipelinedForm {
    int parts = 1;           // 1, 2 or 4
    bool a_by_rows = false;  // how A's tiles lie: row by row, or k by k
    bool sliced = false;     // of 4 parts
    bool in_place = false;   // of 1 part, for batches: each matrix is read as it lies

    constexpr GemmTile tile() const {
        GemmTile tile = pipelined_tile_of(parts);
        if (sets_aside()) tile.stages = 4;  // sums have the room of the others
        return tile;
    }
    constexpr int products() const { return sliced ? 1 : parts; }
    /// Whether tiles may be cut along k, and C lie in columns: not if it is for batches alone.
    constexpr bool cuts() const { return products() == 1 && !in_place; }
    /// Whether a piece's sums can be some chains: a warp sets its sums aside; in the sliced form,
    /// they pass from slice to slice.
    constexpr bool has_chains() const { return sets_aside() || sliced; }
    constexpr bool sets_aside() const { return parts == 1 && !in_place; }
    /// Elements of a product's k that a step takes.
    constexpr int depth() const { return tile().block_k * (sliced ? parts : 1); }
    /// The threads of a block and their registers: where no warps turn tiles, multipliers get more;
    /// but with 4 products whose A lie k by k, ptxas finds better banks in fewer (3 % of the time).
    constexpr GemmTile block() const {
        GemmTile block = pipelined_tile;
        if (parts == 2 || a_by_rows || sliced) block.loader_registers = 24;
        return block;
    }
};

/// Steps `first` to before `last` of a tile's k; none after a block's last piece.
struct PipelinedPiece {
    unsigned tile, first, last;
};

/// The first `cut` tiles are cut along k so that all blocks get as many steps of them, the first
/// ones perhaps one more, but `margin` less for each end of a tile that a block goes on from; the
/// other tiles are dealt whole. Or, if `each` is not 0, they are cut in so many pieces each, and a
/// block has one of them at most, after its whole tiles. Or, if `own` is not 0, in two: each has a
/// block for its first `own` steps, and blocks beyond these have the rest of `helped` tiles each,
/// after whole tiles likewise.
struct PipelinedWorkload {
    unsigned tiles_m = 0, tiles_n = 0, cut = 0, steps = 0, blocks = 0;
    unsigned margin = 0;
    unsigned share = 0, extra = 0;  // of all blocks: share * blocks + extra; or steps, by `each`
    unsigned each = 0, whole = 0;   // and the whole tiles of a block
    unsigned own = 0, helped = 0;
    unsigned chain = 0;  // steps after which a piece's sums are set aside; 0: none
    // Of a batch, products or groups of them, whose tiles follow each other. Two products of a
    // group are as many apart; the last groups may have but one.
    unsigned products = 1;

    constexpr PipelinedWorkload() = default;
    constexpr PipelinedWorkload(unsigned tiles_m, unsigned tiles_n, unsigned cut, unsigned steps,
                                unsigned blocks, unsigned margin = 0)
        : tiles_m(tiles_m),
          tiles_n(tiles_n),
          cut(cut),
          steps(steps),
          blocks(blocks),
          margin(margin),
          share(line() / blocks),
          extra(line() % blocks) {}

    /// So many pieces of each tile that is cut; its first ones have perhaps one step more.
    constexpr void cut_each(unsigned pieces) {
        each = pieces;
        whole = (tiles_m * tiles_n - cut) / blocks;
        share = steps / pieces;
        extra = steps % pieces;
    }

    constexpr unsigned turns() const {
        return (tiles_m * tiles_n * products + blocks - 1) / blocks;
    }

    /// From a cut tile's first step to the next one's, where all steps lie in a line, with a margin
    /// behind each tile's; and how long that is.
    constexpr unsigned apart() const { return steps + margin; }
    constexpr unsigned line() const { return cut > 0 ? cut * apart() - margin : 0; }
    /// In that line, where a block begins; and which one has a place. If `each` is not 0, of a
    /// tile's steps the first one of a piece.
    constexpr unsigned first_step(unsigned block) const {
        return block * share + (block < extra ? block : extra);
    }
    constexpr unsigned block_of(unsigned step) const {
        const unsigned longer = extra * (share + 1);
        return step < longer ? step / (share + 1) : extra + (step - longer) / share;
    }

    constexpr PipelinedPiece piece(unsigned block, unsigned number) const {
        if (each > 0) {
            if (number < whole) return {cut + number * blocks + block, 0, steps};
            const unsigned tile = block / each, own = block - tile * each;
            const unsigned begin = first_step(own);
            const bool exists = number == whole && tile < cut;
            return {tile, begin, exists ? first_step(own + 1) : begin};
        }
        const unsigned begin = first_step(block), end = first_step(block + 1);
        if (begin < end) {
            // Or after that one's margin.
            const unsigned before = begin / apart();
            const unsigned first_tile = begin - before * apart() < steps ? before : before + 1;
            const unsigned tile = first_tile + number, zero = tile * apart();
            if (zero < end)
                return {tile, begin > zero ? begin - zero : 0,
                        end - zero < steps ? end - zero : steps};
            number -= (end - 1) / apart() - first_tile + 1;
        }
        return whole_piece(cut + block, number);
    }
    /// The same where all tiles are whole.
    constexpr PipelinedPiece whole_piece(unsigned block, unsigned number) const {
        const unsigned tile = number * blocks + block;
        return {tile, 0, tile < tiles_m * tiles_n * products ? steps : 0};
    }
    /// The same if `own` is not 0.
    constexpr PipelinedPiece helped_piece(unsigned block, unsigned number) const {
        if (number < whole) return whole_piece(cut + block, number);
        number -= whole;
        if (block < cut) return {block, 0, number == 0 ? own : 0};
        const unsigned tile = (block - cut) * helped + number;
        return {tile, own, number < helped && tile < cut ? steps : own};
    }
    constexpr bool cuts(const PipelinedPiece& piece) const {
        return piece.last - piece.first < steps;
    }
    /// Of a piece's steps, before which one the chain of multiply-adds ends that begins with step
    /// `first`. A piece's first chain is longer for warps that are `late`: of two that share a
    /// scheduler, one sets its sums aside while the other one multiplies.
    constexpr unsigned chain_end(const PipelinedPiece& piece, unsigned first, bool late) const {
        const unsigned end = first + chain + (late && first == piece.first ? 2 : 0);
        return chain == 0 || end + chain / 4 >= piece.last ? piece.last : end;
    }

    /// Whether all blocks have a whole tile and nothing else.
    constexpr bool is_one_turn() const { return cut == 0 && turns() == 1; }

    struct Place {
        unsigned product, i, j;
    };
    /// Product, tile row and column. Down 12 tile rows, then along: neighbours share tiles of A and
    /// B in the L2 cache.
    constexpr Place place(unsigned tile) const {
        constexpr unsigned band = 12;
        const unsigned product = tile / (tiles_m * tiles_n);
        tile -= product * (tiles_m * tiles_n);
        const unsigned above = tile / (band * tiles_n) * band;
        const unsigned rows = tiles_m - above < band ? tiles_m - above : band;
        const unsigned inside = tile - above * tiles_n, j = inside / rows;
        return {product, above + inside - j * rows, j};
    }
};

/// How an operand's elements lie.
enum class PipelinedLayout {
    mapped,   // neighbours share k, 16-byte aligned: the copy engine reads it in place
    shifted,  // the same from one of the first rows on: those before are edges, or it is packed
    by_rows,  // neighbours lie along k, likewise: the copy engine can bring A's tiles by rows
    along_k,  // neighbours lie along k, rows at 16-byte steps: threads can turn A's tiles
    other,    // it is packed first
};
/// Whose plans to compare.
enum class PipelinedForms { all, whole, sliced };

struct GemmPipelinedPlan {
    PipelinedWorkload load;
    // Rows and columns of C, before the first tile and beyond the last one, left to another kernel.
    int lead_m = 0, lead_n = 0, fringe_m = 0, fringe_n = 0;
    PipelinedForm form;
    bool turn_a = false, pack_a = false, pack_b = false;
    bool exchanged = false;  // for C^T = B^T A^T, whose rows and columns are meant
    int skip = 0;            // steps of k begin so many elements before, where A is 16-byte aligned
    bool sums_apart = false;  // pieces' sums are added up by a kernel of their own
    std::size_t pack_a_bytes = 0, pack_b_bytes = 0, partial_bytes = 0;
    std::size_t scratch_bytes = 0;
    double seconds = 0;
    bool fits = false;

    constexpr int edge_rows() const { return lead_m + fringe_m; }
    constexpr int edge_columns() const { return lead_n + fringe_n; }
};

/// Elements from k to k of a packed operand.
constexpr std::int64_t pipelined_pitch(std::int64_t extent) { return (extent + 31) / 32 * 32; }
constexpr std::size_t pipelined_packed_bytes(std::int64_t extent, std::int64_t k) {
    return static_cast<std::size_t>(pipelined_pitch(extent) * k) * sizeof(float);
}

/// A copy that the pre-pass makes. from: the operand with the extent that it shares with C as rows,
/// k as columns.
struct PipelinedPackTask {
    MatrixView<const float> from;
    float* to;
    std::int64_t pitch;  // of the copy, a multiple of 4

    static constexpr int edge = 64;
    constexpr unsigned across() const {
        return static_cast<unsigned>((from.rows + edge - 1) / edge);
    }
    constexpr std::int64_t blocks() const {
        return to ? across() * ((from.columns + edge - 1) / edge) : 0;
    }
};

/// What runs before the pre-pass. `early`: it may take places before the kernel ahead has ended:
/// mostly a product that was packed, too, which lets none start until it ends, so that these blocks
/// do not gather. The product itself takes its places at once.
struct PipelinedPackOrder {
    bool early;
};

constexpr std::int64_t pipelined_pieces(std::int64_t extent, std::int64_t piece) {
    return (extent + piece - 1) / piece;
}
/// Tiles of a C, or of several side by side.
constexpr std::int64_t pipelined_tiles(std::int64_t m, std::int64_t n, int products = 1) {
    const GemmTile t = pipelined_tile_of(products);
    return pipelined_pieces(m, t.block_m) * pipelined_pieces(n, t.block_n);
}

/// What plans are for: an H200. Another number of multiprocessors is only less even.
inline constexpr unsigned pipelined_multiprocessors = gemm_multiprocessors;
/// Microseconds on it, measured: a step of a tile; besides its steps a whole tile, another one
/// after it, which loads while that one is stored, and `second` where there is one; where tiles are
/// cut, `cut`, and for a piece of one, `piece`, or, where tiles have no more than two pieces,
/// `of_two`, more with each of the piece's steps, up to a limit, twice where a block has two pieces
/// without a `margin` (in steps) for the first one's end; parts of sums that meet, or in place of
/// all that a kernel that adds them up, and each tile for it; where blocks help, each of a helper's
/// pieces, alone or after whole tiles, and a piece's end, more with each tile that a helper has;
/// where sums are set aside; a launch; where the product is the
/// transposed one; how much longer it takes where threads turn A; bytes that packing moves; the
/// steps of a tile at least. Where all tiles have as many pieces, a block's only one, each that
/// meets, or that kernel. And where an element, not 16 bytes, of C is stored at a time, how much
/// more each tile takes, and its steps at least; and an item of edges, each of its pieces of k, how
/// much longer one takes that is read by elements, or from its begin to its end, and a piece of the
/// last one, if that follows tiles.
struct PipelinedCosts {
    unsigned margin = 2;
    double step = 2.46, tile = 5, next = 2, second = 2, cut = 1.2, piece = 14.5, of_two = 6.6,
           of_step = 0.3, most = 10, meeting = 1, sums_apart = 12.8, tile_apart = 0.44,
           helping = 3.6, helping_after = 3.6, of_helped = 5.7, each_helped = 0.36, aside = 1,
           launch = 3, exchanged = 3, turn = 1.013, packed_bytes = 4.7e6, least = 0, of_each = 9.2,
           each_meeting = 1, each_apart = 9, ragged = 0, ragged_least = 0, edge = 1.5,
           edge_piece = 2.2, edge_elements = 2, edge_alone = 2, edges_after = 5;
};
inline constexpr PipelinedCosts pipelined_costs;
/// Of the pre-pass.
constexpr double gemm_pack_microseconds(std::size_t packed_bytes) {
    return 1 + 2 * static_cast<double>(packed_bytes) / pipelined_costs.packed_bytes;
}
/// Of the sliced form, whose tiles are a fourth as large; their sums are never added up apart.
inline constexpr PipelinedCosts pipelined_sliced_costs = {.margin = 1,
                                                          .step = 2.6,
                                                          .tile = 2.1,
                                                          .next = 1.4,
                                                          .piece = 6.3,
                                                          .of_two = 4.7,
                                                          .of_step = 0,
                                                          .meeting = 0.8,
                                                          .sums_apart = 1e9,
                                                          .helping = 1,
                                                          .helping_after = 3,
                                                          .of_helped = 3.5,
                                                          .each_helped = 0,
                                                          .exchanged = 1.5,
                                                          .least = 3.7,
                                                          .of_each = 3.8,
                                                          .each_meeting = 0.34,
                                                          .each_apart = 1e9,
                                                          .ragged = 1.5,
                                                          .ragged_least = 3.3};

/// Steps of a chain of multiply-adds; 0: one is enough. Errors fall with the square root of the
/// number of chains, of which there are more than the pieces into which cuBLAS cuts k, measured:
/// with as many, luck decides whose largest error is smaller. It cuts k where tiles leave
/// multiprocessors idle, into more pieces where tiles are few, beyond a k of 1024 the most; else a
/// k of 4096 into two at most, a longer one into three.
constexpr unsigned pipelined_chain(std::int64_t tiles, std::int64_t steps) {
    const std::int64_t turns = pipelined_pieces(tiles, pipelined_multiprocessors);
    const bool full = 10 * tiles >= 9 * turns * pipelined_multiprocessors;
    if (full && steps <= 128) return 0;
    const bool few = turns == 1 && !full;
    const int chains = few ? 12 : !full || steps < 256 ? 10 : steps == 256 ? 3 : 4;
    const std::int64_t chain = pipelined_pieces(steps, chains);
    const std::int64_t least = few && steps > 64 ? 10 : 16, most = few ? 32 : full ? steps : 96;
    return static_cast<unsigned>(chain < least ? least : chain > most ? most : chain);
}

/// The same of the sliced form, whose pieces have so many of a tile's steps at most: chains as long
/// as each other, of 16 steps, in which a slice has 256 k, or a fourth of the tile's.
constexpr unsigned pipelined_sliced_chain(std::int64_t longest, std::int64_t steps) {
    const std::int64_t fourth = pipelined_pieces(steps, 4), most = fourth > 16 ? fourth : 16;
    return static_cast<unsigned>(pipelined_pieces(longest, pipelined_pieces(longest, most)));
}

/// The tiles of a batch of products, few enough for 31 bits: all whole. `products`: side by side; 2
/// of them in as many groups as the least number of turns has room for, so that all blocks have
/// some product in the last turns.
constexpr PipelinedWorkload plan_pipelined_batch(std::int64_t m, std::int64_t n, std::int64_t k,
                                                 std::int64_t count, int products) {
    const GemmTile t = pipelined_tile_of(products);
    const auto pieces = [](std::int64_t extent, int piece) {
        return static_cast<unsigned>(pipelined_pieces(extent, piece));
    };
    constexpr std::int64_t at_once = pipelined_multiprocessors;
    const std::int64_t each = pipelined_tiles(m, n, products);
    const std::int64_t least = pipelined_pieces(count, products);
    const std::int64_t room = pipelined_pieces(least * each, at_once) * at_once / each;
    count = products != 2 ? least : room < count ? room : count;
    const std::int64_t tiles = each * count;
    PipelinedWorkload load(pieces(m, t.block_m), pieces(n, t.block_n), 0, pieces(k, t.block_k),
                           static_cast<unsigned>(tiles < at_once ? tiles : at_once));
    load.products = static_cast<unsigned>(count);
    return load;
}

/// Of edges, in microseconds: all items, two at a time on a multiprocessor; and from the first load
/// to the last store of one. `below`, `beside`: their long extents.
struct GemmEdgesTime {
    double all = 0, one = 0;

    constexpr GemmEdgesTime(std::int64_t below, std::int64_t beside, std::int64_t k,
                            bool beside_in_vectors) {
        constexpr PipelinedCosts cost = pipelined_costs;
        const double each =
            cost.edge + cost.edge_piece * static_cast<double>(pipelined_pieces(k, GemmEdge::depth));
        const double longer = beside > 0 && !beside_in_vectors ? cost.edge_elements : 1;
        const auto items = [](std::int64_t extent) {
            return static_cast<double>(pipelined_pieces(extent, GemmEdge::rows));
        };
        all = each * (items(below) + items(beside) * longer);
        one = all > 0 ? cost.edge_alone * each * longer : 0;
    }
};

/// The cheapest plan for an m x n x k product that takes at most `most_scratch` bytes. The shifts:
/// where A, if its layout is `along_k` or `shifted`, and B, if `shifted`, begin, in elements from a
/// multiple of 16 bytes.
constexpr GemmPipelinedPlan plan_gemm_pipelined(std::int64_t m, std::int64_t n, std::int64_t k,
                                                PipelinedLayout a, PipelinedLayout b,
                                                std::size_t most_scratch, int a_shift = 0,
                                                int b_shift = 0,
                                                PipelinedForms forms = PipelinedForms::all,
                                                bool exchanged = false) {
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1024;  // of an extent
    GemmPipelinedPlan best;
    if (m <= 0 || n <= 0 || k <= 0 || m > most || n > most || k > most) return best;
    constexpr auto pieces = pipelined_pieces;
    // Rows or columns before the first tile; and beyond the last one, where they are few, or where
    // then there are some before, too, and the others come in fours.
    const auto lead = [](PipelinedLayout layout, int shift) {
        return layout == PipelinedLayout::shifted ? 4 - shift : 0;
    };
    const auto fringe = [](std::int64_t extent, int block, int lead) {
        const std::int64_t rest = (extent - lead) % block, part = lead > 0 ? rest % 4 : 0;
        return static_cast<int>(rest + lead <= GemmEdge::most   ? rest
                                : part + lead <= GemmEdge::most ? part
                                                                : 0);
    };
    const bool along_k = a == PipelinedLayout::by_rows || a == PipelinedLayout::along_k;
    for (int way = 0; way < 16; ++way) {
        // Whether threads turn A's tiles, edges are left, tiles are sliced, and multiprocessors
        // are spared for the edges.
        const bool turn = way % 2 == 1, leave = way / 2 % 2 == 1, sliced = way / 4 % 2 == 1;
        const bool spare = way / 8 == 1;
        GemmPipelinedPlan plan;
        if (sliced) plan.form = {4, a == PipelinedLayout::by_rows, true};
        const PipelinedCosts cost = sliced ? pipelined_sliced_costs : pipelined_costs;
        const GemmTile t = plan.form.tile();
        if ((turn && (sliced || !along_k)) || (spare && !leave) ||
            forms == (sliced ? PipelinedForms::whole : PipelinedForms::sliced))
            continue;
        if (leave) {
            if (m > t.block_m) {
                plan.lead_m = lead(a, a_shift);
                plan.fringe_m = fringe(m, t.block_m, plan.lead_m);
            }
            if (n > t.block_n) {
                plan.lead_n = lead(b, b_shift);
                plan.fringe_n = fringe(n, t.block_n, plan.lead_n);
            }
            if (plan.edge_rows() + plan.edge_columns() == 0) continue;
        }
        plan.exchanged = exchanged;
        plan.turn_a = turn;
        plan.skip = turn ? a_shift : 0;
        // How C lies, supposedly.
        const bool ragged =
            exchanged || (plan.lead_n == 0 && (n % 4 != 0 || b == PipelinedLayout::other ||
                                               b == PipelinedLayout::shifted));
        const std::int64_t steps = pieces(k + plan.skip, plan.form.depth());
        plan.pack_a =
            !turn && !plan.form.a_by_rows && a != PipelinedLayout::mapped && plan.lead_m == 0;
        plan.pack_b = b != PipelinedLayout::mapped && plan.lead_n == 0;
        const std::int64_t rows = m - plan.edge_rows(), columns = n - plan.edge_columns();
        const std::int64_t tiles_m = pieces(rows, t.block_m), tiles_n = pieces(columns, t.block_n);
        const std::int64_t tiles = tiles_m * tiles_n;
        if (tiles > (std::int64_t{1} << 31)) continue;
        const GemmEdgesTime edges(plan.edge_rows() > 0 ? columns : 0,
                                  plan.edge_columns() > 0 ? rows : 0, k,
                                  !turn && !plan.form.a_by_rows);
        constexpr std::int64_t all_multiprocessors = pipelined_multiprocessors;
        constexpr double edges_at_once = 2;  // on a multiprocessor
        std::int64_t at_once = all_multiprocessors;
        if (spare) {  // some more than it takes
            const double meanwhile = cost.step * static_cast<double>(tiles * steps) /
                                     static_cast<double>(all_multiprocessors);
            at_once -=
                static_cast<std::int64_t>(1.08 * edges.all / (edges_at_once * meanwhile)) + 1;
            if (at_once < all_multiprocessors * 3 / 4) continue;
        }
        const auto packed = [&](bool pack, std::int64_t extent) {
            return pack ? pipelined_packed_bytes(extent, k) : 0;
        };
        plan.pack_a_bytes = packed(plan.pack_a, m);
        plan.pack_b_bytes = packed(plan.pack_b, n);
        // The first `cut` tiles are cut for so many blocks (0: no such plan). `met`: pieces that
        // meet in a tile. `each`, `own`, `helped`: as a workload has them.
        struct Cut {
            std::int64_t cut, blocks, met;
            std::int64_t each = 0, own = 0, helped = 0;
        };
        const std::int64_t last = tiles % at_once;
        // Into how many pieces so many blocks can cut each of as many tiles: no more than it takes
        // for pieces as short.
        const auto split = [&](std::int64_t tiles) {
            const std::int64_t most = tiles > 0 ? at_once / tiles : 0;
            const std::int64_t each = most > 1 ? pieces(steps, pieces(steps, most)) : 0;
            return each > 1 ? each : 0;
        };
        const std::int64_t of_all = split(tiles), of_last = tiles > at_once ? split(last) : 0;
        const std::int64_t helpers = at_once - last;
        std::int64_t helped = last > 0 ? pieces(last, helpers) : 0;
        // Helpers of more tiles take up to a third longer than estimated, beside edges of six, and
        // slices of more than half as many as there are steps, whose pieces are single ones.
        if (helped > (edges.all > 0 ? 5 : sliced ? 8 : 12) || (sliced && 2 * helped > steps))
            helped = 0;
        // How long a helper and the others take together, in steps, if those have `own`; and with
        // how many both take as long, nearly.
        const double helping = (tiles > at_once ? cost.helping_after : cost.helping) / cost.step;
        const auto together = [&](std::int64_t own) {
            const double helper =
                static_cast<double>(helped) * (static_cast<double>(steps - own) + helping);
            return helper > static_cast<double>(own) ? helper : static_cast<double>(own);
        };
        const auto alike = static_cast<std::int64_t>(static_cast<double>(helped) /
                                                     static_cast<double>(helped + 1) *
                                                     (static_cast<double>(steps) + helping));
        const std::int64_t own_steps = together(alike) <= together(alike + 1) ? alike : alike + 1;
        const Cut cuts[] = {{0, tiles < at_once ? tiles : at_once, 0},
                            {tiles, tiles * of_all, of_all, of_all},
                            {last, of_last > 0 ? at_once : 0, of_last, of_last},
                            {last, last > 0 ? at_once : 0, last > 0 ? at_once / last + 1 : 0},
                            {last + at_once, last > 0 && tiles > at_once ? at_once : 0, 0},
                            {last,
                             helped <= 1       ? 0
                             : tiles > at_once ? at_once
                                               : last + pieces(last, helped),
                             0, 0, own_steps, helped}};
        for (const auto& [cut, blocks, met, each, own, helped] : cuts) {
            if (blocks == 0 || cut * steps >= std::int64_t{1} << 31 ||
                (cut > 0 && each == 0 && cut * steps < 2 * blocks) || (own > 0 && own >= steps))
                continue;
            const bool spaced = each == 0 && own == 0 && cut * steps >= 2 * cost.margin * blocks;
            plan.load = {static_cast<unsigned>(tiles_m), static_cast<unsigned>(tiles_n),
                         static_cast<unsigned>(cut),     static_cast<unsigned>(steps),
                         static_cast<unsigned>(blocks),  spaced ? cost.margin : 0};
            plan.load.own = static_cast<unsigned>(own);
            plan.load.helped = static_cast<unsigned>(helped);
            if (own > 0) plan.load.whole = static_cast<unsigned>((tiles - cut) / blocks);
            if (each > 0) plan.load.cut_each(static_cast<unsigned>(each));
            const auto count = static_cast<std::size_t>(blocks);
            const std::size_t tile_bytes =
                static_cast<std::size_t>(t.block_m * t.block_n) * sizeof(float);
            plan.partial_bytes = cut > 0 ? count * 2 * tile_bytes : 0;
            plan.scratch_bytes = plan.pack_a_bytes + plan.pack_b_bytes + plan.partial_bytes;
            const auto whole = static_cast<double>(pieces(tiles - cut, blocks));
            const std::int64_t longest_piece = each > 0  ? pieces(steps, each)
                                               : own > 0 ? pieces(cut * steps, blocks)
                                                         : pieces(plan.load.line(), blocks);
            const auto all = whole * static_cast<double>(steps) +
                             (own > 0 ? together(own) : static_cast<double>(longest_piece));
            // Where sums are set aside: by the length of k, whatever it begins with.
            std::int64_t longest = own > steps - own ? own : longest_piece;
            if (whole > 0 || longest > steps) longest = steps;
            const std::int64_t chain = sliced ? pipelined_sliced_chain(longest, steps)
                                              : pipelined_chain(tiles, pieces(k, t.block_k));
            double aside = 0;
            if (4 * longest > 5 * chain && chain > 0) {
                plan.load.chain = static_cast<unsigned>(chain);
                const double of_last =
                    (all - whole * static_cast<double>(steps)) / static_cast<double>(chain) - 1;
                aside = cost.aside * (whole * static_cast<double>(pieces(steps, chain) - 1) +
                                      (of_last > 0 ? of_last : 0));
            }
            const double idle = cost.least + (ragged ? cost.ragged_least : 0) -
                                cost.step * static_cast<double>(steps);
            double piece = cost.piece;
            if (met <= 2) {
                piece = cost.of_two + cost.of_step * (all - whole * static_cast<double>(steps));
                if (piece > cost.most) piece = cost.most;
            }
            double pieces_end = 0;
            if (own > 0) {
                pieces_end = cost.of_helped + cost.each_helped * static_cast<double>(helped);
            } else if (each > 0) {
                pieces_end = cost.of_each + cost.each_meeting * static_cast<double>(each);
            } else if (cut > 0) {
                // A block has two pieces, whose costs have the first ones that meet in.
                const std::int64_t known = sliced ? 1 : 3;
                pieces_end = (spaced ? 1 : 2) * piece +
                             cost.meeting * static_cast<double>(met > known ? met - known : 0);
            }
            if (cut > 0) {
                const double apart = (each > 0 ? cost.each_apart : cost.sums_apart) +
                                     cost.tile_apart * static_cast<double>(cut);
                plan.sums_apart = apart < pieces_end;
                if (plan.sums_apart) pieces_end = apart;
                pieces_end += cost.cut;
            }
            double time = all * cost.step * (turn ? cost.turn : 1) + (idle > 0 ? whole * idle : 0) +
                          (whole > 0 ? cost.tile + (whole - 1) * cost.next : 0) +
                          (whole > 1 ? cost.second : 0) + (ragged ? whole * cost.ragged : 0) +
                          pieces_end + aside + cost.launch + (exchanged ? cost.exchanged : 0);
            if (plan.pack_a || plan.pack_b)
                time += gemm_pack_microseconds(plan.pack_a_bytes + plan.pack_b_bytes);
            if (edges.all > 0) {
                // What those can do meanwhile that have no tiles, and those that have none in the
                // last turn; where that is not all, a last item is waited for, as where k is long.
                const auto last_turn = whole > 0 ? (tiles - cut - 1) % blocks + 1 : blocks;
                const double meanwhile = edges_at_once * cost.step *
                                         (static_cast<double>(all_multiprocessors - blocks) * all +
                                          static_cast<double>((blocks - last_turn) * steps));
                const double waits = edges.one - cost.step * all;
                if (edges.all > meanwhile)
                    time += cost.edges_after * static_cast<double>(pieces(k, GemmEdge::depth));
                else if (waits > 0)
                    time += waits;
            }
            plan.seconds = time * 1e-6;
            plan.fits = true;
            if (plan.scratch_bytes <= most_scratch && (!best.fits || plan.seconds < best.seconds))
                best = plan;
        }
    }
    return best;
}

}  // namespace tinyblas
