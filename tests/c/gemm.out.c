/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
#include <stdint.h>
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

__extension__ typedef __int128 int128;

static inline int64_t floor_div(int64_t n, int64_t d) {
  return n / d - (n % d < 0);
}

static inline int64_t min_i64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static void gemm_0_variant(int32_t m, int32_t n, const double *restrict A, const double *restrict B, double *restrict C, double alpha) {
  for (int64_t t0 = 0; t0 < floor_div((int64_t)n + 30, 32); ++t0) {
    for (int64_t t1 = 0; t1 < floor_div((int64_t)m + 15, 16); ++t1) {
      for (int64_t i = 32 * t0; i < min_i64(32 * t0 + 32, (int64_t)n - 1); ++i) {
        for (int64_t k = 16 * t1; k < min_i64(16 * t1 + 16, m); ++k) {
          for (int64_t j = 0; j < m; ++j) {
            C[i * m + j] += alpha * A[i * m + k] * B[k * m + j];
          }
        }
      }
    }
  }
}

/* gemm#0, tests/c/gemm.c:6; valid under: nooverlap(A, C), nooverlap(B, C) */
void gemm_0(int32_t m, int32_t n, const double *A, const double *B, double *C, double alpha) {
  const int128 A_from = (int128)(uintptr_t)A;
  const int128 A_to = (int128)(uintptr_t)A + 8 * (((int128)n - 2) * (int128)m + (int128)m);
  const int128 C_from = (int128)(uintptr_t)C;
  const int128 C_to = (int128)(uintptr_t)C + 8 * (((int128)n - 2) * (int128)m + (int128)m);
  const int128 B_from = (int128)(uintptr_t)B;
  const int128 B_to = (int128)(uintptr_t)B + 8 * (((int128)m - 1) * (int128)m + (int128)m);
  /* nooverlap(A, C), nooverlap(B, C) */
  if ((A_to <= C_from || C_to <= A_from) &&
      (B_to <= C_from || C_to <= B_from)) {
    gemm_0_variant(m, n, A, B, C, alpha);
  } else {
    for (int64_t i = 0; i < (int64_t)n - 1; ++i) {
      for (int64_t j = 0; j < m; ++j) {
        for (int64_t k = 0; k < m; ++k) {
          C[i * m + j] += alpha * A[i * m + k] * B[k * m + j];
        }
      }
    }
  }
}
