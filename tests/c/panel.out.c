/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
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

static inline int64_t max_i64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void product_variant(int64_t N, const double *restrict A, const double *restrict B, double *restrict C, double *restrict B_buffer) {
  for (int64_t t0 = 0; t0 < floor_div(N + 7, 8); ++t0) {
    if (N > 8 * t0) {
      for (int64_t x0 = 0; x0 < N; ++x0) {
        for (int64_t x1 = 8 * t0; x1 < min_i64(8 * t0 + 8, N); ++x1) {
          B_buffer[(x1 - 8 * t0) * N + x0] = B[x0 * N + x1];
        }
      }
    }
    for (int64_t k = 0; k < N; ++k) {
      for (int64_t i = 0; i < N; ++i) {
        for (int64_t j = 8 * t0; j < min_i64(8 * t0 + 8, N); ++j) {
          C[i * N + j] += A[i * N + k] * B_buffer[(j - 8 * t0) * N + k];
        }
      }
    }
  }
}

/* product#0; valid under: always */
bool product(int64_t N, const double *A, const double *B, double *C) {
  if (!(N >= INT64_C(-1099511627776) && N < INT64_C(1099511627776))) {
    return false; /* Nothing is done. */
  }
  double *B_buffer = NULL;
  if (INT64_C(64) * (int128)max_i64(N, 0) < INT64_C(281474976710656)) {
    B_buffer = aligned_alloc(64, (size_t)((INT64_C(64) * (int128)max_i64(N, 0) / 64 + 1) * 64));
  }
  if (B_buffer != NULL) {
    product_variant(N, A, B, C, B_buffer);
    free(B_buffer);
  } else {
    free(B_buffer);
    for (int64_t k = 0; k < N; ++k) {
      for (int64_t i = 0; i < N; ++i) {
        for (int64_t j = 0; j < N; ++j) {
          C[i * N + j] += A[i * N + k] * B[k * N + j];
        }
      }
    }
  }
  return true;
}
