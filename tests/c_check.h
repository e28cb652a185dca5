/* SPDX-License-Identifier: MIT */
/* The one macro of the tests written in C: counts, and shows what failed. */
#ifndef TINYBLAS_TESTS_C_CHECK_H
#define TINYBLAS_TESTS_C_CHECK_H

#include <stdio.h>

#include "tinyblas/tinyblas.h"

static int passed, failed;
#define CHECK(condition)                                                          \
    do {                                                                          \
        if (condition) {                                                          \
            ++passed;                                                             \
        } else {                                                                  \
            ++failed;                                                             \
            printf("%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, \
                   tinyblas_last_error());                                        \
        }                                                                         \
    } while (0)
#define CHECK_SUCCESS(call) CHECK((call) == TINYBLAS_SUCCESS)

#endif
