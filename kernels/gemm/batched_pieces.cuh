// SPDX-License-Identifier: MIT
// Batches of small products whose matrices have no gaps: each is one piece of memory, whatever its
// extents are, and begins anywhere. The copy engine brings A and B as they lie, and takes C.
//
//                   b (k, n)  [ q . . q . . q . ]      A thread owns share_m rows of C, lanes_m
//   a (m, k)  [ p ]                   v                apart, of share_n columns, lanes_n apart,
//             [ . ]   -->  c  [ x . . x . . x . ]      so that lanes of a warp read neighbours
//             [ p ]           [ . . . . . . . . ]      of B. Lines beyond C's are read as its last
//             [ . ]           [ x . . x . . x . ]      ones, and not written.
//
// At the end sums take the place of A and B in shared memory. C's old elements, if it is read, come
// with them, to a place of their own. A sum is one chain in the order of k.
//
// Limit: memory, up to n = 50 or so; then loads from shared memory, of one element a lane.
#pragma once

#include <cstddef>
#include <cstdint>

#include "batched_operands.hpp"
#include "batched_pieces_plan.hpp"
#include "divisor.hpp"
#include "parts.cuh"

namespace tinyblas {

template <class T>
struct GemmPiecesWork {
    GemmBatch<T> x;
    GemmPiecesPlan plan;
    Divisor by_lanes, by_lanes_n;
    bool beside;
};

/// `count` elements that follow each other in memory. The copy engine takes those between multiples
/// of 16 bytes, threads the few before and behind.
template <class T>
struct GemmPiece {
    static constexpr int vector = 16 / sizeof(T), edge = vector - 1;
    /// A thread for each element at the ends, at most, and one for the copy engine.
    static constexpr int tasks = 8, copy_task = tasks - 1;
    static_assert(2 * edge < tasks);

    T* data;
    int count;

    /// Elements from a multiple of 16 bytes; in shared memory it begins as far from one.
    __device__ __forceinline__ int shift() const {
        return static_cast<int>(reinterpret_cast<std::uintptr_t>(data) / sizeof(T)) & edge;
    }
    /// The first element at a multiple of 16 bytes, and how many there are up to the last one.
    __device__ __forceinline__ int first() const {
        const int there = -shift() & edge;
        return there < count ? there : count;
    }
    __device__ __forceinline__ int inner() const { return (count - first()) & ~edge; }
    __device__ __forceinline__ unsigned inner_bytes() const {
        return static_cast<unsigned>(inner()) * static_cast<unsigned>(sizeof(T));
    }
    /// The element that this task copies, or -1 if there is none.
    __device__ __forceinline__ int outer(int task) const {
        const int at = task < edge ? task : first() + inner() + task - edge;
        return at < (task < edge ? first() : count) ? at : -1;
    }
};

/// The products that a block makes, and its shared memory.
template <class T>
struct GemmPiecesBlock {
    const GemmPiecesWork<T>& work;
    T* room;
    std::int64_t first;  // product
    int present;         // products

    __device__ __forceinline__ explicit GemmPiecesBlock(const GemmPiecesWork<T>& work)
        : work(work),
          room(device::large_shared_array<T>(work.plan.bytes / static_cast<int>(sizeof(T)))),
          first(std::int64_t{blockIdx.x} * work.plan.each) {
        const std::int64_t left = work.x.count - first;
        present = left < work.plan.each ? static_cast<int>(left) : work.plan.each;
    }

    /// Of an operand, and the matrices in each.
    __device__ __forceinline__ int pieces() const { return work.plan.together ? 1 : present; }
    __device__ __forceinline__ int whole() const { return work.plan.together ? present : 1; }
    __device__ __forceinline__ int pieces_of_both() const {
        return pieces() + (work.plan.b_shared() ? 1 : pieces());
    }

    /// Piece p of an operand whose matrices have `size` elements.
    template <class Operand>
    __device__ __forceinline__ auto piece(const Operand& operand, int p, int size) const {
        return GemmPiece<std::remove_pointer_t<decltype(operand.data(0))>>{operand.data(first + p),
                                                                           whole() * size};
    }
    /// Matrix g of an operand in shared memory, `apart` from one to the next.
    template <class Operand>
    __device__ __forceinline__ T* matrix(const Operand& operand, int g, int apart) const {
        return room + (g * apart + piece(operand, work.plan.together ? 0 : g, 0).shift());
    }

    /// Starts the copies of A and B, for `arrival` to wait for, and makes those of the ends.
    __device__ __forceinline__ void bring(device::SharedAddress arrival) const {
        constexpr int tasks = GemmPiece<T>::tasks;
        const GemmPiecesPlan& plan = work.plan;
        const int m = static_cast<int>(work.x.m()), n = static_cast<int>(work.x.n());
        const int k = static_cast<int>(work.x.k());
#pragma unroll 1
        for (int at = static_cast<int>(threadIdx.x); at < 2 * tasks * pieces();
             at += static_cast<int>(blockDim.x)) {
            const bool is_b = at / tasks % 2 == 1;
            const int p = at / (2 * tasks), task = at % tasks;
            if (is_b && p > 0 && plan.b_shared()) continue;
            const auto from = is_b ? piece(work.x.b, p, k * n) : piece(work.x.a, p, m * k);
            T* const to =
                room + from.shift() + (is_b ? plan.of_b + p * plan.b_apart : p * plan.a_apart);
            bring(from, task, to, arrival);
        }
    }
    /// The same for C's old elements.
    __device__ __forceinline__ void bring_old(device::SharedAddress arrival) const {
        constexpr int tasks = GemmPiece<T>::tasks;
        const GemmPiecesPlan& plan = work.plan;
        const int size = static_cast<int>(work.x.m()) * static_cast<int>(work.x.n());
#pragma unroll 1
        for (int at = static_cast<int>(threadIdx.x); at < tasks * pieces();
             at += static_cast<int>(blockDim.x)) {
            const int p = at / tasks;
            const auto from = piece(work.x.c, p, size);
            bring(from, at % tasks, room + (plan.of_old + p * plan.c_apart + from.shift()),
                  arrival);
        }
    }

    /// One of a piece's tasks.
    template <class Element>
    static __device__ __forceinline__ void bring(const GemmPiece<Element>& from, int task, T* to,
                                                 device::SharedAddress arrival) {
        if (task == from.copy_task) {
            device::arrive_expecting(arrival, from.inner_bytes());
            if (from.inner() > 0)
                device::copy_bulk(device::SharedPointer<T>(to + from.first()).address(),
                                  from.data + from.first(), from.inner_bytes(), arrival);
        } else if (const int e = from.outer(task); e >= 0) {
            to[e] = device::load_fresh(from.data + e);
        }
    }

    /// Copies C, which lies from the beginning of the room on.
    __device__ __forceinline__ void take() const {
        constexpr int tasks = GemmPiece<T>::tasks;
        const int size = static_cast<int>(work.x.m()) * static_cast<int>(work.x.n());
#pragma unroll 1
        for (int at = static_cast<int>(threadIdx.x); at < tasks * pieces();
             at += static_cast<int>(blockDim.x)) {
            const int p = at / tasks, task = at % tasks;
            const auto to = piece(work.x.c, p, size);
            T* const from = room + (p * work.plan.c_apart + to.shift());
            if (task == to.copy_task) {
                if (to.inner() > 0)
                    device::store_bulk(to.data + to.first(),
                                       device::SharedPointer<T>(from + to.first()).address(),
                                       to.inner_bytes());
            } else if (const int e = to.outer(task); e >= 0) {
                to.data[e] = from[e];
            }
        }
        device::wait_for_stores();
    }
};

/// The thread's place: rows row, row + lanes_m, ..., columns column, column + lanes_n, ... of
/// product g of its block.
template <class T>
struct GemmPiecesLane {
    int g, number, row, column;
    bool idle;  // there is no such product: the thread goes along for the barriers

    __device__ __forceinline__ GemmPiecesLane(const GemmPiecesBlock<T>& block, unsigned thread)
        : g(static_cast<int>(block.work.by_lanes.quotient(thread))),
          number(static_cast<int>(thread) - g * block.work.plan.lanes()),
          row(static_cast<int>(block.work.by_lanes_n.quotient(static_cast<unsigned>(number)))),
          column(number - row * block.work.plan.lanes_n),
          idle(g >= block.present) {
        if (idle) g = 0;
    }
};

/// Where a thread's lines of an operand begin: rows of `lines`, which begin at `origin`.
template <class T, int share>
__device__ __forceinline__ void place_lines(device::SharedAddress (&at)[share], T* origin,
                                            const MatrixView<const T>& lines, int own, int apart) {
    const device::SharedPointer<T> begin(origin);
    const int last = static_cast<int>(lines.rows) - 1;
#pragma unroll
    for (int i = 0; i < share; ++i) {
        const int line = own + i * apart < last ? own + i * apart : last;
        at[i] = (begin + line * static_cast<int>(lines.row_stride)).address();
    }
}

template <class T, int entry>
__global__ void __launch_bounds__(gemm_pieces_table[entry].threads,
                                  gemm_pieces_table[entry].min_blocks)
    gemm_batched_pieces(const __grid_constant__ GemmPiecesWork<T> work) {
    if constexpr (!device::reallocates_registers) return device::trap();
    device::wait_for_launcher();
    if (work.beside) device::let_dependents_start();
    constexpr GemmPiecesTile t = gemm_pieces_table[entry];
    const GemmBatch<T>& x = work.x;
    const GemmPiecesPlan& plan = work.plan;
    const GemmPiecesBlock<T> block(work);
    auto& arrivals = device::shared<struct Arrivals, std::uint64_t[2]>();
    const device::SharedAddress arrival = device::SharedPointer<std::uint64_t>(arrivals).address();
    const device::SharedAddress arrival_of_old = arrival + sizeof arrivals[0];
    if (threadIdx.x == 0) {
        device::make_barrier(arrival, static_cast<unsigned>(block.pieces_of_both()));
        device::make_barrier(arrival_of_old, static_cast<unsigned>(block.pieces()));
        device::publish_barriers();
        begin_in_turn(static_cast<unsigned>(plan.at_once));
    }
    __syncthreads();
    block.bring(arrival);
    if (plan.reads_c()) block.bring_old(arrival_of_old);

    const GemmPiecesLane<T> lane(block, threadIdx.x);
    device::SharedAddress a_at[t.share_m], b_at[t.share_n];
    place_lines(a_at, block.matrix(x.a, lane.g, plan.a_apart), x.a.first, lane.row, plan.lanes_m);
    place_lines(b_at, block.matrix(x.b, lane.g, plan.b_apart) + plan.of_b, x.b.first.transposed(),
                lane.column, plan.lanes_n);
    __syncthreads();
    device::wait_for_phase(arrival, 0);

    T sums[t.share_m][t.share_n] = {};
    // From one k to the next: of whole warps, so that an address is a lane's register and a warp's.
    unsigned a_line = 0, b_line = 0;
    const auto load = [&](T(&a)[t.share_m], T(&b)[t.share_n]) {
#pragma unroll
        for (int i = 0; i < t.share_m; ++i) device::load_element(a[i], a_at[i] + a_line);
#pragma unroll
        for (int j = 0; j < t.share_n; ++j) device::load_element(b[j], b_at[j] + b_line);
        a_line =
            device::opaque(a_line + static_cast<unsigned>(x.a.first.column_stride * sizeof(T)));
        b_line = device::opaque(b_line + static_cast<unsigned>(x.b.first.row_stride * sizeof(T)));
    };
    const auto multiply = [&](const T(&a)[t.share_m], const T(&b)[t.share_n]) {
#pragma unroll
        for (int i = 0; i < t.share_m; ++i)
#pragma unroll
            for (int j = 0; j < t.share_n; ++j)
                sums[i][j] = device::fused_multiply_add(a[i], b[j], sums[i][j]);
    };
    int left = static_cast<int>(x.k());
    if constexpr (t.ahead) {
        T a[2][t.share_m], b[2][t.share_n];
        load(a[0], b[0]);
#pragma unroll 1
        for (; left > 2; left -= 2) {
            load(a[1], b[1]);
            multiply(a[0], b[0]);
            load(a[0], b[0]);
            multiply(a[1], b[1]);
        }
        multiply(a[0], b[0]);
        if (left == 2) {
            load(a[1], b[1]);
            multiply(a[1], b[1]);
        }
    } else {
#pragma unroll(t.lines)
        for (; left > 0; --left) {
            T a[t.share_m], b[t.share_n];
            load(a, b);
            multiply(a, b);
        }
    }
#pragma unroll
    for (int i = 0; i < t.share_m; ++i)
#pragma unroll
        for (int j = 0; j < t.share_n; ++j) sums[i][j] *= x.alpha;
    __syncthreads();  // nobody needs A and B any more

    const int m = static_cast<int>(x.m()), n = static_cast<int>(x.n());
    // Found out anew rather than kept in registers through the main loop.
    const GemmPiecesLane<T> own(block, device::opaque(threadIdx.x));
    T* const c = block.matrix(x.c, own.g, plan.c_apart);
    const device::SharedPointer<T> first(c + (own.row * n + own.column));
    const int columns_left = n - own.column;
    unsigned apart[t.share_n];
#pragma unroll
    for (int j = 0; j < t.share_n; ++j)
        apart[j] = device::opaque(static_cast<unsigned>(j * plan.lanes_n) *
                                  static_cast<unsigned>(sizeof(T)));
#pragma unroll
    for (int i = 0; i < t.share_m; ++i) {
        const int columns = own.idle || own.row + i * plan.lanes_m >= m ? 0 : columns_left;
        const device::SharedAddress line = device::opaque((first + i * plan.lanes_m * n).address());
#pragma unroll
        for (int j = 0; j < t.share_n; ++j)
            if (j * plan.lanes_n < columns) device::store_element(line + apart[j], sums[i][j]);
    }
    if (plan.reads_c()) {
        device::wait_for_phase(arrival_of_old, 0);
        __syncthreads();
        const int lanes = plan.lanes(), end = own.idle ? 0 : m * n;
        constexpr int at_once = 8;
#pragma unroll 1
        for (int e = own.number; e < end; e += at_once * lanes) {
            T sum[at_once], old[at_once];  // all are loaded before one is stored
#pragma unroll
            for (int q = 0; q < at_once; ++q) {
                const T* const from = c + (e + q * lanes < end ? e + q * lanes : e);
                sum[q] = from[0], old[q] = from[plan.of_old];
            }
#pragma unroll
            for (int q = 0; q < at_once; ++q) {
                device::multiply_add(sum[q], x.beta, old[q]);
                if (e + q * lanes < end) c[e + q * lanes] = sum[q];
            }
        }
    }
    device::publish_shared_to_copies();
    __syncthreads();
    block.take();
}

template <class T, int entry>
void launch_gemm_batched_pieces(device::Stream stream, const GemmBatch<T>& x) {
    const bool b_shared = !x.b.pointers && x.b.stride == 0;
    const GemmPiecesPlan plan =
        plan_gemm_pieces(entry, x.m(), x.n(), x.k(), gemm_pieces(x) == GemmPieces::together,
                         b_shared, x.beta != T(0));
    const unsigned blocks = device::grid((x.count + plan.each - 1) / plan.each, "gemm");
    const GemmPiecesWork<T> work = {x, plan, Divisor(static_cast<unsigned>(plan.lanes())),
                                    Divisor(static_cast<unsigned>(plan.lanes_n)),
                                    leaves_places(blocks)};
    device::launch_evenly("gemm", gemm_batched_pieces<T, entry>, blocks,
                          static_cast<unsigned>(plan.threads()),
                          static_cast<std::size_t>(plan.bytes), stream, work);
}

}  // namespace tinyblas
