# SPDX-License-Identifier: MIT
# Faults to plant, one at a time, and the tests that must notice. Each is a line of our source and what it becomes.
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str          # relative to the project
    old: str           # stands there exactly once
    new: str
    unit: str          # the source of the library that has to be compiled anew
    tests: str         # programs, each perhaps with a filter after ':'
    traced: bool = False  # in the build that sees every access


GEMM = "src/gemm.cu"
PLANES = "src/gemm_planes.cu"
REDUCE = "src/reduce.cu"
TRANSPOSE = "src/transpose.cu"
POLYVAL = "src/polyval.cu"
BATCHED = "src/gemm_batched.cu"
SLICED = "src/gemm_sliced.cu"
PIPELINED = "src/gemm_pipelined.cu"
TENSOR = "src/gemm_tensor.cu"
GEMV = "src/gemv.cu"
C_API = "src/c_api_matrix.cpp"

MUTANTS = [
    # gemm
    Mutant("a term of k is dropped", "kernels/gemm/1_naive.cuh",
           "p < a.columns; ++p)", "p + 1 < a.columns; ++p)", GEMM, "test_gemm_exact:*EveryDepth*naive"),
    Mutant("inputs are rounded to TF32", "kernels/gemm/1_naive.cuh",
           "device::multiply_add(acc, a(i, p), b(p, j));",
           "device::multiply_add(acc, static_cast<T>(device::from_fp16(device::to_fp16("
           "static_cast<float>(a(i, p))))), b(p, j));", GEMM, "test_gemm:*PrecisionProbe*naive"),
    Mutant("a barrier is missing before the tile is read", "kernels/gemm/2_tiled.cuh",
           "fill(b_tile, b, p0, corner.j);\n        __syncthreads();",
           "fill(b_tile, b, p0, corner.j);", GEMM, "test_gemm_exact:*EveryDepth*tiled"),
    Mutant("a barrier is missing before the tile is filled again", "kernels/gemm/2_tiled.cuh",
           "b_value);\n        }\n        __syncthreads();", "b_value);\n        }", GEMM,
           "test_gemm_exact:*EveryDepth*tiled"),
    Mutant("a tile's ragged edge is read past the end of k", "kernels/gemm/2_tiled.cuh",
           "i + row < from.rows && j + column < from.columns", "i + row < from.rows", GEMM,
           "test_gemm_semantics:*tiled"),
    Mutant("C is written past its last column", "kernels/gemm/2_tiled.cuh",
           "if (i < c.rows && j < c.columns) store(", "if (i < c.rows && j <= c.columns) store(",
           GEMM, "test_gemm_exact:*EveryStorage*tiled"),
    Mutant("beta = 0 reads C", "kernels/gemm/parts.cuh",
           "if (beta != T(0)) device::multiply_add(value, beta, c);",
           "device::multiply_add(value, beta, c);", GEMM, "test_gemm_semantics:*BetaZero*tiled"),
    Mutant("alpha is lost", "kernels/gemm/parts.cuh",
           "T value = alpha * acc;", "T value = acc;", GEMM, "test_gemm_exact:*EveryPairOfScalars*tiled"),
    Mutant("the raster leaves out a tile row", "kernels/gemm/parts.cuh",
           "first + group < tiles_m ? group : tiles_m - first",
           "first + group < tiles_m ? group : tiles_m - first > 1 ? tiles_m - first - 1 : 1", GEMM,
           "test_gemm_exact:GemmSweep*"),
    Mutant("strides of A and B are not exchanged with them", "src/gemm.cu",
           "call.a = std::exchange(call.b, call.a.transposed()).transposed();",
           "call.a = std::exchange(call.b, call.a.transposed());", GEMM,
           "test_gemm_exact:*EveryStorage*tiled"),
    Mutant("alpha = 0 reads A and B", "src/gemm.cu",
           "if (alpha == T(0) || a.columns == 0) {", "if (a.columns == 0) {", GEMM,
           "test_gemm_semantics:*AlphaZero*tiled"),
    Mutant("C may overlap A", "src/gemm.cu",
           "require(!overlap(footprint, Footprint(call.a))", "require(true", GEMM,
           "test_gemm_errors:*Overlap"),
    Mutant("a wrong line of the table", "kernels/gemm/tiles.hpp",
           "gemm_fill(entry.tile, multiprocessors, m, n) >= entry.least_fill)",
           "gemm_fill(entry.tile, multiprocessors, m, n) <= entry.least_fill)", "src/gemm_choice.cu",
           "test_gemm:GemmTable*"),
    Mutant("a rung is never considered", "src/gemm_choice.cu",
           "consider(GemmKernel::sliced, plans.sliced);", "", "src/gemm_choice.cu", "test_gemm_choice"),
    # The rungs that cut k
    Mutant("a slice of k is dropped", "kernels/gemm/4_sliced.cuh",
           "slice < SlicedShared<entry>::kept(); ++slice)",
           "slice + 1 < SlicedShared<entry>::kept(); ++slice)", SLICED, "test_gemm_sliced:*EveryEdge*"),
    Mutant("a barrier is missing before slices are added up", "kernels/gemm/4_sliced.cuh",
           "if (slice < kept) leave(shared.sums[slice]);\n    meet<entry>();",
           "if (slice < kept) leave(shared.sums[slice]);", SLICED, "test_gemm_sliced:*EveryEdge*"),
    Mutant("a part of k is dropped", "kernels/gemm/sliced_sums.cuh",
           "for (; q < count; ++q) {", "for (; q + 1 < count; ++q) {", SLICED,
           "test_gemm_sliced:*EveryEdge*"),
    Mutant("pieces of k are added up backwards", "kernels/gemm/pipelined_sums.cuh",
           "for (unsigned block = pieces.first; block <= pieces.last; ++block) {",
           "for (unsigned block = pieces.last + 1; block-- > pieces.first;) {", PIPELINED,
           "test_gemm_pipelined:*SumOfItsPieces*"),
    Mutant("a sum begins with whoever comes last", "kernels/gemm/pipelined_sums.cuh",
           "for (int s = 0; s < count; ++s) sums_[s] = 0;\n#pragma unroll 1\n"
           "        for (unsigned block = pieces.first; block <= pieces.last; ++block) {",
           "for (unsigned block = pieces.first; block <= pieces.last; ++block) {\n"
           "            if (block == blockIdx.x) continue;", PIPELINED,
           "test_gemm_pipelined:*SumOfItsPieces*"),
    Mutant("the wrong parity of a stage is waited for", "kernels/gemm/5_pipelined.cuh",
           "PipelinedRing ring(shared, 0);\n    for_each_piece",
           "PipelinedRing ring(shared, 1);\n    for_each_piece", PIPELINED,
           "test_gemm_pipelined:*ExactOnIntegers"),
    Mutant("a tile of the tensor cores writes past C", "kernels/gemm/tensor_sums.cuh",
           "16 * s + h < n;", "16 * s + h <= n;", TENSOR, "test_gemm_tensor:*EveryEdge*"),
    Mutant("a tile of the tensor cores reads past k", "kernels/gemm/tensor_loader.cuh",
           "pass * at_once < left ? most : 0", "pass * at_once <= left ? most : 0", TENSOR,
           "test_gemm_tensor:*EveryEdge*"),
    # Batches
    Mutant("a pointer of an array is taken twice", "kernels/gemm/batched_operands.hpp",
           "pointers ? pointers[e]", "pointers ? pointers[e > 0 ? e - 1 : e]", BATCHED,
           "test_gemm_batched:*WhereverMatricesLie*"),
    Mutant("A and B exchange the strides of a batch", C_API,
           "x.alpha, a, stride_a, b,", "x.alpha, a, stride_b, b,", C_API, "test_c_api_batched"),
    Mutant("a stage is filled while a batch's tile is still read", "kernels/gemm/batched_tile.cuh",
           "if (p > t.depth) __syncthreads();", "", BATCHED, "test_gemm_batched:*EveryStorage*"),
    Mutant("the second launch of a batch begins where the first did", "kernels/gemm/batched_operands.hpp",
           "return {alpha, a.from(e), b.from(e),", "return {alpha, a, b.from(e),", BATCHED,
           "test_gemm_batched_large:*AGridHas*"),
    Mutant("all products have the plan of the first, wherever they begin", "src/gemm_batched.cu",
           "choose_gemm(context, calls.back(), options);", "", BATCHED, "test_gemm_batched:*EveryRung*"),
    Mutant("the last vector of a panel's line is read whole", "kernels/gemm/batched_panels.cuh",
           "room = room < 0 ? 0 : room < width ? room : width;", "room = room < 0 ? 0 : width;", BATCHED,
           "test_gemm_batched:*RaggedVectors*"),
    # Matrix times vector
    Mutant("beta = 0 reads y", "kernels/gemm/parts.cuh",
           "if (beta != T(0)) device::multiply_add(value, beta, c);",
           "device::multiply_add(value, beta, c);", GEMV, "test_gemv_semantics:*BetaZero*"),
    Mutant("a sum's odd share is lost", "kernels/gemv/parts.cuh",
           "const unsigned half = (shares + 1) / 2;", "const unsigned half = shares / 2;", GEMV,
           "test_gemv:*LargerShapes*"),
    Mutant("ger loses the sign of an increment", "kernels/gemv/ger.cuh",
           "return factor * __ldg(&vector(i));",
           "return factor * __ldg(vector.first + i * (vector.increment < 0 ? -vector.increment : "
           "vector.increment));", GEMV, "test_ger:*EveryStorage*"),
    # Precision::fp32
    Mutant("a cross product is left out", "kernels/gemm/7_split.cuh",
           "device::multiply_add(x[r], a_part(1), b_part(0));", "", PLANES,
           "test_gemm_split:*LowPartsCount:*OneLargerProduct"),
    Mutant("cross products have the wrong scale", "kernels/gemm/7_split.cuh",
           "0x1p-11f : 1.0f", "0x1p-10f : 1.0f", PLANES,
           "test_gemm_split:*LowPartsCount:*OneLargerProduct"),
    Mutant("the guard lets one power of two too many pass", "kernels/gemm/planes.hpp",
           "inline constexpr int gemm_fp16_spread = 28;",
           "inline constexpr int gemm_fp16_spread = 29;", PLANES,
           "test_gemm_precision:*Thresholds/*"),
    Mutant("the guard takes NaN for a wide range", "kernels/gemm/planes_guard.cuh",
           "if (largest[run] >= 0x7F800000u) found |= gemm_strict;",
           "if (largest[run] >= 0x7F800000u) found |= gemm_wide;", PLANES,
           "test_gemm_accurate:*NaNAndInfinity*"),
    Mutant("exponents of subnormals are off by one", "kernels/gemm/planes_guard.cuh",
           "static_cast<int>(larger >> 23) - (127 + 24)",
           "static_cast<int>(larger >> 23) - (127 + 23)", PLANES,
           "test_gemm_planes:*Subnormal*"),
    Mutant("what pads the findings is not zero", "kernels/gemm/planes_guard.cuh",
           "findings[groups + owner.lane] = 0;", "findings[groups + owner.lane] = gemm_wide;", PLANES,
           "test_gemm_planes:Planes*"),
    Mutant("a row of small elements keeps the common exponent", "kernels/gemm/planes_guard.cuh",
           "if (!small[run]) continue;", "if (run < planes_runs) continue;", PLANES,
           "test_gemm_planes:*EveryEight"),
    Mutant("rows one power of two further off are taken to be near 1", "kernels/gemm/planes.hpp",
           "constexpr int near = gemm_fp16_drift / 2;",
           "constexpr int near = gemm_fp16_drift / 2 + 1;", PLANES,
           "test_gemm_planes:*FarFromOne"),
    # Reductions
    Mutant("abs is lost", "kernels/reduce/sums.cuh",
           "sum += std::fabs(x);", "sum += x;", REDUCE, "test_reduce:*EveryRung*"),
    Mutant("the last element is skipped", "kernels/reduce/1_naive.cuh",
           "+ t; i < n; i += step)", "+ t; i + 1 < n; i += step)", REDUCE, "test_reduce:*EveryRung*"),
    Mutant("blocks are added up in an order of their own", "kernels/reduce/parts.cuh",
           "end.workspace->totals[blockIdx.x] = total;",
           "end.workspace->totals[blockIdx.x < 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x - 2] = total;", REDUCE,
           "test_reduce:*BitsAre*"),
    Mutant("a sum of a warp leaves out lanes", "kernels/reduce/parts.cuh",
           "for (unsigned step = lanes / 2; step > 0; step /= 2)",
           "for (unsigned step = lanes / 2; step > 1; step /= 2)", REDUCE, "test_reduce:*EveryRung*"),
    Mutant("nrm2 overflows", "kernels/reduce/sums.cuh",
           "if (size > RangedSquares::above)",
           "if (size > 2 * RangedSquares::above * RangedSquares::above)", REDUCE,
           "test_reduce:*RangesMeet*"),
    Mutant("a negative increment starts at the wrong end", "kernels/reduce/operands.cuh",
           "return {first + (start + offset) * group_size<T> * increment, increment};",
           "return {first + (start + offset) * group_size<T> * (increment < 0 ? -increment : increment), "
           "increment};", REDUCE, "test_reduce:*Increments*:*EveryRung*"),
    # Transpose
    Mutant("the pad is gone", "src/transpose.cu", "launch_transpose_padded<Unit, 1>",
           "launch_transpose_padded<Unit, 0>", TRANSPOSE, "test_trace_kernels", traced=True),
    Mutant("a barrier is missing between writing and reading the tile",
           "kernels/transpose/2_padded.cuh",
           "from.put(values, tile);\n    __syncthreads();", "from.put(values, tile);", TRANSPOSE,
           "test_transpose:*EveryStorage*padded"),
    Mutant("a transposed tile lands at the wrong place", "kernels/transpose/2_padded.cuh",
           "TransposePaddedShare<Unit>(b, corner.j, corner.i).write_transposed(tile);",
           "TransposePaddedShare<Unit>(b, corner.i, corner.j).write_transposed(tile);", TRANSPOSE,
           "test_transpose:*EveryStorage*padded"),
    Mutant("a chunk at the edge is one unit too long", "kernels/transpose/parts.cuh",
           "if (e < valid) to[e] = from[e];", "if (e <= valid) to[e] = from[e];", TRANSPOSE,
           "test_transpose:*EveryStorage*tuned"),
    Mutant("in place, tiles on the diagonal are left out", "kernels/transpose/2_padded.cuh",
           "if (corner.i > corner.j) return;", "if (corner.i >= corner.j) return;", TRANSPOSE,
           "test_transpose"),
    # Polynomials
    Mutant("Horner's rule ends a step early", "kernels/polyval/3_tuned.cuh",
           "for (int k = 0; k < run; ++k) horner_step(", "for (int k = 0; k + 1 < run; ++k) horner_step(",
           POLYVAL, "test_polyval"),
    Mutant("a product's rounding error is not made up for", "kernels/polyval/compensated.cuh",
           "device::fused_multiply_add(acc, x, -product);", "T(0);", POLYVAL,
           "test_polyval_semantics test_polyval"),
    # Host code
    Mutant("an error names the wrong argument's number", "src/c_api_matrix.cpp",
           'matrix_argument(numbers.lda, "lda"', 'matrix_argument(numbers.ldb, "lda"', C_API,
           "test_c_api_gemm_errors"),
    Mutant("a leading dimension one too small is accepted", "src/c_api.hpp",
           "require_argument(ld >= least,", "require_argument(ld + 1 >= least,", C_API,
           "test_c_api_gemm_errors"),
    Mutant("row-major and column-major are exchanged", "src/c_api.hpp",
           "return {data, rows, columns, along_rows ? ld : 1, along_rows ? 1 : ld};",
           "return {data, rows, columns, along_rows ? 1 : ld, along_rows ? ld : 1};", C_API,
           "test_c_api test_c_api_batched"),
    Mutant("views that meet in one element pass for distinct", "src/check.cpp",
           "if (remainder < x.element && columns_meet(column)) return true;", "", "src/check.cpp",
           "test_overlap test_gemm_errors test_transpose_errors"),
]
