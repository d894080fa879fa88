/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
#include <stdbool.h>
#include <stdint.h>
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* integers#0, tests/c/integers.c:5; valid under: always */
void integers_0(int32_t n, int32_t *restrict a, const int16_t *restrict b, int64_t *restrict c) {
  for (int64_t t0 = 0; t0 < n; ++t0) {
    a[t0] = (int32_t)((uint32_t)(int32_t)((uint32_t)(int32_t)((uint32_t)a[t0] >> 3) * (uint32_t)7) + (uint32_t)(int32_t)((uint32_t)(int32_t)b[t0] / (uint32_t)3));
    const int16_t v = b[t0];
    const bool v_1 = v > 4;
    int64_t v_2 = 0;
    if (v_1) {
      v_2 = c[t0];
    }
    if (v_1) {
      c[t0] = (int64_t)((uint64_t)(v_2 % 5) - (uint64_t)(int64_t)((uint64_t)(int64_t)(uint16_t)v * (uint64_t)(int64_t)(uint32_t)a[t0]));
    }
  }
}
