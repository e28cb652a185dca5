/* SPDX-License-Identifier: MIT */
/* The C interface (C11). Every function but the last two returns a status; after a failure
   tinyblas_last_error() has the sentence. TINYBLAS_INVALID_ARGUMENT names the first bad argument in
   the order of the signature (overlap is looked at last), its number, its value and the bound. An
   operand that a call touches must end within the address space: else its leading dimension,
   increment or stride is refused.
   Pointers to matrices and vectors are device pointers (device, managed or mapped memory); under
   device emulation, host pointers. */
#ifndef TINYBLAS_TINYBLAS_H
#define TINYBLAS_TINYBLAS_H

#include <stdint.h>

#include "tinyblas/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. */
typedef enum {
    TINYBLAS_SUCCESS = 0,
    TINYBLAS_INVALID_ARGUMENT = 1,   /* an argument is outside its bounds; nothing was written */
    TINYBLAS_OUT_OF_MEMORY = 2,      /* the host or the device could not provide memory */
    TINYBLAS_NO_DEVICE = 3,          /* no driver, no GPU, or a driver too old */
    TINYBLAS_UNSUPPORTED_DEVICE = 4, /* compute capability below 8.0 */
    TINYBLAS_DEVICE_ERROR = 5,  /* the device reported a failure, perhaps of an earlier operation */
    TINYBLAS_INTERNAL_ERROR = 6 /* a defect of the library */
} tinyblas_status;

/* Which elements of a matrix are neighbours: those of a row, or of a column. */
typedef enum { TINYBLAS_ROW_MAJOR = 101, TINYBLAS_COL_MAJOR = 102 } tinyblas_layout;
/* Whether an operand is transposed. */
typedef enum {
    TINYBLAS_NO_TRANS = 111,
    TINYBLAS_TRANS = 112,
    TINYBLAS_CONJ_TRANS = 113 /* the same as TRANS: the elements are real */
} tinyblas_op;

/* What products of floats are computed with. */
typedef enum {
    TINYBLAS_FP32_STRICT = 201, /* fused multiply-adds in float, see gemm.hpp */
    TINYBLAS_FP32 = 202         /* tensor cores where they pay, with a smaller error; else strict */
} tinyblas_precision;

/* A stream, its scratch memory and its options. Used by one thread at a time. */
typedef struct tinyblas_context_s* tinyblas_context;

/* Makes a context on the current device, with a stream of its own. On failure *context becomes
 * null. */
TINYBLAS_API tinyblas_status tinyblas_create(tinyblas_context* context);
/* Null is allowed and does nothing. */
TINYBLAS_API tinyblas_status tinyblas_destroy(tinyblas_context context);
/* Runs what follows on the caller's cudaStream_t; null is the default stream. */
TINYBLAS_API tinyblas_status tinyblas_set_stream(tinyblas_context context, void* stream);
/* Waits for all enqueued work and reports its failure, if any. A stream that is being captured
   cannot be waited for: TINYBLAS_INVALID_ARGUMENT. */
TINYBLAS_API tinyblas_status tinyblas_synchronize(tinyblas_context context);

/* What the calls of sgemm that follow compute with: TINYBLAS_FP32_STRICT at first. */
TINYBLAS_API tinyblas_status tinyblas_set_precision(tinyblas_context context,
                                                    tinyblas_precision precision);
/* Device memory of the caller's, a multiple of 256, in place of what the context allocates; null
   and 0: the context's own again. It must outlive what uses it, replays of CUDA graphs included,
   and nothing else may use it meanwhile. What needs more returns TINYBLAS_OUT_OF_MEMORY; sgemm
   makes do with less, unless its rung was asked for by name. */
TINYBLAS_API tinyblas_status tinyblas_set_scratch(tinyblas_context context, void* memory,
                                                  uint64_t bytes);
/* From now on strict products whose rung the library would choose take the one that the file names
   for their type, layouts and extents, as tune_gemm --write measured it; null: the library's own
   choice again. A rung asked for by name stays. A file that cannot be read, or with a wrong line:
   TINYBLAS_INVALID_ARGUMENT, the sentence names the line, and what was loaded before stays. */
TINYBLAS_API tinyblas_status tinyblas_load_tuning(tinyblas_context context, const char* path);
/* *bytes becomes the scratch memory of an sgemm of these extents with TINYBLAS_FP32: about
   6 (m k + k n). */
TINYBLAS_API tinyblas_status tinyblas_sgemm_scratch_bytes(int64_t m, int64_t n, int64_t k,
                                                          uint64_t* bytes);

/* Choose the rung of the calls that follow: "best" (at first), "naive", "tuned", and besides these
   "tiled" and "gemv" (gemm), "sliced", "pipelined", "skinny", "split" and "hopper" (sgemm),
   "tensor" (dgemm), "padded" (transpose), "texture" (asum, dot, nrm2, sum) or "constant"
   (polyval). */
TINYBLAS_API tinyblas_status tinyblas_set_gemm_kernel(tinyblas_context context, const char* name);
TINYBLAS_API tinyblas_status tinyblas_set_transpose_kernel(tinyblas_context context,
                                                           const char* name);
TINYBLAS_API tinyblas_status tinyblas_set_reduce_kernel(tinyblas_context context, const char* name);
TINYBLAS_API tinyblas_status tinyblas_set_polyval_kernel(tinyblas_context context,
                                                         const char* name);
/* *name becomes the rung that the last call ran ("none" if no kernel was needed), a string that is
 * never freed. For reductions that is the last one with a device result. */
TINYBLAS_API tinyblas_status tinyblas_get_gemm_kernel(tinyblas_context context, const char** name);
TINYBLAS_API tinyblas_status tinyblas_get_transpose_kernel(tinyblas_context context,
                                                           const char** name);
TINYBLAS_API tinyblas_status tinyblas_get_reduce_kernel(tinyblas_context context,
                                                        const char** name);
TINYBLAS_API tinyblas_status tinyblas_get_polyval_kernel(tinyblas_context context,
                                                         const char** name);

/* C = alpha op(A) op(B) + beta C, enqueued on the context's stream.
   op(A) is m x k, op(B) is k x n, C is m x n; op(X) is X or its transpose. In row-major order lda
   is at least the number of columns of A as stored (k, or m if transposed), in column-major order
   at least the number of its rows (m, or k); never below 1. alpha = 0 or k = 0: a and b are not
   read and may be null. beta = 0: c is not read. m = 0 or n = 0: nothing happens. C must not
   overlap A or B. */
TINYBLAS_API tinyblas_status tinyblas_sgemm(tinyblas_context context, tinyblas_layout layout,
                                            tinyblas_op opa, tinyblas_op opb, int64_t m, int64_t n,
                                            int64_t k, float alpha, const float* a, int64_t lda,
                                            const float* b, int64_t ldb, float beta, float* c,
                                            int64_t ldc);
TINYBLAS_API tinyblas_status tinyblas_dgemm(tinyblas_context context, tinyblas_layout layout,
                                            tinyblas_op opa, tinyblas_op opb, int64_t m, int64_t n,
                                            int64_t k, double alpha, const double* a, int64_t lda,
                                            const double* b, int64_t ldb, double beta, double* c,
                                            int64_t ldc);

/* The same for e = 0 ... batch - 1, matrices of e lying e * stride elements behind the ones given:
   one launch where that pays, else as many calls of gemm, all checked first. stride_a and stride_b
   may be anything, 0 for the same matrix each time; stride_c keeps all matrices of C apart, which
   must not overlap any of A or B. batch = 0: nothing happens. */
TINYBLAS_API tinyblas_status tinyblas_sgemm_strided_batched(
    tinyblas_context context, tinyblas_layout layout, tinyblas_op opa, tinyblas_op opb, int64_t m,
    int64_t n, int64_t k, float alpha, const float* a, int64_t lda, int64_t stride_a,
    const float* b, int64_t ldb, int64_t stride_b, float beta, float* c, int64_t ldc,
    int64_t stride_c, int64_t batch);
TINYBLAS_API tinyblas_status tinyblas_dgemm_strided_batched(
    tinyblas_context context, tinyblas_layout layout, tinyblas_op opa, tinyblas_op opb, int64_t m,
    int64_t n, int64_t k, double alpha, const double* a, int64_t lda, int64_t stride_a,
    const double* b, int64_t ldb, int64_t stride_b, double beta, double* c, int64_t ldc,
    int64_t stride_c, int64_t batch);

/* The same for matrices wherever a[e], b[e], c[e] point, always strict and in one launch. The
   arrays a, b and c are in memory that the device reads, and are read when the work runs, so that
   the pointers cannot be checked: those in a and b may repeat, but the matrices of C must lie apart
   from each other and from all of A and B. Products that do not read A and B (alpha = 0 or k = 0)
   do not read a and b either, which may be null. k is at most 2^34. The gemm kernel must be
   "best". */
TINYBLAS_API tinyblas_status tinyblas_sgemm_batched(
    tinyblas_context context, tinyblas_layout layout, tinyblas_op opa, tinyblas_op opb, int64_t m,
    int64_t n, int64_t k, float alpha, const float* const* a, int64_t lda, const float* const* b,
    int64_t ldb, float beta, float* const* c, int64_t ldc, int64_t batch);
TINYBLAS_API tinyblas_status tinyblas_dgemm_batched(
    tinyblas_context context, tinyblas_layout layout, tinyblas_op opa, tinyblas_op opb, int64_t m,
    int64_t n, int64_t k, double alpha, const double* const* a, int64_t lda, const double* const* b,
    int64_t ldb, double beta, double* const* c, int64_t ldc, int64_t batch);

/* B = transposed(A), enqueued on the context's stream, bit for bit. A is rows x cols, B is cols x
   rows, both in the same layout. In row-major order lda >= max(1, cols) and ldb >= max(1, rows), in
   column-major order lda >= max(1, rows) and ldb >= max(1, cols). rows = 0 or cols = 0: nothing
   happens, a and b may be null. In place if a = b, rows = cols and lda = ldb; otherwise B must not
   overlap A. */
TINYBLAS_API tinyblas_status tinyblas_stranspose(tinyblas_context context, tinyblas_layout layout,
                                                 int64_t rows, int64_t cols, const float* a,
                                                 int64_t lda, float* b, int64_t ldb);
TINYBLAS_API tinyblas_status tinyblas_dtranspose(tinyblas_context context, tinyblas_layout layout,
                                                 int64_t rows, int64_t cols, const double* a,
                                                 int64_t lda, double* b, int64_t ldb);

/* Vectors have n elements, as in BLAS: element i of x is x[i * incx], or with incx < 0
   x[(i - (n - 1)) * incx], so that x is the lowest address in use; with incx = 0 one element stands
   for all. n <= 0: no elements, and x may be null. */

/* Reductions, *result in host memory: they wait for it. A stream that is being captured cannot be
   waited for: TINYBLAS_INVALID_ARGUMENT. n <= 0: *result = 0. NaN and Inf propagate. */

/* *result = sum of |x_i|; 0 if incx <= 0: then x is not read and may be null. */
TINYBLAS_API tinyblas_status tinyblas_sasum(tinyblas_context context, int64_t n, const float* x,
                                            int64_t incx, float* result);
TINYBLAS_API tinyblas_status tinyblas_dasum(tinyblas_context context, int64_t n, const double* x,
                                            int64_t incx, double* result);
/* *result = sum of x_i y_i, with fused multiply-adds. x and y may overlap. */
TINYBLAS_API tinyblas_status tinyblas_sdot(tinyblas_context context, int64_t n, const float* x,
                                           int64_t incx, const float* y, int64_t incy,
                                           float* result);
TINYBLAS_API tinyblas_status tinyblas_ddot(tinyblas_context context, int64_t n, const double* x,
                                           int64_t incx, const double* y, int64_t incy,
                                           double* result);
/* *result = sqrt(sum of x_i^2); no square overflows or underflows. */
TINYBLAS_API tinyblas_status tinyblas_snrm2(tinyblas_context context, int64_t n, const float* x,
                                            int64_t incx, float* result);
TINYBLAS_API tinyblas_status tinyblas_dnrm2(tinyblas_context context, int64_t n, const double* x,
                                            int64_t incx, double* result);
/* *result = sum of x_i. */
TINYBLAS_API tinyblas_status tinyblas_ssum(tinyblas_context context, int64_t n, const float* x,
                                           int64_t incx, float* result);
TINYBLAS_API tinyblas_status tinyblas_dsum(tinyblas_context context, int64_t n, const double* x,
                                           int64_t incx, double* result);

/* The same reductions, *result in device memory: enqueued on the context's stream, so that they may
   be captured in a CUDA graph. n <= 0: 0 is written. */
TINYBLAS_API tinyblas_status tinyblas_sasum_device(tinyblas_context context, int64_t n,
                                                   const float* x, int64_t incx, float* result);
TINYBLAS_API tinyblas_status tinyblas_dasum_device(tinyblas_context context, int64_t n,
                                                   const double* x, int64_t incx, double* result);
TINYBLAS_API tinyblas_status tinyblas_sdot_device(tinyblas_context context, int64_t n,
                                                  const float* x, int64_t incx, const float* y,
                                                  int64_t incy, float* result);
TINYBLAS_API tinyblas_status tinyblas_ddot_device(tinyblas_context context, int64_t n,
                                                  const double* x, int64_t incx, const double* y,
                                                  int64_t incy, double* result);
TINYBLAS_API tinyblas_status tinyblas_snrm2_device(tinyblas_context context, int64_t n,
                                                   const float* x, int64_t incx, float* result);
TINYBLAS_API tinyblas_status tinyblas_dnrm2_device(tinyblas_context context, int64_t n,
                                                   const double* x, int64_t incx, double* result);
TINYBLAS_API tinyblas_status tinyblas_ssum_device(tinyblas_context context, int64_t n,
                                                  const float* x, int64_t incx, float* result);
TINYBLAS_API tinyblas_status tinyblas_dsum_device(tinyblas_context context, int64_t n,
                                                  const double* x, int64_t incx, double* result);

/* y_i = alpha x_i + y_i, rounded once, enqueued. n <= 0 or alpha = 0: nothing happens, x and y are
   not read and may be null. incy must not be 0 if n > 1, whatever alpha. y must not overlap x,
   unless it is the same vector (y = x, incy = incx). */
TINYBLAS_API tinyblas_status tinyblas_saxpy(tinyblas_context context, int64_t n, float alpha,
                                            const float* x, int64_t incx, float* y, int64_t incy);
TINYBLAS_API tinyblas_status tinyblas_daxpy(tinyblas_context context, int64_t n, double alpha,
                                            const double* x, int64_t incx, double* y, int64_t incy);
/* x_i = alpha x_i, enqueued. n <= 0 or incx <= 0: nothing happens, x may be null. alpha = 0
   multiplies like any other number: NaN stays NaN. */
TINYBLAS_API tinyblas_status tinyblas_sscal(tinyblas_context context, int64_t n, float alpha,
                                            float* x, int64_t incx);
TINYBLAS_API tinyblas_status tinyblas_dscal(tinyblas_context context, int64_t n, double alpha,
                                            double* x, int64_t incx);

/* y = alpha op(A) x + beta y, enqueued. A is m x n as stored; op(A) is A or its transpose, so that
   x has n elements and y m, or x m and y n. lda as for sgemm. alpha = 0 or x without elements: a
   and x are not read and may be null. beta = 0: y is not read. y without elements: nothing happens.
   incy must not be 0 if y has more than one element. y must not overlap A or x. */
TINYBLAS_API tinyblas_status tinyblas_sgemv(tinyblas_context context, tinyblas_layout layout,
                                            tinyblas_op op, int64_t m, int64_t n, float alpha,
                                            const float* a, int64_t lda, const float* x,
                                            int64_t incx, float beta, float* y, int64_t incy);
TINYBLAS_API tinyblas_status tinyblas_dgemv(tinyblas_context context, tinyblas_layout layout,
                                            tinyblas_op op, int64_t m, int64_t n, double alpha,
                                            const double* a, int64_t lda, const double* x,
                                            int64_t incx, double beta, double* y, int64_t incy);
/* a_ij = a_ij + (alpha x_i) y_j, enqueued. A is m x n, x has m elements, y n. m = 0, n = 0 or alpha
   = 0: nothing happens; a, x and y may be null. A must not overlap x or y. */
TINYBLAS_API tinyblas_status tinyblas_sger(tinyblas_context context, tinyblas_layout layout,
                                           int64_t m, int64_t n, float alpha, const float* x,
                                           int64_t incx, const float* y, int64_t incy, float* a,
                                           int64_t lda);
TINYBLAS_API tinyblas_status tinyblas_dger(tinyblas_context context, tinyblas_layout layout,
                                           int64_t m, int64_t n, double alpha, const double* x,
                                           int64_t incx, const double* y, int64_t incy, double* a,
                                           int64_t lda);

/* y_i = sum over j of coefficients[j] x_i^j, lowest degree first, by Horner's rule with fused
   multiply-adds, enqueued. coefficient_count >= 1: the degree plus one. The coefficients are in
   host memory and are read before the call returns, so that they may change at once, even if the
   call was captured in a CUDA graph. n >= 0; n = 0: nothing happens, x and y may be null. incy must
   not be 0 if n > 1. y must not overlap x, unless it is the same vector (y = x, incy = incx): then
   it is replaced in place. */
TINYBLAS_API tinyblas_status tinyblas_spolyval(tinyblas_context context, int64_t coefficient_count,
                                               const float* coefficients, int64_t n, const float* x,
                                               int64_t incx, float* y, int64_t incy);
TINYBLAS_API tinyblas_status tinyblas_dpolyval(tinyblas_context context, int64_t coefficient_count,
                                               const double* coefficients, int64_t n,
                                               const double* x, int64_t incx, double* y,
                                               int64_t incy);

/* A few words for a status; "unknown status" for other values. Never null. */
TINYBLAS_API const char* tinyblas_status_string(tinyblas_status status);
/* The sentence of this thread's last failure, empty before the first. Valid until the thread's next
 * failure. */
TINYBLAS_API const char* tinyblas_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
