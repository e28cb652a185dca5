// SPDX-License-Identifier: MIT
// Batches of products whose C are columns: of matrices and vectors. Some threads share an element
// of C. Elements of all products are numbered through, so that blocks are full whatever m is.
//
//   A's neighbours lie along k         else
//   row 0  [ 0 1 2 3 0 1 2 3 .. ]      [ 0 4 0 4 .. ]      numbers: threads, each with a place in k
//   row 1  [ 4 5 6 7 4 5 6 7 .. ]      [ 1 5 1 5 .. ]      of its own, from which it goes on by as
//   row 2  [ 8 9 ..             ]      [ 2 6 2 6 .. ]      many as share the row
//
// A thread adds up chains of multiply-adds of a few k each. Then lanes add up in pairs, and warps.
//
// Limit: memory.
#pragma once

#include <cstdint>

#include <device.hpp>

#include "batched_gemv_plan.hpp"
#include "batched_operands.hpp"
#include "divisor.hpp"
#include "parts.cuh"

namespace tinyblas {

template <class T>
struct GemmBatchedGemv {
    GemmBatch<T> x;  // n is 1
    GemvBatchPlan plan;
    Divisor by_rows;
    unsigned elements;  // of all C

    explicit GemmBatchedGemv(const GemmBatch<T>& x)
        : x(x),
          plan(plan_gemv_batch(x.m() * x.count, x.k(), x.a.first.column_stride == 1)),
          by_rows(static_cast<unsigned>(x.m())),
          elements(static_cast<unsigned>(x.m() * x.count)) {}
};

template <class T>
__global__ void __launch_bounds__(gemv_batch_threads, 5)
    gemm_batched_gemv(const GemmBatchedGemv<T> work, bool beside) {
    device::wait_for_launcher();
    if (beside) device::let_dependents_start();
    if constexpr (!device::reallocates_registers) return device::trap();
    constexpr unsigned warps = gemv_batch_threads / 32;
    constexpr int chain = 12;
    constexpr int vector = 16 / sizeof(T);
    const auto is_vector = [](const T* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
    const GemmBatch<T>& x = work.x;
    const GemvBatchPlan& plan = work.plan;
    const unsigned thread = threadIdx.x;
    const int sharers = 1 << plan.sharers_log2;
    const int place = static_cast<int>(thread >> plan.first_bit()) & (sharers - 1);
    const unsigned own = plan.along_k ? thread >> plan.sharers_log2 : thread & (plan.rows() - 1);
    const unsigned number = blockIdx.x * plan.rows() + own;
    const unsigned some = number < work.elements ? number : 0;
    const unsigned product = work.by_rows.quotient(some);
    const std::int64_t row = some - product * static_cast<unsigned>(x.m());

    const T* a = x.a.data(product) + row * x.a.first.row_stride + place * x.a.first.column_stride;
    const T* b = x.b.data(product) + place * x.b.first.row_stride;
    const std::int64_t a_step = sharers * x.a.first.column_stride;
    const std::int64_t b_step = sharers * x.b.first.row_stride;
    T sum = 0;
    int left = static_cast<int>(x.k());
    if (plan.along_k && x.b.first.row_stride == 1 && is_vector(a - place) && is_vector(b - place)) {
        const int vectors = left / vector;
#pragma unroll 1
        for (int v = place; v < vectors; v += 2 * sharers) {
            T a_values[2][vector] = {}, b_values[2][vector] = {}, part = 0;
#pragma unroll
            for (int e = 0; e < 2; ++e)
                if (e == 0 || v + sharers < vectors) {
                    const int at = (v + e * sharers) * vector - place;
                    device::load_read_only(a_values[e], a + at);
                    device::load_read_only(b_values[e], b + at);
                }
#pragma unroll
            for (int e = 0; e < 2; ++e)
#pragma unroll
                for (int q = 0; q < vector; ++q)
                    device::multiply_add(part, a_values[e][q], b_values[e][q]);
            sum += part;
        }
        a += vectors * vector;
        b += vectors * vector;
        left -= vectors * vector;
    }
#pragma unroll 1
    for (int rest = left - place; rest > 0; rest -= chain * sharers) {
        T a_values[chain] = {}, b_values[chain] = {}, part = 0;
#pragma unroll
        for (int e = 0; e < chain; ++e) {
            if (e * sharers < rest) {
                a_values[e] = __ldg(a);
                b_values[e] = __ldg(b);
            }
            // One after the other: two instructions each, where products would take four.
            a = device::opaque(a + a_step);
            b = device::opaque(b + b_step);
        }
#pragma unroll
        for (int e = 0; e < chain; ++e) device::multiply_add(part, a_values[e], b_values[e]);
        sum += part;
    }

    // Sharers differ in some bits of their numbers, up to `end`.
    const unsigned end = plan.first_bit() + plan.sharers_log2;
#pragma unroll 1
    for (unsigned bit = plan.first_bit(); bit < 5 && bit < end; ++bit)
        sum += __shfl_xor_sync(~0u, sum, 1 << bit);
    if (end > 5) {
        auto& of_warps = device::shared<struct GemvBatchOfWarps, T[warps][32]>();
        of_warps[thread / 32][thread % 32] = sum;
        __syncthreads();
        if (place > 0) return;
        const unsigned first = plan.first_bit() > 5 ? plan.first_bit() - 5 : 0;  // of a warp's
        for (unsigned other = 1; other < 1u << (end - 5 - first); ++other)
            sum += of_warps[thread / 32 + (other << first)][thread % 32];
    }
    if (place > 0 || number >= work.elements) return;
    store(x.c.data(product)[row * x.c.first.row_stride], x.alpha, sum, x.beta);
}

/// A batch whose C are columns, or rows.
template <class T>
void launch_gemm_batched_gemv(device::Stream stream, const GemmBatch<T>& x) {
    const GemmBatchedGemv<T> work(x.n() == 1 ? x : transposed(x));
    const unsigned blocks = (work.elements + work.plan.rows() - 1) / work.plan.rows();
    device::launch_evenly("gemm", gemm_batched_gemv<T>, blocks, gemv_batch_threads, 0, stream, work,
                          leaves_places(blocks));
}

}  // namespace tinyblas
