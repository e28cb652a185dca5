/* SPDX-License-Identifier: MIT */
/* How are two matrices multiplied in C? C = A transpose(A) for a matrix of 2 x 3, in memory that
 * the host and the GPU share. With -DEMULATED, for a library of device emulation.
 * Prints:
 *   14 32
 *   32 77
 */
#include <stdio.h>
#include <tinyblas/tinyblas.h>
#ifdef EMULATED
#include <stdlib.h>
static float* shared(size_t count) { return calloc(count, sizeof(float)); }
static void release(float* data) { free(data); }
#else
#include <cuda_runtime_api.h>
static float* shared(size_t count) {
    void* data = NULL;
    return cudaMallocManaged(&data, count * sizeof(float), cudaMemAttachGlobal) ? NULL : data;
}
static void release(float* data) { cudaFree(data); }
#endif

int main(void) {
    float *a = shared(6), *c = shared(4);
    tinyblas_context context = NULL;
    int failed = !a || !c || tinyblas_create(&context);
    for (int i = 0; !failed && i < 6; ++i) a[i] = (float)(i + 1);
    failed = failed ||
             tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, TINYBLAS_NO_TRANS, TINYBLAS_TRANS, 2, 2, 3,
                            1.0f, a, 3, a, 3, 0.0f, c, 2) ||
             tinyblas_synchronize(context);
    if (failed)
        fprintf(stderr, "%s\n", tinyblas_last_error());
    else
        printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]); /* 14 32, 32 77 */
    release(a);
    release(c);
    return tinyblas_destroy(context) || failed;
}
