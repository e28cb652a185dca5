/* SPDX-License-Identifier: MIT */
/* Ends with 0 if a product, its transpose and a dot product come out right and a bad argument is
 * named; column-major, with gaps between the columns. */
#include <stdio.h>
#include <string.h>
#include <tinyblas/tinyblas.h>

int main(void) {
    const double a[] = {1, 2, -9, 3, 4, -9}; /* 2 x 2, lda 3 */
    const double b[] = {5, 6, 7, 8};         /* 2 x 2 */
    double c[] = {1, 1, 1, 1}, c_transposed[4], dot = 0;
    tinyblas_context context;
    int wrong = 0;

    if (tinyblas_create(&context) != TINYBLAS_SUCCESS) wrong = 1;
    if (tinyblas_dgemm(context, TINYBLAS_COL_MAJOR, TINYBLAS_NO_TRANS, TINYBLAS_NO_TRANS, 2, 2, 2,
                       2.0, a, 3, b, 2, 1.0, c, 2) != TINYBLAS_SUCCESS)
        wrong = 1;
    if (tinyblas_dtranspose(context, TINYBLAS_COL_MAJOR, 2, 2, c, 2, c_transposed, 2) !=
        TINYBLAS_SUCCESS)
        wrong = 1;
    if (tinyblas_ddot(context, 4, c, 1, c_transposed, -1, &dot) != TINYBLAS_SUCCESS) wrong = 1;
    if (tinyblas_synchronize(context) != TINYBLAS_SUCCESS) wrong = 1;
    if (c[0] != 47 || c[1] != 69 || c[2] != 63 || c[3] != 93) wrong = 1;
    if (c_transposed[1] != 63 || c_transposed[2] != 69) wrong = 1;
    if (dot != 2 * 47 * 93 + 69 * 69 + 63 * 63) wrong = 1;
    if (tinyblas_dgemm(context, TINYBLAS_COL_MAJOR, TINYBLAS_NO_TRANS, TINYBLAS_NO_TRANS, 2, -2, 2,
                       2.0, a, 3, b, 2, 1.0, c, 2) != TINYBLAS_INVALID_ARGUMENT)
        wrong = 1;
    if (strstr(tinyblas_last_error(), "-2") == NULL) wrong = 1;
    tinyblas_destroy(context);
    printf("%g %g %g %g, then: %s\n", c[0], c[1], c[2], c[3], tinyblas_last_error());
    return wrong;
}
