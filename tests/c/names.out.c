/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
#include <stdint.h>
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* INTERIOR#0, tests/c/names.c:6; valid under: always */
void xINTERIOR_0(int32_t xM_inv, int32_t thread_count_1, const double *restrict xINTERIOR_0_variant_1, double *restrict xINT_MAX) {
  for (int64_t j = 0; j < 8; ++j) {
    for (int64_t i = 0; i < 8; ++i) {
      xINT_MAX[j + 8 * i] += xINTERIOR_0_variant_1[8 * j + i] * (double)(int32_t)((int64_t)xM_inv + thread_count_1);
    }
  }
}
