/* SPDX-License-Identifier: MIT */
/* The operations on vectors from C11: both types, increments of every sign, both forms of the
 * reductions, every rung, on small integers whose results are exact. All of a written buffer is
 * compared, gaps included. */
#include <string.h>

#include "c_check.h"
#include "c_memory.h"

enum { LONGEST = 300, WIDEST = 3, SIZE = LONGEST * WIDEST };

/* Where element i lies. */
static int at(int n, int inc, int i) { return inc < 0 ? (i - (n - 1)) * inc : i * inc; }

/* Two results of a reduction on the host and two on the device, between neighbours. */
enum { ASUM = 1, DOT, NRM2, SUM, RESULTS };

/* check_sreductions and check_dreductions; check_scopies and so on for what writes a vector. */
#define DEFINE_CHECKS(T, p)                                                                        \
    static void p##fill(T* x, T* y) {                                                              \
        for (int e = 0; e < SIZE; ++e) {                                                           \
            x[e] = (T)(e * 7 % 5 - 2);                                                             \
            y[e] = (T)(e * 5 % 7 - 3);                                                             \
        }                                                                                          \
    }                                                                                              \
    static T* p##upload(const T* x) {                                                              \
        T* device = device_alloc(SIZE * sizeof *x);                                                \
        to_device(device, x, SIZE * sizeof *x);                                                    \
        return device;                                                                             \
    }                                                                                              \
    static int p##holds(const T* device, const T* expected) {                                      \
        static T now[SIZE];                                                                        \
        to_host(now, device, sizeof now);                                                          \
        return memcmp(now, expected, sizeof now) == 0;                                             \
    }                                                                                              \
                                                                                                   \
    static void p##check_results(const T* results, const T* expected) {                            \
        CHECK(results[0] == 77 && results[RESULTS] == 77);                                         \
        CHECK(results[ASUM] == expected[ASUM]);                                                    \
        CHECK(results[DOT] == expected[DOT]);                                                      \
        CHECK(results[SUM] == expected[SUM]);                                                      \
        const T error = results[NRM2] * results[NRM2] - expected[NRM2];                            \
        CHECK(results[NRM2] >= 0 && error * error <= (T)1e-12 * expected[NRM2] * expected[NRM2]);  \
    }                                                                                              \
    static void p##check_reductions(tinyblas_context context, int n, int incx, int incy) {         \
        static T x[SIZE], y[SIZE];                                                                 \
        T expected[RESULTS] = {0}, results[RESULTS + 1];                                           \
        p##fill(x, y);                                                                             \
        for (int i = 0; i < n; ++i) {                                                              \
            const T x_i = x[at(n, incx, i)];                                                       \
            if (incx > 0) expected[ASUM] += x_i < 0 ? -x_i : x_i;                                  \
            expected[DOT] += x_i * y[at(n, incy, i)];                                              \
            expected[NRM2] += x_i * x_i;                                                           \
            expected[SUM] += x_i;                                                                  \
        }                                                                                          \
        T *device_x = p##upload(x), *device_y = p##upload(y);                                      \
        T* device_results = device_alloc(sizeof results);                                          \
                                                                                                   \
        for (int r = 0; r <= RESULTS; ++r) results[r] = 77;                                        \
        to_device(device_results, results, sizeof results);                                        \
        CHECK_SUCCESS(tinyblas_##p##asum(context, n, device_x, incx, results + ASUM));             \
        CHECK_SUCCESS(                                                                             \
            tinyblas_##p##dot(context, n, device_x, incx, device_y, incy, results + DOT));         \
        CHECK_SUCCESS(tinyblas_##p##nrm2(context, n, device_x, incx, results + NRM2));             \
        CHECK_SUCCESS(tinyblas_##p##sum(context, n, device_x, incx, results + SUM));               \
        p##check_results(results, expected);                                                       \
                                                                                                   \
        T* to = device_results;                                                                    \
        CHECK_SUCCESS(tinyblas_##p##asum_device(context, n, device_x, incx, to + ASUM));           \
        CHECK_SUCCESS(                                                                             \
            tinyblas_##p##dot_device(context, n, device_x, incx, device_y, incy, to + DOT));       \
        CHECK_SUCCESS(tinyblas_##p##nrm2_device(context, n, device_x, incx, to + NRM2));           \
        CHECK_SUCCESS(tinyblas_##p##sum_device(context, n, device_x, incx, to + SUM));             \
        CHECK_SUCCESS(tinyblas_synchronize(context));                                              \
        to_host(results, device_results, sizeof results);                                          \
        p##check_results(results, expected);                                                       \
        CHECK(p##holds(device_x, x) && p##holds(device_y, y));                                     \
        device_free(device_x);                                                                     \
        device_free(device_y);                                                                     \
        device_free(device_results);                                                               \
    }                                                                                              \
                                                                                                   \
    static void p##check_axpy(tinyblas_context context, int n, int incx, int incy, T alpha) {      \
        static T x[SIZE], y[SIZE];                                                                 \
        p##fill(x, y);                                                                             \
        T *device_x = p##upload(x), *device_y = p##upload(y);                                      \
        CHECK_SUCCESS(tinyblas_##p##axpy(context, n, alpha, device_x, incx, device_y, incy));      \
        CHECK_SUCCESS(tinyblas_synchronize(context));                                              \
        for (int i = 0; i < n; ++i) y[at(n, incy, i)] += alpha * x[at(n, incx, i)];                \
        CHECK(p##holds(device_x, x) && p##holds(device_y, y));                                     \
                                                                                                   \
        CHECK_SUCCESS(tinyblas_##p##axpy(context, n, alpha, device_y, incy, device_y, incy));      \
        CHECK_SUCCESS(tinyblas_synchronize(context));                                              \
        for (int i = 0; i < n; ++i) y[at(n, incy, i)] *= alpha + 1;                                \
        CHECK(p##holds(device_y, y));                                                              \
        device_free(device_x);                                                                     \
        device_free(device_y);                                                                     \
    }                                                                                              \
    static void p##check_scal(tinyblas_context context, int n, int incx, T alpha) {                \
        static T x[SIZE], unused[SIZE];                                                            \
        p##fill(x, unused);                                                                        \
        T* device_x = p##upload(x);                                                                \
        CHECK_SUCCESS(tinyblas_##p##scal(context, n, alpha, device_x, incx));                      \
        CHECK_SUCCESS(tinyblas_synchronize(context));                                              \
        for (int i = 0; i < n && incx > 0; ++i) x[at(n, incx, i)] *= alpha;                        \
        CHECK(p##holds(device_x, x));                                                              \
        device_free(device_x);                                                                     \
    }                                                                                              \
                                                                                                   \
    static T p##value(const T* coefficients, int count, T x) {                                     \
        T value = 0;                                                                               \
        for (int j = count - 1; j >= 0; --j) value = value * x + coefficients[j];                  \
        return value;                                                                              \
    }                                                                                              \
    /* The coefficients change as soon as the call has returned. */                                \
    static void p##check_polyval(tinyblas_context context, int count, int n, int incx, int incy) { \
        static const T coefficients[] = {3, -1, 0, 2, 1, -2};                                      \
        static T x[SIZE], y[SIZE];                                                                 \
        T passing[6];                                                                              \
        p##fill(x, y);                                                                             \
        T *device_x = p##upload(x), *device_y = p##upload(y);                                      \
        memcpy(passing, coefficients, sizeof passing);                                             \
        CHECK_SUCCESS(                                                                             \
            tinyblas_##p##polyval(context, count, passing, n, device_x, incx, device_y, incy));    \
        memset(passing, 0x7f, sizeof passing);                                                     \
        CHECK_SUCCESS(tinyblas_synchronize(context));                                              \
        for (int i = 0; i < n; ++i)                                                                \
            y[at(n, incy, i)] = p##value(coefficients, count, x[at(n, incx, i)]);                  \
        CHECK(p##holds(device_x, x) && p##holds(device_y, y));                                     \
                                                                                                   \
        to_device(device_y, x, sizeof x);                                                          \
        CHECK_SUCCESS(tinyblas_##p##polyval(context, count, coefficients, n, device_y, incy,       \
                                            device_y, incy));                                      \
        CHECK_SUCCESS(tinyblas_synchronize(context));                                              \
        for (int i = 0; i < n; ++i)                                                                \
            x[at(n, incy, i)] = p##value(coefficients, count, x[at(n, incy, i)]);                  \
        CHECK(p##holds(device_y, x));                                                              \
        device_free(device_x);                                                                     \
        device_free(device_y);                                                                     \
    }                                                                                              \
                                                                                                   \
    static void p##check_all(tinyblas_context context) {                                           \
        const int sizes[] = {-4, 0, 1, 5, LONGEST}, increments[] = {1, WIDEST, -2, 0};             \
        for (int s = 0; s < 5; ++s)                                                                \
            for (int a = 0; a < 4; ++a) {                                                          \
                const int n = sizes[s], incx = increments[a];                                      \
                p##check_scal(context, n, incx, -3);                                               \
                for (int b = 0; b < 4; ++b) {                                                      \
                    const int incy = increments[b];                                                \
                    p##check_reductions(context, n, incx, incy);                                   \
                    if (incy == 0 && n > 1) continue;                                              \
                    p##check_axpy(context, n, incx, incy, 2);                                      \
                    p##check_axpy(context, n, incx, incy, 0);                                      \
                    if (n >= 0) p##check_polyval(context, 1 + (a + b) % 6, n, incx, incy);         \
                }                                                                                  \
            }                                                                                      \
    }
DEFINE_CHECKS(float, s)
DEFINE_CHECKS(double, d)

static void check_all(tinyblas_context context) {
    scheck_all(context);
    dcheck_all(context);
}

/* The rungs add in different orders, which shows in the last bits of the form that cannot tell
 * its rung. */
static void check_reduce_rung(tinyblas_context context, const char* name, float* host_result) {
    enum { N = 20000 };
    static float x[N];
    float device_result = 0;
    const char* ran = NULL;
    for (int i = 0; i < N; ++i) x[i] = (float)(i * 7919 % 10007) / 10007;
    float *device_x = device_alloc(sizeof x), *result = device_alloc(sizeof *result);
    to_device(device_x, x, sizeof x);
    CHECK_SUCCESS(tinyblas_set_reduce_kernel(context, name));
    CHECK_SUCCESS(tinyblas_ssum(context, N, device_x, 1, host_result));
    CHECK_SUCCESS(tinyblas_ssum_device(context, N, device_x, 1, result));
    CHECK_SUCCESS(tinyblas_get_reduce_kernel(context, &ran));
    CHECK(strcmp(ran, name) == 0);
    CHECK_SUCCESS(tinyblas_synchronize(context));
    to_host(&device_result, result, sizeof device_result);
    CHECK(memcmp(host_result, &device_result, sizeof device_result) == 0);
    device_free(device_x);
    device_free(result);
}

static void check_polyval_rung(tinyblas_context context, const char* name) {
    const char* ran = NULL;
    CHECK_SUCCESS(tinyblas_set_polyval_kernel(context, name));
    scheck_polyval(context, 4, LONGEST, 1, 1);
    CHECK_SUCCESS(tinyblas_get_polyval_kernel(context, &ran));
    CHECK(strcmp(ran, name) == 0);
}

static void check_rungs(tinyblas_context context) {
    float naive = 0, texture = 0, tuned = 0;
    const char* ran = NULL;
    check_polyval_rung(context, "naive");
    check_reduce_rung(context, "naive", &naive);
    check_all(context);
    check_polyval_rung(context, "constant");
    check_reduce_rung(context, "texture", &texture);
    check_all(context);
    check_polyval_rung(context, "tuned");
    check_reduce_rung(context, "tuned", &tuned);
    check_all(context);
    CHECK(naive != tuned && texture == tuned);

    CHECK_SUCCESS(tinyblas_set_polyval_kernel(context, "best"));
    CHECK_SUCCESS(tinyblas_set_reduce_kernel(context, "best"));
    scheck_polyval(context, 4, LONGEST, 1, 1);
    CHECK_SUCCESS(tinyblas_get_polyval_kernel(context, &ran));
    CHECK(strcmp(ran, "best") != 0 && strcmp(ran, "none") != 0);
    CHECK_SUCCESS(tinyblas_spolyval(context, 1, &tuned, 0, NULL, 1, NULL, 1));
    CHECK_SUCCESS(tinyblas_get_polyval_kernel(context, &ran));
    CHECK(strcmp(ran, "none") == 0);
}

int main(void) {
    tinyblas_context context = NULL;
    CHECK_SUCCESS(tinyblas_create(&context));
    check_all(context);
    check_rungs(context);
    CHECK(strcmp(tinyblas_last_error(), "") == 0);
    CHECK_SUCCESS(tinyblas_destroy(context));
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
