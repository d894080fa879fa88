/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
#include <stdbool.h>
#include <stdint.h>
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

static inline int64_t floor_div(int64_t n, int64_t d) {
  return n / d - (n % d < 0);
}

static inline int64_t min_i64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* product#0; valid under: always */
bool product(int64_t N, const double *restrict A, const double *restrict B, double *restrict C, double alpha) {
  if (!(N >= INT64_C(-1099511627776) && N < INT64_C(1099511627776))) {
    return false; /* Nothing is done. */
  }
  for (int64_t t0 = 0; t0 < floor_div(N + 7, 8); ++t0) {
    for (int64_t t1 = 0; t1 < floor_div(N + 15, 16); ++t1) {
      _Alignas(64) double A_tile[16][8];
      for (int64_t x0 = 8 * t0; x0 < min_i64(8 * t0 + 8, N); ++x0) {
        for (int64_t x1 = 16 * t1; x1 < min_i64(16 * t1 + 16, N); ++x1) {
          A_tile[x1 - 16 * t1][x0 - 8 * t0] = alpha * A[x0 * N + x1];
        }
      }
      for (int64_t i = 8 * t0; i < min_i64(8 * t0 + 8, N); ++i) {
        for (int64_t k = 16 * t1; k < min_i64(16 * t1 + 16, N); ++k) {
          for (int64_t j = 0; j < N; ++j) {
            C[i * N + j] += A_tile[k - 16 * t1][i - 8 * t0] * B[k * N + j];
          }
        }
      }
    }
  }
  return true;
}
