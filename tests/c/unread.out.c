/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
#include <stdbool.h>
#include <stdint.h>
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

typedef double f64x4 __attribute__((vector_size(32)));
typedef double f64x4_row __attribute__((vector_size(32), aligned(8), may_alias));

static inline int64_t floor_div(int64_t n, int64_t d) {
  return n / d - (n % d < 0);
}

static inline int64_t min_i64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t max_i64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* unread#0; valid under: always */
bool unread(int64_t T, int64_t N, double *restrict y) {
  if (!(T >= INT64_C(-1099511627776) && T < INT64_C(1099511627776) && N >= INT64_C(-1099511627776) && N < INT64_C(1099511627776))) {
    return false; /* Nothing is done. */
  }
  for (int64_t t0 = 0; t0 < floor_div(N, 4); ++t0) {
    for (int64_t t1 = 0; t1 < floor_div(T + 7, 8); ++t1) {
      for (int64_t t = 8 * t1; t < min_i64(8 * t1 + 8, T); ++t) {
        f64x4 s_1 = {0};
        (void)s_1;
        f64x4 u_1 = {0};
        for (int lane = 0; lane < 4; ++lane) {
          s_1[lane] = 1.0;
        }
        u_1 = *(f64x4_row *)&y[4 * t0] + 1.0;
        *(f64x4_row *)&y[4 * t0] = u_1 + 2.0;
      }
    }
  }
  for (int64_t i = max_i64(0, 4 * floor_div(N, 4)); i < N; ++i) {
    for (int64_t t0 = 0; t0 < floor_div(T + 7, 8); ++t0) {
      for (int64_t t = 8 * t0; t < min_i64(8 * t0 + 8, T); ++t) {
        double s_2 = 0;
        (void)s_2;
        double u_2 = 0;
        s_2 = 1.0;
        u_2 = y[i] + 1.0;
        y[i] = u_2 + 2.0;
      }
    }
  }
  return true;
}
