/* SPDX-License-Identifier: MIT */
/* Device memory for tests written in C. The library's C interface leaves memory to the CUDA
   runtime, which emulation lacks; these four go through the C++ interface and serve both back ends.
   A failure ends the process. */
#ifndef TINYBLAS_TESTS_C_MEMORY_H
#define TINYBLAS_TESTS_C_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void* device_alloc(size_t bytes);
void device_free(void* data);
void to_device(void* device, const void* host, size_t bytes);
void to_host(void* host, const void* device, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
