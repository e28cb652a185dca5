// SPDX-License-Identifier: MIT
// The tuned rung's entry for compute capability 9.0: tiles of 64 x 64, of which a multiprocessor
// has four at once, so that one is begun or stored while others are multiplied. Short k and
// mid-size C want that.
//
//   multipliers  4 warps, 32 x 32 of the tile each       [s][s][s][s][s][s]  stages of 16 k, each
//   loader       1 warp: it asks the copy engine, or copies 16 bytes          with barriers of its
//                or elements at a time where that one cannot read an          own
//                operand: lines not 16-byte aligned. Of a longer k, one product's operands are
//                packed first (gemm_tuned_ring.cu)
//
// Of operands that are copied, the multipliers share the first steps' elements, so that nothing
// waits for one warp; it brings the others, and arrives for all.
//
// Where arrays of pointers say where matrices are, a kernel before may write the copy engine's
// maps.
//
// Tiles lie as the operands do:
//
//   along k      rows of 16 k; of row r's four vectors number v lies where v ^ (r / 2 % 4) would,
//                so that the same one of eight neighbouring rows fills all banks once
//   otherwise    16 lines of 64
//
// A thread has 8 x 4 of C, and loads 4 k at a time: 12 vectors for 128 multiply-adds. A sum is one
// chain in the order of k; or of a long k some chains, set aside in shared memory until the end; or
// of a short k a chain for each four k, added as they come, a quarter more arithmetic. Limit: of
// the main loop's instructions 87 % are multiply-adds, 85 % where both operands lie along k; where
// a warp copies elements, that one.
#pragma once

#include <cstdint>
#include <type_traits>

#include <device.hpp>

#include "batch_maps.hpp"
#include "batched_operands.hpp"
#include "divisor.hpp"
#include "gate.hpp"
#include "tiles.hpp"

namespace tinyblas {

inline constexpr GemmTile gemm_ring_tile = gemm_table[0].tile;

/// How the copy engine finds an operand, if it can: `apart` lines from product to product. By
/// pointers, `tiles` is what the maps of all products are like, and only those that begin at 16
/// bytes have one.
struct GemmRingMap {
    bool exists = false;
    int apart = 0;
    device::TileMap tiles = {};
};

struct GemmRingWork {
    GemmBatch<float> x;
    GemmGate gate;
    GemmRingMap a, b;
    unsigned tiles_m;
    unsigned chain;  // steps of a chain of multiply-adds
    bool in_fours;   // a chain for each four k: of one product of which an operand lies along k
    // Whether the next kernel's blocks get no places until all of this one's have ended: where
    // these leave room for few others, the next ones would gather on multiprocessors that are done
    // first.
    bool late_dependents;
    unsigned shared_steps;  // see gemm_ring_shared_steps(); 0: none, as where `maps` are written
    device::TileMap* maps;  // by pointers: of all A, then of all B; or null
    Divisor below{tiles_m};

    __host__ __device__ constexpr bool all_mapped() const { return a.exists && b.exists; }
    __host__ __device__ constexpr unsigned steps() const {
        constexpr int block_k = gemm_ring_tile.block_k;
        return static_cast<unsigned>((x.k() + block_k - 1) / block_k);
    }
    __host__ __device__ constexpr bool sets_aside() const { return chain < steps(); }
    /// Steps whose copies the multipliers share.
    __host__ __device__ constexpr unsigned first_steps() const {
        return shared_steps < steps() ? shared_steps : steps();
    }
};

struct GemmRingShared {
    static constexpr GemmTile t = gemm_ring_tile;
    alignas(512) float a[t.stages][t.block_k * t.block_m];
    alignas(512) float b[t.stages][t.block_k * t.block_n];
    std::uint64_t full[t.stages], empty[t.stages], before_first;  // in this order: see GemmRing
};

/// The same where sums are set aside.
struct GemmRingChainsShared {
    static constexpr GemmTile t = gemm_ring_tile;
    GemmRingShared own;
    alignas(16) float aside[t.thread_m * t.thread_n / 4][t.multipliers()][4];
};

/// The ring as one role walks it: one that waits for stages to be empty begins with parity 1.
class GemmRing {
    static constexpr int stages = gemm_ring_tile.stages;

  public:
    __device__ __forceinline__ GemmRing(GemmRingShared& shared, unsigned parity, int stage = 0)
        : base_(device::SharedPointer<std::uint64_t>(shared.full).address()),
          stage_(stage),
          parity_(parity) {}

    __device__ __forceinline__ int stage() const { return stage_; }
    __device__ __forceinline__ device::SharedAddress full() const { return base_ + stage_ * 8; }
    __device__ __forceinline__ device::SharedAddress empty() const {
        return base_ + (stages + stage_) * 8;
    }
    /// As if of a stage before the first one: no one waits for it.
    __device__ __forceinline__ device::SharedAddress before_first() const {
        return base_ + 2 * stages * 8;
    }
    __device__ __forceinline__ void wait_full() const { device::wait_for_phase(full(), parity_); }
    __device__ __forceinline__ void wait_empty() const { device::wait_for_phase(empty(), parity_); }
    __device__ __forceinline__ void advance() {
        if (++stage_ < stages) return;
        stage_ = 0;
        parity_ ^= 1;
    }

  private:
    device::SharedAddress base_;
    int stage_;
    unsigned parity_;
};

/// The first row and column of C in a block's tile. Blocks go down, then along: neighbours share
/// tiles of B in the L2 cache, and those of one turn of the GPU most of A.
struct GemmRingCorner {
    std::int64_t i, j;
    __device__ __forceinline__ GemmRingCorner(const GemmRingWork& work, unsigned block) {
        const unsigned column = work.below.quotient(block);
        i = std::int64_t{block - column * work.tiles_m} * gemm_ring_tile.block_m;
        j = std::int64_t{column} * gemm_ring_tile.block_n;
    }
};

/// The maps of a block's operands; null for one that a warp copies.
struct GemmRingBlockMaps {
    const device::TileMap *a, *b;

    /// By pointers, it waits for the launcher.
    __device__ __forceinline__ explicit GemmRingBlockMaps(const GemmRingWork& work)
        : a(work.a.exists ? &work.a.tiles : nullptr), b(work.b.exists ? &work.b.tiles : nullptr) {
        if (!work.maps) return;
        device::wait_for_launcher();
        const float* const first = work.x.a.pointers[blockIdx.y];
        const float* const second = work.x.b.pointers[blockIdx.y];
        a = begins_at_vector(first) ? work.maps + blockIdx.y : nullptr;
        b = begins_at_vector(second) ? work.maps + work.x.count + blockIdx.y : nullptr;
    }
    __device__ __forceinline__ bool all() const { return a && b; }
    __device__ __forceinline__ bool any() const { return a || b; }
};

/// The warp's part in bringing an operand's tiles: in eight passes, of 8 rows where these lie along
/// k (`along_k`), else of 2 lines of k; in each a lane has 16 bytes or four elements. Multipliers
/// leave few turns to issue, and who waits for what the instruction before makes loses its own: so
/// addresses are few, and do not depend on each other.
template <bool along_k>
class GemmRingLoader {
    static constexpr int extent = gemm_ring_tile.block_m, depth = gemm_ring_tile.block_k;
    static_assert(extent == gemm_ring_tile.block_n && depth == 16);
    static constexpr int passes = 8, lines = along_k ? 8 : 2, lanes = 32 / lines;  // of a line

  public:
    /// `operand`: rows are the index that it shares with C, of which the tile's begin at `first`.
    /// `step`: of the first tile that it is asked for.
    __device__ __forceinline__ GemmRingLoader(const MatrixView<const float>& operand,
                                              std::int64_t first, unsigned step, float* tiles,
                                              int lane)
        : vectors_((along_k ? operand.column_stride : operand.row_stride) == 1 &&
                   (along_k ? operand.row_stride : operand.column_stride) % 4 == 0 &&
                   reinterpret_cast<std::uintptr_t>(operand.data) % 16 == 0),
          to_(tiles),
          step_((along_k ? operand.row_stride : operand.column_stride) * lines),
          next_(operand.column_stride * depth),
          along_(along_k ? operand.column_stride : operand.row_stride) {
        // A lane's first element or vector: its row and k.
        const int along = lane % lanes * (vectors_ ? 4 : 1);
        row_ = along_k ? lane / lanes : along;
        p_ = along_k ? along : lane / lanes;
        const std::int64_t left = operand.rows - first;
        rows_ = static_cast<int>(device::opaque(  // not found out at each step
            static_cast<unsigned>(left < extent ? left : extent)));
        from_ = operand.data + (first + row_) * operand.row_stride +
                (p_ + std::int64_t{step} * depth) * operand.column_stride;
    }

    /// Whether a line's neighbours lie side by side.
    __device__ __forceinline__ bool in_lines() const { return along_ == 1; }
    __device__ __forceinline__ bool by_elements() const { return !vectors_; }

    /// Asks for the next tile, of which `columns` k exist; rows and k that do not are zero. Whole:
    /// all k do, and a line's neighbours lie side by side. `elements`: by_elements().
    template <bool whole, bool elements>
    __device__ __forceinline__ void load(int stage, int columns) {
        const auto to = to_ + stage * (extent * depth);
        if (!elements && vectors_)
            copy<4, whole>(to, columns);
        else
            copy<1, whole>(to, columns);
        from_ += next_;
    }

  private:
    template <int width, bool whole>
    __device__ __forceinline__ void copy(device::SharedPointer<float> to, int columns) const {
        constexpr int at_once = whole ? 4 : 1;
#pragma unroll(whole ? passes : 1)
        for (int first = 0; first < passes; first += at_once) {
            const float* from[at_once];
#pragma unroll
            for (int q = 0; q < at_once; ++q) from[q] = device::opaque(from_ + (first + q) * step_);
#pragma unroll
            for (int copy = 0; copy < at_once * 4 / width; ++copy) {
                const int e = copy % (4 / width), q = copy / (4 / width), pass = first + q;
                const int row = row_ + (along_k ? lines * pass : lanes * e);
                const int p = p_ + (along_k ? lanes * e : lines * pass);
                const int left = along_k ? (whole ? width : columns - p) : rows_ - row;
                const bool exists = along_k ? row < rows_ : whole || p < columns;
                device::copy_async<width>(
                    to +
                        (along_k ? row * depth + (p / 4 ^ row_ / 2) * 4 + p % 4 : p * extent + row),
                    from[q] + e * lanes * (whole ? 1 : along_),
                    !exists || left < 0 ? 0
                    : left < width      ? left
                                        : width);
            }
        }
    }

    bool vectors_;
    device::SharedPointer<float> to_;
    std::int64_t step_, next_, along_;  // in elements: to the next pass, tile, neighbour
    int row_, p_, rows_;
    const float* from_;
};

/// A multiplying warp's share of an operand's first tiles, by elements: a quarter of the rows where
/// these lie along k (`along_k`), two at once, else of the lines of k, in halves.
template <bool along_k>
class GemmRingShare {
    static constexpr int extent = gemm_ring_tile.block_m, depth = gemm_ring_tile.block_k;
    static constexpr int warps = gemm_ring_tile.multipliers() / 32;
    static constexpr int copies = extent * depth / (32 * warps);
    static_assert(extent == gemm_ring_tile.block_n && depth == 16 && extent == 64);

  public:
    /// `operand`: rows are the index that it shares with C, of which the tile's begin at `first`.
    __device__ __forceinline__ GemmRingShare(const MatrixView<const float>& operand,
                                             std::int64_t first, float* tiles, int warp, int lane)
        : row_(along_k ? warp * (extent / warps) + lane / depth : lane),
          p_(along_k ? lane % depth : warp * (depth / warps)),
          rows_(operand.rows - first < extent ? static_cast<int>(operand.rows - first) : extent),
          row_stride_(operand.row_stride),
          column_stride_(operand.column_stride),
          from_(operand.data + (first + row_) * row_stride_ + p_ * column_stride_),
          to_(tiles) {}

    /// Asks for the next tile, of which `columns` k exist; rows and k that do not are zero.
    __device__ __forceinline__ void load(int stage, int columns) {
        const auto to = to_ + stage * (extent * depth);
#pragma unroll
        for (int i = 0; i < copies; ++i) {
            const int down = along_k ? 2 * i : i % 2 * 32, later = along_k ? 0 : i / 2;
            const int row = row_ + down, p = p_ + later;
            // Of the rows that lie along k, row / 2 % 4 is i % 4.
            device::copy_async<1>(
                to + (along_k ? row * depth + (p / 4 ^ i % 4) * 4 + p % 4 : p * extent + row),
                from_ + down * row_stride_ + later * column_stride_,
                row < rows_ && p < columns ? 1 : 0);
        }
        from_ += depth * column_stride_;
    }

  private:
    int row_, p_, rows_;
    std::int64_t row_stride_, column_stride_;
    const float* from_;
    device::SharedPointer<float> to_;
};

/// Asks the copy engine for the tile of a step.
template <bool along_k>
__device__ __forceinline__ void copy_ring_tile(float* to, const device::TileMap& map, int apart,
                                               std::int64_t first, unsigned step,
                                               const GemmRing& ring) {
    const int row = static_cast<int>(first), p = static_cast<int>(step) * gemm_ring_tile.block_k;
    const int lines = static_cast<int>(blockIdx.y) * apart;
    device::copy_tile(device::SharedPointer<float>(to).address(), map, lines + (along_k ? row : p),
                      along_k ? p : row, ring.full());
}

/// A thread's 8 x 4 of the tile. `a_along_k`, `b_along_k`: as operands' tiles lie.
template <bool a_along_k, bool b_along_k>
class GemmRingSums {
    static constexpr GemmTile t = gemm_ring_tile;
    static constexpr int m = t.thread_m, n = t.thread_n;
    static_assert(m == 8 && n == 4 && t.lanes_m() == 4 && t.lanes_n() == 8);

  public:
    __device__ __forceinline__ GemmRingSums(int thread, GemmRingShared& shared)
        : a_swizzle_(lane_m(thread) / 2 * 4),
          b_swizzle_(lane_n(thread) / 2 * 4),
          a_(&shared.a[0][row(thread) * (a_along_k ? t.block_k : 1)]),
          b_(&shared.b[0][column(thread) * (b_along_k ? t.block_k : 1)]) {
#pragma unroll
        for (int i = 0; i < m; ++i)
#pragma unroll
            for (int j = 0; j < n; ++j) sums_[i][j] = 0;
    }

    /// A stage's 16 k; each four as a chain, then added (`in_fours`), or one after the other.
    template <bool in_fours = false>
    __device__ __forceinline__ void multiply(int stage) {
        const auto a = a_ + stage * (t.block_k * t.block_m);
        const auto b = b_ + stage * (t.block_k * t.block_n);
        // Where both lie along k, too many addresses would be kept, and vectors: of so many rows at
        // a time, so many times 4 k without a turn of a loop.
        constexpr bool both = a_along_k && b_along_k;
        constexpr int rows = both || in_fours ? m / 2 : m;
#pragma unroll(in_fours ? 1 : both ? 2 : 4)
        for (int p = 0; p < t.block_k; p += 4) {
            float b_values[4][4];
#pragma unroll
            for (int q = 0; q < 4; ++q)
                device::load_vector(
                    b_values[q],
                    b + (b_along_k ? q * 8 * t.block_k + (p ^ b_swizzle_) : (p + q) * t.block_n));
#pragma unroll
            for (int first = 0; first < m; first += rows) {
                float a_values[rows][4];
                load_a<rows>(a_values, a, p, first);
                const auto b_value = [&](int q, int j) {
                    return b_along_k ? b_values[j][q] : b_values[q][j];
                };
                if constexpr (in_fours) {
                    float fours[rows][n];
#pragma unroll
                    for (int q = 0; q < 4; ++q)
#pragma unroll
                        for (int i = 0; i < rows; ++i)
#pragma unroll
                            for (int j = 0; j < n; ++j) {
                                if (q == 0)
                                    fours[i][j] = a_values[i][0] * b_value(0, j);
                                else
                                    device::multiply_add(fours[i][j], a_values[i][q],
                                                         b_value(q, j));
                            }
#pragma unroll
                    for (int i = 0; i < rows; ++i)
#pragma unroll
                        for (int j = 0; j < n; ++j) sums_[first + i][j] += fours[i][j];
                } else {
#pragma unroll
                    for (int q = 0; q < 4; ++q)
#pragma unroll
                        for (int i = 0; i < rows; ++i)
#pragma unroll
                            for (int turn = 0; turn < n; ++turn) {
                                const int j = i % 2 == 0 ? n - 1 - turn : turn;
                                device::multiply_add(sums_[first + i][j], a_values[i][q],
                                                     b_value(q, j));
                            }
                }
            }
        }
    }

    /// Sets the sums aside, with those that are (not if `first`); they begin at zero again.
    __device__ __forceinline__ void set_aside(GemmRingChainsShared& shared, bool first) {
        const float zero = device::opaque(0.0f);
        for_each_vector(shared, [&](float(&sums)[4], float* place) {
            float all[4] = {};
            if (!first) device::load_vector(all, place);
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                all[e] += sums[e];
                sums[e] = zero;
            }
            device::store_vector(place, all);
        });
    }
    /// Adds those that are set aside.
    __device__ __forceinline__ void add_aside(GemmRingChainsShared& shared) {
        for_each_vector(shared, [&](float(&sums)[4], float* place) {
            float more[4];
            device::load_vector(more, place);
#pragma unroll
            for (int e = 0; e < 4; ++e) sums[e] += more[e];
        });
    }

    /// C = alpha sums + beta C, from (i, j) on.
    __device__ __forceinline__ void store(int thread, GemmRingShared& shared,
                                          const MatrixView<float>& c, std::int64_t i,
                                          std::int64_t j, float alpha, float beta) {
#pragma unroll
        for (int r = 0; r < m; ++r)
#pragma unroll
            for (int e = 0; e < n; ++e) sums_[r][e] *= alpha;
        if (!b_along_k && c.column_stride == 1 && c.row_stride % 4 == 0 && c.columns % 4 == 0 &&
            reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0)
            store_vectors(thread, c, i, j, beta);
        else
            store_elements(thread, shared, c, i, j, beta);
    }

  private:
    template <class Visit>
    __device__ __forceinline__ void for_each_vector(GemmRingChainsShared& shared, Visit&& visit) {
        static_assert(n == 4);
#pragma unroll
        for (int i = 0; i < m; ++i) visit(sums_[i], shared.aside[i][threadIdx.x]);
    }

    /// Four k, from p on, of some of the thread's rows, from its row number `first` on.
    template <int rows>
    __device__ __forceinline__ void load_a(float (&values)[rows][4], device::SharedPointer<float> a,
                                           int p, int first) const {
        if constexpr (a_along_k) {
#pragma unroll
            for (int i = 0; i < rows; ++i)
                device::load_vector(
                    values[i], a + ((first + i) * 4 * t.block_k + (p ^ a_swizzle_ ^ i % 2 * 8)));
        } else {
#pragma unroll
            for (int q = 0; q < 4; ++q)
#pragma unroll
                for (int v = 0; v < rows; v += 4) {
                    float vector[4];
                    device::load_vector(vector, a + ((p + q) * t.block_m + (first + v) * 4));
#pragma unroll
                    for (int e = 0; e < 4; ++e) values[v + e][q] = vector[e];
                }
        }
    }

    /// A thread stores its vectors. All of C that it reads is asked for at once.
    __device__ __forceinline__ void store_vectors(int thread, const MatrixView<float>& c,
                                                  std::int64_t i, std::int64_t j, float beta) {
        i += row(thread);
        j += column(thread);
        if (j >= c.columns) return;
        const auto rows = static_cast<int>(c.rows - i < t.block_m ? c.rows - i : t.block_m);
        const auto for_each = [&](auto&& body) {
            float* at = &c(i, j);
#pragma unroll
            for (int r = 0; r < m; ++r) {
                if (down(r) < rows) body(r, at);
                at = device::opaque(at + (down(r + 1) - down(r)) * c.row_stride);
            }
        };
        if (beta != 0) {
            float old[m][n] = {};
            for_each([&](int r, const float* from) { device::load_fresh(old[r], from); });
#pragma unroll
            for (int r = 0; r < m; ++r)
#pragma unroll
                for (int e = 0; e < n; ++e) device::multiply_add(sums_[r][e], beta, old[r][e]);
        }
        for_each([&](int r, float* to) { device::store_global(to, sums_[r]); });
    }

    /// Elements change threads in shared memory, so that a warp has 32 neighbours of a row.
    __device__ __forceinline__ void store_elements(int thread, GemmRingShared& shared,
                                                   const MatrixView<float>& c, std::int64_t i,
                                                   std::int64_t j, float beta) {
        // Of elements, a warp's four rows of eight lie in different banks.
        constexpr int pitch = t.warp_n + (!b_along_k ? 4 : a_along_k ? 8 : 2);
        constexpr int tile = t.warp_m * pitch;
        static_assert(t.warp_n == 32 && t.multipliers() / 32 * tile <= sizeof shared.a / 4 &&
                      t.block_m * t.block_n <= sizeof shared.b / 4);
        const int warp = thread / 32, lane = thread % 32;
        float* const own = &shared.a[0][0] + warp * tile;
        float* const first = own + (lane_m(thread) * (a_along_k ? 1 : 4) * pitch +
                                    lane_n(thread) * (b_along_k ? 1 : 4));
        i += warp / t.warps_n() * t.warp_m;
        j += warp % t.warps_n() * t.warp_n + lane;
        auto left = static_cast<int>(c.rows - i < t.warp_m ? c.rows - i : t.warp_m);  // rows
        float* to = &c(i, j);
        float* old = &shared.b[0][0] + warp * (t.warp_m * t.warp_n) + lane;
        device::role_barrier(1, t.multipliers());  // no one reads stages any more
        if (beta != 0 && j < c.columns) {          // C's old elements, all at once
            const device::SharedPointer<float> there(old);
            const float* at = to;
#pragma unroll 2
            for (int r = 0; r < t.warp_m; ++r, at += c.row_stride)
                device::copy_async<1>(there + r * t.warp_n, at, r < left ? 1 : 0);
        }
#pragma unroll
        for (int r = 0; r < m; ++r) {
            if constexpr (b_along_k) {
#pragma unroll
                for (int e = 0; e < n; ++e) first[down(r) * pitch + e * t.lanes_n()] = sums_[r][e];
            } else {
                device::store_vector(first + down(r) * pitch, sums_[r]);
            }
        }
        __syncwarp();
        if (j >= c.columns) return;
        if (beta != 0) {
            device::close_copy_group();
            device::wait_for_copies<0>();
        }
        const float* from = own + lane;
        constexpr int at_once = 8;
#pragma unroll 1
        for (; left > 0; left -= at_once, from += at_once * pitch, old += at_once * t.warp_n) {
#pragma unroll
            for (int r = 0; r < at_once; ++r) {
                float value = from[r * pitch];
                if (beta != 0) device::multiply_add(value, beta, old[r * t.warp_n]);
                if (r < left) device::store_global(to, value);
                to = device::opaque(to + c.row_stride);
            }
        }
    }

    // Lanes form groups of 2 x 2: a load then meets fewer rows of banks.
    static __device__ int lane_m(int thread) { return thread % 32 / 2 % 4; }
    static __device__ int lane_n(int thread) { return thread % 2 + thread % 32 / 8 * 2; }
    /// Of the thread's rows, how far below the first one.
    static constexpr int down(int r) { return a_along_k ? r * 4 : r / 4 * 16 + r % 4; }
    /// Of the thread's first element in the tile.
    static __device__ int row(int thread) {
        return thread / 32 / t.warps_n() * t.warp_m + lane_m(thread) * (a_along_k ? 1 : 4);
    }
    static __device__ int column(int thread) {
        return thread / 32 % t.warps_n() * t.warp_n + lane_n(thread) * (b_along_k ? 1 : 4);
    }

    int a_swizzle_, b_swizzle_;
    device::SharedPointer<float> a_, b_;
    float sums_[m][n];
};

/// Products along the grid's y.
template <bool a_along_k, bool b_along_k>
__global__ void __launch_bounds__(gemm_ring_tile.threads(), gemm_ring_tile.min_blocks)
    gemm_tuned_ring(const __grid_constant__ GemmRingWork work) {
    constexpr GemmTile t = gemm_ring_tile;
    const GemmBatch<float>& x = work.x;
    if constexpr (!device::reallocates_registers) return device::trap();
    auto& shared = work.sets_aside() ? device::large_shared<GemmRingChainsShared>().own
                                     : device::large_shared<GemmRingShared>();
    const GemmRingBlockMaps maps(work);
    const unsigned copying = work.shared_steps > 0 ? t.multipliers() : t.loaders;  // threads
    if (threadIdx.x == 0) {
        // One of the loader's lanes arrives for the copy engine, each thread for its own copies.
        const unsigned loaders = (maps.any() ? 1 : 0) + (maps.all() ? 0 : copying);
        GemmRing ring(shared, 0);
        for (int stage = 0; stage < t.stages; ++stage, ring.advance()) {
            device::make_barrier(ring.full(), loaders);
            device::make_barrier(ring.empty(), t.multipliers());
        }
        device::make_barrier(ring.before_first(), t.multipliers());
        device::publish_barriers();
    }
    __syncthreads();
    device::wait_for_launcher();
    if (!work.late_dependents) device::let_dependents_start();
    if (work.gate.closed()) return;

    const GemmRingCorner corner(work, blockIdx.x);
    const std::int64_t k = x.k();
    const unsigned steps = work.steps();
    // The same for a warp's lanes, as the compiler can see.
    const int warp = __shfl_sync(0xFFFFFFFF, static_cast<int>(threadIdx.x) / 32, 0);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    constexpr int loading = t.multipliers() / 32;  // the loader's number
    if (work.all_mapped() && !work.maps) {
        if (warp == loading) {
            if (lane > 0) return;
            GemmRing ring(shared, 1);
#pragma unroll 1
            for (unsigned step = 0; step < steps; ++step, ring.advance()) {
                ring.wait_empty();
                device::arrive_expecting(ring.full(), sizeof shared.a[0] + sizeof shared.b[0]);
                copy_ring_tile<a_along_k>(shared.a[ring.stage()], work.a.tiles, work.a.apart,
                                          corner.i, step, ring);
                copy_ring_tile<b_along_k>(shared.b[ring.stage()], work.b.tiles, work.b.apart,
                                          corner.j, step, ring);
            }
            return;
        }
    } else if (warp == loading) {
        if (maps.all() && lane > 0) return;
        if (work.maps && lane == 0) {
            if (maps.a) device::acquire_tile_map(maps.a);
            if (maps.b) device::acquire_tile_map(maps.b);
        }
        GemmRing ring(shared, 1);
        unsigned step = 0;
        const unsigned bytes =
            (maps.a ? sizeof shared.a[0] : 0) + (maps.b ? sizeof shared.b[0] : 0);
        const auto ask_engine = [&] {
            if (bytes == 0 || lane > 0) return;
            device::arrive_expecting(ring.full(), bytes);
            if (maps.a)
                copy_ring_tile<a_along_k>(shared.a[ring.stage()], *maps.a, work.a.apart, corner.i,
                                          step, ring);
            if (maps.b)
                copy_ring_tile<b_along_k>(shared.b[ring.stage()], *maps.b, work.b.apart, corner.j,
                                          step, ring);
        };
        const unsigned first = work.first_steps();
        const unsigned missing = copying - t.loaders;  // threads that arrived for the first steps
#pragma unroll 1
        for (; step < first; ++step, ring.advance()) ask_engine();
        GemmRingLoader<a_along_k> a(x.a.at(blockIdx.y), corner.i, step, shared.a[0], lane);
        GemmRingLoader<b_along_k> b(x.b.at(blockIdx.y).transposed(), corner.j, step, shared.b[0],
                                    lane);
        // Whole steps have loops of their own, and such as come by elements alone: few branches.
        const auto bring = [&]<bool whole, bool elements>(std::bool_constant<whole>,
                                                          std::bool_constant<elements>,
                                                          unsigned last) {
#pragma unroll 1
            for (; step < last; ++step, ring.advance()) {
                constexpr int depth = gemm_ring_tile.block_k;
                const std::int64_t left = k - std::int64_t{step} * depth;
                const int columns = whole || left > depth ? depth : static_cast<int>(left);
                ring.wait_empty();
                if (!elements) ask_engine();
                if (elements || !maps.a) a.template load<whole, elements>(ring.stage(), columns);
                if (elements || !maps.b) b.template load<whole, elements>(ring.stage(), columns);
                if (elements || !maps.all()) {
                    device::arrive_when_copied(ring.full());
                    if (missing > 0 && lane == 0) device::arrive_for(ring.full(), missing);
                }
            }
        };
        const std::true_type yes;
        const std::false_type no;
        if ((maps.a || a.in_lines()) && (maps.b || b.in_lines())) {
            const auto all_whole = static_cast<unsigned>(k / t.block_k);
            if (!maps.any() && a.by_elements() && b.by_elements())
                bring(yes, yes, all_whole);
            else
                bring(yes, no, all_whole);
        }
        bring(no, no, steps);
        return;
    } else if (work.shared_steps > 0) {
        GemmRingShare<a_along_k> a(x.a.at(blockIdx.y), corner.i, shared.a[0], warp, lane);
        GemmRingShare<b_along_k> b(x.b.at(blockIdx.y).transposed(), corner.j, shared.b[0], warp,
                                   lane);
        GemmRing ring(shared, 1);
        const auto last = static_cast<int>(work.first_steps());
#pragma unroll 1
        for (int step = 0; step < last; ++step, ring.advance()) {
            const int columns = static_cast<int>(k < (1 << 20) ? k : 1 << 20) - step * t.block_k;
            if (!maps.a) a.load(step, columns);
            if (!maps.b) b.load(step, columns);
            device::arrive_when_copied(ring.full());
        }
    }
    GemmRing ring(shared, 0);
    GemmRingSums<a_along_k, b_along_k> sums(static_cast<int>(threadIdx.x), shared);
    device::SharedAddress left = ring.before_first();  // the stage before: see device::arrive()
    const auto wait = [&] {
        ring.wait_full();
        device::arrive(left);
        left = ring.empty();
    };
    if ((a_along_k || b_along_k) && work.in_fours) {
#pragma unroll 1
        for (unsigned step = 0; step < steps; ++step, ring.advance()) {
            wait();
            sums.template multiply<true>(ring.stage());
        }
    } else {
#pragma unroll 1
        for (unsigned step = 0; step < steps;) {
            const unsigned first = step,
                           end = first + work.chain < steps ? first + work.chain : steps;
#pragma unroll 1
            for (; step < end; ++step, ring.advance()) {
                wait();
                sums.multiply(ring.stage());
            }
            if (end < steps)
                sums.set_aside(device::large_shared<GemmRingChainsShared>(), first == 0);
        }
    }
    if (work.chain < steps) sums.add_aside(device::large_shared<GemmRingChainsShared>());
    // Found out anew rather than kept in registers through the main loop.
    const GemmRingCorner here(work, device::opaque(blockIdx.x));
    sums.store(static_cast<int>(device::opaque(threadIdx.x)), shared,
               x.c.at(device::opaque(blockIdx.y)), here.i, here.j, x.alpha, x.beta);
}

/// At most gemm_batch_most (batched_plan.hpp) products.
template <bool a_along_k, bool b_along_k>
void launch_gemm_tuned_ring(device::Stream stream, const GemmRingWork& work) {
    constexpr GemmTile t = gemm_ring_tile;
    const std::int64_t blocks = work.tiles_m * ((work.x.n() + t.block_n - 1) / t.block_n);
    device::launch_evenly(
        "gemm", gemm_tuned_ring<a_along_k, b_along_k>,
        dim3(device::grid(blocks, "gemm"), static_cast<unsigned>(work.x.count)), t.threads(),
        work.sets_aside() ? sizeof(GemmRingChainsShared) : sizeof(GemmRingShared), stream, work);
}

}  // namespace tinyblas
