/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
#include <stdbool.h>
#include <stdint.h>
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

typedef double f64x8 __attribute__((vector_size(64)));
typedef double f64x8_row __attribute__((vector_size(64), aligned(8), may_alias));

static inline int64_t max_i64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* product#0; valid under: always */
bool product(int64_t N, const double *restrict A, const double *restrict B, double *restrict C) {
  if (!(N < INT64_C(1099511627776) && N > 0)) {
    return false; /* Nothing is done. */
  }
  for (int64_t i = 0; i < N; ++i) {
    for (int64_t t0 = 0; t0 < N / 8; ++t0) {
      for (int64_t k = 0; k < N; ++k) {
        *(f64x8_row *)&C[i * N + 8 * t0] += A[i * N + k] * *(f64x8_row *)&B[k * N + 8 * t0];
      }
    }
    for (int64_t j = max_i64(0, 8 * (N / 8)); j < N; ++j) {
      for (int64_t k = 0; k < N; ++k) {
        C[i * N + j] += A[i * N + k] * B[k * N + j];
      }
    }
  }
  return true;
}
