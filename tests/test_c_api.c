/* SPDX-License-Identifier: MIT */
/* The C interface used from C11: contexts, statuses, and gemm in both types, every layout and op,
 * against three plain loops on small integers. */
#include <string.h>

#include "c_check.h"
#include "c_memory.h"

enum { M = 37, N = 22, K = 13, LD = 41, SIZE = LD * LD };

/* Where element (i, j) of op(X) lies. */
static int at(tinyblas_layout layout, tinyblas_op op, int i, int j) {
    const int row = op == TINYBLAS_NO_TRANS ? i : j;
    const int column = op == TINYBLAS_NO_TRANS ? j : i;
    return layout == TINYBLAS_ROW_MAJOR ? row * LD + column : row + column * LD;
}

/* check_sgemm and check_dgemm: one gemm on integers, all of C's buffer compared, what lies outside
 * C included. */
#define DEFINE_CHECK(T, gemm)                                                                    \
    static void check_##gemm(tinyblas_context context, tinyblas_layout layout, tinyblas_op opa,  \
                             tinyblas_op opb, T alpha, T beta) {                                 \
        static T a[SIZE], b[SIZE], c[SIZE], result[SIZE];                                        \
        for (int e = 0; e < SIZE; ++e) {                                                         \
            a[e] = (T)(e * 7 % 5 - 2);                                                           \
            b[e] = (T)(e * 5 % 7 - 3);                                                           \
            c[e] = (T)(e * 3 % 5 - 2);                                                           \
        }                                                                                        \
        T* device_a = device_alloc(sizeof a);                                                    \
        T* device_b = device_alloc(sizeof b);                                                    \
        T* device_c = device_alloc(sizeof c);                                                    \
        to_device(device_a, a, sizeof a);                                                        \
        to_device(device_b, b, sizeof b);                                                        \
        to_device(device_c, c, sizeof c);                                                        \
        CHECK(tinyblas_##gemm(context, layout, opa, opb, M, N, K, alpha, device_a, LD, device_b, \
                              LD, beta, device_c, LD) == TINYBLAS_SUCCESS);                      \
        CHECK(tinyblas_synchronize(context) == TINYBLAS_SUCCESS);                                \
        to_host(result, device_c, sizeof result);                                                \
        for (int i = 0; i < M; ++i)                                                              \
            for (int j = 0; j < N; ++j) {                                                        \
                T sum = 0;                                                                       \
                for (int p = 0; p < K; ++p)                                                      \
                    sum += a[at(layout, opa, i, p)] * b[at(layout, opb, p, j)];                  \
                T* value = &c[at(layout, TINYBLAS_NO_TRANS, i, j)];                              \
                *value = alpha * sum + beta * *value;                                            \
            }                                                                                    \
        CHECK(memcmp(result, c, sizeof c) == 0);                                                 \
        device_free(device_a);                                                                   \
        device_free(device_b);                                                                   \
        device_free(device_c);                                                                   \
    }
DEFINE_CHECK(float, sgemm)
DEFINE_CHECK(double, dgemm)

static void check_gemm(tinyblas_context context) {
    const tinyblas_layout layouts[] = {TINYBLAS_ROW_MAJOR, TINYBLAS_COL_MAJOR};
    const tinyblas_op ops[] = {TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS};
    for (int layout = 0; layout < 2; ++layout)
        for (int opa = 0; opa < 3; ++opa)
            for (int opb = 0; opb < 3; ++opb) {
                check_sgemm(context, layouts[layout], ops[opa], ops[opb], 2, -1);
                check_dgemm(context, layouts[layout], ops[opa], ops[opb], -3, 2);
            }
}

static void check_nothing_to_do(tinyblas_context context) {
    float c = 3;
    float* device_c = device_alloc(sizeof c);
    const tinyblas_op no = TINYBLAS_NO_TRANS;
    to_device(device_c, &c, sizeof c);
    CHECK(tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, no, no, 0, 5, 3, 1, NULL, 3, NULL, 5, 0, NULL,
                         5) == TINYBLAS_SUCCESS);
    CHECK(tinyblas_sgemm(context, TINYBLAS_COL_MAJOR, no, no, 5, 0, 3, 1, NULL, 5, NULL, 3, 0, NULL,
                         5) == TINYBLAS_SUCCESS);
    CHECK(tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, no, no, 1, 1, 0, 1, NULL, 1, NULL, 1, 2,
                         device_c, 1) == TINYBLAS_SUCCESS);
    CHECK(tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, no, no, 1, 1, 9, 0, NULL, 9, NULL, 1, 2,
                         device_c, 1) == TINYBLAS_SUCCESS);
    CHECK(tinyblas_synchronize(context) == TINYBLAS_SUCCESS);
    to_host(&c, device_c, sizeof c);
    CHECK(c == 12);
    device_free(device_c);
}

static void check_kernels(tinyblas_context context) {
    const char* const names[] = {"naive", "tiled", "tuned"};
    const char* ran = NULL;
    for (int i = 0; i < 3; ++i) {
        CHECK(tinyblas_set_gemm_kernel(context, names[i]) == TINYBLAS_SUCCESS);
        check_sgemm(context, TINYBLAS_COL_MAJOR, TINYBLAS_NO_TRANS, TINYBLAS_TRANS, 1, 0);
        check_dgemm(context, TINYBLAS_ROW_MAJOR, TINYBLAS_TRANS, TINYBLAS_NO_TRANS, 1, 3);
        CHECK(tinyblas_get_gemm_kernel(context, &ran) == TINYBLAS_SUCCESS);
        CHECK(strcmp(ran, names[i]) == 0);
    }
    CHECK(tinyblas_set_gemm_kernel(context, "best") == TINYBLAS_SUCCESS);
    check_sgemm(context, TINYBLAS_ROW_MAJOR, TINYBLAS_NO_TRANS, TINYBLAS_NO_TRANS, 1, 0);
    CHECK(tinyblas_get_gemm_kernel(context, &ran) == TINYBLAS_SUCCESS);
    CHECK(strcmp(ran, "best") != 0 && strcmp(ran, "none") != 0);
    CHECK(tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, TINYBLAS_NO_TRANS, TINYBLAS_NO_TRANS, 0, 0, 0,
                         1, NULL, 1, NULL, 1, 0, NULL, 1) == TINYBLAS_SUCCESS);
    CHECK(tinyblas_get_gemm_kernel(context, &ran) == TINYBLAS_SUCCESS);
    CHECK(strcmp(ran, "none") == 0);
}

static void check_status_strings(void) {
    CHECK(TINYBLAS_SUCCESS == 0);
    CHECK(strcmp(tinyblas_status_string(TINYBLAS_SUCCESS), "success") == 0);
    CHECK(strcmp(tinyblas_status_string(TINYBLAS_INVALID_ARGUMENT), "invalid argument") == 0);
    for (int i = TINYBLAS_SUCCESS; i <= TINYBLAS_INTERNAL_ERROR; ++i)
        for (int j = TINYBLAS_SUCCESS; j < i; ++j)
            CHECK(strcmp(tinyblas_status_string((tinyblas_status)i),
                         tinyblas_status_string((tinyblas_status)j)) != 0);
    CHECK(strcmp(tinyblas_status_string((tinyblas_status)7), "unknown status") == 0);
}

int main(void) {
    tinyblas_context context = NULL;
    CHECK(strcmp(tinyblas_last_error(), "") == 0);
    check_status_strings();
    CHECK(tinyblas_destroy(NULL) == TINYBLAS_SUCCESS);
    CHECK(tinyblas_create(&context) == TINYBLAS_SUCCESS);
    CHECK(context != NULL);
    check_gemm(context);
    check_nothing_to_do(context);
    check_kernels(context);
    CHECK(tinyblas_set_stream(context, NULL) == TINYBLAS_SUCCESS);
    check_gemm(context);
    CHECK(strcmp(tinyblas_last_error(), "") == 0);

    CHECK(tinyblas_create(NULL) == TINYBLAS_INVALID_ARGUMENT);
    CHECK(strstr(tinyblas_last_error(), "tinyblas_create: argument 1 (context) is null") != NULL);
    CHECK(tinyblas_destroy(context) == TINYBLAS_SUCCESS);
    CHECK(strstr(tinyblas_last_error(), "tinyblas_create") != NULL);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
