/* SPDX-License-Identifier: MIT */
/* How are two matrices multiplied in C? C = A transpose(A) for a matrix of 2 x 3. Host arrays serve
 * under device emulation; with CUDA, pass device pointers.
 * Prints:
 *   14 32
 *   32 77
 */
#include <stdio.h>
#include <tinyblas/tinyblas.h>

int main(void) {
    float a[] = {1, 2, 3, 4, 5, 6}, c[4] = {0};
    tinyblas_context context;
    int failed = tinyblas_create(&context) ||
                 tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, TINYBLAS_NO_TRANS, TINYBLAS_TRANS, 2,
                                2, 3, 1.0f, a, 3, a, 3, 0.0f, c, 2) ||
                 tinyblas_synchronize(context);
    printf("%g %g\n%g %g\n%s", c[0], c[1], c[2], c[3], tinyblas_last_error()); /* 14 32, 32 77 */
    return tinyblas_destroy(context) || failed;
}
