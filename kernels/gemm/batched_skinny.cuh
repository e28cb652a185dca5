// SPDX-License-Identifier: MIT
// Batches of products whose C are skinny: of few columns. What takes time is A, of which each
// element is needed but once for each column: it goes from memory to registers, and no further.
//
//   a thread:  4 rows of A  x  4 or 8 columns of B: 16 or 32 sums, for each k that is its share
//   a block:   rows' groups x columns' groups x sharers of k, powers of two as the plan says
//
// k comes by vectors of 16 bytes. Where they lie along k, a thread has a vector of each row; where
// they lie along rows, one of each k, and turns them in its registers; else, or where they do not
// begin at multiples of 16 bytes, single elements. In which order a sum is added up depends on none
// of that, but on the number of sharers: each has one chain of multiply-adds, and those are added
// up through shared memory.
//
// Limit: memory, or (k of some ten) what is no multiply-add.
#pragma once

#include <bit>
#include <cstdint>

#include <device.hpp>

#include "batched_operands.hpp"
#include "batched_skinny_plan.hpp"
#include "divisor.hpp"
#include "parts.cuh"

namespace tinyblas {

/// Whether an operand, seen as (extent, k), comes in vectors along its extent.
inline bool comes_along_extent(const GemmBatchOperand<const float>& x) {
    return !x.pointers && x.first.row_stride == 1 && x.first.rows % skinny_batch_edge == 0 &&
           in_vectors(x);
}

/// Of an entry of skinny_batch_table.
template <int entry>
struct GemmBatchedSkinny {
    GemmBatch<float> x;  // n is at most 16
    SkinnyBatchPlan plan;
    unsigned groups, all_groups;  // of rows: of a C, of all C
    Divisor by_groups;
    bool a_along_rows, b_along_columns;

    explicit GemmBatchedSkinny(const GemmBatch<float>& x)
        : x(x),
          plan(plan_skinny_batch(skinny_batch_table[entry], x.m(), x.n(), x.k(), x.count,
                                 x.a.first.column_stride == 1, x.b.first.row_stride == 1)),
          groups(static_cast<unsigned>(skinny_batch_groups(x.m()))),
          all_groups(static_cast<unsigned>(groups * x.count)),
          by_groups(groups),
          a_along_rows(comes_along_extent(x.a)),
          b_along_columns(comes_along_extent(x.b.transposed())) {}

    unsigned blocks() const {
        return (all_groups + (1u << plan.rows_log2()) - 1) >> plan.rows_log2();
    }
    /// A group's first row, and how far its next ones are: as vectors lie, or far apart, so that
    /// neighbouring threads have neighbouring rows.
    __device__ int first_row(unsigned group) const {
        return static_cast<int>(a_along_rows ? group * skinny_batch_edge : group);
    }
    __device__ int rows_apart() const { return a_along_rows ? 1 : static_cast<int>(groups); }
};

/// Lines of an operand, seen as (extent, k), a vector of k at a time.
template <int lines>
class SkinnyLoader {
    static constexpr int edge = skinny_batch_edge;

  public:
    using Values = float[lines][edge];  // k inside

    /// From `first` on, of which `left` lines are there, `apart`; others are the first one again.
    /// The thread begins at vector `place` of k, and goes on by `sharers`.
    __device__ SkinnyLoader(const float* first, const MatrixView<const float>& operand, int left,
                            int apart, int place, int sharers, bool along_extent)
        : from_(first + std::int64_t{place} * edge * operand.column_stride),
          step_(std::int64_t{sharers} * edge * operand.column_stride),
          k_apart_(static_cast<int>(operand.column_stride)),
          along_extent_(along_extent),
          in_vectors_(along_extent ||
                      (operand.column_stride == 1 && operand.row_stride % edge == 0 &&
                       reinterpret_cast<std::uintptr_t>(first) % 16 == 0)) {
        const auto row_stride = static_cast<int>(operand.row_stride);
#pragma unroll
        for (int q = 0; q < lines; ++q) {
            const int row = along_extent ? q / edge * edge : q * apart;
            apart_[q] = device::opaque((along_extent ? q % edge * k_apart_ : 0) +
                                       (row < left ? row * row_stride : 0));
        }
    }

    /// The next vectors, of which `left` k are there; of others, the first one's again.
    __device__ __forceinline__ void load(Values& to, int left) {
        const auto there = [&](int p) { return p < left ? p : 0; };
        if (in_vectors_ && (along_extent_ || left >= edge)) {
#pragma unroll
            for (int q = 0; q < lines; ++q) {
                const bool absent = along_extent_ && q % edge >= left;
                const int apart = absent ? apart_[q / edge * edge] : apart_[q];
                device::load_read_only<true>(to[q], device::displaced(from_, apart));
            }
        } else {
#pragma unroll
            for (int p = 0; p < edge; ++p) {
                const float* line = device::displaced(from_, there(p) * k_apart_);
#pragma unroll
                for (int q = 0; q < lines; ++q)
                    to[q][p] = __ldg(device::displaced(line, apart_[q]));
            }
        }
        from_ = device::opaque(from_ + step_);
    }
    /// Asks the L2 cache for what is loaded next.
    __device__ __forceinline__ void announce() const {
#pragma unroll
        for (int q = 0; q < lines; ++q) device::announce(device::displaced(from_, apart_[q]));
    }
    /// Vectors along the extent become ones along k.
    __device__ __forceinline__ void turn(Values& x) const {
#pragma unroll
        for (int q = 0; q < lines; ++q)
#pragma unroll
            for (int p = 0; p < q % edge; ++p) {
                float& opposite = x[q / edge * edge + p][q % edge];
                const float below = x[q][p], above = opposite;
                x[q][p] = along_extent_ ? above : below;
                opposite = along_extent_ ? below : above;
            }
    }

  private:
    const float* from_;
    std::int64_t step_;
    int k_apart_, apart_[lines];
    bool along_extent_, in_vectors_;
};

template <int entry>
__global__ void __launch_bounds__(skinny_batch_threads, skinny_batch_table[entry].at_once)
    gemm_batched_skinny(const GemmBatchedSkinny<entry> work, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    if constexpr (!device::reallocates_registers) return device::trap();
    constexpr int edge = skinny_batch_edge;
    constexpr int columns = skinny_batch_table[entry].columns;
    constexpr auto own_log2 = static_cast<unsigned>(std::countr_zero(unsigned{columns}));
    const GemmBatch<float>& x = work.x;
    const SkinnyBatchPlan& plan = work.plan;
    const auto low_bits = [](unsigned number, unsigned bits) {
        return number & ((1u << bits) - 1);
    };
    const unsigned thread = threadIdx.x;
    const unsigned first_group = blockIdx.x << plan.rows_log2();
    const auto m = static_cast<int>(x.m()), n = static_cast<int>(x.n());

    float sums[edge][columns] = {};
    const int column =
        static_cast<int>(low_bits(thread >> plan.column_bit(), plan.columns_log2)) * columns;
    if (column < n) {
        const unsigned number =
            first_group + (low_bits(thread, plan.column_bit()) >> plan.near_log2);
        const unsigned group = number < work.all_groups ? number : 0;
        const unsigned product = work.by_groups.quotient(group);
        const int row = work.first_row(group - product * work.groups);
        const int sharers = device::opaque(1 << plan.sharers_log2());
        const auto place = static_cast<int>(low_bits(thread, plan.near_log2) |
                                            thread >> plan.far_bit() << plan.near_log2);
        const MatrixView<const float> b_first = x.b.first.transposed();
        SkinnyLoader<edge> a(x.a.data(product) + row * x.a.first.row_stride, x.a.first, m - row,
                             work.rows_apart(), place, sharers, work.a_along_rows);
        SkinnyLoader<columns> b(x.b.data(product) + column * b_first.row_stride, b_first,
                                n - column, 1, place, sharers, work.b_along_columns);
#pragma unroll 1
        for (int left = static_cast<int>(x.k()) - place * edge; left > 0; left -= sharers * edge) {
            float a_values[edge][edge], b_values[columns][edge];
            a.load(a_values, left);
            b.load(b_values, left);
            if (skinny_batch_table[entry].announces && left > sharers * edge) a.announce();
            a.turn(a_values);
            b.turn(b_values);
#pragma unroll
            for (int p = 0; p < edge; ++p)
                if (p == 0 || p < left)
#pragma unroll
                    for (int i = 0; i < edge; ++i)
#pragma unroll
                        for (int j = 0; j < columns; ++j)
                            device::multiply_add(sums[i][j], a_values[i][p], b_values[j][p]);
        }
    }

    // So far apart, threads whose neighbours share their sums read 32 banks, too.
    const auto padded = [](unsigned number) { return number + number / 8; };
    constexpr int pitch = skinny_batch_threads * 9 / 8 + 4;
    auto& shared = device::shared<struct GemmSkinnySums, float[edge * columns][pitch]>();
#pragma unroll
    for (int i = 0; i < edge; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j) shared[i * columns + j][padded(thread)] = sums[i][j];
    __syncthreads();

    // A thread adds up a column of a group of rows. Neighbours' lie side by side in C.
    const MatrixView<float>& c = x.c.first;
    const bool along_columns = c.column_stride == 1;
    const unsigned columns_log2 = plan.columns_log2 + own_log2;
    const int apart = work.rows_apart();
#pragma unroll 1
    for (unsigned other = thread; other >> (plan.rows_log2() + columns_log2) == 0;
         other += skinny_batch_threads) {
        const unsigned inside =
            along_columns ? other >> columns_log2 : low_bits(other, plan.rows_log2());
        const unsigned j =
            along_columns ? low_bits(other, columns_log2) : other >> plan.rows_log2();
        const unsigned group = first_group + inside;
        if (group >= work.all_groups || j >= static_cast<unsigned>(n)) continue;
        float values[edge] = {};
        const unsigned first = (inside << plan.near_log2) + (j / columns << plan.column_bit());
#pragma unroll 1
        for (unsigned far = 0; far < skinny_batch_threads; far += 1u << plan.far_bit())
#pragma unroll 1
            for (unsigned near = 0; near >> plan.near_log2 == 0; ++near)
#pragma unroll
                for (int i = 0; i < edge; ++i)
                    values[i] += shared[i * columns + j % columns][padded(first + far + near)];

        const unsigned product = work.by_groups.quotient(group);
        const int row = work.first_row(group - product * work.groups);
        float* to = x.c.data(product) + row * c.row_stride + j * c.column_stride;
        const std::int64_t to_next = apart * c.row_stride;
        const bool as_vector = work.a_along_rows && c.row_stride == 1 &&
                               reinterpret_cast<std::uintptr_t>(to) % 16 == 0;
        float all[edge] = {};
        if (x.beta != 0) {  // all are asked for before one is written
            if (as_vector)
                device::load_vector(all, to);
            else
#pragma unroll
                for (int i = 0; i < edge; ++i)
                    if (row + i * apart < m) all[i] = to[i * to_next];
        }
#pragma unroll
        for (int i = 0; i < edge; ++i) store(all[i], x.alpha, values[i], x.beta);
        if (as_vector)
            device::store_vector(to, all);
        else
#pragma unroll
            for (int i = 0; i < edge; ++i)
                if (row + i * apart < m) to[i * to_next] = all[i];
    }
}

/// A batch whose C are of at most 16 columns, or rows.
template <int entry>
void launch_gemm_batched_skinny(device::Stream stream, const GemmBatch<float>& x) {
    const GemmBatchedSkinny<entry> work(x.n() <= x.m() ? x : transposed(x));
    device::launch_evenly("gemm", gemm_batched_skinny<entry>, work.blocks(), skinny_batch_threads,
                          0, stream, work, leaves_places(work.blocks()));
}

}  // namespace tinyblas
