/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.
   Pointers are aligned as their types are. */
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

/* transposed#0; valid under: always */
void transposed(int32_t N, const float *restrict A, float *restrict B) {
  for (int64_t t0 = 0; t0 < floor_div((int64_t)N + 15, 16); ++t0) {
    for (int64_t t1 = 0; t1 < floor_div((int64_t)N + 15, 16); ++t1) {
      for (int64_t i = 16 * t0; i < min_i64(16 * t0 + 4, N); ++i) {
        for (int64_t j = 16 * t1; j < min_i64(16 * t1 + 4, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0; i < min_i64(16 * t0 + 4, N); ++i) {
        for (int64_t j = 16 * t1 + 4; j < min_i64(16 * t1 + 8, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 4; i < min_i64(16 * t0 + 8, N); ++i) {
        for (int64_t j = 16 * t1 + 4; j < min_i64(16 * t1 + 8, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 4; i < min_i64(16 * t0 + 8, N); ++i) {
        for (int64_t j = 16 * t1; j < min_i64(16 * t1 + 4, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 8; i < min_i64(16 * t0 + 12, N); ++i) {
        for (int64_t j = 16 * t1; j < min_i64(16 * t1 + 4, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 12; i < min_i64(16 * t0 + 16, N); ++i) {
        for (int64_t j = 16 * t1; j < min_i64(16 * t1 + 4, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 12; i < min_i64(16 * t0 + 16, N); ++i) {
        for (int64_t j = 16 * t1 + 4; j < min_i64(16 * t1 + 8, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 8; i < min_i64(16 * t0 + 12, N); ++i) {
        for (int64_t j = 16 * t1 + 4; j < min_i64(16 * t1 + 8, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 8; i < min_i64(16 * t0 + 12, N); ++i) {
        for (int64_t j = 16 * t1 + 8; j < min_i64(16 * t1 + 12, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 12; i < min_i64(16 * t0 + 16, N); ++i) {
        for (int64_t j = 16 * t1 + 8; j < min_i64(16 * t1 + 12, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 12; i < min_i64(16 * t0 + 16, N); ++i) {
        for (int64_t j = 16 * t1 + 12; j < min_i64(16 * t1 + 16, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 8; i < min_i64(16 * t0 + 12, N); ++i) {
        for (int64_t j = 16 * t1 + 12; j < min_i64(16 * t1 + 16, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 4; i < min_i64(16 * t0 + 8, N); ++i) {
        for (int64_t j = 16 * t1 + 12; j < min_i64(16 * t1 + 16, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0 + 4; i < min_i64(16 * t0 + 8, N); ++i) {
        for (int64_t j = 16 * t1 + 8; j < min_i64(16 * t1 + 12, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0; i < min_i64(16 * t0 + 4, N); ++i) {
        for (int64_t j = 16 * t1 + 8; j < min_i64(16 * t1 + 12, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
      for (int64_t i = 16 * t0; i < min_i64(16 * t0 + 4, N); ++i) {
        for (int64_t j = 16 * t1 + 12; j < min_i64(16 * t1 + 16, N); ++j) {
          B[j * N + i] = A[i * N + j];
        }
      }
    }
  }
}
