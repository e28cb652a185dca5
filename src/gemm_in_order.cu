// SPDX-License-Identifier: MIT
// The entries of gemm's table whose multiply-adds stay in the source's order: this file is
// assembled with ptxas -O1. Otherwise ptxas reorders them, and fewer share an operand with the one
// before. Loads from shared memory move in either case, up to where registers become free.
#include "gemm_launchers.hpp"

namespace tinyblas {

template <class T>
GemmLauncher<T> gemm_launcher_in_order(int entry) {
    return gemm_tuned_launchers<T, true>[static_cast<std::size_t>(entry)];
}

template GemmLauncher<float> gemm_launcher_in_order<float>(int entry);
template GemmLauncher<double> gemm_launcher_in_order<double>(int entry);

}  // namespace tinyblas
