// SPDX-License-Identifier: MIT
// gemm, rung 5 (compute capability 9.0a). New over rung 3, whose thread tiles it has: blocks stay
// and take pieces of work, so that no last turn leaves some of them idle; a thread and the copy
// engine bring the tiles, into a ring of stages with barriers of its own, so that no one waits for
// all; operands lie k by k, or are brought there by a pre-pass (pipelined_pack.cuh).
//
//   multipliers 0   8 warps, 64 x 64 each of the block's 128 x 256 of C     steps of 16 k:
//   multipliers 1                                                           [s][s][s][s], four
//   loader 0        asks the copy engine for the next stage, once it is free      stages
//   loaders 1 to 3  turn A's tiles, where its neighbours lie along k
//
//   cut tiles   |b0       |b1       |b2       |b3     |   each block has as many steps of k, less
//               |tile 0      |tile 1      |tile 2     |   where it ends a tile on its way; the last
//                                                         warp of a tile adds pieces up (or a
//                                                         kernel of its own, where many meet)
//               or each of few tiles is cut in as many pieces, for a block each; or blocks that
//               have no tile in the last turn help others with theirs:
//
//               |b0       : b3|b1       : b3|b2       : b3|
//               |tile 0       |tile 1       |tile 2       |
//
//   long k      some chains of multiply-adds in place of one: a warp sets its sums aside in shared
//               memory, while the one that shares its scheduler multiplies; in the sliced form,
//               they pass from slice to slice as at the end, and stay there
//   whole tiles  dealt to the blocks in turn: those of one product, or of all products of a batch;
//                where its C are narrow, a tile has 128 x 128 of 2 products or 128 x 64 of 4;
//                in the last turns of fewer, so that all blocks have some. Where neighbours of A
//                lie along k, these tiles stay so (pipelined_rows.cuh): no one turns them
//   in place     of a batch whose matrices have no map in common, by pointers, too: each has one of
//                its own (batch_maps.cuh), or the warps that load copy its elements
//   sliced form  for C of mid size, which want more tiles: of 128 x 64, and a step has 64 k, in
//                four slices, for two warps each. Sums pass from slice to slice; each goes to its
//                next tile meanwhile
//   transposed   C^T = B^T A^T, where that is faster (and beta 0): tiles are as narrow as C is low,
//                and another operand may be packed, the small one mostly
//   edges        rows and columns of C before the first tile, where operands begin beside multiples
//                of 16 bytes, and few beyond the last one, have a kernel of their own (edges.cuh)
//                and some multiprocessors, while the others multiply
//
// Limit: issue slots are 90 % busy, and one in fifteen of what they issue is no multiply-add. Loads
// from shared memory take longer where ptxas bunches them (pipelined_columns.cuh), multiply-adds
// where neighbours read one of the two banks of registers more often than the other. In the sliced
// form a step takes 5 % longer, and a tile that is cut some 6 us: its pieces pass through memory.
#pragma once

#include "pipelined_loaders.cuh"
#include "pipelined_sums.cuh"

namespace tinyblas {

/// For warps that have no product in a tile: they leave its stages to the others.
template <PipelinedForm f>
__device__ __forceinline__ void pass_stages(PipelinedRing<f>& ring, const PipelinedPiece& piece) {
#pragma unroll 1
    for (unsigned left = piece.last - piece.first; left > 0; --left, ring.advance()) {
        ring.wait_full();
        device::arrive(ring.empty());
    }
}

/// Of a piece's chain of multiply-adds that begins with step `first`, before which one it ends.
template <PipelinedForm f>
__device__ __forceinline__ unsigned end_of_chain(const PipelinedWork& work,
                                                 const PipelinedPiece& piece, unsigned first) {
    if (!f.has_chains()) return piece.last;
    return work.load.chain_end(piece, first, !f.sliced && device::opaque(threadIdx.x) >= 128);
}

/// Multiplies so many steps of a tile, the next ones of the ring.
template <PipelinedForm f>
__device__ __forceinline__ void multiply_chain(typename PipelinedSums<f>::Tile& tile,
                                               PipelinedRing<f>& ring, unsigned steps) {
    constexpr int block_k = f.tile().block_k;
    // Of a turn of the loop: 4 where that is hardly slower, for the code is smaller.
    constexpr int lines = f.parts == 1 || (f.sliced && f.a_by_rows) ? 8 : 4;
    constexpr int depth = f.a_by_rows ? 4 : lines;  // of them, those that `line` names
    constexpr unsigned parts = block_k / lines;     // of a stage
    ring.wait_full();
    auto line = tile.line(ring.stage() * f.parts * block_k);
    tile.start(line);
    unsigned left = steps * parts;
#pragma unroll 1
    do {
#pragma unroll
        for (int p = 0; p < lines - 1; ++p) {
            if constexpr (f.a_by_rows)
                if (p % depth == depth - 1) line = tile.after(line, 1);
            tile.multiply(p % depth, line, (p + 1) % depth);
        }
        left = device::opaque(left - 1);
        const bool done = left % parts == 0;  // with a stage
        device::SharedAddress empty{};
        if (done) {
            empty = ring.empty();
            ring.advance();
            if (left > 0) {  // else nothing comes next: load again what is there
                ring.wait_full();
                line = tile.line(ring.stage() * f.parts * block_k);
            }
        } else if constexpr (f.a_by_rows) {
            line = tile.after(line, left * (lines / depth));
        } else {
            line = line + lines;
        }
        tile.multiply(depth - 1, line, 0);
        if (done) device::arrive(empty);  // each for itself: tools see whose loads it ends
    } while (left > 0);
}

/// The role of the warps that multiply.
template <PipelinedForm f>
__device__ __forceinline__ void multiply_stages(const PipelinedWork& work,
                                                PipelinedShared<f>& shared) {
    using Sums = PipelinedSums<f>;
    PipelinedRing<f> ring(shared, 0);
    for_each_piece<f>(work, [&](PipelinedPiece piece, unsigned number) {
        const int own = Sums::part();
        if (f.products() == 2 && product_of<f>(work, work.load.place(piece.tile),
                                               static_cast<unsigned>(own)) >= work.products) {
            pass_stages(ring, piece);
            return;
        }
        for (unsigned first = piece.first;;) {
            typename Sums::Tile tile(Sums::thread(), &shared.a[0][own][0], &shared.b[0][own][0][0]);
            const unsigned end = end_of_chain<f>(work, piece, first);
            if constexpr (f.sliced) shared.relay.set_end(end);
            multiply_chain<f>(tile, ring, end - first);
            if (f.products() == 1) piece = piece_of<f>(work.load, number);  // not kept
            const bool cut = f.cuts() && work.load.cuts(piece);
            const bool in_parts = f.sliced || cut || (f.sets_aside() && work.load.chain > 0);
            // A register for that 1 cost the sliced form's main loop its banks, 7 % of the time.
            const float factor = f.sliced ? work.one : in_parts ? device::opaque(1.0f) : work.alpha;
            Sums sums;
            if constexpr (f.sets_aside()) {
                auto& aside = shared.own[threadIdx.x / 32];
                if (first > piece.first)
                    sums = Sums(tile, factor, aside);
                else
                    sums = Sums(tile, factor);
                first = end_of_chain<f>(work, piece, first);
                if (first < piece.last) {
                    sums.set_aside(aside);
                    continue;
                }
            } else {
                sums = Sums(tile, factor);
            }
            bool last = false;
            if constexpr (f.sliced) {
                first = shared.relay.known_end();
                const bool before = first > end_of_chain<f>(work, piece, piece.first);
                const bool more = first < piece.last;
                const bool together = !more && (cut ? work.load.each > 0 : work.load.is_one_turn());
                if (!more && !together && cut && Sums::part() == 0)
                    last = Sums::second_is_there(work, piece);
                const bool ends = sums.gather(shared.relay, before, more, together);
                if (more) continue;
                if (together) return sums.end_together(work, piece, shared);
                if (!ends) return;
            } else if (cut) {
                last = Sums::second_is_there(work, piece);
            }
            if (cut && !sums.add_up(work, piece, last)) return;
            if (in_parts) sums.scale(work.alpha);
            return sums.store(work, piece.tile, shared.lines());
        }
    });
}

template <PipelinedForm f>
__device__ __forceinline__ void make_barriers(const PipelinedWork& work,
                                              PipelinedShared<f>& shared) {
    constexpr GemmTile t = pipelined_tile;
    const unsigned loaders = 1 + (f.in_place ? 2 * t.loaders : work.a.turned ? t.loaders : 0);
    constexpr unsigned readers = t.multipliers();
    PipelinedRing<f> ring(shared, 0);
    for (int stage = 0; stage < f.tile().stages; ++stage, ring.advance()) {
        device::make_barrier(ring.full(), loaders);
        device::make_barrier(ring.empty(), readers);
    }
    if constexpr (f.sliced) {
        for (std::uint64_t& turn : shared.relay.turns)
            device::make_barrier(device::SharedPointer<std::uint64_t>(&turn).address(),
                                 f.tile().multipliers());
        for (unsigned& taken : shared.relay.taken) taken = 0;
    }
    device::publish_barriers();
}

/// A PipelinedForm's members: nvcc takes no kernels with the structure itself.
template <int parts, bool a_by_rows, bool sliced, bool in_place>
__global__ void __launch_bounds__(pipelined_tile.threads(), 1)
    gemm_pipelined(const __grid_constant__ PipelinedWork work) {
    constexpr PipelinedForm f = {parts, a_by_rows, sliced, in_place};
    if constexpr (!device::reallocates_registers) {
        device::trap();
    } else {
        constexpr GemmTile t = f.block();
        auto& shared = device::large_shared<PipelinedShared<f>>();
        if (threadIdx.x == 0) make_barriers(work, shared);
        __syncthreads();
        device::wait_for_launcher();
        // Where pieces' sums are added up, those blocks would gather where this kernel ends first.
        if (work.early) device::let_dependents_start();
        // The same for a warp's lanes, as the compiler can see.
        const int warp = __shfl_sync(0xFFFFFFFF, static_cast<int>(threadIdx.x) / 32, 0);
        const int loader = warp - t.multipliers() / 32;
        if (loader < 0) {
            // Half a tile's time later, so that from then on one product is stored while the other
            // one is multiplied.
            if (f.products() == 2 && loader >= -t.multipliers() / 64 && work.load.turns() > 1)
                device::let_time_pass(18'000);
            device::claim_registers<t.multiplier_registers()>();
            multiply_stages<f>(work, shared);
            return;
        }
        device::give_up_registers<t.loader_registers>();
        if constexpr (f.in_place) {
            load_in_place(work, shared);
        } else {
            if constexpr (f.parts == 1)
                if (work.a.turned) return turn_stages(work, shared);
            if (loader == 0 && threadIdx.x % 32 == 0) load_stages<f>(work, shared);
        }
    }
}

/// A form's kernel, and what each block has.
struct PipelinedKernel {
    void (*kernel)(PipelinedWork);
    std::size_t shared;  // bytes
};
template <PipelinedForm f>
constexpr PipelinedKernel make_pipelined_kernel() {
    static_assert(sizeof(PipelinedShared<f>) <= 227 << 10);
    return {gemm_pipelined<f.parts, f.a_by_rows, f.sliced, f.in_place>, sizeof(PipelinedShared<f>)};
}

inline void launch_gemm_pipelined(device::Stream stream, const PipelinedKernel& kernel,
                                  const PipelinedWork& work) {
    device::launch_large_dependent("gemm", kernel.kernel, work.load.blocks,
                                   pipelined_tile.threads(), kernel.shared, stream, work);
    if (work.load.cut == 0 || work.counters) return;
    constexpr unsigned sums = pipelined_tile.thread_m * pipelined_tile.thread_n;
    device::launch_dependent("gemm", gemm_pipelined_sums, dim3(sums, work.load.cut),
                             pipelined_tile.multipliers(), stream, work);
}

}  // namespace tinyblas
