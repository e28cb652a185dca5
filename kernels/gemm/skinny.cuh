// SPDX-License-Identifier: MIT
// Products of a long A by a small B, which streams: A is read once, C written once, and B stays in
// shared memory. Beside the ladder: what makes it fast is what it does not do.
//
//             b: k x columns, for all
//               +-----------+
//               |           |         Tiles are dealt to warps. While a warp multiplies a piece of
//   a           +-----------+         its rows, 16 or 32 k, the next one arrives in another of its
//   +-------+   +-----------+         stages; no warp waits for another. A lane has 8 rows of 4 or
//   | warp  |   | warp      |         8 columns.
//   +-------+   +-----------+
//   | next  |   | next      |
//
// A sum is one chain in the order of k.
//
// Limit: memory; from columns = k = 64 on multiply-adds.
#pragma once

#include <cstdint>

#include "batched_panels.cuh"
#include "parts.cuh"
#include "skinny_plan.hpp"

namespace tinyblas {

/// A lane's sums of a warp's tile: 8 rows, in vectors of 4 columns, one of every lane apart.
/// `along_k`: whether lines of A's tiles lie along k.
template <int entry, bool along_k>
class GemmSkinnySums {
    static constexpr GemmSkinnyTile t = gemm_skinny_table[entry];
    static constexpr int rows = 8, lanes_m = t.rows / rows, lanes_n = 32 / lanes_m;
    static constexpr int width = t.columns / lanes_n;

  public:
    /// A part of the tile's columns on its way to C: a vector of every lane.
    static constexpr int part = 4 * lanes_n;
    using Part = float[t.rows][part + 4];

    __device__ __forceinline__ explicit GemmSkinnySums(int lane)
        // Groups of 2 x 2: a load then meets fewer rows of banks.
        : row_(lane / 2 % lanes_m * (along_k ? 1 : 4)),
          column_((lane % 2 + lane / (2 * lanes_m) * 2) * 4) {}

    /// The first `depth` k of a piece; what is beyond, up to a multiple of 4, is zero.
    template <int pitch>
    __device__ __forceinline__ void multiply(const float (*a)[pitch], const float (*b)[t.columns],
                                             int depth) {
#pragma unroll 1
        for (int p = 0; p < depth; p += 4) {
            float values[rows][4];
            if (along_k) {
#pragma unroll
                for (int i = 0; i < rows; ++i)
                    device::load_vector(values[i], &a[row_ + down(i)][p]);
            } else {
#pragma unroll
                for (int q = 0; q < 4; ++q)
#pragma unroll
                    for (int i = 0; i < rows; i += 4) {
                        float line[4];
                        device::load_vector(line, &a[p + q][row_ + down(i)]);
#pragma unroll
                        for (int e = 0; e < 4; ++e) values[i + e][q] = line[e];
                    }
            }
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                float line[width];
#pragma unroll
                for (int v = 0; v < width; v += 4) {
                    float vector[4];
                    device::load_vector(vector, &b[p + q][column_ + v / 4 * part]);
#pragma unroll
                    for (int e = 0; e < 4; ++e) line[v + e] = vector[e];
                }
#pragma unroll
                for (int i = 0; i < rows; ++i)
#pragma unroll
                    for (int j = 0; j < width; ++j)
                        sums_[i][j] =
                            device::fused_multiply_add(values[i][q], line[j], sums_[i][j]);
            }
        }
    }

    /// C = alpha sums + beta C, in the rows from `first` on, 16 bytes along n or along m at a time,
    /// which all of C must allow.
    __device__ __forceinline__ void store_along_n(const MatrixView<float>& c, std::int64_t first,
                                                  float alpha, float beta) {
        float* const own = &c(first + row_, column_);
        const int rows_left = left(c.rows, first + row_), columns_left = left(c.columns, column_);
        store_vectors(own, alpha, beta, [&](auto&& body) {
#pragma unroll
            for (int i = 0; i < rows; ++i)
#pragma unroll
                for (int j = 0; j < width; j += 4)
                    body(i * (width / 4) + j / 4, own + down(i) * c.row_stride + j / 4 * part,
                         down(i) < rows_left && j / 4 * part < columns_left, sums_[i][j],
                         sums_[i][j + 1], sums_[i][j + 2], sums_[i][j + 3]);
        });
    }
    __device__ __forceinline__ void store_along_m(const MatrixView<float>& c, std::int64_t first,
                                                  float alpha, float beta) {
        int row = row_;
        if (along_k) {
            exchange();
            row *= lanes_m;
        }
        float* const own = &c(first + row, column_);
        const int rows_left = left(c.rows, first + row), columns_left = left(c.columns, column_);
        store_vectors(own, alpha, beta, [&](auto&& body) {
#pragma unroll
            for (int j = 0; j < width; ++j)
#pragma unroll
                for (int i = 0; i < rows; i += 4) {
                    const int below =
                        along_k ? i / lanes_m * lanes_m * lanes_m + i % lanes_m : down(i);
                    const int along = j / 4 * part + j % 4;
                    body(j * (rows / 4) + i / 4, own + below + along * c.column_stride,
                         below < rows_left && along < columns_left, sums_[i][j], sums_[i + 1][j],
                         sums_[i + 2][j], sums_[i + 3][j]);
                }
        });
    }

    /// The same for any C, by way of `tile`, which only the calling warp uses: lanes then have
    /// neighbours in C.
    __device__ __forceinline__ void store(const MatrixView<float>& c, std::int64_t first,
                                          float alpha, float beta, Part& tile, int lane) const {
        const int beyond = left(c.rows, first), rows_left = beyond < t.rows ? beyond : t.rows;
#pragma unroll
        for (int v = 0; v < width; v += 4) {
            const int begin = v / 4 * part, beyond = left(c.columns, begin);
            const int columns_left = beyond < part ? beyond : part;
#pragma unroll
            for (int i = 0; i < rows; ++i) {
                const float vector[4] = {sums_[i][v], sums_[i][v + 1], sums_[i][v + 2],
                                         sums_[i][v + 3]};
                device::store_vector(&tile[row_ + down(i)][column_], vector);
            }
            __syncwarp();
            if (c.column_stride == 1) {
                const int j = lane % part;
                if (j < columns_left)
                    store_line(&c(first + lane / part, begin + j), 32 / part * c.row_stride,
                               &tile[lane / part][j], 32 / part * (part + 4),
                               (rows_left - lane / part + 32 / part - 1) / (32 / part), alpha,
                               beta);
            } else {
                for (int i = lane; i < rows_left; i += 32)
                    store_line(&c(first + i, begin), c.column_stride, tile[i], 1, columns_left,
                               alpha, beta);
            }
            __syncwarp();
        }
    }

  private:
    /// The same for `count` elements, `apart` in C, whose sums lie `beside` apart.
    static __device__ __forceinline__ void store_line(float* to, std::int64_t apart,
                                                      const float* sums, int beside, int count,
                                                      float alpha, float beta) {
        constexpr int at_once = 8;
#pragma unroll 1
        for (; count > 0; count -= at_once, sums += at_once * beside) {
            float old[at_once] = {};
            if (beta != 0) {  // as many are asked for before one is written; the last one again
                const float* from = to;
#pragma unroll
                for (int q = 0; q < at_once; ++q) {
                    old[q] = device::load_fresh(from);
                    if (q + 1 < count) from = device::opaque(from + apart);
                }
            }
#pragma unroll
            for (int q = 0; q < at_once; ++q, to = device::opaque(to + apart)) {
                if (q >= count) continue;
                tinyblas::store(old[q], alpha, sums[q * beside], beta);
                *to = old[q];
            }
        }
    }
    /// Calls body(number, address, whether it exists, four sums that lie there side by side) for
    /// all, by for_each(body). `own`: the first one's address.
    template <class ForEach>
    __device__ __forceinline__ void store_vectors(const float* own, float alpha, float beta,
                                                  ForEach&& for_each) {
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int j = 0; j < width; ++j) sums_[i][j] *= alpha;
        if (beta != 0) {  // as many are asked for before one is used; some before one is written
            constexpr int vectors = rows * width / 4, at_once = 8;
            bool exists = false;
            for_each([&](int number, float*, bool there, float, float, float, float) {
                if (number == 0) exists = there;
            });
            float old[at_once][4];
#pragma unroll
            for (int some = 0; some < vectors && exists; some += at_once) {
                for_each(
                    [&](int number, const float* from, bool there, float, float, float, float) {
                        if (number / at_once * at_once == some)
                            device::load_fresh(old[number % at_once], there ? from : own);
                    });
                for_each([&](int number, const float*, bool, float& s0, float& s1, float& s2,
                             float& s3) {
                    if (number / at_once * at_once != some) return;
                    device::multiply_add(s0, beta, old[number % at_once][0]);
                    device::multiply_add(s1, beta, old[number % at_once][1]);
                    device::multiply_add(s2, beta, old[number % at_once][2]);
                    device::multiply_add(s3, beta, old[number % at_once][3]);
                });
            }
        }
        for_each([](int, float* to, bool there, float s0, float s1, float s2, float s3) {
            const float vector[4] = {s0, s1, s2, s3};
            if (there) device::store_vector(to, vector);
        });
    }

    /// Where along_k, gives each lane neighbouring rows of its columns: lanes_m lanes turn as many
    /// of their rows together.
    __device__ __forceinline__ void exchange() {
#pragma unroll
        for (int bit = 1; bit < lanes_m; bit *= 2)
#pragma unroll
            for (int i = 0; i < rows; ++i) {
                if (i & bit) continue;
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    float &even = sums_[i][j], &odd = sums_[i + bit][j];
                    const bool upper = row_ & bit;
                    const float received = __shfl_xor_sync(~0u, upper ? even : odd, 2 * bit);
                    even = upper ? received : even;
                    odd = upper ? odd : received;
                }
            }
    }
    /// How far below the first of the lane's rows another one lies: along k lanes read different
    /// banks if rows of theirs are neighbours.
    static constexpr int down(int i) { return along_k ? i * lanes_m : i / 4 * 4 * lanes_m + i % 4; }
    /// Of `extent`, what there is from `first` on, as far as a tile reaches.
    static __device__ __forceinline__ int left(std::int64_t extent, std::int64_t first) {
        const std::int64_t left = extent - first;
        constexpr int most = t.rows > t.columns ? t.rows : t.columns;
        return left < most ? static_cast<int>(left) : most;
    }

    int row_, column_;
    float sums_[rows][width] = {};
};

template <int entry, bool along_k>
struct GemmSkinnyShared {
    static constexpr GemmSkinnyTile t = gemm_skinny_table[entry];
    using Loader =
        PanelLoader<float, along_k ? t.rows : t.depth, along_k ? t.depth : t.rows, 32, false>;
    union Stage {
        typename Loader::Panel a;
        typename GemmSkinnySums<entry, along_k>::Part c;
    };
    Stage stages[t.warps][t.stages];

    /// Lines of B behind the stages, filled up with zeros; bytes in all.
    static __host__ __device__ constexpr int lines(std::int64_t k) {
        return static_cast<int>((k + 3) / 4 * 4);
    }
    static __host__ __device__ constexpr int bytes(std::int64_t k) {
        return static_cast<int>(sizeof(Stage)) * t.warps * t.stages +
               static_cast<int>(sizeof(float)) * t.columns * lines(k);
    }
    static constexpr int most_bytes = 227 << 10, besides = 1 << 10;  // of a block; that it takes
    /// That a multiprocessor holds.
    static constexpr int blocks(std::int64_t k) {
        const int room = (most_bytes + besides) / (bytes(k) + besides);
        return room < t.min_blocks ? room : t.min_blocks;
    }
};

/// b: at most as many columns as the entry has.
template <int entry, bool along_k>
__global__ void __launch_bounds__(gemm_skinny_table[entry].threads(),
                                  gemm_skinny_table[entry].min_blocks)
    gemm_skinny(float alpha, MatrixView<const float> a, MatrixView<const float> b, float beta,
                MatrixView<float> c, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    if constexpr (!device::reallocates_registers) return device::trap();
    constexpr GemmSkinnyTile t = gemm_skinny_table[entry];
    using Shared = GemmSkinnyShared<entry, along_k>;
    const auto k = static_cast<int>(a.columns);
    auto& shared =
        *reinterpret_cast<Shared*>(device::large_shared_array<float>(Shared::bytes(k) / 4));
    auto* const lines_of_b = reinterpret_cast<float(*)[t.columns]>(&shared + 1);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const unsigned slabs = static_cast<unsigned>((a.rows + t.rows - 1) / t.rows);
    const unsigned step = gridDim.x * t.warps;
    unsigned slab = gridDim.x * static_cast<unsigned>(warp) + blockIdx.x;

#pragma unroll 1
    for (int e = static_cast<int>(threadIdx.x); e < Shared::lines(k) * t.columns;
         e += t.threads()) {
        const int p = e / t.columns, j = e % t.columns;
        const bool exists = p < k && j < b.columns;
        device::copy_async<1>(device::SharedPointer<float>(&lines_of_b[p][j]),
                              exists ? &b(p, j) : b.data, exists ? 1 : 0);
    }
    device::close_copy_group();

    // What is asked for is pieces ahead of what is multiplied.
    unsigned next = slab;
    int next_p = 0, stage = 0;
    const auto request = [&](int to) {
        if (next < slabs) {
            // All of it found out anew: kept, it would take the multiply-adds' registers.
            const std::int64_t first = std::int64_t{next} * t.rows, below = a.rows - first;
            const int rows = below < t.rows ? static_cast<int>(below) : t.rows;
            const int depth = k - next_p < t.depth ? k - next_p : t.depth;
            MatrixView<const float> from = a;
            from.data = &a(first, next_p);
            const typename Shared::Loader loader(along_k ? from : from.transposed(), lane);
            loader.load(shared.stages[warp][to].a, along_k ? rows : depth, along_k ? depth : rows);
            next_p += t.depth;
            if (next_p >= k) {
                next_p = 0;
                next += step;
            }
        }
        device::close_copy_group();
    };
#pragma unroll 1
    for (; stage < t.stages - 1; ++stage) request(stage);
    stage = 0;

    device::wait_for_copies<t.stages - 1>();  // for B
    __syncthreads();

    const auto in_vectors = [](std::int64_t stride, std::int64_t extent, std::int64_t line_stride) {
        return stride == 1 && extent % 4 == 0 && line_stride % 4 == 0;
    };
    const bool aligned = reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0;
    const bool along_n = aligned && in_vectors(c.column_stride, c.columns, c.row_stride);
    const bool along_m = aligned && in_vectors(c.row_stride, c.rows, c.column_stride);
#pragma unroll 1
    for (; slab < slabs; slab += step) {
        GemmSkinnySums<entry, along_k> sums(lane);
#pragma unroll 1
        for (int p = 0; p < k; p += t.depth) {
            request(stage == 0 ? t.stages - 1 : stage - 1);
            device::wait_for_copies<t.stages - 1>();
            __syncwarp();
            sums.multiply(shared.stages[warp][stage].a, lines_of_b + p,
                          k - p < t.depth ? k - p : t.depth);
            __syncwarp();
            if (++stage == t.stages) stage = 0;
        }
        const std::int64_t first = std::int64_t{slab} * t.rows;
        if (along_n)
            sums.store_along_n(c, first, alpha, beta);
        else if (along_m)
            sums.store_along_m(c, first, alpha, beta);
        else  // the stage that was multiplied last is free until the next request
            sums.store(c, first, alpha, beta,
                       shared.stages[warp][stage == 0 ? t.stages - 1 : stage - 1].c, lane);
    }
}

template <int entry, bool along_k>
void launch_gemm_skinny(device::Stream stream, int multiprocessors, float alpha,
                        const MatrixView<const float>& a, const MatrixView<const float>& b,
                        float beta, const MatrixView<float>& c) {
    constexpr GemmSkinnyTile t = gemm_skinny_table[entry];
    using Shared = GemmSkinnyShared<entry, along_k>;
    static_assert(sizeof(Shared) % 16 == 0 && Shared::bytes(t.longest_k) <= Shared::most_bytes);
    const std::int64_t needed = (a.rows + t.rows - 1) / t.rows;
    const std::int64_t at_once = std::int64_t{multiprocessors} * Shared::blocks(a.columns);
    const unsigned blocks = device::grid(needed < at_once ? needed : at_once, "gemm");
    device::launch_evenly("gemm", gemm_skinny<entry, along_k>, blocks, t.threads(),
                          static_cast<std::size_t>(Shared::bytes(a.columns)), stream, alpha, a, b,
                          beta, c, leaves_places(blocks));
}

}  // namespace tinyblas
