// SPDX-License-Identifier: MIT
// Compiles the tiles of batches that only compute capability 9.0 has: for other GPUs they would be
// there, but empty.
#include "gemm_batched_tiles.hpp"

#include <cstddef>
#include <type_traits>

#include "gemm_choice.hpp"
#include "launcher_table.hpp"

namespace tinyblas {
namespace {

/// The kernels of the entries of T for operands that lie so; none for the others.
template <class T, bool a_along_k, bool b_along_k>
constexpr auto kernels = launcher_table<GemmBatchTileKernel<T>, gemm_batch_entries>(
    []<int e>(std::integral_constant<int, e>) -> GemmBatchTileKernel<T> {
        constexpr GemmBatchTile t = gemm_batch_table[e];
        if constexpr (t.type == gemm_scalar<T> && !gemm_batch_portable(e) &&
                      (!t.turns || (a_along_k && !b_along_k)))
            return make_gemm_batch_tile_kernel<T, e, a_along_k, b_along_k>();
        return {};
    });

}  // namespace

template <class T>
GemmBatchTileKernel<T> gemm_batch_tile_kernel_of_90(const GemmBatch<T>& batch, int entry) {
    const auto e = static_cast<std::size_t>(entry);
    const bool as_it_lies = !gemm_batch_table[entry].turns;
    const bool a_along_k = !as_it_lies || batch.a.first.column_stride == 1;
    const bool b_along_k = as_it_lies && batch.b.first.column_stride != 1;
    if (a_along_k) return b_along_k ? kernels<T, true, true>[e] : kernels<T, true, false>[e];
    return b_along_k ? kernels<T, false, true>[e] : kernels<T, false, false>[e];
}
template GemmBatchTileKernel<float> gemm_batch_tile_kernel_of_90(const GemmBatch<float>&, int);
template GemmBatchTileKernel<double> gemm_batch_tile_kernel_of_90(const GemmBatch<double>&, int);

}  // namespace tinyblas
