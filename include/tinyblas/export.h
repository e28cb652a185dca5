/* SPDX-License-Identifier: MIT */
/* TINYBLAS_API marks what the shared library exports; everything else stays hidden. */
#ifndef TINYBLAS_EXPORT_H
#define TINYBLAS_EXPORT_H

#if defined(__GNUC__)
#define TINYBLAS_API __attribute__((visibility("default")))
#else
#define TINYBLAS_API
#endif

#endif
