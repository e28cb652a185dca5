// SPDX-License-Identifier: MIT
// How the rung pipelined ends a piece: what adds pieces of k up, and from a thread's sums to C.
#pragma once

#include <type_traits>

#include "parts.cuh"
#include "pipelined_columns.cuh"
#include "pipelined_ring.cuh"
#include "pipelined_rows.cuh"

namespace tinyblas {

/// Counters of a tile that is cut, at most.
inline constexpr unsigned pipelined_counters = pipelined_tile.multipliers() / 32;

/// The pieces of a tile that is cut, numbered in the order of k, and where their sums are left.
template <PipelinedForm f>
struct PipelinedPieces {
    unsigned first, last;  // the block of the first one, the number of the last one
    bool helped;           // there are two of each tile
    __device__ __forceinline__ PipelinedPieces(const PipelinedWorkload& load, unsigned tile)
        : first(tile), last(1), helped(f.cuts() && load.own > 0) {
        if (helped) return;
        if (load.each > 0) {
            first = tile * load.each;
            last = load.each - 1;
            return;
        }
        first = load.block_of(tile * load.apart());
        last = load.block_of(tile * load.apart() + load.steps - 1) - first;
    }

    __device__ __forceinline__ unsigned number_of(unsigned block) const {
        return !helped ? block - first : block == first ? 0 : 1;
    }
    /// As PipelinedTileSums. A block has a tile's first piece beside the last one of another; where
    /// blocks help, a tile has both places of the block with its number.
    __device__ __forceinline__ float* left(const PipelinedWork& work, unsigned number) const {
        constexpr GemmTile t = f.tile();
        const unsigned place = 2 * first + (helped ? number : number == 0 ? 1 : 2 * number);
        return work.partials + std::size_t{place} * (t.block_m * t.block_n);
    }
};

/// Whether the calling warp is the last one with its part of the tile: then what the others have
/// left can be read.
__device__ __forceinline__ bool take_last_turn(unsigned* counter, unsigned others) {
    __threadfence();
    __syncwarp();
    bool last = false;
    if (threadIdx.x % 32 == 0) last = device::take_turn(counter, others) == others;
    if (!__any_sync(0xFFFFFFFF, last)) return false;
    __threadfence();
    return true;
}

/// A thread's sums times a factor, in registers of their own: what reached 16-byte stores would
/// have to lie in aligned fours, and the main loop's accumulators could not keep to the banks where
/// they meet no operand. The factor is alpha, unless these are but parts of sums: then it is 1, for
/// alpha may be Inf. `rows`: of the thread's, which begin at `rows` times the number of its slice.
template <PipelinedForm f, int rows = f.tile().thread_m>
class PipelinedSums {
  public:
    static constexpr GemmTile t = f.tile();
    using Tile = std::conditional_t<f.a_by_rows, PipelinedRowsTile<t>, PipelinedColumnsTile<t>>;

    /// Of the tile's parts, the calling thread's, and its place among that one's threads.
    static __device__ __forceinline__ int part() {
        return f.parts == 1 ? 0 : static_cast<int>(threadIdx.x) / t.multipliers();
    }
    static __device__ __forceinline__ int thread() {
        return static_cast<int>(threadIdx.x) % t.multipliers();
    }

    PipelinedSums() = default;
    __device__ __forceinline__ PipelinedSums(Tile& tile, float factor) {
        tile.visit([&](int s, float sum) { sums_[s] = device::opaque(factor * sum); });
    }
    /// With those of the chains before, which have been set aside. `one`: 1, which the compiler
    /// does not know.
    __device__ __forceinline__ PipelinedSums(Tile& tile, float one, PipelinedAside<f>& before) {
        tile.visit([&](int s, float sum) { sums_[s] = sum; });
        const device::SharedPointer<float> from(&before.sums[0][thread() % 32][0]);
        for_vectors<16>(
            [from](float(&more)[4], int v) { device::load_vector(more, from + v * 32 * 4); },
            [one](float& sum, float more) {
                device::multiply_add(more, one, sum);
                sum = more;
            });
        __syncwarp();  // before lines lie there
    }

    /// Of the sums that all slices have left, added up from the last slice to the first one.
    __device__ __forceinline__ explicit PipelinedSums(const PipelinedTileSums<f>* slices) {
#pragma unroll
        for (int v = 0; v < count / 4; ++v) {
            const float* const from = &slices[0][0][0][0] + first() + v * next;
            float sums[4];
            device::load_vector(sums, from + (f.parts - 1) * next * (t.thread_m * t.thread_n / 4));
#pragma unroll
            for (int slice = f.parts - 2; slice >= 0; --slice) {
                float more[4];
                device::load_vector(more, from + slice * next * (t.thread_m * t.thread_n / 4));
#pragma unroll
                for (int e = 0; e < 4; ++e) sums[e] += more[e];
            }
#pragma unroll
            for (int e = 0; e < 4; ++e) sums_[v * 4 + e] = sums[e];
        }
    }

    /// Sets a piece's sums aside after a chain of multiply-adds, with those of the chains before:
    /// for the thread itself.
    __device__ __forceinline__ void set_aside(PipelinedAside<f>& warp) const {
        __syncwarp();  // lines that lay there have been read
        float* const to = &warp.sums[0][thread() % 32][0];
        for_each_vector(
            [to](int v, const float(&sums)[4]) { device::store_vector(to + v * 32 * 4, sums); });
    }

    /// Leaves all sums, for a thread of its own place.
    __device__ __forceinline__ void leave(PipelinedTileSums<f>& to) const {
        for_each_vector(
            [&](int v, const float(&sums)[4]) { device::store_vector(&to[v][thread()][0], sums); });
    }

    __device__ __forceinline__ void scale(float alpha) {
#pragma unroll
        for (int s = 0; s < count; ++s) sums_[s] *= alpha;
    }

    /// Slices pass their sums on, from the last one to the first one, which gets those of all: true
    /// for that one. A slice that has passed its sums on goes to the next chain or piece. `before`:
    /// the last slice first gets the sums of the piece's chains before. `more` chains follow: the
    /// first slice leaves the sums for them. `together`: no slice gets those of other slices, but
    /// the last one still what is from the chains before.
    __device__ __forceinline__ bool gather(PipelinedRelay<f>& relay, bool before, bool more,
                                           bool together) {
        constexpr int last = f.parts - 1;
        // Found anew rather than kept in registers.
        const int slice = static_cast<int>(device::opaque(threadIdx.x)) / t.multipliers();
        float* const at =
            &relay.sums[0][static_cast<int>(device::opaque(threadIdx.x)) % t.multipliers()][0];
        const bool gets = slice == last ? before : !together;
        if (gets || !together) relay.wait_for_turn(slice);
        if (gets)
            add_vectors<4>([&](float(&passed)[4], int v) {
                device::load_vector(passed, device::SharedPointer<float>(at + v * next));
            });
        if (together) return true;
        if (slice > 0 || more)
            for_each_vector(
                [&](int v, const float(&sums)[4]) { device::store_vector(at + v * next, sums); });
        relay.give_turn(slice > 0 ? slice - 1 : last);
        return slice == 0 && !more;
    }

    /// In the sliced form, for a block's last piece, where all pieces of the tile end so: the ring
    /// has room for the sums of all slices now, and each slice ends a part of all threads' rows.
    __device__ __forceinline__ void end_together(const PipelinedWork& work,
                                                 const PipelinedPiece& piece,
                                                 PipelinedShared<f>& shared) const {
        constexpr int all = pipelined_tile.multipliers();
        device::role_barrier(1, all);  // no one reads the ring any more
        leave(shared.slices()[part()]);
        device::role_barrier(1, all);
        PipelinedSums<f, t.thread_m / f.parts> own(shared.slices());
        if (work.load.cuts(piece) && !own.add_up(work, piece, second_is_there(work, piece))) return;
        own.scale(work.alpha);
        own.store(work, piece.tile, shared.all_lines()[threadIdx.x / 32]);
    }

    /// Of a tile's first piece: whether the second and last one's sums have been left. Their block
    /// mostly had them first.
    static __device__ __forceinline__ bool second_is_there(const PipelinedWork& work,
                                                           const PipelinedPiece& piece) {
        if (piece.first > 0 || !work.counters) return false;
        if (PipelinedPieces<f>(work.load, piece.tile).last != 1) return false;
        return __all_sync(0xFFFFFFFF, device::load_acquire(counter(work, piece.tile)) == 1);
    }

    /// Leaves a piece's sums for the warp of the tile that comes last; that one gets all pieces'
    /// sums, added up in the order of k. For the others, returns false. `comes_last`: is known.
    __device__ __forceinline__ bool add_up(const PipelinedWork& work, const PipelinedPiece& piece,
                                           bool comes_last) {
        const PipelinedPieces<f> pieces(work.load, piece.tile);
        const unsigned own = pieces.number_of(blockIdx.x);
        if (comes_last) {
            if (threadIdx.x % 32 == 0) *counter(work, piece.tile) = 0;
        } else {
            leave(pieces.left(work, own));
            if (!work.counters || !take_last_turn(counter(work, piece.tile), pieces.last))
                return false;
        }
        // Of two, the other's are added to the own ones: the same bits, whoever comes last.
        const bool two = pieces.last == 1;
        if (!two)
#pragma unroll
            for (int s = 0; s < count; ++s) sums_[s] = 0;
        unsigned number = two ? 1 - own : 0;
#pragma unroll 1
        do {
            add(pieces.left(work, number));
        } while (!two && ++number <= pieces.last);
        return true;
    }

    /// Leaves the sums as a piece's, and adds what has been left.
    __device__ __forceinline__ void leave(float* left) const {
        float* const to = left + first();
        for_each_vector(
            [to](int v, const float(&sums)[4]) { device::store_global(to + v * next, sums); });
    }
    __device__ __forceinline__ void add(const float* left) {
        const float* const from = left + first();
        add_vectors<(count / 4 < 16 ? count / 4 : 16)>(
            [from](float(&part)[4], int v) { device::load_fresh(part, from + v * next); });
    }

    /// C = sums + beta C for the tile. Few branches: with many, ptxas keeps the main loop's
    /// accumulators less well. `lines`: the warp's own.
    __device__ __forceinline__ void store(const PipelinedWork& work, unsigned tile,
                                          PipelinedLines<f>& lines) {
        const auto place = work.load.place(tile);
        MatrixView<float> c = work.c;
        const unsigned number = f.sliced ? 0 : static_cast<unsigned>(part());
        const unsigned own = product_of<f>(work, place, number);
        if (f.products() > 1 && own >= work.products) return;
        if (f.in_place)
            c.data = work.in_place.c.data(own);
        else
            c.data += own * work.c_apart;
        if (c.column_stride == 1 && c.row_stride % 4 == 0 && c.columns % 4 == 0 &&
            reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0)
            store_vectors(work, c, place);
        else if (f.cuts() && c.row_stride == 1 && work.beta == 0)
            store_columns(c, place, lines);
        else
            store_lines(work, c, place, lines);
    }

  private:
    static constexpr int count = rows * t.thread_n;
    static constexpr int next = t.multipliers() * 4;  // from four of a thread's sums to the next

    /// Of a tile's sums, the thread's first.
    static __device__ __forceinline__ int first() {
        return (rows < t.thread_m ? part() * (count / 4) * next : 0) + thread() * 4;
    }
    /// Of the thread's rows, how far the first one that it has lies below the first.
    static __device__ __forceinline__ int below() {
        return rows < t.thread_m ? part() * Tile::down(rows) : 0;
    }

    static __device__ __forceinline__ unsigned* counter(const PipelinedWork& work, unsigned tile) {
        return work.counters + tile * pipelined_counters + threadIdx.x / 32;
    }

    /// Calls body(v, sums) for each four of the thread's sums.
    template <class Body>
    __device__ __forceinline__ void for_each_vector(Body&& body) const {
#pragma unroll
        for (int v = 0; v < count / 4; ++v) {
            const float sums[4] = {sums_[v * 4], sums_[v * 4 + 1], sums_[v * 4 + 2],
                                   sums_[v * 4 + 3]};
            body(v, sums);
        }
    }
    /// Adds what load(more, v) brings to each four, so many of which arrive at once.
    template <int at_once, class Load>
    __device__ __forceinline__ void add_vectors(Load&& load) {
        for_vectors<at_once>(load,
                             [](float& sum, float more) { sum = device::opaque(sum + more); });
    }
    /// Calls add(sum, more) in place of that.
    template <int at_once, class Load, class Add>
    __device__ __forceinline__ void for_vectors(Load&& load, Add&& add) {
#pragma unroll
        for (int v = 0; v < count / 4; v += at_once) {
            float more[at_once][4];
#pragma unroll
            for (int w = 0; w < at_once; ++w) load(more[w], v + w);
#pragma unroll
            for (int w = 0; w < at_once; ++w)
#pragma unroll
                for (int e = 0; e < 4; ++e) add(sums_[(v + w) * 4 + e], more[w][e]);
        }
    }

    __device__ __forceinline__ float& sum(int row, int v) { return sums_[row * t.thread_n + v]; }

    /// Where 16 bytes of C can be taken at once.
    __device__ __forceinline__ void store_vectors(const PipelinedWork& work,
                                                  const MatrixView<float>& c,
                                                  const PipelinedWorkload::Place& place) {
        const std::int64_t i = std::int64_t{place.i} * t.block_m + Tile::row(thread()) + below();
        const std::int64_t j = std::int64_t{place.j} * t.block_n + Tile::column(thread());
        const auto inside = static_cast<int>(c.rows - i < t.block_m ? c.rows - i : t.block_m);
        const auto columns =
            static_cast<int>(c.columns - j < t.block_n ? c.columns - j : t.block_n);
        const auto for_each = [&](auto&& body) {
            for_each_row(&c(i, j), c.row_stride, [&](int row, float* at) {
#pragma unroll
                for (int v = 0; v < t.thread_n; v += 4)
                    if (Tile::down(row) < inside && v * t.lanes_n() < columns)
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
                                                PipelinedLines<f>& lines) {
        constexpr int at_once = 2, parts = t.warp_n / 32;  // of a thread's rows, of a line
        // Found anew: with what the main loop has of it, that loop would take more instructions.
        const int own_thread = static_cast<int>(device::opaque(threadIdx.x)) % t.multipliers();
        const int lane = own_thread % 32, first_thread = own_thread - lane;
        const std::int64_t i =
            std::int64_t{place.i} * t.block_m + Tile::row(first_thread) + below();
        const std::int64_t j =
            std::int64_t{place.j} * t.block_n + Tile::column(first_thread) + lane;
        auto inside = static_cast<int>(c.rows - i < t.warp_m ? c.rows - i : t.warp_m);
        const auto columns = static_cast<int>(c.columns - j < t.warp_n ? c.columns - j : t.warp_n);
        float* first = &c(i, j);
#pragma unroll 1
        for (int vectors = rows / 4; vectors > 0; --vectors, inside -= Tile::down(4)) {
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
                                     Tile::down(row + r) + Tile::lane_rows * l < inside &&
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
            next_sums<4 * t.thread_n>();
        }
    }

    /// Where neighbours of C lie in columns, and beta is 0.
    __device__ __forceinline__ void store_columns(const MatrixView<float>& c,
                                                  const PipelinedWorkload::Place& place,
                                                  PipelinedLines<f>& lines) {
        const int own_thread = static_cast<int>(device::opaque(threadIdx.x)) % t.multipliers();
        if constexpr (f.a_by_rows)
            store_own_columns(c, place, own_thread);
        else
            store_exchanged_columns(c, place, own_thread, lines);
    }

    /// Each thread for itself: lanes have neighbours. In a loop as store_lines.
    __device__ __forceinline__ void store_own_columns(const MatrixView<float>& c,
                                                      const PipelinedWorkload::Place& place,
                                                      int own_thread) {
        const std::int64_t i = std::int64_t{place.i} * t.block_m + Tile::row(own_thread) + below();
        const std::int64_t j = std::int64_t{place.j} * t.block_n + Tile::column(own_thread);
        auto inside = static_cast<int>(c.rows - i < t.block_m ? c.rows - i : t.block_m);
        const auto columns =
            static_cast<int>(c.columns - j < t.block_n ? c.columns - j : t.block_n);
        const auto right = [](int v) { return v / 4 * 4 * t.lanes_n() + v % 4; };
        float* first = &c(i, j);
#pragma unroll 1
        for (int vectors = rows / 4; vectors > 0; --vectors, inside -= Tile::down(4)) {
            float* at = first;
#pragma unroll
            for (int v = 0; v < t.thread_n; ++v) {
                const int exist = right(v) < columns ? inside : 0;
#pragma unroll
                for (int r = 0; r < 4; ++r)
                    if (Tile::down(r) < exist) device::store_global(at + Tile::down(r), sum(r, v));
                at = device::opaque(at + (right(v + 1) - right(v)) * c.column_stride);
            }
            first = device::opaque(first + Tile::down(4));
            next_sums<4 * t.thread_n>();
        }
    }

    /// Lanes exchange their sums, so that those which store together have neighbours: of half of
    /// the lanes, a column each at a time.
    __device__ __forceinline__ void store_exchanged_columns(const MatrixView<float>& c,
                                                            const PipelinedWorkload::Place& place,
                                                            int own_thread,
                                                            PipelinedLines<f>& lines) {
        constexpr int at_once = PipelinedLines<f>::at_once;
        constexpr int length = rows * t.lanes_m();             // of a warp's columns
        constexpr int beside = length < 32 ? 32 / length : 1;  // that lanes store together
        constexpr int parts = length > 32 ? length / 32 : 1;   // of a column
        const int lane = own_thread % 32, first_thread = own_thread - lane;
        const int own = Tile::column(lane) / 4, row = lane % length, line = lane / length;
        const std::int64_t i =
            std::int64_t{place.i} * t.block_m + Tile::row(first_thread) + below() + row;
        const std::int64_t j =
            std::int64_t{place.j} * t.block_n + Tile::column(first_thread) + line * 4;
        const auto inside = static_cast<int>(c.rows - i < length ? c.rows - i : length);
        auto columns = static_cast<int>(c.columns - j < t.warp_n ? c.columns - j : t.warp_n);
        float* to = &c(i, j);
#pragma unroll 1
        for (int number = 1; number <= t.thread_n; ++number) {  // of a thread's columns
#pragma unroll 1
            for (int first = 0; first < t.lanes_n(); first += at_once) {
                if (own / at_once * at_once == first)
#pragma unroll
                    for (int r = 0; r < rows; ++r)
                        lines.values[own % at_once][Tile::row(lane) + Tile::down(r)] = sum(r, 0);
                __syncwarp();
#pragma unroll
                for (int l = 0; l < at_once; l += beside) {
                    float values[parts];
#pragma unroll
                    for (int p = 0; p < parts; ++p)
                        values[p] = lines.values[line + l][row + 32 * p];
#pragma unroll
                    for (int p = 0; p < parts; ++p)
                        if (32 * p < inside && columns > 0)
                            device::store_global(to + 32 * p, values[p]);
                    to = device::opaque(to + 4 * beside * c.column_stride);
                    columns -= 4 * beside;
                }
                __syncwarp();
            }
            // From vectors of four columns to the next ones, which lie behind those of all lanes.
            const int back = (number % 4 > 0 ? 4 * t.lanes_n() : 4) - 1;
            to = device::opaque(to - back * c.column_stride);
            columns += back;
            next_sums<1>();
        }
    }

    /// Registers have no index: moves the sums, so that those from number `first` on are the first.
    template <int first>
    __device__ __forceinline__ void next_sums() {
#pragma unroll
        for (int s = 0; s + first < count; ++s) sums_[s] = sums_[s + first];
    }

    /// Of the lanes' lines number `row`, part `p` of line `l`: values[l][p] is the calling lane's.
    template <int lanes, int parts>
    __device__ __forceinline__ void exchange(int row, int lane, PipelinedLines<f>& lines,
                                             float (&values)[lanes][parts]) {
        constexpr int at_once = PipelinedLines<f>::at_once;
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
    constexpr PipelinedForm f;
    constexpr GemmTile t = f.tile();
    using Tile = PipelinedSums<f>::Tile;
    if constexpr (!device::reallocates_registers) return device::trap();  // as the rung's
    device::let_dependents_start();
    device::wait_for_launcher();
    const unsigned tile = blockIdx.y;
    const unsigned element = blockIdx.x * t.multipliers() + threadIdx.x;  // of what pieces left
    const unsigned thread = element / 4 % t.multipliers();
    const PipelinedPieces<f> pieces(work.load, tile);
    if (pieces.last == 0) return;  // the tile is whole after all
    float sum = 0;
    constexpr unsigned at_once = 22;
#pragma unroll 1
    for (unsigned number = 0; number <= pieces.last; number += at_once) {
        float parts[at_once];
#pragma unroll
        for (unsigned part = 0; part < at_once; ++part) {
            parts[part] = 0;
            if (number + part <= pieces.last)
                parts[part] = device::load_fresh(pieces.left(work, number + part) + element);
        }
#pragma unroll
        for (unsigned part = 0; part < at_once; ++part) sum += parts[part];
    }
    const auto own = static_cast<int>(element / (4 * t.multipliers()) * 4 + element % 4);
    const int row = own / t.thread_n, v = own % t.thread_n;
    const auto place = work.load.place(tile);
    const std::int64_t i =
        std::int64_t{place.i} * t.block_m + Tile::row(static_cast<int>(thread)) + Tile::down(row);
    const std::int64_t j = std::int64_t{place.j} * t.block_n +
                           Tile::column(static_cast<int>(thread)) + v / 4 * 4 * t.lanes_n() + v % 4;
    if (i >= work.c.rows || j >= work.c.columns) return;
    sum *= work.alpha;
    float& c = work.c(i, j);
    if (work.beta != 0) device::multiply_add(sum, work.beta, c);
    c = sum;
}

}  // namespace tinyblas
