// SPDX-License-Identifier: MIT
// Batches of products whose matrices are larger than a tile, wherever their lines begin: single
// elements come from memory, so that no layout is slower than another.
//
//   line of k:     0       1       2       3       4       5       6       7
//   multiplied   [stage s: a thread's 4 x 4 to 16 x 8 sums, line by line        ]
//   copied       [stage s + 2: one to four elements of A and of B, every other  ]
//
// Each thread multiplies and copies. Copies are spread over the lines of the stage before: all at
// once, right after a barrier, they would keep the multiply-adds waiting (but not in tiles of 32 x
// 32, where 28 warps share a multiprocessor). Most go amid a line: between two, the assembler takes
// the first one's operands' registers for addresses as soon as it can, and multiplies in another
// order for it, so that sums and operands meet in banks. Where a thread's elements lie is known
// from the first one on, however the operand lies, so that a copy takes an addition and no test of
// its own: a C's last tiles are moved up instead, and leave to it what others do not. C leaves
// along its rows by way of the stages; its old elements, if it is read, come beside them.
//
// An element of C is one chain of multiply-adds in the order of k. The pieces of stream-k
// (stream_k.cuh) are made here, too, in several chains each.
//
// Limit: issue slots, some 90 % busy (an H200); of a loop's instructions 62 % (32 x 32) to 88 %
// (128 x 128) are multiply-adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <device.hpp>

#include "batched_operands.hpp"
#include "batched_table.hpp"
#include "parts.cuh"
#include "thread_tile.cuh"

namespace tinyblas {

/// `x`, the same in all lanes, in a register of each of them: of what it is the assembler knows
/// nothing. Else it makes two additions and a choice of one that adds either of two constants.
__device__ __forceinline__ int in_register(int x) { return __shfl_sync(~0u, x, 0); }

/// An operand's elements on their way into tiles, k outside. It is seen as (extent, k); rows are
/// the index that it shares with C. Where there are fewer than in a tile they come again: to copy
/// the same element for all lanes takes as long as to copy one for each of them in turn. `ahead`:
/// each copy asks the L2 cache for 256 bytes, for of a line along k a stage uses but 32, and memory
/// takes as long to open a page for these.
template <int extent, int depth, int threads, bool ahead>
class ElementLoader {
    static constexpr int warps = threads / 32;
    static constexpr int of_32 = depth / warps;  // a thread's copies of 32 rows

  public:
    static constexpr int pitch = extent + 4;
    static constexpr int copies = extent / 32 * of_32;  // a thread's of a tile
    using Tile = float[depth][pitch];
    static_assert(depth == 8 && depth % warps == 0 && extent % 32 == 0);

    /// From the rows of `operand` from `first` on, all of which exist or are all that do.
    __device__ __forceinline__ ElementLoader(const MatrixView<const float>& operand,
                                             std::int64_t first, Tile* tiles, int thread)
        : to_(&tiles[0][0][0]) {
        // A warp copies 8 k of 4 rows, whole sectors, to 32 banks; or else 32 neighbouring rows.
        const bool along_k = operand.column_stride == 1;
        const int i = along_k ? thread / depth : thread % 32;
        p_ = along_k ? thread % depth : thread / 32;
        const int rows_apart = along_k ? 32 / of_32 : 0;
        k_apart_ = along_k ? 0 : warps;
        to_ = to_ + (p_ * pitch + i);
        step_ = in_register(along_k ? rows_apart : warps * pitch);
        back_ = depth * operand.column_stride;
        const int rows = operand.rows < extent ? static_cast<int>(operand.rows) : extent;
        const auto there = [&](int row) { return row < rows ? row : row * rows / extent; };
        const int row = there(i);
        from_ = operand.data + (first + row) * operand.row_stride + p_ * operand.column_stride;
#pragma unroll
        for (int c = 0; c < copies; ++c) {
            const int other = there(i + c / of_32 * 32 + c % of_32 * rows_apart);
            apart_[c] = (other - row) * static_cast<int>(operand.row_stride) +
                        c % of_32 * k_apart_ * static_cast<int>(operand.column_stride);
        }
    }

    /// Copies a tile, of whose k `columns` exist; the rest becomes zero, and the next tile begins
    /// behind them.
    __device__ __forceinline__ void load(int columns, std::int64_t column_stride) {
#pragma unroll
        for (int c = 0; c < copies; ++c) copy(c, p_ + c % of_32 * k_apart_ < columns ? 1 : 0);
        from_ += columns * column_stride;
        turn(1);
    }
    /// The next tile comes so many stages behind the last one's.
    __device__ __forceinline__ void turn(int stages) { to_ = to_ + stages * (depth * pitch); }
    /// Copy `c` of a tile all of whose k exist.
    __device__ __forceinline__ void load(int c) { copy(c, 1); }
    __device__ __forceinline__ void next() { from_ += back_; }

  private:
    __device__ __forceinline__ void copy(int c, int there) {
        device::copy_async<1, ahead>(to_ + c % of_32 * step_ + c / of_32 * 32, from_ + apart_[c],
                                     there);
    }

    device::SharedPointer<float> to_;
    const float* from_;
    std::int64_t back_;  // to the next tile
    int apart_[copies];  // elements from the first copy's
    int p_, k_apart_, step_;
};

inline constexpr int elements_group = 8;  // of GemmRaster

/// Where a tile begins, and what its block multiplies: the last tile of several is moved up so that
/// all of its rows and columns exist; it leaves to C what others do not.
struct ElementsPlace {
    std::int64_t i, j, first_i, first_j;

    __device__ __forceinline__ ElementsPlace(const GemmBatch<float>& x, std::int64_t i,
                                             std::int64_t j, int rows, int columns)
        : i(i), j(j), first_i(moved(i, rows, x.m())), first_j(moved(j, columns, x.n())) {}

  private:
    static __device__ __forceinline__ std::int64_t moved(std::int64_t first, int extent,
                                                         std::int64_t end) {
        return first + extent <= end ? first : end > extent ? end - extent : 0;
    }
};

template <GemmTile of_block, ElementCopies with>
struct GemmElements {
    static constexpr GemmTile t = of_block;
    static constexpr ElementCopies copies = with;
    using LoaderA = ElementLoader<t.block_m, t.block_k, t.threads(), with.ahead>;
    using LoaderB = ElementLoader<t.block_n, t.block_k, t.threads(), with.ahead>;
    using Tile = ThreadTile<float, t>;
    using Raster = GemmRaster<t.block_m, t.block_n, elements_group>;

    static __device__ __forceinline__ ElementsPlace place(const GemmBatch<float>& x,
                                                          std::int64_t tile) {
        const auto [i, j] = Raster(x.m(), x.n()).corner_in_32_bits(static_cast<unsigned>(tile));
        return {x, i, j, t.block_m, t.block_n};
    }
    static constexpr int part = Tile::lane_rows * t.lanes_m();  // of a warp's rows of C
    static constexpr int pitch = t.warp_n + 4;

    struct Stages {
        typename LoaderA::Tile a[t.stages];
        typename LoaderB::Tile b[t.stages];
    };
    static constexpr int warps = t.threads() / 32;
    union Shared {
        Stages stages;
        float sums[warps][part][pitch];  // on their way to C
    };
    /// The same where C is read.
    struct SharedAndOld {
        Shared own;
        alignas(16) float old[warps][t.warp_m][t.warp_n];
    };
    static constexpr std::size_t shared_bytes(float beta) {
        return beta == 0 ? sizeof(Shared) : sizeof(SharedAndOld);
    }
};

/// C = alpha sums + beta C, along C's rows: a part of each warp's rows after the other goes by way
/// of `shared`, which nothing else uses any more.
template <class Elements, class Work>
__device__ __forceinline__ void leave_by_rows(typename Elements::Tile& tile,
                                              const GemmBatch<float>& x, const Work& work,
                                              typename Elements::Shared& shared) {
    constexpr GemmTile t = Elements::t;
    constexpr int part = Elements::part, parts = t.warp_m / part, across = t.warp_n / 32;
    constexpr int beside = 4;  // rows
    const auto place = Elements::place(x, work.tile());
    const int thread = static_cast<int>(device::opaque(threadIdx.x));
    const int warp = thread / 32, lane = thread % 32;
    const int warp_row = warp / t.warps_n() * t.warp_m, warp_column = warp % t.warps_n() * t.warp_n;
    const int row = Elements::Tile::row(thread);
    auto& sums = shared.sums[warp];
    // Rows and columns from the first ones on that the block leaves to C.
    int below = warp_row - static_cast<int>(place.i - place.first_i);
    const int beyond = warp_column + lane - static_cast<int>(place.j - place.first_j);
    const auto many = [](std::int64_t end, std::int64_t first, int extent) {
        return static_cast<unsigned>(end - first < extent ? end - first : extent);
    };
    const unsigned rows = many(x.m(), place.i, t.block_m);
    const unsigned columns = many(x.n(), place.j, t.block_n);
    const MatrixView<float>& c = x.c.first;
    float* line = x.c.data(work.e()) + (place.i + below) * c.row_stride +
                  (place.j + beyond) * c.column_stride;
    const std::int64_t next = 32 * c.column_stride;
    __syncthreads();
    const auto there = [&](int q) { return static_cast<unsigned>(beyond + 32 * q) < columns; };
    const auto old = [&]() -> auto& {
        return device::large_shared<typename Elements::SharedAndOld>().old[warp];
    };
    if (x.beta != 0) {  // C's old elements: all are asked for at once
        const device::SharedPointer<float> to(&old()[0][lane]);
        const float* from = line;
#pragma unroll(across == 1 ? 4 : 1)
        for (int i = 0; i < t.warp_m; ++i, from += c.row_stride)
#pragma unroll
            for (int q = 0; q < across; ++q) {
                const bool inside = static_cast<unsigned>(below + i) < rows && there(q);
                device::copy_async<1>(to + (i * t.warp_n + 32 * q), from + q * next,
                                      inside ? 1 : 0);
            }
        device::close_copy_group();
    }
#pragma unroll 1
    for (int now = 0; now < parts; ++now) {
        tile.visit_vectors(thread, [&](int i, int j, const float(&four)[4]) {
            if ((i - row) / part != now) return;
            float scaled[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) scaled[e] = device::opaque(x.alpha * four[e]);
            device::store_vector(&sums[i - warp_row - now * part][j - warp_column], scaled);
        });
        __syncwarp();
        if (x.beta != 0) {
            device::wait_for_copies<0>();
            __syncwarp();
#pragma unroll 1
            for (int e = 4 * lane; e < part * t.warp_n; e += 4 * 32) {
                float* const to = &sums[e / t.warp_n][e % t.warp_n];
                float values[4], before[4];
                device::load_vector(values, to);
                device::load_vector(before, &old()[now * part][0] + e);
#pragma unroll
                for (int q = 0; q < 4; ++q) device::multiply_add(values[q], x.beta, before[q]);
                device::store_vector(to, values);
            }
            __syncwarp();
        }
        const float* from = &sums[0][lane];
#pragma unroll 1
        for (int i = 0; i < part; i += beside) {
#pragma unroll
            for (int r = 0; r < beside; ++r) {
                if (static_cast<unsigned>(below + r) < rows) {
                    float values[across];
#pragma unroll
                    for (int q = 0; q < across; ++q) values[q] = from[r * Elements::pitch + 32 * q];
#pragma unroll
                    for (int q = 0; q < across; ++q)
                        if (there(q)) line[q * next] = values[q];
                }
                line += c.row_stride;
            }
            from += beside * Elements::pitch;
            below += beside;
        }
        __syncwarp();
    }
}

/// What a block makes: tile `tile` of product `e`, of `k` multiply-adds from `first` on.
struct ElementsWork {
    std::int64_t tile, e;
    int k;
    std::int64_t first = 0;
};

/// The block's `work`; then `leave(tile, shared)`. `in_chains`: of so many steps, whose sums are
/// added up; and the next kernel may start before they are stored.
template <class Elements, bool in_chains = false, class Leave>
__device__ __forceinline__ void multiply_elements(const GemmBatch<float>& x,
                                                  const ElementsWork& work, Leave&& leave,
                                                  int of_chain = 0) {
    constexpr GemmTile t = Elements::t;
    auto& shared = x.beta == 0 ? device::large_shared<typename Elements::Shared>()
                               : device::large_shared<typename Elements::SharedAndOld>().own;
    const auto place = Elements::place(x, work.tile);
    const auto operand = [&](const auto& matrices, std::int64_t stride) {
        auto view = matrices.at(work.e);
        view.data += work.first * stride;
        return view;
    };
    const int k = work.k;
    const int thread = static_cast<int>(threadIdx.x);
    const int steps = in_register((k + t.block_k - 1) / t.block_k);
    typename Elements::LoaderA a(operand(x.a, x.a.first.column_stride), place.first_i,
                                 shared.stages.a, thread);
    typename Elements::LoaderB b(operand(x.b, x.b.first.row_stride).transposed(), place.first_j,
                                 shared.stages.b, thread);
    // The first tile takes what is not whole, so that all others are.
    int columns = k - (steps - 1) * t.block_k, unrequested = steps;
#pragma unroll 1
    for (int stage = 0; stage < t.stages - 1; ++stage) {
        if (unrequested > 0) {
            a.load(columns, x.a.first.column_stride);
            b.load(columns, x.b.first.row_stride);
        }
        --unrequested;
        device::close_copy_group();
        columns = t.block_k;
    }
    constexpr int amid = Elements::copies.before;
    const auto copy_beside = [&](int line, int steps_to_copy) {
        const auto some = [&](auto& loader) {
            constexpr int copies = std::remove_reference_t<decltype(loader)>::copies;
            constexpr int most = t.block_k / Elements::copies.apart;
            constexpr int lines = copies < most ? copies : most, apart = t.block_k / lines;
#pragma unroll
            for (int c = 0; c < copies; ++c)
                if (c * lines / copies * apart == line) loader.load(c);
        };
        if (line % Elements::copies.apart != 0 || steps_to_copy <= 0) return;
        some(a), some(b);
    };
    typename Elements::Tile tile(thread, &shared.stages.a[0][0][0], &shared.stages.b[0][0][0]);
    device::wait_for_copies<t.stages - 2>();
    __syncthreads();
    auto line = tile.line(0);
    if (steps > 0) {
        tile.start(line);
        copy_beside(0, unrequested);
    }
    int stage = 0;
    // With sums set aside there is no register for what follows from others.
    const auto step = [&](int left) {
        if (in_chains) unrequested = left - (t.stages - 1);
#pragma unroll
        for (int p = 0; p < t.block_k - 1; ++p) {
            tile.multiply(p, line, p + 1, amid, [&] { copy_beside(p + 1, unrequested); });
        }
        device::close_copy_group();
        device::wait_for_copies<t.stages - 2>();
        __syncthreads();
        // What is copied next takes the place of what was multiplied last.
        const int copied = stage == 0 ? 1 - t.stages : 1;
        a.turn(copied), b.turn(copied);
        a.next(), b.next();
        --unrequested;
        // After the last line nothing comes next: load again what is there.
        const bool wraps = stage == t.stages - 1;
        line = line + (left == 1 ? 0 : wraps ? (1 - t.stages) * t.block_k : t.block_k);
        stage = wraps ? 0 : stage + 1;
        tile.multiply(t.block_k - 1, line, 0, amid, [&] { copy_beside(0, unrequested); });
    };
    if constexpr (in_chains) {
        float before[t.thread_m * t.thread_n] = {};
        int left = steps, rest = (steps - 1) / of_chain * of_chain;
        for (;;) {
#pragma unroll 1
            for (; left > rest; --left) step(left);
            if (left == 0) break;
            const float zero = device::opaque(0.0f);
            tile.visit([&](int i, float& sum) { before[i] += sum, sum = zero; });
            rest -= of_chain;
        }
        tile.visit([&](int i, float& sum) { sum += before[i]; });
        device::let_dependents_start();
    } else {
#pragma unroll 1
        for (int left = steps; left > 0; --left) step(left);
    }
    leave(tile, shared);
}

/// A grid's blocks, a tile each. Found out anew rather than kept in registers through a main loop.
struct ElementsOfGrid {
    static __device__ __forceinline__ std::int64_t tile() { return device::opaque(blockIdx.x); }
    static __device__ __forceinline__ std::int64_t e() { return device::opaque(blockIdx.y); }
};

template <int entry>
using BatchedElements =
    GemmElements<gemm_elements_table[entry].tile, gemm_elements_table[entry].copies>;

template <int entry>
__global__ void __launch_bounds__(gemm_elements_table[entry].tile.threads(),
                                  gemm_elements_table[entry].tile.min_blocks)
    gemm_batched_elements(GemmBatch<float> x) {
    device::wait_for_launcher();
    using Elements = BatchedElements<entry>;
    multiply_elements<Elements>(x, {blockIdx.x, blockIdx.y, static_cast<int>(x.k())},
                                [&](auto& tile, auto& shared) {
                                    leave_by_rows<Elements>(tile, x, ElementsOfGrid(), shared);
                                });
}

/// At most gemm_batch_most products (batched_plan.hpp).
template <int entry>
void launch_gemm_batched_elements(device::Stream stream, const GemmBatch<float>& x) {
    using Elements = BatchedElements<entry>;
    const std::int64_t blocks = typename Elements::Raster(x.m(), x.n()).blocks();
    device::launch_evenly("gemm", gemm_batched_elements<entry>,
                          dim3(device::grid(blocks, "gemm"), static_cast<unsigned>(x.count)),
                          Elements::t.threads(), Elements::shared_bytes(x.beta), stream, x);
}

}  // namespace tinyblas
