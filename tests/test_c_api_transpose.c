/* SPDX-License-Identifier: MIT */
/* Transposes from C11: both types and layouts, with gaps, in place, every rung. All of B's buffer
 * is compared, what lies outside B included. */
#include <string.h>

#include "c_check.h"
#include "c_memory.h"

enum { ROWS = 37, COLS = 22, LD = 41, SIZE = LD * LD };

/* Where element (i, j) lies. */
static int at(tinyblas_layout layout, int i, int j) {
    return layout == TINYBLAS_ROW_MAJOR ? i * LD + j : i + j * LD;
}

/* check_stranspose and check_dtranspose: `a` becomes b's left neighbour or, in place, b itself. */
#define DEFINE_CHECK(T, transpose)                                                            \
    static void check_##transpose(tinyblas_context context, tinyblas_layout layout, int rows, \
                                  int cols, int in_place) {                                   \
        static T a[SIZE], b[SIZE], result[SIZE];                                              \
        for (int e = 0; e < SIZE; ++e) {                                                      \
            a[e] = (T)(e + 1);                                                                \
            b[e] = in_place ? a[e] : (T)(-e - 1);                                             \
        }                                                                                     \
        T* device_b = device_alloc(sizeof b);                                                 \
        T* device_a = in_place ? device_b : device_alloc(sizeof a);                           \
        to_device(device_a, a, sizeof a);                                                     \
        to_device(device_b, b, sizeof b);                                                     \
        CHECK_SUCCESS(                                                                        \
            tinyblas_##transpose(context, layout, rows, cols, device_a, LD, device_b, LD));   \
        CHECK_SUCCESS(tinyblas_synchronize(context));                                         \
        to_host(result, device_b, sizeof result);                                             \
        for (int i = 0; i < rows; ++i)                                                        \
            for (int j = 0; j < cols; ++j) b[at(layout, j, i)] = a[at(layout, i, j)];         \
        CHECK(memcmp(result, b, sizeof b) == 0);                                              \
        if (!in_place) {                                                                      \
            to_host(result, device_a, sizeof result);                                         \
            CHECK(memcmp(result, a, sizeof a) == 0);                                          \
            device_free(device_a);                                                            \
        }                                                                                     \
        device_free(device_b);                                                                \
    }
DEFINE_CHECK(float, stranspose)
DEFINE_CHECK(double, dtranspose)

static void check_transposes(tinyblas_context context) {
    const tinyblas_layout layouts[] = {TINYBLAS_ROW_MAJOR, TINYBLAS_COL_MAJOR};
    for (int layout = 0; layout < 2; ++layout) {
        check_stranspose(context, layouts[layout], ROWS, COLS, 0);
        check_dtranspose(context, layouts[layout], COLS, ROWS, 0);
        check_stranspose(context, layouts[layout], ROWS, ROWS, 1);
        check_dtranspose(context, layouts[layout], COLS, COLS, 1);
        check_stranspose(context, layouts[layout], 1, COLS, 0);
        check_dtranspose(context, layouts[layout], ROWS, 1, 0);
        check_stranspose(context, layouts[layout], 0, COLS, 0);
        check_dtranspose(context, layouts[layout], ROWS, 0, 0);
    }
}

static void check_rungs(tinyblas_context context) {
    const char* const names[] = {"naive", "padded", "tuned"};
    const char* ran = NULL;
    for (int i = 0; i < 3; ++i) {
        CHECK_SUCCESS(tinyblas_set_transpose_kernel(context, names[i]));
        check_transposes(context);
    }
    for (int i = 0; i < 2; ++i) { /* "tuned" may step down where its table has no entry */
        CHECK_SUCCESS(tinyblas_set_transpose_kernel(context, names[i]));
        check_stranspose(context, TINYBLAS_ROW_MAJOR, ROWS, COLS, 0);
        CHECK_SUCCESS(tinyblas_get_transpose_kernel(context, &ran));
        CHECK(strcmp(ran, names[i]) == 0);
    }
    CHECK_SUCCESS(tinyblas_set_transpose_kernel(context, "best"));
    check_stranspose(context, TINYBLAS_ROW_MAJOR, ROWS, COLS, 0);
    CHECK_SUCCESS(tinyblas_get_transpose_kernel(context, &ran));
    CHECK(strcmp(ran, "best") != 0 && strcmp(ran, "none") != 0);
    CHECK_SUCCESS(tinyblas_stranspose(context, TINYBLAS_COL_MAJOR, 0, COLS, NULL, 1, NULL, COLS));
    CHECK_SUCCESS(tinyblas_dtranspose(context, TINYBLAS_ROW_MAJOR, ROWS, 0, NULL, 1, NULL, ROWS));
    CHECK_SUCCESS(tinyblas_get_transpose_kernel(context, &ran));
    CHECK(strcmp(ran, "none") == 0);
}

int main(void) {
    tinyblas_context context = NULL;
    CHECK_SUCCESS(tinyblas_create(&context));
    check_transposes(context);
    check_rungs(context);
    CHECK(strcmp(tinyblas_last_error(), "") == 0);
    CHECK_SUCCESS(tinyblas_destroy(context));
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
