// SPDX-License-Identifier: MIT
// A program that does not use the library: its standard and definitions are the outside project's.
static_assert(__cplusplus == 201703L);
static_assert(OUTSIDE == 1);
#ifdef __STRICT_ANSI__
#error "the project's choice of GNU extensions was lost"
#endif

int main() {}
