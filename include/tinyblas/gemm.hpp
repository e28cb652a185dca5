// SPDX-License-Identifier: MIT
// gemm: general matrix multiply. Transposed operands are transposed views: gemm(context, 1,
// transposed(a), b, 0, c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tinyblas/context.hpp"
#include "tinyblas/matrix_array.hpp"
#include "tinyblas/precision.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas {

/// The rungs of the ladder, kernels/gemm/N_<name>.cuh, and words of choice: `best` asks the library
/// to choose, `none` says that no kernel was needed. Strict: `naive`, `tiled` and `tuned`;
/// `gemv`, where C is a row or a column; and with compute capability 9.0 `sliced`, for small and
/// thin float products, `pipelined`, for larger ones, `skinny`, where m or n is at most 64 and k at
/// most 128 (512 where m or n is at most 32), and `tensor`, double products on tensor cores, which
/// round as multiply-adds do. `split` and `hopper`, with 9.0 as well, are Precision::fp32.
/// `batched` says that one launch made a batch, or of a long C of floats its slabs, each a product
/// (what these leave is a product of its own), or one product as a batch of one (of doubles where k
/// is at most 48), or of floats the parts of its k, which a second kernel adds up.
enum class GemmKernel {
    best,
    naive,
    tiled,
    tuned,
    sliced,
    pipelined,
    skinny,
    tensor,
    gemv,
    split,
    hopper,
    batched,
    none
};

/// The name of a rung, such as "naive".
TINYBLAS_API const char* to_string(GemmKernel kernel) noexcept;
/// The rung called `name` ("best", "naive", "tiled", ...). Throws Error (invalid_argument) that
/// lists them if there is none.
TINYBLAS_API GemmKernel gemm_kernel(std::string_view name);

/// What a caller may ask for.
struct GemmOptions {
    GemmKernel kernel = GemmKernel::best;  ///< a rung, whatever the precision
    int entry =
        -1;  ///< the line of the tuning table (kernels/gemm/tiles.hpp) for `tuned`; -1: chosen
    std::optional<Precision> precision = {};  ///< of float products; empty: the context's
};

/// What was chosen: the rung, and for `tuned` its line of the tuning table, else -1. For `split`
/// and `hopper` the last word is the device's: explain() tells it.
struct GemmChoice {
    GemmKernel kernel = GemmKernel::none;  ///< the rung that ran
    int entry = -1;                        ///< of `tuned`
};

/// C = alpha A B + beta C, enqueued on the context's stream.
///
/// Strict (double operands, and float ones unless the options, or else the context, say
/// Precision::fp32): fused multiply-adds in the operands' own precision. Each element is a chain of
/// them in the order of k, started at +0, on the rungs naive, tiled, skinny and, asked for by name
/// or by a tuning file, tuned, and on the others where they neither share k among threads or blocks
/// nor, for smaller errors, cut it (tuned: beyond 256, of few tiles; tuned and a batch of one: from
/// 6 to 16, or of a small C to 40, in fours, unless neither operand lies along k); where they do,
/// it is the sum of such chains' results in a fixed order. How k is cut depends on extents,
/// layouts, alignment to 16 bytes, the scratch memory that may be taken and whether beta is 0: the
/// bits are the same on every run, stream and GPU of compute capability 9.0.
///
/// Precision::fp32 (float operands, where explain() says that it pays: from k = 256 on, by extents
/// alone; on a GPU of compute capability 9.0): each row of A and column of B is scaled by powers of
/// two and split into parts of 16 bits, whose products tensor cores add up. With u = 2^-24,
///
///     |error of c_ij| <= (50 + k / 32) u |alpha| (|A| |B|)_ij, and the roundings of alpha, beta C
///
/// while that of a chain may reach k u. A guard looks at A and B on the device, ahead of the
/// product and without waiting: where two fp16 parts cannot hold a row's range of magnitudes, three
/// bf16 parts do (half as fast); where these cannot either, or there is NaN or Inf, the product is
/// strict, bit for bit. The bits depend on extents, values and layout of C, not on run, stream or
/// GPU; they are not those of strict. Takes gemm_scratch_bytes() of the context's scratch memory;
/// with less, given by Context::set_scratch(), it falls back to strict, for wide ranges alone if
/// about two thirds are there, unless the rung was asked for by name.
///
/// @param alpha  alpha = 0: A and B are not read and may be null
/// @param a      m x k, any strides
/// @param b      k x n, any strides
/// @param beta   beta = 0: C is overwritten and not read, so NaN in it does not survive
/// @param c      m x n, any strides that keep its elements apart; must not overlap A or B. Nothing
/// outside the view changes.
/// @return what ran; GemmKernel::none if m or n is 0, or if beta = 1 and k or alpha is 0
/// @throws Error  invalid_argument (names the argument, its value and the bound; nothing is
/// written), out_of_memory (scratch), device_error
///
/// NaN and Inf propagate as IEEE 754 says, subnormals are kept; k = 0 gives C = beta C.
/// Sources: Dongarra, Du Croz, Hammarling, Duff, A set of level 3 basic linear algebra subprograms,
/// ACM TOMS 16(1), 1990. Ootomo, Yokota, Recovering single precision accuracy from Tensor Cores
/// while surpassing the FP32 theoretical peak performance, IJHPCA 36(4), 2022.
TINYBLAS_API GemmChoice gemm(Context& context, float alpha, MatrixView<const float> a,
                             MatrixView<const float> b, float beta, MatrixView<float> c,
                             GemmOptions options = {});
TINYBLAS_API GemmChoice gemm(Context& context, double alpha, MatrixView<const double> a,
                             MatrixView<const double> b, double beta, MatrixView<double> c,
                             GemmOptions options = {});

/// C_e = alpha A_e B_e + beta C_e for e = 0 ... batch - 1: a, b and c are the matrices of e = 0,
/// those of e lie e * stride elements behind them.
///
/// One launch makes all products where that pays (GemmKernel::batched). Each element is then one
/// chain of multiply-adds, with the bits that the rungs naive, tiled and tuned give it, asked for
/// by name: these depend neither on the size of the batch and the product's place in it, nor on
/// layouts. Where C has few rows or columns, though (one; of floats up to 16, where that is
/// estimated to be faster), threads share its elements' sums. And where k is 160 and more, sums may
/// be cut along k, as gemm may cut those of one product, which pays where all C together are few
/// tiles. Either way that is done alike for all (but where C is a row or a column, lines that begin
/// at 16 bytes are shared in another way than others), so that bits do not depend on a product's
/// place, but on what decides: extents, layouts, alignment to 16 bytes, strides or pointers, the
/// size of the batch, the scratch memory that may be taken and whether beta is 0. Otherwise it is
/// as many calls of gemm, with their bits: a batch of one, products that are large, Precision::fp32
/// where it takes parts, and any rung asked for by name.
/// @param alpha, a, b, beta, c  as gemm has them, for e = 0
/// @param a_stride, b_stride  any sign; 0: the same matrix for all
/// @param c_stride  keeps all elements of all C apart, which must not overlap any A or B
/// @param batch  0: nothing happens
/// @return GemmKernel::batched, or what gemm chose for e = 0; GemmKernel::none if nothing was to do
/// @throws Error  as gemm does, for all products before the first is enqueued
TINYBLAS_API GemmChoice gemm_strided_batched(Context& context, float alpha,
                                             MatrixView<const float> a, std::int64_t a_stride,
                                             MatrixView<const float> b, std::int64_t b_stride,
                                             float beta, MatrixView<float> c, std::int64_t c_stride,
                                             std::int64_t batch, GemmOptions options = {});
TINYBLAS_API GemmChoice gemm_strided_batched(Context& context, double alpha,
                                             MatrixView<const double> a, std::int64_t a_stride,
                                             MatrixView<const double> b, std::int64_t b_stride,
                                             double beta, MatrixView<double> c,
                                             std::int64_t c_stride, std::int64_t batch,
                                             GemmOptions options = {});

/// The same for matrices wherever arrays of `batch` pointers say, always strict and
/// GemmKernel::batched. The arrays are in memory that the device reads (device, managed or mapped),
/// and are read when the work runs, anew at each replay of a CUDA graph: until then they and what
/// they point to must stay. So the pointers cannot be checked. Each is to an element (0, 0), at any
/// alignment of its type; those to A and B may repeat; the matrices of C must lie apart from each
/// other and from all of A and B. Of floats, some are faster with 256 bytes of the context's
/// scratch memory a product, 2^24 at most; of doubles, some whose sums are cut with up to 2^26.
/// @param alpha, beta  as gemm has them
/// @param a  m x k each, any strides, k at most 2^34; not read, and may be null, if alpha or k is 0
/// @param b  k x n each, likewise
/// @param c  m x n each, any strides that keep a matrix's elements apart; not read if beta = 0
/// @param batch  0: nothing happens
/// @param options  the rung must be best, the entry -1
/// @throws Error  as gemm does, but for what the pointers would show
TINYBLAS_API GemmChoice gemm_batched(Context& context, float alpha, MatrixArray<const float> a,
                                     MatrixArray<const float> b, float beta, MatrixArray<float> c,
                                     std::int64_t batch, GemmOptions options = {});
TINYBLAS_API GemmChoice gemm_batched(Context& context, double alpha, MatrixArray<const double> a,
                                     MatrixArray<const double> b, double beta,
                                     MatrixArray<double> c, std::int64_t batch,
                                     GemmOptions options = {});

/// The scratch memory, in bytes, of gemm on float matrices with Precision::fp32, whatever the data
/// and the layout of C: about 6 (m k + k n), extents rounded up to 64. Strict products take none.
/// Throws Error (invalid_argument) if an extent is negative or the bytes exceed the address space.
TINYBLAS_API std::size_t gemm_scratch_bytes(std::int64_t m, std::int64_t n, std::int64_t k);

/// What the guard of Precision::fp32 decides on the device.
enum class GemmVerdict {
    none,            ///< it is not asked: the product is strict, or there is none
    one_product,     ///< of single fp16 parts, which hold A and B exactly
    three_products,  ///< of two fp16 parts
    six_products,    ///< of three bf16 parts
    strict,          ///< the strict kernel: no parts hold A and B
};

/// A few words for a verdict, such as "three products".
TINYBLAS_API const char* to_string(GemmVerdict verdict) noexcept;

/// What gemm does with its arguments.
struct GemmExplanation {
    GemmChoice choice;                             ///< what gemm returns
    Precision precision = Precision::fp32_strict;  ///< of the path chosen; the guard may end it
    GemmVerdict verdict = GemmVerdict::none;       ///< of the guard
    std::string reason;                            ///< a sentence
};

/// What gemm would do with these arguments, and why. It makes gemm's checks, lets the guard look at
/// A and B if gemm would, and waits for it; C is not touched. So the stream must not be being
/// captured (invalid_argument).
TINYBLAS_API GemmExplanation explain(Context& context, float alpha, MatrixView<const float> a,
                                     MatrixView<const float> b, float beta, MatrixView<float> c,
                                     GemmOptions options = {});
/// The same for double operands, which are always strict: nothing is waited for.
TINYBLAS_API GemmExplanation explain(Context& context, double alpha, MatrixView<const double> a,
                                     MatrixView<const double> b, double beta, MatrixView<double> c,
                                     GemmOptions options = {});

}  // namespace tinyblas
