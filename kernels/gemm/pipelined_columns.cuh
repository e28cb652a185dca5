// SPDX-License-Identifier: MIT
// A thread's tile of C in registers where the tiles of A lie k by k: that of thread_tile.cuh, but
// for the order of a line's multiply-adds and of the loads for the next one.
//
//   multiply-adds:  row by row, columns in a snake    ->  7 6 5 4 3 2 1 0   row 0
//                                                     0 1 2 3 4 5 6 7  <-   row 1, ...
//   loads:          B's two vectors first, which the next line needs from its start on, then A's
//                   four, which it needs one after the other
//
// Limit: where ptxas puts the loads. It moves them up to where registers become free, in bunches,
// three multiply-adds apart. Of 266 orders measured on an H200, those with more loads in bunches,
// or with loads shortly before they are needed, took longer; this is the best: 1 % of the time.
#pragma once

#include <device.hpp>

#include "thread_tile.cuh"

namespace tinyblas {

template <GemmTile t>
class PipelinedColumnsTile : public ThreadTile<float, t, 0> {
    using Base = ThreadTile<float, t, 0>;
    static_assert(t.thread_m == 16 && t.thread_n == 8);

  public:
    using Base::Base;

    /// As in ThreadTile.
    __device__ __forceinline__ void multiply(int p, const typename Base::Line& next, int next_p) {
#pragma unroll
        for (int i = 0; i < t.thread_m; ++i)
#pragma unroll
            for (int turn = 0; turn < t.thread_n; ++turn) {
                const int vector = load_before(i * t.thread_n + turn);
                if (vector >= 0) Base::load(next, next_p, vector);
                Base::multiply_one(i, i % 2 == 0 ? t.thread_n - 1 - turn : turn, p);
            }
    }

  private:
    /// The vector, of A's four and B's two, whose load comes before multiply-add number `done`; or
    /// -1.
    static constexpr int load_before(int done) {
        constexpr int places[] = {48, 74, 93, 108, 27, 31};
        for (int vector = 0; vector < 6; ++vector)
            if (places[vector] == done) return vector;
        return -1;
    }
};

}  // namespace tinyblas
