/* SPDX-License-Identifier: MIT */
/* The C interface (C11). Every function but the last two returns a status; after a failure
   tinyblas_last_error() has the sentence. Pointers to matrices are device pointers (device, managed
   or mapped memory); under device emulation, host pointers. */
#ifndef TINYBLAS_TINYBLAS_H
#define TINYBLAS_TINYBLAS_H

#include <stdint.h>

#include "tinyblas/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    TINYBLAS_SUCCESS = 0,
    TINYBLAS_INVALID_ARGUMENT = 1,   /* an argument is outside its bounds; nothing was written */
    TINYBLAS_OUT_OF_MEMORY = 2,      /* the host or the device could not provide memory */
    TINYBLAS_NO_DEVICE = 3,          /* no driver, no GPU, or a driver too old */
    TINYBLAS_UNSUPPORTED_DEVICE = 4, /* compute capability below 8.0 */
    TINYBLAS_DEVICE_ERROR = 5,  /* the device reported a failure, perhaps of an earlier operation */
    TINYBLAS_INTERNAL_ERROR = 6 /* a defect of the library */
} tinyblas_status;

typedef enum { TINYBLAS_ROW_MAJOR = 101, TINYBLAS_COL_MAJOR = 102 } tinyblas_layout;
typedef enum {
    TINYBLAS_NO_TRANS = 111,
    TINYBLAS_TRANS = 112,
    TINYBLAS_CONJ_TRANS = 113 /* the same as TRANS: the elements are real */
} tinyblas_op;

/* A stream, its scratch memory and its options. Used by one thread at a time. */
typedef struct tinyblas_context_s* tinyblas_context;

/* Makes a context on the current device, with a stream of its own. On failure *context becomes
 * null. */
TINYBLAS_API tinyblas_status tinyblas_create(tinyblas_context* context);
/* Null is allowed and does nothing. */
TINYBLAS_API tinyblas_status tinyblas_destroy(tinyblas_context context);
/* Runs what follows on the caller's cudaStream_t; null is the default stream. */
TINYBLAS_API tinyblas_status tinyblas_set_stream(tinyblas_context context, void* stream);
/* Waits for all enqueued work and reports its failure, if any. */
TINYBLAS_API tinyblas_status tinyblas_synchronize(tinyblas_context context);

/* Chooses the rung of the gemm calls that follow: "best" (at first), "naive", "tiled" or "tuned".
 */
TINYBLAS_API tinyblas_status tinyblas_set_gemm_kernel(tinyblas_context context, const char* name);
/* *name becomes the rung that the last gemm call ran ("none" if no kernel was needed), a string
 * that is never freed. */
TINYBLAS_API tinyblas_status tinyblas_get_gemm_kernel(tinyblas_context context, const char** name);

/* C = alpha op(A) op(B) + beta C, enqueued on the context's stream.
   op(A) is m x k, op(B) is k x n, C is m x n; op(X) is X or its transpose. In row-major order lda
   is at least the number of columns of A as stored (k, or m if transposed), in column-major order
   at least the number of its rows (m, or k); never below 1. alpha = 0 or k = 0: a and b are not
   read and may be null. beta = 0: c is not read. m = 0 or n = 0: nothing happens. C must not
   overlap A or B. TINYBLAS_INVALID_ARGUMENT: the first bad argument in the order below, by name,
   number and value. */
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

/* A few words for a status; "unknown status" for other values. Never null. */
TINYBLAS_API const char* tinyblas_status_string(tinyblas_status status);
/* The sentence of this thread's last failure, empty before the first. Valid until the thread's next
 * failure. */
TINYBLAS_API const char* tinyblas_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
