// SPDX-License-Identifier: MIT
// How the rung pipelined ends a piece: what adds pieces of k up, and from a thread's sums to C.
#pragma once

#include <type_traits>

#include "parts.cuh"
#include "pipelined_columns.cuh"
#include "pipelined_ring.cuh"
#include "pipelined_rows.cuh"

namespace tinyblas {

/// Counters of a tile that is cut.
inline constexpr unsigned pipelined_counters = pipelined_tile.multipliers() / 32;

/// Who has the pieces of a tile that is cut: blocks `first` to `last`. One has a tile's first piece
/// beside the last one of another.
struct PipelinedPieces {
    unsigned first, last;
    __device__ __forceinline__ PipelinedPieces(const PipelinedWorkload& load, unsigned tile)
        : first(load.block_of(tile * load.steps)),
          last(load.block_of(tile * load.steps + load.steps - 1)) {}
    /// Of the two places of a block, that of its piece.
    __device__ __forceinline__ unsigned place(unsigned block) const {
        return 2 * block + (block == first ? 1 : 0);
    }
    /// Where a thread's first sum of that piece is left; the next ones lie as many further on as
    /// there are threads.
    __device__ __forceinline__ float* left_by(const PipelinedWork& work, unsigned block,
                                              unsigned thread) const {
        constexpr GemmTile t = pipelined_tile;
        return work.partials + std::size_t{place(block)} * (t.block_m * t.block_n) + thread;
    }
};

/// Whether the calling warp is the last one with its part of the tile: then what the others have
/// left can be read.
__device__ __forceinline__ bool comes_last(const PipelinedWork& work, unsigned tile,
                                           const PipelinedPieces& pieces, unsigned part) {
    __threadfence();
    __syncwarp();
    const unsigned others = pieces.last - pieces.first;
    bool last = false;
    if (threadIdx.x % 32 == 0)
        last =
            device::take_turn(work.counters + tile * pipelined_counters + part, others) == others;
    if (!__any_sync(0xFFFFFFFF, last)) return false;
    __threadfence();
    return true;
}

/// A thread's sums times alpha, in registers of their own: what reached 16-byte stores would have
/// to lie in aligned fours, and the main loop's accumulators could not keep to the banks where they
/// meet no operand. `a_by_rows`: how A's tiles lie.
template <int products, bool a_by_rows = false>
class PipelinedSums {
  public:
    static constexpr GemmTile t = pipelined_tile_of(products);
    using Tile = std::conditional_t<a_by_rows, PipelinedRowsTile<t>, PipelinedColumnsTile<t>>;

    /// Of the tile's products, the calling thread's, and its place among that one's threads.
    static __device__ __forceinline__ int product() {
        return products == 1 ? 0 : static_cast<int>(threadIdx.x) / t.multipliers();
    }
    static __device__ __forceinline__ int thread() {
        return static_cast<int>(threadIdx.x) % t.multipliers();
    }

    __device__ __forceinline__ PipelinedSums(Tile& tile, float alpha) {
        tile.visit([&](int s, float sum) { sums_[s] = device::opaque(alpha * sum); });
    }

    /// Leaves a piece's sums for the warp of the tile that comes last; that one gets all pieces'
    /// sums, added up in the order of k. For the others, returns false.
    __device__ __forceinline__ bool add_up(const PipelinedWork& work, const PipelinedPiece& piece) {
        constexpr int stride = t.multipliers();
        const PipelinedPieces pieces(work.load, piece.tile);
        float* const own = pieces.left_by(work, blockIdx.x, threadIdx.x);
#pragma unroll
        for (int s = 0; s < count; ++s) own[s * stride] = sums_[s];
        if (!work.counters || !comes_last(work, piece.tile, pieces, threadIdx.x / 32)) return false;
#pragma unroll
        for (int s = 0; s < count; ++s) sums_[s] = 0;
#pragma unroll 1
        for (unsigned block = pieces.first; block <= pieces.last; ++block) {
            const float* const from = pieces.left_by(work, block, threadIdx.x);
            constexpr int at_once = 32;
#pragma unroll
            for (int s = 0; s < count; s += at_once) {
                float parts[at_once];
#pragma unroll
                for (int part = 0; part < at_once; ++part)
                    parts[part] = device::load_fresh(from + (s + part) * stride);
#pragma unroll
                for (int part = 0; part < at_once; ++part) sums_[s + part] += parts[part];
            }
        }
        return true;
    }

    /// C = sums + beta C for the tile. Few branches: with many, ptxas keeps the main loop's
    /// accumulators less well. `lines`: the warp's own.
    __device__ __forceinline__ void store(const PipelinedWork& work, unsigned tile,
                                          PipelinedLines<products>& lines) {
        const auto place = work.load.place(tile);
        MatrixView<float> c = work.c;
        const unsigned own = product_of<products>(work, place, static_cast<unsigned>(product()));
        if (products > 1 && own >= work.products) return;
        c.data += own * work.c_apart;
        if (c.column_stride == 1 && c.row_stride % 4 == 0 && c.columns % 4 == 0 &&
            reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0)
            store_vectors(work, c, place);
        else
            store_lines(work, c, place, lines);
    }

  private:
    static constexpr int count = t.thread_m * t.thread_n;

    __device__ __forceinline__ float& sum(int row, int v) { return sums_[row * t.thread_n + v]; }

    /// Where 16 bytes of C can be taken at once.
    __device__ __forceinline__ void store_vectors(const PipelinedWork& work,
                                                  const MatrixView<float>& c,
                                                  const PipelinedWorkload::Place& place) {
        const std::int64_t i = std::int64_t{place.i} * t.block_m + Tile::row(thread());
        const std::int64_t j = std::int64_t{place.j} * t.block_n + Tile::column(thread());
        const auto rows = static_cast<int>(c.rows - i < t.block_m ? c.rows - i : t.block_m);
        const auto columns =
            static_cast<int>(c.columns - j < t.block_n ? c.columns - j : t.block_n);
        const auto for_each = [&](auto&& body) {
            for_each_row(&c(i, j), c.row_stride, [&](int row, float* at) {
#pragma unroll
                for (int v = 0; v < t.thread_n; v += 4)
                    if (Tile::down(row) < rows && v * t.lanes_n() < columns)
                        body(row, v, at + v * t.lanes_n());
            });
        };
        if (work.beta != 0)
            for_each([&](int row, int v, const float* from) {
                float old[4];
                device::load_vector(old, from);
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    device::multiply_add(sum(row, v + e), work.beta, old[e]);
            });
        for_each([&](int row, int v, float* to) {
            const float values[4] = {sum(row, v), sum(row, v + 1), sum(row, v + 2),
                                     sum(row, v + 3)};
            device::store_global(to, values);
        });
    }

    /// Where it cannot: lanes exchange their vectors, so that those which store together have
    /// neighbours of one line of C. In a loop, whose turns shift the sums to where the first ones
    /// were: registers have no index, and all turns' instructions would take 10 KB of the library.
    __device__ __forceinline__ void store_lines(const PipelinedWork& work,
                                                const MatrixView<float>& c,
                                                const PipelinedWorkload::Place& place,
                                                PipelinedLines<products>& lines) {
        constexpr int at_once = 2, parts = t.warp_n / 32;  // of a thread's rows, of a line
        // Found anew: with what the main loop has of it, that loop would take more instructions.
        const int own_thread = static_cast<int>(device::opaque(threadIdx.x)) % t.multipliers();
        const int lane = own_thread % 32, first_thread = own_thread - lane;
        const std::int64_t i = std::int64_t{place.i} * t.block_m + Tile::row(first_thread);
        const std::int64_t j =
            std::int64_t{place.j} * t.block_n + Tile::column(first_thread) + lane;
        auto rows = static_cast<int>(c.rows - i < t.warp_m ? c.rows - i : t.warp_m);
        const auto columns = static_cast<int>(c.columns - j < t.warp_n ? c.columns - j : t.warp_n);
        float* first = &c(i, j);
#pragma unroll 1
        for (int vectors = t.thread_m / 4; vectors > 0; --vectors, rows -= Tile::down(4)) {
#pragma unroll
            for (int row = 0; row < 4; row += at_once) {
                float values[at_once][t.lanes_m()][parts], old[at_once][t.lanes_m()][parts];
                float* to[at_once][t.lanes_m()][parts];
                const auto for_each = [&](auto&& body) {
#pragma unroll
                    for (int r = 0; r < at_once; ++r)
#pragma unroll
                        for (int l = 0; l < t.lanes_m(); ++l)
#pragma unroll
                            for (int p = 0; p < parts; ++p)
                                body(values[r][l][p], old[r][l][p], to[r][l][p],
                                     Tile::down(row + r) + Tile::lane_rows * l < rows &&
                                         32 * p < columns);
                };
#pragma unroll
                for (int r = 0; r < at_once; ++r) {
                    exchange(row + r, lane, lines, values[r]);
                    float* at = first;
#pragma unroll
                    for (int l = 0; l < t.lanes_m(); ++l) {
#pragma unroll
                        for (int p = 0; p < parts; ++p)
                            to[r][l][p] =
                                p == 0 ? at : device::opaque(at + 32 * p * c.column_stride);
                        at = device::opaque(at + Tile::lane_rows * c.row_stride);
                    }
                    first = device::opaque(first + (Tile::down(row + r + 1) - Tile::down(row + r)) *
                                                       c.row_stride);
                }
                if (work.beta != 0) {
                    for_each([&](float&, float& before, const float* from, bool exists) {
                        before = 0;
                        if (exists) before = device::load_fresh(from);
                    });
                    for_each([&](float& value, float before, const float*, bool) {
                        device::multiply_add(value, work.beta, before);
                    });
                }
                for_each([&](float value, float, float* at, bool exists) {
                    if (exists) device::store_global(at, value);
                });
            }
#pragma unroll
            for (int s = 0; s + 4 * t.thread_n < count; ++s) sums_[s] = sums_[s + 4 * t.thread_n];
        }
    }

    /// Of the lanes' lines number `row`, part `p` of line `l`: values[l][p] is the calling lane's.
    template <int lanes, int parts>
    __device__ __forceinline__ void exchange(int row, int lane, PipelinedLines<products>& lines,
                                             float (&values)[lanes][parts]) {
        constexpr int at_once = PipelinedLines<products>::at_once;
        const int own = Tile::row(lane) / Tile::lane_rows;
#pragma unroll
        for (int first = 0; first < lanes; first += at_once) {
            if (at_once == lanes || own == first)
#pragma unroll
                for (int v = 0; v < t.thread_n; v += 4) {
                    const float vector[4] = {sum(row, v), sum(row, v + 1), sum(row, v + 2),
                                             sum(row, v + 3)};
                    device::store_vector(
                        &lines.values[own % at_once][Tile::column(lane) + v * t.lanes_n()], vector);
                }
            __syncwarp();
#pragma unroll
            for (int l = 0; l < at_once; ++l)
#pragma unroll
                for (int p = 0; p < parts; ++p)
                    values[first + l][p] = lines.values[l][lane + 32 * p];
            __syncwarp();
        }
    }

    /// Calls body(row, first element of the row), as `at` is of the first one.
    template <class Body>
    static __device__ __forceinline__ void for_each_row(float* at, std::int64_t stride,
                                                        Body&& body) {
#pragma unroll
        for (int row = 0; row < count / t.thread_n; ++row) {
            body(row, at);
            at = device::opaque(at + (Tile::down(row + 1) - Tile::down(row)) * stride);
        }
    }

    float sums_[count];
};

/// Where many pieces make a tile: adds them up as PipelinedSums::add_up does, all tiles at once. A
/// thread has one sum of a tile. Limit: the latency of a few loads in a row.
__global__ void __launch_bounds__(pipelined_tile.multipliers())
    gemm_pipelined_sums(const __grid_constant__ PipelinedWork work) {
    constexpr GemmTile t = pipelined_tile;
    using Tile = PipelinedSums<1>::Tile;
    if constexpr (!device::reallocates_registers) return device::trap();  // as the rung's
    device::let_dependents_start();
    device::wait_for_launcher();
    const unsigned tile = blockIdx.y, number = blockIdx.x, thread = threadIdx.x;
    const PipelinedPieces pieces(work.load, tile);
    if (pieces.first == pieces.last) return;  // the tile is whole after all
    float sum = 0;
    constexpr unsigned at_once = 22;
#pragma unroll 1
    for (unsigned block = pieces.first; block <= pieces.last; block += at_once) {
        float parts[at_once];
#pragma unroll
        for (unsigned part = 0; part < at_once; ++part) {
            parts[part] = 0;
            if (block + part <= pieces.last)
                parts[part] = device::load_fresh(pieces.left_by(work, block + part, thread) +
                                                 number * t.multipliers());
        }
#pragma unroll
        for (unsigned part = 0; part < at_once; ++part) sum += parts[part];
    }
    const int row = static_cast<int>(number) / t.thread_n,
              v = static_cast<int>(number) % t.thread_n;
    const auto place = work.load.place(tile);
    const std::int64_t i =
        std::int64_t{place.i} * t.block_m + Tile::row(static_cast<int>(thread)) + Tile::down(row);
    const std::int64_t j = std::int64_t{place.j} * t.block_n +
                           Tile::column(static_cast<int>(thread)) + v / 4 * 4 * t.lanes_n() + v % 4;
    if (i >= work.c.rows || j >= work.c.columns) return;
    float& c = work.c(i, j);
    if (work.beta != 0) device::multiply_add(sum, work.beta, c);
    c = sum;
}

}  // namespace tinyblas
