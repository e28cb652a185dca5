// SPDX-License-Identifier: MIT
// gemv, rung 2, form long_rows: a team, one warp or a whole block, shares rows. Its warps take
// chunks of 32 groups of 16 bytes in turn, several of them in flight:
//
//   x       [ chunk 0 ][ chunk 1 ] ...       with a team of two warps
//   a       [ warp 0  ][ warp 1  ][ warp 0  ] ...   row 0
//           [ warp 0  ][ warp 1  ][ warp 0  ] ...   row 1, if the team has more than one: each
//                                                   element of x is read once for all of them
//   team    |------ piece 0 ------|------ piece 1 ------|      few and long rows are cut
//
// Limit: memory bandwidth; for short ones the launch and two trips to memory.
#pragma once

#include "parts.cuh"

namespace tinyblas {

inline constexpr int gemv_long_most_threads = 256;

/// Chunks of each row that a thread has in flight.
constexpr int gemv_long_unroll(int team_rows) { return 8 / team_rows; }

/// A lane's elements of a chunk: with vectors a group of neighbours, otherwise elements 32 apart,
/// so that each load of the warp is one of neighbours.
template <bool vectors, class T>
struct GemvLane {
    static constexpr int size = group_size<T>;
    static constexpr int chunk = size * static_cast<int>(warp_lanes);
    static constexpr int step = vectors ? 1 : warp_lanes;

    /// Its first element.
    static __device__ __forceinline__ int first() {
        const int lane = static_cast<int>(threadIdx.x % warp_lanes);
        return vectors ? lane * size : lane;
    }
    /// Its elements of the chunk at `at`. Unless `whole`, zeros for those that do not lie before
    /// `end`, and with vectors for a group of which a part does; element 0 is read in their place.
    template <bool whole>
    static __device__ __forceinline__ void load(T (&to)[size], const T* line, std::int64_t stride,
                                                std::int64_t at, std::int64_t end) {
        const std::int64_t j = at + first();
        if constexpr (vectors) {
            const bool there = whole || j + size <= end;
            device::load_read_only(to, line + (there ? j : 0));
#pragma unroll
            for (int e = 0; e < size; ++e) to[e] = there ? to[e] : T(0);
        } else {
            const T* from = line + j * stride;
#pragma unroll
            for (int e = 0; e < size; ++e) {
                const bool there = whole || j + e * step < end;
                const T value = __ldg(there ? from + e * step * stride : line);
                to[e] = there ? value : T(0);
            }
        }
    }
    /// The sum of all lanes' sums, one for each element of a chunk, valid in lane 0: neighbours
    /// first, in both cases in the same pairs.
    static __device__ __forceinline__ T sum(T (&sums)[size]) {
        if constexpr (vectors) {
            return warp_sum(sum_of_places(sums));
        } else {
#pragma unroll
            for (int across = 1; across < size; across *= 2)
#pragma unroll
                for (int e = 0; e < size; ++e)
                    sums[e] = sums[e] + __shfl_xor_sync(~0u, sums[e], across);
#pragma unroll
            for (int half = size / 2; half > 0; half /= 2)
#pragma unroll
                for (int e = 0; e < half; ++e) sums[e] = sums[e] + sums[e + half];
#pragma unroll
            for (unsigned across = warp_lanes / 2; across >= unsigned{size}; across /= 2)
                sums[0] = sums[0] + __shfl_down_sync(~0u, sums[0], across);
            return sums[0];
        }
    }
};

/// Adds the products of the calling thread's elements of the chunks at `at`, at + step, ..., as far
/// as they lie before `end`; `whole`: all do.
template <bool whole, bool vectors, int team_rows, class T>
__device__ __forceinline__ void add_chunks(T (&sums)[team_rows][group_size<T>],
                                           const GemvCall<T>& call,
                                           const T* const (&rows)[team_rows], std::int64_t at,
                                           std::int64_t step, std::int64_t end) {
    using Lane = GemvLane<vectors, T>;
    constexpr int unroll = gemv_long_unroll(team_rows);
    T x[unroll][Lane::size], a[unroll][team_rows][Lane::size];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
        const std::int64_t chunk = at + u * step;
        Lane::template load<whole>(x[u], call.x.first, call.x.increment, chunk, end);
#pragma unroll
        for (int r = 0; r < team_rows; ++r)
            Lane::template load<whole>(a[u][r], rows[r], call.a.column_stride, chunk, end);
    }
    __syncwarp();  // else ptxas would save registers and load one chunk after the other
#pragma unroll
    for (int u = 0; u < unroll; ++u)
#pragma unroll
        for (int r = 0; r < team_rows; ++r)
#pragma unroll
            for (int e = 0; e < Lane::size; ++e)
                device::multiply_add(sums[r][e], a[u][r][e], x[u][e]);
}

/// The products of the group of which only a part lies in the rows, which one lane has.
template <int team_rows, class T>
__device__ __forceinline__ void add_part(T (&sums)[team_rows][group_size<T>],
                                         const GemvCall<T>& call, const T* const (&rows)[team_rows],
                                         std::int64_t j) {
#pragma unroll
    for (int e = 0; e < group_size<T> - 1; ++e) {
        if (j + e >= call.a.columns) return;
        const T x = __ldg(&call.x(j + e));
#pragma unroll
        for (int r = 0; r < team_rows; ++r)
            device::multiply_add(sums[r][e], __ldg(rows[r] + (j + e)), x);
    }
}

template <class T, bool vectors, int team_rows>
__global__ void __launch_bounds__(gemv_long_most_threads, vectors ? 2 : 1)
    gemv_long_rows(GemvCall<T> call, unsigned teams_of_rows, int team_warps, GemvPieces<T> pieces) {
    device::wait_for_launcher();
    using Lane = GemvLane<vectors, T>;
    constexpr int unroll = gemv_long_unroll(team_rows), chunk = Lane::chunk;
    constexpr unsigned most_warps = gemv_long_most_threads / warp_lanes;
    auto& of_warps = device::shared<struct GemvSumsOfWarps, T[most_warps][team_rows]>();
    const unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    const unsigned piece = pieces.count > 1 ? blockIdx.x / teams_of_rows : 0;
    const unsigned group = blockIdx.x - piece * teams_of_rows;
    const std::int64_t m = call.a.rows, n = call.a.columns;
    const unsigned warps = blockDim.x / warp_lanes;
    const bool lone = team_warps == 1;  // each warp is a team
    const std::int64_t i =
        (std::int64_t{group} * (lone ? warps : 1) + (lone ? warp : 0)) * team_rows;
    const int rows = i >= m ? 0 : i + team_rows <= m ? team_rows : static_cast<int>(m - i);
    if (lone && rows == 0) return;

    const T* of_rows[team_rows];  // those past the last are that one again
#pragma unroll
    for (int r = 0; r < team_rows; ++r) of_rows[r] = &call.a(r < rows ? i + r : m - 1, 0);
    T parts[team_rows][group_size<T>] = {}, sums[team_rows];
    const std::int64_t begin = piece * pieces.length;
    const std::int64_t end = begin + pieces.length < n ? begin + pieces.length : n;
    const std::int64_t step = std::int64_t{team_warps} * chunk;
    std::int64_t at = begin + (lone ? 0 : warp) * chunk;  // where the warp's next chunk begins
    // The next kernel's blocks may come at once while there are multiprocessors without one of
    // these; else not before the loads.
    const bool lets = pieces.count == 1 || held_by_caches(call.a);
    const bool early = gridDim.x < unsigned{gemm_multiprocessors};
    if (lets && early) device::let_dependents_start();
#pragma unroll 1
    for (; at + (unroll - 1) * step + chunk <= end; at += unroll * step)
        add_chunks<true, vectors>(parts, call, of_rows, at, step, end);
    if (at < end) {
        add_chunks<false, vectors>(parts, call, of_rows, at, step, end);
        const std::int64_t part =
            n / Lane::size * Lane::size;  // the group of which a part is there
        if (vectors && part < n && end == n && (part - at) % step - lane * Lane::size == 0)
            add_part(parts, call, of_rows, part);
    }

    if (lets && !early) device::let_dependents_start();
#pragma unroll
    for (int r = 0; r < team_rows; ++r) sums[r] = Lane::sum(parts[r]);
    if (lone) {
#pragma unroll
        for (int r = 0; r < team_rows; ++r)
            if (lane == 0 && r < rows) store(call.y(i + r), call.alpha, sums[r], call.beta);
        return;
    }
    if (lane == 0) {
#pragma unroll
        for (int r = 0; r < team_rows; ++r) of_warps[warp][r] = sums[r];
    }
    __syncthreads();
    const int t = static_cast<int>(threadIdx.x);
    T sum = 0;
    if (t < rows)
        for (unsigned w = 0; w < warps; ++w) sum += of_warps[w][t];
    if (pieces.count == 1) {
        if (t < rows) store(call.y(i + t), call.alpha, sum, call.beta);
        return;
    }
    if (t < rows) pieces.parts[piece * m + i + t] = sum;
    auto& of_threads = device::shared<struct GemvSumsOfThreads, T[gemv_long_most_threads]>();
    constexpr unsigned log2_rows = std::bit_width(unsigned{team_rows}) - 1;
    finish_pieces(pieces, i, log2_rows, static_cast<unsigned>(rows), m, pieces.counters + group,
                  of_threads,
                  [&](unsigned o, T total) { store(call.y(i + o), call.alpha, total, call.beta); });
}

template <class T, bool vectors, int team_rows>
void launch_gemv_long_rows(const char* operation, device::Stream stream, const GemvCall<T>& call,
                           const GemvPlan& plan, const GemvPieces<T>& pieces) {
    const int teams = plan.team_warps == 1 ? plan.threads / static_cast<int>(warp_lanes) : 1;
    const std::int64_t of_block = std::int64_t{teams} * team_rows;
    const std::int64_t teams_of_rows = (call.a.rows - 1) / of_block + 1;
    const unsigned blocks = device::grid(teams_of_rows * plan.pieces, operation);
    device::launch_evenly(operation, gemv_long_rows<T, vectors, team_rows>, blocks,
                          static_cast<unsigned>(plan.threads), 0, stream, call,
                          static_cast<unsigned>(teams_of_rows), plan.team_warps, pieces);
}

}  // namespace tinyblas
