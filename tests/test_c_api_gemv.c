/* SPDX-License-Identifier: MIT */
/* gemv and ger from C11: both types, both layouts, all ops, increments of every sign, on small
 * integers whose results are exact. All of a written buffer is compared, gaps included. */
#include <string.h>

#include "c_check.h"
#include "c_memory.h"

enum { LONGEST = 70, GAP = 3, A_SIZE = LONGEST * (LONGEST + GAP), X_SIZE = LONGEST * 3 };

/* Where element i lies. */
static int at(int n, int inc, int i) { return inc < 0 ? (i - (n - 1)) * inc : i * inc; }
static int at_a(tinyblas_layout layout, int ld, int i, int j) {
    return layout == TINYBLAS_ROW_MAJOR ? i * ld + j : i + j * ld;
}

/* A call: A is m x n. */
struct call {
    tinyblas_layout layout;
    tinyblas_op op;
    int m, n, ld, incx, incy;
};

#define DEFINE_CHECKS(T, p)                                                                        \
    static void p##fill(T* to, int size, int factor) {                                             \
        for (int e = 0; e < size; ++e) to[e] = (T)(e * factor % 7 - 3);                            \
    }                                                                                              \
    static T* p##upload(const T* from, size_t bytes) {                                             \
        T* device = device_alloc(bytes);                                                           \
        to_device(device, from, bytes);                                                            \
        return device;                                                                             \
    }                                                                                              \
    static int p##same(const T* x, const T* y, int size) { /* a zero's sign does not count */      \
        for (int e = 0; e < size; ++e)                                                             \
            if (x[e] != y[e]) return 0;                                                            \
        return 1;                                                                                  \
    }                                                                                              \
    static void p##check(tinyblas_context context, struct call c, T alpha, T beta) {               \
        static T a[A_SIZE], x[X_SIZE], y[X_SIZE], now_a[A_SIZE], now_y[X_SIZE];                    \
        p##fill(a, A_SIZE, 5);                                                                     \
        p##fill(x, X_SIZE, 3);                                                                     \
        p##fill(y, X_SIZE, 4);                                                                     \
        T *device_a = p##upload(a, sizeof a), *device_x = p##upload(x, sizeof x);                  \
        T* device_y = p##upload(y, sizeof y);                                                      \
                                                                                                   \
        /* Before y changes: A = A + alpha x transposed(y), x of m and y of n elements. */         \
        CHECK_SUCCESS(tinyblas_##p##ger(context, c.layout, c.m, c.n, alpha, device_x, c.incx,      \
                                        device_y, c.incy, device_a, c.ld));                        \
        for (int i = 0; i < c.m; ++i)                                                              \
            for (int j = 0; j < c.n; ++j)                                                          \
                a[at_a(c.layout, c.ld, i, j)] +=                                                   \
                    alpha * x[at(c.m, c.incx, i)] * y[at(c.n, c.incy, j)];                         \
                                                                                                   \
        const int plain = c.op == TINYBLAS_NO_TRANS;                                               \
        const int rows = plain ? c.m : c.n, columns = plain ? c.n : c.m;                           \
        CHECK_SUCCESS(tinyblas_##p##gemv(context, c.layout, c.op, c.m, c.n, alpha, device_a, c.ld, \
                                         device_x, c.incx, beta, device_y, c.incy));               \
        CHECK_SUCCESS(tinyblas_synchronize(context));                                              \
        for (int i = 0; i < rows; ++i) {                                                           \
            T sum = 0, *y_i = &y[at(rows, c.incy, i)];                                             \
            for (int j = 0; j < columns; ++j)                                                      \
                sum += a[at_a(c.layout, c.ld, plain ? i : j, plain ? j : i)] *                     \
                       x[at(columns, c.incx, j)];                                                  \
            *y_i = alpha * sum + beta * *y_i;                                                      \
        }                                                                                          \
        to_host(now_a, device_a, sizeof a);                                                        \
        to_host(now_y, device_y, sizeof y);                                                        \
        CHECK(p##same(now_a, a, A_SIZE) && p##same(now_y, y, X_SIZE));                             \
        device_free(device_a);                                                                     \
        device_free(device_x);                                                                     \
        device_free(device_y);                                                                     \
    }                                                                                              \
                                                                                                   \
    static void p##check_all(tinyblas_context context) {                                           \
        const int extents[] = {1, 6, 33, LONGEST}, increments[] = {1, 3, -1, -2};                  \
        const tinyblas_op ops[] = {TINYBLAS_NO_TRANS, TINYBLAS_TRANS, TINYBLAS_CONJ_TRANS};        \
        for (int l = 0; l < 2; ++l)                                                                \
            for (int o = 0; o < 3; ++o)                                                            \
                for (int s = 0; s < 4; ++s)                                                        \
                    for (int r = 0; r < 4; ++r)                                                    \
                        for (int inc = 0; inc < 16; ++inc) {                                       \
                            struct call c = {l ? TINYBLAS_COL_MAJOR : TINYBLAS_ROW_MAJOR,          \
                                             ops[o],                                               \
                                             extents[s],                                           \
                                             extents[r],                                           \
                                             0,                                                    \
                                             increments[inc / 4],                                  \
                                             increments[inc % 4]};                                 \
                            c.ld = (l ? c.m : c.n) + inc % (GAP + 1);                              \
                            p##check(context, c, (T)(inc % 3 - 1), (T)(inc % 4 - 1));              \
                        }                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Null where nothing is read. */                                                              \
    static void p##check_nothing(tinyblas_context context) {                                       \
        T y[2] = {3, 4};                                                                           \
        T* device_y = p##upload(y, sizeof y);                                                      \
        CHECK_SUCCESS(tinyblas_##p##gemv(context, TINYBLAS_ROW_MAJOR, TINYBLAS_NO_TRANS, 2, 5, 0,  \
                                         NULL, 5, NULL, 1, 2, device_y, 1));                       \
        CHECK_SUCCESS(tinyblas_##p##gemv(context, TINYBLAS_COL_MAJOR, TINYBLAS_TRANS, 0, 2, 1,     \
                                         NULL, 1, NULL, 1, 2, device_y, 1));                       \
        CHECK_SUCCESS(tinyblas_##p##gemv(context, TINYBLAS_ROW_MAJOR, TINYBLAS_TRANS, 4, 0, 1,     \
                                         NULL, 1, NULL, 1, 2, NULL, 1));                           \
        CHECK_SUCCESS(                                                                             \
            tinyblas_##p##ger(context, TINYBLAS_ROW_MAJOR, 2, 5, 0, NULL, 1, NULL, 1, NULL, 5));   \
        CHECK_SUCCESS(                                                                             \
            tinyblas_##p##ger(context, TINYBLAS_COL_MAJOR, 2, 0, 1, NULL, 1, NULL, 1, NULL, 2));   \
        CHECK_SUCCESS(tinyblas_synchronize(context));                                              \
        to_host(y, device_y, sizeof y);                                                            \
        CHECK(y[0] == 12 && y[1] == 16);                                                           \
        device_free(device_y);                                                                     \
    }
DEFINE_CHECKS(float, s)
DEFINE_CHECKS(double, d)

int main(void) {
    tinyblas_context context = NULL;
    CHECK_SUCCESS(tinyblas_create(&context));
    scheck_all(context);
    dcheck_all(context);
    scheck_nothing(context);
    dcheck_nothing(context);
    CHECK(strcmp(tinyblas_last_error(), "") == 0);
    CHECK_SUCCESS(tinyblas_destroy(context));
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
