/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
#include <stdint.h>
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

static inline int64_t floor_div(int64_t n, int64_t d) {
  return n / d - (n % d < 0);
}

static inline int64_t max_i64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* rows#0, tests/c/rows.c:7; valid under: always */
void rows_0(int32_t n, const float *restrict a, const float *restrict x, float *restrict y) {
  for (int64_t t0 = 0; t0 < floor_div(n, 4); ++t0) {
    y[4 * t0] = 0.0f;
    y[4 * t0 + 1] = 0.0f;
    y[4 * t0 + 2] = 0.0f;
    y[4 * t0 + 3] = 0.0f;
    for (int64_t j = 0; j < n; ++j) {
      y[4 * t0] += a[4 * t0 * n + j] * x[j];
      y[4 * t0 + 1] += a[(4 * t0 + 1) * n + j] * x[j];
      y[4 * t0 + 2] += a[(4 * t0 + 2) * n + j] * x[j];
      y[4 * t0 + 3] += a[(4 * t0 + 3) * n + j] * x[j];
    }
  }
  for (int64_t i = max_i64(0, 4 * floor_div(n, 4)); i < n; ++i) {
    y[i] = 0.0f;
    for (int64_t j = 0; j < n; ++j) {
      y[i] += a[i * n + j] * x[j];
    }
  }
}
